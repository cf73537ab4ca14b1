"""The core alone: optional packages are imported where they are needed, and named if missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pertinent
from pertinent.exceptions import MissingExtraError


def test_import_loads_nothing_optional():
    code = (
        "import sys, pertinent; heavy = 'numpy scipy sklearn matplotlib jinja2 typer rich skops'; "
        "print([m for m in heavy.split() if m in sys.modules])"
    )
    source = str(Path(pertinent.__file__).parents[1])
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert found.stdout.strip() == "[]"


def test_a_plot_without_matplotlib_names_the_extra(applicants, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pertinent\[plot\]"):
        applicants[0].plot()
    with pytest.raises(MissingExtraError, match=r"pertinent\[plot\]"):
        applicants.plot_summary()
