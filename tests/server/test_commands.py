"""The commands that serve, and what is missing or refused before anything is loaded."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import pertinent
from pertinent import exceptions
from pertinent.cli.app import app
from pertinent.client import Client


def test_another_address_without_a_token_is_refused_before_anything_is_read():
    answer = CliRunner().invoke(app, ["serve", "none.skops", "none.csv", "--host", "0.0.0.0"])
    assert answer.exit_code == 3
    assert "needs a token" in answer.output


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "prometheus_client"])
def test_a_missing_package_names_the_extra(monkeypatch, package):
    known = exceptions.import_module

    def without(name):
        if name == package:
            raise ImportError(name)
        return known(name)

    monkeypatch.setattr(exceptions, "import_module", without)
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    explainer = pertinent.Explainer(LogisticRegression().fit(X, [0, 0, 1, 1]), data=X)
    with pytest.raises(ImportError, match=rf"'{package}'.*pertinent\[serve\]"):
        explainer.serve()


def test_importing_the_package_loads_no_server():
    code = "import pertinent, pertinent.client, sys; print([m for m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "pertinent.client" in loaded
    for name in ("fastapi", "starlette", "uvicorn", "pydantic", "numpy", "pertinent.server"):
        assert f"'{name}'" not in loaded


@pytest.mark.slow
def test_the_demo_is_served_until_it_is_told_to_end(tmp_path):
    command = [sys.executable, "-m", "pertinent", "demo", "--serve", "--port", "0"]
    log = tmp_path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, stderr=file)
    try:
        while not (found := re.search(r"serving on (http://\S+)", log.read_text())):
            assert process.poll() is None
            time.sleep(0.1)
        client = Client(found[1])
        while not client.ready():
            assert process.poll() is None
            time.sleep(0.1)
        assert client.explain(ids=[0])[0]["text"].startswith("The model predicts")
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(600) in (0, -signal.SIGTERM)
    finally:
        process.kill()
    assert "POST /api/v1/explain 200" in log.read_text()
