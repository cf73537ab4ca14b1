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

# The last releases of both packages, and the last scikit-learn that they fit on.
LVQ_PEERS := scikit-learn==1.2.2 numpy<1.24 scipy<1.11 sklvq==0.1.2 sklearn-lvq==1.1.1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-oldest test-browser docs lint format bench-linear bench-quadratic bench-validity bench-exact bench-lvq bench-lvq-accuracy paper test-slow bench-plausibility figure-digits clean distclean \
	bench bench-scale bench-growth bench-peers test-engines test-lvq-peers bench-lvq-training

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.stamp-demo ## Explain decisions of a model on embedded data
	$(BIN)/python -m pertinent.demo

test: lint ## Run every check: ruff, mypy, tests and doctests
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -m "not slow and not engines" $(PYTEST_ARGS)

test-oldest: $(VENV)-oldest/.stamp-test ## Run the tests with the oldest supported scikit-learn
	$(ONE_THREAD) $(VENV)-oldest/bin/python -m pytest -n $(JOBS) -m "not slow and not engines" $(PYTEST_ARGS)

test-slow: $(VENV)/.stamp-test ## Run the tests that take minutes each
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -m slow $(PYTEST_ARGS)

test-engines: .venv-engines/.stamp ## Test Ray and Spark on local clusters; Spark needs a JDK
	$(ONE_THREAD) .venv-engines/bin/python -m pytest -m engines $(PYTEST_ARGS) tests/scale

test-lvq-peers: ## Test our regions on models fitted by sklvq, sklearn-lvq and prosemble
	@$(MAKE) --no-print-directory .venv-peers/lvq PEER="$(LVQ_PEERS)"
	.venv-peers/lvq/bin/pip install --quiet --disable-pip-version-check narwhals highspy clarabel
	$(ONE_THREAD) PYTHONPATH=src .venv-peers/lvq/bin/python tests/models/lvq_peers.py
	@$(MAKE) --no-print-directory .venv-peers/prosemble \
		PEER="prosemble==2.4.0 jax chex optax scikit-learn narwhals highspy clarabel"
	$(ONE_THREAD) PYTHONPATH=src .venv-peers/prosemble/bin/python tests/models/lvq_peers.py --prosemble

test-browser: $(VENV)/.stamp-browser ## Test the report in a browser; needs an installed Chromium
	$(ONE_THREAD) $(BIN)/python -m pytest $(PYTEST_ARGS) tests/browser

docs: $(VENV)/.stamp-docs ## Build the documentation, offline and without warnings
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

lint: $(VENV)/.stamp-test ## Check style and types without running the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.stamp-test ## Rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.stamp-test ## Measure every bar of the project, with pass or miss for each
	$(ONE_THREAD) $(BIN)/python -m benchmarks.all

bench-scale: $(VENV)/.stamp-test ## Explain 1,000,000 rows: rows per second and peak memory
	$(ONE_THREAD) $(BIN)/python -m benchmarks.scale

bench-growth: $(VENV)/.stamp-test ## How cost grows with rows, features, classes and prototypes
	$(ONE_THREAD) $(BIN)/python -m benchmarks.growth

bench-peers: $(VENV)/.stamp-test ## Time what a user would pick instead; DiCE and alibi apart
	-@for peer in dice-ml:dice alibi[tensorflow]:alibi; do $(MAKE) --no-print-directory .venv-peers/$${peer#*:} \
		PEER=$${peer%:*} || echo "$${peer%:*} cannot be installed: reported as missing"; done
	$(ONE_THREAD) $(BIN)/python -m benchmarks.peers

.venv-peers/%:
	"$(PYTHON)" -m venv $@ && $@/bin/pip install --quiet --disable-pip-version-check $(foreach one,$(PEER),"$(one)") click \
		|| { rm -rf $@; exit 1; }

bench-linear: $(VENV)/.stamp-test ## Time linear models against CVXPY and SciPy
	$(ONE_THREAD) $(BIN)/python -m benchmarks.linear

bench-validity: $(VENV)/.stamp-test ## Quadratic models, every row of every data set: all valid?
	$(ONE_THREAD) $(BIN)/python -m benchmarks.quadratic_validity

bench-quadratic: $(VENV)/.stamp-test ## Time QDA and naive Bayes against CVXPY; compare with SCIP
	$(ONE_THREAD) $(BIN)/python -m benchmarks.quadratic

bench-exact: $(VENV)/.stamp-test ## How often the paper's support is not minimal; time against a MILP
	$(ONE_THREAD) $(BIN)/python -m benchmarks.exact

bench-lvq-accuracy: $(VENV)/.stamp-test ## Our GMLVQ beside sklvq and sklearn-lvq, on the same folds
	-@$(MAKE) --no-print-directory .venv-peers/lvq PEER="$(LVQ_PEERS)" \
		|| echo "sklvq and sklearn-lvq cannot be installed: reported as missing"
	$(ONE_THREAD) $(BIN)/python -m benchmarks.lvq_accuracy

bench-lvq-training: $(VENV)/.stamp-test ## Train GLVQ, GMLVQ and LGMLVQ on 60,000 x 784 samples
	$(BIN)/python -m benchmarks.lvq_training

bench-lvq: $(VENV)/.stamp-test ## Time prototype models against the paper's loop; 1-NN up to 10,000 points
	$(ONE_THREAD) $(BIN)/python -m benchmarks.lvq

paper: $(VENV)/.stamp-test ## Recompute the paper's table and figure; resumes where it was interrupted
	$(ONE_THREAD) $(BIN)/python -m experiments --jobs $(JOBS)
	$(ONE_THREAD) $(BIN)/python -m experiments.digits_figure

bench-plausibility: $(VENV)/.stamp-test ## Time plausible positives against CVXPY + SCS
	$(ONE_THREAD) $(BIN)/python -m benchmarks.plausibility

figure-digits: $(VENV)/.stamp-test ## Draw the paper's four blocks of digits; print log-densities
	$(ONE_THREAD) $(BIN)/python -m experiments.digits_figure

clean: ## Remove caches and build products
	rm -rf build dist docs/_build docs/auto_examples docs/generated pertinent-demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests benchmarks experiments -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2>/dev/null || true

distclean: clean ## Remove the virtual environment as well
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
	@touch $@

$(VENV)/.stamp-demo: $(VENV)/.stamp-venv pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[demo]"
	@touch $@

$(VENV)-oldest/.stamp-test: pyproject.toml
	"$(PYTHON)" -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable ".[test]" "scikit-learn==1.6.*" "numpy<2.3"
	@touch $@

$(VENV)/.stamp-test: $(VENV)/.stamp-venv pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@

$(VENV)/.stamp-browser: $(VENV)/.stamp-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[browser]"
	@touch $@

$(VENV)/.stamp-docs: $(VENV)/.stamp-venv pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

.venv-engines/.stamp: $(VENV)/.stamp-venv pyproject.toml
	"$(PYTHON)" -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable ".[pandas,ray,spark]" hypothesis pytest
	@touch $@
