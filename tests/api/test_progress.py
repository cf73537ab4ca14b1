"""A bar for long work, and none where nobody looks on."""

import io
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError, MissingExtraError
from pertinent.tables import progress


class Terminal(io.StringIO):
    """Standard error of somebody who looks on."""

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return pertinent.Explainer(LogisticRegression(max_iter=1000).fit(X, y), data=X), X


def look_on(monkeypatch):
    """Return what standard error is from now on (in a test: each phase has another one)."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_true_shows_a_bar_and_changes_no_bit(iris, capsys):
    explainer, X = iris
    quiet, told = explainer.explain(X, progress=False), explainer.explain(X, progress=True)
    assert "Explaining" in capsys.readouterr().err
    np.testing.assert_array_equal(quiet.negative.values, told.negative.values)
    np.testing.assert_array_equal(quiet.positive.bound, told.positive.bound)


def test_a_bar_appears_by_itself_where_it_takes_long(iris, monkeypatch):
    (explainer, X), terminal = iris, look_on(monkeypatch)
    explainer.explain(X)
    assert terminal.getvalue() == ""  # it did not take long
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    explainer.explain(X)
    assert "Explaining" in terminal.getvalue()


def test_no_bar_where_nobody_looks_on_or_wants_one(iris, monkeypatch, capsys):
    explainer, X = iris
    monkeypatch.setattr(progress, "PATIENCE", 1e-9)
    explainer.explain(X)
    assert capsys.readouterr().err == ""
    stream = look_on(monkeypatch)
    explainer.explain(X, progress=False)
    assert stream.getvalue() == ""


def test_a_function_is_told_of_every_part(iris, tmp_path):
    explainer, X = iris
    seen = []
    found = explainer.explain(X, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (150, 150)
    assert len(seen) > 1
    seen.clear()
    found[:70].report(tmp_path / "r.html", progress=lambda *of: seen.append(of))
    assert seen == [(64, 70), (70, 70)]


def test_plausibility_tells_of_every_class(iris):
    explainer, X = iris
    seen = []
    labels = explainer.model.predict(X)
    density = pertinent.Plausibility(X, labels, 1, progress=lambda *of: seen.append(of))
    pertinent.Explainer(explainer.model, data=X, plausibility=density)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(InputError, match="progress must be"):
        pertinent.Plausibility(X, labels, 1, progress="bar").threshold(labels[0])


def test_what_is_no_progress_is_refused(iris):
    with pytest.raises(InputError, match="progress must be"):
        iris[0].explain(iris[1], progress="bar")


def test_without_rich_the_extra_is_named(iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(MissingExtraError, match=r"pertinent\[cli\]"):
        iris[0].explain(iris[1], progress=True)
