"""The bar plot of relevances."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


@pytest.mark.parametrize("make", [GLVQ, GMLVQ, LGMLVQ])
def test_bars_are_the_relevances_largest_first(make):
    data = load_iris(as_frame=True)
    model = make(random_state=0).fit(data.data, data.target)
    ax = model.plot_relevances()
    order = np.argsort(-model.relevances_, kind="stable")
    assert labels(ax) == data.data.columns[order].tolist()
    np.testing.assert_allclose(widths(ax), model.relevances_[order])
    assert ax.yaxis_inverted()


def test_features_without_names():
    model = GMLVQ().fit(*load_iris(return_X_y=True))
    assert sorted(labels(model.plot_relevances())) == ["x0", "x1", "x2", "x3"]


def test_local_relevances_are_dots():
    model = LGMLVQ(random_state=0).fit(*load_iris(return_X_y=True))
    ax = model.plot_relevances()
    order = np.argsort(-model.relevances_, kind="stable")
    dots = [line.get_xdata() for line in ax.lines]
    np.testing.assert_allclose(dots, model.local_relevances_[:, order])


def test_many_features_are_cut_to_the_most_relevant():
    model = GMLVQ(rank=2, max_iter=500, random_state=0).fit(*load_digits(return_X_y=True))
    ax = model.plot_relevances()
    assert len(widths(ax)) == 20
    assert ax.get_title() == "20 most relevant of 64 features"
    assert max(widths(ax)) == model.relevances_.max()


def test_draws_into_given_axes():
    _, ax = plt.subplots()
    model = GMLVQ().fit(*load_iris(return_X_y=True))
    assert model.plot_relevances(ax=ax) is ax
    assert len(widths(ax)) == 4


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    model = GMLVQ().fit(*load_iris(return_X_y=True))
    with pytest.raises(ImportError, match=r"needs matplotlib.*pip install 'pertinent\[plot\]'"):
        model.plot_relevances()


def test_import_leaves_matplotlib_alone():
    import subprocess

    code = "import sys, pertinent.lvq; sys.exit('matplotlib' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
