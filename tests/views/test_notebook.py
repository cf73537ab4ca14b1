"""What notebooks show: cards of the objects that are asked and checked, and each figure once."""

import sys
from types import ModuleType

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent

matplotlib.use("Agg")


def test_constraints_are_a_list_of_rules():
    rules = pertinent.Constraints(frozen=["a<b"], bounds={"c": (0, None)})
    page = rules._repr_html_()
    assert "Constraints: 2 rules" in page
    assert "a&lt;b frozen" in page
    assert "c &gt;= 0" in page
    assert "0 rules" in pertinent.Constraints()._repr_html_()


def test_an_explainer_shows_model_classes_and_rules(credit):
    page = pertinent.Explainer(credit.model, data=credit.train)._repr_html_()
    for words in ("LogisticRegression", "seniority", "“refused”", "the median of the data", "rule"):
        assert words in page


def test_a_check_shows_every_claim(applicants, credit):
    checked = pertinent.check(applicants[0].json(), credit.model)
    page = checked._repr_html_()
    assert page.count("<tr>") == len(checked.findings)
    assert f"{len(checked.findings)} claims: holds" in page


@pytest.fixture
def shown(monkeypatch):
    """What a notebook was asked to show, as IPython would."""
    seen, module = [], ModuleType("IPython.display")
    module.Image, module.display = (lambda data: data), seen.append
    package = ModuleType("IPython")
    package.version_info, package.get_ipython = (9, 0), lambda: None  # matplotlib asks for both
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return seen


def test_a_figure_is_shown_once(applicants, shown):
    """An open figure is shown at the end of its cell; as the cell's value it is not shown again."""
    figure = applicants.plot_summary()
    figure._ipython_display_()
    assert shown == []
    plt.close(figure)  # as a notebook does after the cell
    plt.figure()  # with the same number as the one before
    figure._ipython_display_()
    assert [picture[:4] for picture in shown] == [b"\x89PNG"]
    plt.close("all")


LONG = [
    "a_rather_long_name_that_somebody_exported_from_a_warehouse_v2_final",
    "average_monthly_income_of_the_household_after_taxes_and_transfers",
    "ANAMEWITHOUTANYBREAKINITATALLWHICHGOESONANDONANDONANDON",
    "x",
]


@pytest.fixture(scope="module")
def long_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=LONG)
    y = np.where(
        X.sum(axis=1) > 0,
        "application approved without further conditions",
        "application refused because of insufficient collateral or income",
    )
    rules = pertinent.Constraints(bounds={name: (-0.3, 0.3) for name in LONG[1:]})
    model = LogisticRegression().fit(X, y)
    return pertinent.Explainer(model, data=X, constraints=rules).explain(X.head(40))


def extents(figure):
    """Return where texts lie in a figure, as shares of it."""
    figure.canvas.draw()
    renderer, box = figure.canvas.get_renderer(), figure.bbox
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_text().strip() and text.get_visible():
            where = text.get_window_extent(renderer)
            yield text.get_text(), where.x0 / box.width, where.x1 / box.width, where


def test_long_names_fit_into_a_picture(long_names):
    for row in range(3):
        figure = long_names[row].plot().figure
        for words, left, right, _ in extents(figure):
            assert left >= -0.01, words
            assert right <= 1.01, words
        assert figure.axes[0].get_position().width > 0.4  # room is left for the strips
        plt.close(figure)


def test_long_names_fit_into_the_summary(long_names):
    figure = long_names.plot_summary()
    for words, left, right, _ in extents(figure):
        assert left >= -0.01, words
        assert right <= 1.01, words
    plt.close(figure)


def test_own_and_new_value_do_not_overlap(long_names):
    for row in range(6):
        figure = long_names[row].plot().figure
        values = [
            (one, where)
            for one, _, _, where in extents(figure)
            if one.lstrip("about -").replace(",", "").replace(".", "").replace("e-", "").isdigit()
        ]
        for i, (one, a) in enumerate(values):
            for other, b in values[i + 1 :]:
                assert not a.overlaps(b), (row, one, other)
        plt.close(figure)
