# `make demo` and `make test` need nothing but make and a Python >= 3.11: they set up their
# own environment in .venv. The stamp files remember what is installed there, so that a
# second run installs nothing; an edited pyproject.toml makes the next run install again.

# The first of these that runs and is new enough; override with `make PYTHON=... test`.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3 python; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
PYTEST_ARGS ?=

# Each test process gets one BLAS thread: the processes are the parallelism.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1

# Many tests start Python anew: each would read every package from its sources once more, where the
# environment forbids to keep what was compiled.
unexport PYTHONDONTWRITEBYTECODE

# The last releases of both packages, and the last scikit-learn that they fit on.
LVQ_PEERS := scikit-learn==1.2.2 numpy<1.24 scipy<1.11 sklvq==0.1.2 sklearn-lvq==1.1.1

# What `make test SUITE=...` and `make bench NAME=...` take; without, both run what matters most.
# Not `?=`: some systems set NAME in the environment.
SUITES := all slow oldest engines browser fuzz lvq-peers
SUITE := all
BENCHMARKS := all linear quadratic lvq exact plausibility validity lvq-accuracy lvq-training \
	scale growth peers before-after trees pipelines serve models search
NAME := all
ARGS :=
# A benchmark is the module of its name, but for this one.
MODULE_validity := quadratic_validity
MODULE_models := models_table

# $(call one_of,VARIABLE,LIST): stop unless the variable's value is in the list.
one_of = $(if $(filter $($(1)),$(2)),,$(error There is no $(1)=$($(1)): choose from $(2)))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test campaign mutants house golden audit bench paper docs lint format clean distclean \
	$(addprefix suite-,$(SUITES)) environment-for-peers environment-for-search environment-for-trees environment-for-lvq-accuracy

# The lines that start with `##` below, and the targets with one: at most one screen of 24 lines.
help:
	@awk -F ':.*## |^##   ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 } \
		/^##   / { print "    " $$2 }' Makefile

demo: $(VENV)/.stamp-demo ## Explain decisions of a model on embedded data
	$(BIN)/python -m pertinent.demo

test: $(call one_of,SUITE,$(SUITES))suite-$(SUITE) ## Run every check: ruff, mypy, tests and doctests
##   SUITE=slow           the tests that take minutes each
##   SUITE=oldest         with the oldest supported scikit-learn
##   SUITE=engines        Ray and Spark on local clusters; Spark needs a JDK
##   SUITE=browser        all tests of the pages; needs an installed Chromium
##   SUITE=fuzz|lvq-peers thousands of requests to the server; sklvq, sklearn-lvq, prosemble

# One core compiles while the other one reads: see tests/compiling.py.
suite-all: $(VENV)/.stamp-test
	$(ONE_THREAD) $(BIN)/python -m tests.compiling & compiling=$$!; $(MAKE) --no-print-directory lint && wait $$compiling
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow and not engines" $(PYTEST_ARGS)

suite-slow: $(VENV)/.stamp-test
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -m slow $(PYTEST_ARGS)

suite-oldest: $(VENV)-oldest/.stamp-test
	$(ONE_THREAD) $(VENV)-oldest/bin/python -m pytest -n $(JOBS) -m "not slow and not engines" $(PYTEST_ARGS)

suite-engines: .venv-engines/.stamp
	$(ONE_THREAD) .venv-engines/bin/python -m pytest -m engines $(PYTEST_ARGS) tests/scale

suite-browser: $(VENV)/.stamp-test
	BROWSER_TESTS=required $(ONE_THREAD) $(BIN)/python -m pytest $(PYTEST_ARGS) tests/browser

suite-fuzz: $(VENV)/.stamp-test
	$(ONE_THREAD) PERTINENT_FUZZ=200 $(BIN)/python -m pytest -n $(JOBS) -rP $(PYTEST_ARGS) tests/server/test_*fuzz.py

suite-lvq-peers:
	@$(MAKE) --no-print-directory .venv-peers/lvq PEER="$(LVQ_PEERS)"
	.venv-peers/lvq/bin/pip install --quiet --no-compile --disable-pip-version-check narwhals highspy clarabel
	$(ONE_THREAD) PYTHONPATH=src .venv-peers/lvq/bin/python tests/models/lvq_peers.py
	@$(MAKE) --no-print-directory .venv-peers/prosemble \
		PEER="prosemble==2.4.0 jax chex optax scikit-learn narwhals highspy clarabel"
	$(ONE_THREAD) PYTHONPATH=src .venv-peers/prosemble/bin/python tests/models/lvq_peers.py --prosemble

lint: $(VENV)/.stamp-test ## Check style and types; `make format` repairs the style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.stamp-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

audit: $(VENV)/.stamp-test ## Compare what is installed with audit/lock.txt; ARGS=--write
	$(BIN)/python -m audit $(ARGS)

golden: $(VENV)/.stamp-test ## Compare answers with the recorded ones; ARGS=--help
	$(ONE_THREAD) $(BIN)/python -m tests.golden.record $(ARGS)

