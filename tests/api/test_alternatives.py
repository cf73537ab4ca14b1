"""Other sets of features that work, asked of an Explainer."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.demo import train_credit_model
from pertinent.exceptions import InputError
from pertinent.geometry.codec import encode
from pertinent.proofs import Certificate


@pytest.fixture(scope="module")
def credit():
    return train_credit_model()


@pytest.fixture(scope="module")
def result(credit):
    return pertinent.Explainer(credit.model, data=credit.train, alternatives=2).explain(
        credit.applicants[:5]
    )


def test_the_text_tells_them(result):
    words = result[4].text()
    assert (
        "Other changes that would have done it: price 1,693 instead of 1,079; or job “fixed” "
        "instead of “part-time”. Proved in this order: whatever else works within the rules is at "
        "least as large as the last of them, or changes all the features of one told here."
    ) in words
    assert "Other changes" not in result[4].text("short")
    assert "or job “fixed” instead of “part-time”" in result[4].html()


def test_the_order_of_all_rows_is_proved_together(credit, monkeypatch):
    """The same proofs, and not asked once more for every row."""
    explainer = pertinent.Explainer(credit.model, data=credit.train, alternatives=2)
    asked = []
    bounds = Certificate.bounds
    monkeypatch.setattr(
        Certificate, "bounds", lambda self, task: asked.append(1) or bounds(self, task)
    )

    def order(rows):
        asked.clear()
        found = explainer.explain(credit.applicants[rows]).negative.alternatives
        return [[one.proved for one in some] for some in found], len(asked)

    (together, count), alone = order(slice(5)), [order(slice(i, i + 1)) for i in range(5)]
    assert together == [proved for one, _ in alone for proved in one]
    assert count < 0.5 * sum(single for _, single in alone)


def test_they_are_changes_in_raw_units(result):
    assert result[4].alternatives == [{"price": (1079.0, 1693.0)}, {"job": ("part-time", "fixed")}]
    assert result[4].kept_alternatives == []


def test_the_table_has_a_row_for_each_and_its_point(credit, result):
    table = result.alternatives_frame()
    assert isinstance(table, pd.DataFrame)
    count = sum(map(len, result.negative.alternatives))
    assert len(table) == count == len(result.alternatives_frame("polars"))
    assert table["rank"].max() == 2
    points = table.filter(like="value.").rename(columns=lambda name: name.removeprefix("value."))
    assert (credit.model.predict(points[credit.train.columns]) == table["target"]).all()
    own = credit.applicants.loc[table["id"]].reset_index(drop=True)
    for i, row in table.iterrows():
        moved = [name for name in own if points.loc[i, name] != own.loc[i, name]]
        assert row["features"] == ", ".join(moved)


def test_the_report_tells_them(result, tmp_path):
    page = result.report(tmp_path / "report.html").read_text()
    assert "or job “fixed” instead of “part-time”" in page


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_neither_batches_nor_company_change_them(credit, norm):
    explainer = pertinent.Explainer(credit.model, data=credit.train, alternatives=2, norm=norm)
    some = credit.applicants[:3]
    together = stored(explainer.explain(some))
    # Two of them together, and the last one alone.
    assert stored(explainer.explain(some, batch_size=2)) == together


def stored(result):
    """Return every alternative as it is written down, to the bit."""
    return [
        [
            (
                *(one.features.tobytes(), one.values.tobytes(), one.objective, one.proved),
                *(json.dumps(encode(left.part.certificate)) for left in one.why),
            )
            for one in listed
        ]
        for listed in result.negative.alternatives
    ]


@pytest.mark.parametrize("norm", ["l1", "l0"])
@pytest.mark.parametrize("target", [None, 2])
def test_every_set_that_works_contains_one_that_is_listed(norm, target):
    """A menu asks of each set by itself whether it works."""
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, alternatives=20, norm=norm)
    for i in (55, 60, 90):
        one = explainer.explain(X[i : i + 1], target=target)[0]
        listed = [set(one.changed), *map(set, one.alternatives)]
        menu = explainer.menu(X[i : i + 1], max_features=4, target=target)
        working = [set(lever.features) for lever in menu if lever.works]
        assert working
        assert all(any(some <= features for some in listed) for features in working)
        assert all(features in working for features in listed)
        if norm == "l0":
            sizes = [len(features) for features in listed]
            assert sizes == sorted(sizes)
        proved = [other["proved"] for other in one.summary()["negative"]["alternatives"]]
        assert all(told is (norm == "l1") for told in proved)


def test_rules_that_the_data_suggest_hold_with_the_fewest_changes(credit):
    explainer = pertinent.Explainer(credit.model, data=credit.train, alternatives=2, norm="l0")
    result = explainer.explain(credit.applicants[:5])
    points = [result.negative.values, [a.values for s in result.negative.alternatives for a in s]]
    numbers = result.table.features
    for some in points:
        whole = np.array(some)[:, [int(numbers.first[j]) for j in range(len(numbers))]]
        assert (whole == np.round(whole)).all()


def test_a_target_with_the_fewest_changes_holds_when_it_is_checked(credit):
    explainer = pertinent.Explainer(credit.model, data=credit.train, norm="l0")
    for one in explainer.explain(credit.applicants[:3], target="approved"):
        assert pertinent.check(one.json(), credit.model).ok


def test_progress_is_told_in_small_parts(credit):
    explainer = pertinent.Explainer(credit.model, data=credit.train, alternatives=1)
    told = []
    explainer.explain(credit.applicants[:10], progress=lambda *done: told.append(done))
    assert told == [(8, 10), (10, 10)]
    told.clear()
    pertinent.pertinent_negatives(
        credit.model, credit.applicants[:10], data=credit.train, alternatives=1,
        progress=lambda *done: told.append(done),
    )  # fmt: skip
    assert told == [(8, 10), (10, 10)]


def test_odd_numbers_are_refused(credit):
    with pytest.raises(InputError, match="alternatives must be a whole number of at least 0"):
        pertinent.Explainer(credit.model, data=credit.train, alternatives=-1)


def test_the_class_is_told_where_it_is_a_third():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    wording = pertinent.Wording(labels={0: "setosa", 1: "versicolor", 2: "virginica"})
    explainer = pertinent.Explainer(model, data=X, alternatives=4, wording=wording)
    for one in explainer.explain(X[50:100]):
        negative = one.summary()["negative"]
        classes = {other["target"] for other in negative["alternatives"]}
        if classes - {negative["target"]}:
            assert "(for setosa)" in one.text() or "(for virginica)" in one.text()
            return
    raise AssertionError("no alternative is of a third class")
