"""``--search`` on the command line."""

import json

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, SVR
from typer.testing import CliRunner

from pertinent.cli.app import app

skops = pytest.importorskip("skops.io")


@pytest.mark.parametrize("kind", ["network", "kernel"])
def test_a_model_is_searched_and_its_answers_checked(tmp_path, kind):
    X, y = load_iris(return_X_y=True, as_frame=True)
    own = SVC() if kind == "kernel" else MLPClassifier((3,), solver="lbfgs", max_iter=2000)
    skops.dump(own.set_params(random_state=0).fit(X, y), tmp_path / "model.skops")
    X.to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / name) for name in ("model.skops", "rows.csv")]
    run = CliRunner()
    refused = run.invoke(app, ["explain", *files, "--rows", "60"])
    assert refused.exit_code == 3
    assert "--search" in refused.output
    told = run.invoke(app, ["explain", *files, "--rows", "60", "--search"])
    assert told.exit_code == 0, told.output
    assert "Found, not proved" in told.output
    stored = tmp_path / "stored.json"
    done = run.invoke(
        app, ["explain", *files, "--rows", "60", "--search", "--json", "-o", str(stored)]
    )
    assert done.exit_code == 0, done.output
    checked = run.invoke(app, ["check", str(stored), files[0], "--json"])
    assert checked.exit_code == 0, checked.output
    verdicts = [one["verdict"] for one in json.loads(checked.stdout)["explanations"]]
    assert verdicts == ["holds"]
    assert len(pd.read_csv(files[1])) == len(X)


def test_a_regressor_is_searched_and_its_answers_checked(tmp_path):
    X, _ = load_iris(return_X_y=True, as_frame=True)
    skops.dump(SVR().fit(X.iloc[:, :3], X.iloc[:, 3]), tmp_path / "model.skops")
    X.iloc[:, :3].to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / name) for name in ("model.skops", "rows.csv")]
    asked = ["explain", *files, "--rows", "0", "--target", "1:1.5"]
    run = CliRunner()
    refused = run.invoke(app, asked)
    assert refused.exit_code == 3
    assert "SVR is not supported" in refused.output
    assert "--search" in refused.output
    told = run.invoke(app, [*asked, "--search"])
    assert told.exit_code == 0, told.output
    assert "Found, not proved" in told.output
    stored = tmp_path / "stored.json"
    done = run.invoke(app, [*asked, "--search", "--json", "-o", str(stored)])
    assert done.exit_code == 0, done.output
    question = json.loads(stored.read_text())["proof"]["question"]
    assert (question["range"], question["search"]) == ([1.0, 1.5], True)
    checked = run.invoke(app, ["check", str(stored), files[0]])
    assert checked.exit_code == 0, checked.output