campaign: $(VENV)/.stamp-test ## Judge answers of random models for MINUTES=5; resumes
	$(ONE_THREAD) $(BIN)/python -m campaign --minutes $(or $(MINUTES),5) --jobs $(JOBS) $(ARGS)

mutants: $(VENV)/.stamp-test ## Break the source line by line for MINUTES=60; resumes
	$(ONE_THREAD) $(BIN)/python -m mutants --minutes $(or $(MINUTES),60) --jobs $(JOBS) $(ARGS)

house: $(VENV)/.stamp-test ## Measure how the package is built, with the goals for it
	$(ONE_THREAD) $(BIN)/python -m benchmarks.house $(ARGS)

bench: $(call one_of,NAME,$(BENCHMARKS))$(VENV)/.stamp-test ## Measure every bar, with pass or miss for each
##   NAME=linear|quadratic|lvq|exact|plausibility|trees|pipelines    one family, in detail
##   NAME=before-after    our side of every bar, against an older commit
##   NAME=validity|models quadratic models, every row; docs/models.md: every question, every model
##   NAME=scale|growth    1,000,000 rows; cost against rows, features, classes
##   NAME=serve           edits, 1,000,000 rows and a minute of overload, over HTTP
##   NAME=peers|search    what a user would pick instead: CVXPY, SciPy, DiCE, alibi; any predict, DiCE
##   NAME=lvq-accuracy|lvq-training    GMLVQ beside sklvq; on 60,000 x 784 samples
bench: $(addprefix environment-for-,$(filter peers search trees lvq-accuracy,$(NAME)))
	$(if $(filter lvq-training,$(NAME)),,$(ONE_THREAD)) \
		$(BIN)/python -m benchmarks.$(or $(MODULE_$(NAME)),$(subst -,_,$(NAME))) $(ARGS)

# Packages that do not go together with ours; one that cannot be installed is reported as missing.
environment-for-search:
	-@$(MAKE) --no-print-directory .venv-peers/dice PEER=dice-ml \
		|| echo "dice-ml cannot be installed: reported as missing"

environment-for-peers:
	-@for peer in dice-ml:dice alibi[tensorflow]:alibi; do $(MAKE) --no-print-directory .venv-peers/$${peer#*:} \
		PEER=$${peer%:*} || echo "$${peer%:*} cannot be installed: reported as missing"; done

# OCEAN asks for Python 3.12 or newer.
environment-for-trees:
	-@$(MAKE) --no-print-directory .venv-peers/treecf PEER="treecf scikit-learn xgboost-cpu" \
		|| echo "treecf cannot be installed: not measured"
	-@$(MAKE) --no-print-directory .venv-peers/ocean PEER="oceanpy scikit-learn xgboost-cpu" PYTHON=python3.12 \
		|| echo "OCEAN cannot be installed: not measured"

environment-for-lvq-accuracy:
	-@$(MAKE) --no-print-directory .venv-peers/lvq PEER="$(LVQ_PEERS)" \
		|| echo "sklvq and sklearn-lvq cannot be installed: reported as missing"

.venv-peers/%:
	"$(PYTHON)" -m venv $@ && $@/bin/pip install --quiet --no-compile --disable-pip-version-check $(foreach one,$(PEER),"$(one)") click \
		|| { rm -rf $@; exit 1; }

paper: $(VENV)/.stamp-test ## Recompute the paper's table and figure; resumes if interrupted
	$(ONE_THREAD) $(BIN)/python -m experiments --jobs $(JOBS)
	$(ONE_THREAD) $(BIN)/python -m experiments.digits_figure

docs: $(VENV)/.stamp-docs ## Build the documentation, offline and without warnings
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

clean: ## Remove caches and build products
	rm -rf build dist docs/_build docs/_run docs/auto_examples docs/generated pertinent-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks experiments campaign mutants -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2>/dev/null || true

# Remove the virtual environment as well
distclean: clean
	rm -rf $(VENV) $(VENV)-oldest

$(VENV)/.stamp-venv:
	@test -n "$(PYTHON)" || { \
		echo "pertinent needs Python >= 3.11, and none was found on the PATH." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "pertinent needs Python >= 3.11; '$(PYTHON)' is not." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot create virtual environments." >&2; \
		echo "On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	-$(BIN)/python -m pip install --quiet --upgrade pip # a new one is quicker; the old one will do
	@touch $@

$(VENV)/.stamp-demo: $(VENV)/.stamp-venv pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable ".[demo]"
	@touch $@

$(VENV)-oldest/.stamp-test: pyproject.toml
	"$(PYTHON)" -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
		--editable ".[test]" "scikit-learn==1.6.*" "numpy<2.3"
	@touch $@

$(VENV)/.stamp-test: $(VENV)/.stamp-venv pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable ".[test]"
	@touch $@

$(VENV)/.stamp-docs: $(VENV)/.stamp-venv pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable ".[docs]"
	@touch $@

.venv-engines/.stamp: $(VENV)/.stamp-venv pyproject.toml
	"$(PYTHON)" -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
		--editable ".[pandas,ray,spark]" hypothesis pytest
	@touch $@
