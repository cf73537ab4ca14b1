"""What notebooks show: cards of the objects that are asked and checked, and each figure once."""

import sys
from dataclasses import replace
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


def test_rules_are_counted_one_by_one_wherever_they_are_counted(credit):
    """Sentences about many features are short; the number is that of rules to switch off."""
    own = pertinent.Constraints(frozen=["age", "records"], max_changes=3)
    explainer = pertinent.Explainer(credit.model, data=credit.train, constraints=own)
    count = 3 + len(explainer.inferred)
    assert repr(explainer).endswith(f"2 classes, {count} rules>")
    assert f"{count} rules" in explainer._repr_html_()
    both = replace(own, inferred=explainer.inferred)
    assert both._repr_html_().count("<tr>") == count
    assert f"Constraints: {count} rules" in both._repr_html_()
    nothing = {"limits_from": None, "steps_from": None, "rare": 0}
    free = pertinent.Explainer(credit.model, data=credit.train, min_proba=0.7, **nothing)
    assert not free.inferred or {rule.kind for rule in free.inferred} == {"range"}
    assert repr(free).endswith(f"2 classes, {1 + len(free.inferred)} rules>")


def results(credit):
    """Return one object of every public kind of result."""
    explainer = pertinent.Explainer(credit.model, data=credit.train)
    result = explainer.explain(credit.applicants.head(2))
    menu = explainer.menu(credit.applicants.head(1), max_features=1)
    checked = pertinent.check(result[0].json(), credit.model)
    blend = pertinent.Blend(np.array([7, 2]), np.array([0.75, 0.25]))
    parts = explainer, explainer.inferred[0], result, result[0], result.positive, result.negative
    return (*parts, menu, menu[0], menu[-1], checked, checked.findings[0], blend, own_rules())


def own_rules():
    return pertinent.Constraints(frozen=["age"])


def test_every_result_has_a_text_and_a_card(credit):
    for one in results(credit):
        page = one._repr_html_()
        assert page.count("<div") == page.count("</div>") > 0, one
        assert len(repr(one)) < 600, one
        assert "object at 0x" not in repr(one)


def test_a_menu_is_a_card_that_escapes():
    X = pd.DataFrame({"<b>a": [0.0, 1.0, 2.0, 3.0], "c\x1b[31m": [1.0, 0.0, 1.0, 0.0]})
    model = LogisticRegression().fit(X, ["<i>no", "<i>no", "yes", "yes"])
    menu = pertinent.Explainer(model, data=X).menu(X.head(1))
    for page in (menu._repr_html_(), menu[0]._repr_html_()):
        assert "&lt;b&gt;a" in page
        assert "<b>" not in page
        assert "<i>" not in page
        assert "\x1b" not in page
    assert menu._repr_html_().count("<tr>") == len(menu.text().splitlines()) - 1


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
