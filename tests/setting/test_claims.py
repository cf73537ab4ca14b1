"""What is handed out with an answer follows from its point, whatever the search says of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pertinent.questions.alternatives as contrasts
import pertinent.questions.fewest_changed as changing
from pertinent import Constraints, Explainer, pertinent_negatives, pertinent_positives
from pertinent.answering.searching import SEARCH
from pertinent.questions.fewest_kept import exact
from pertinent.questions.strict import strict
from pertinent.questions.sufficient.sufficient import sufficient
from pertinent.setting.judge import Accepted, Ledger
from pertinent.setting.nearest.positive import two_phase
from pertinent.setting.region_key import Kind
from tests.proofs.planted_questions import BOX, LIMITS
from tests.proofs.planted_truth import X, logistic, softmax
from tests.proofs.planting import forget, replaced

#: The first has no answer that changes one feature, the second has.
PAIR = np.array([[1.2, 0.1, 0.9, 0.7], [1.2, 0.1, 0.9, 0.2]])
ONE = Constraints(bounds=LIMITS, max_changes=1)


def spoilt(function: Any, **changes: Any) -> Any:
    """Let a search hand out answers with some fields computed from the others."""

    def spoil(original: Any, *args: Any, **options: Any) -> Any:
        found = original(*args, **options)
        return replace(found, **{name: change(found) for name, change in changes.items()})

    forget()
    return replaced(function, spoil)


def rolled(original: Any, *args: Any, **options: Any) -> Any:
    """Hand out the answers of each row as those of the other."""
    found = original(*args, **options)
    names = (
        "values", "status_code", "objective", "bound", "changed", "reasons", "closeness",
        "closeness_bound", "target_place",
    )  # fmt: skip
    return replace(found, **{name: getattr(found, name)[::-1] for name in names})


@pytest.mark.parametrize(
    "how",
    [{"alternatives": 1}, {"max_changes": 2}, {"norm": "l0"}],
    ids=lambda how: next(iter(how)),
)
def test_a_point_accepted_for_one_sample_does_not_answer_another(how: Any) -> None:
    forget()
    with replaced(changing._few_changes, rolled):
        found = pertinent_negatives(logistic(), PAIR, constraints=ONE, **how)
    assert found.status.tolist() == ["failed", "failed"]
    assert np.isnan(found.values).all()


def test_the_number_of_changes_is_counted_whatever_the_search_looked_at() -> None:
    forget()
    with replaced(changing._within, lambda original, negatives, *args: negatives):
        found = pertinent_negatives(logistic(), PAIR, constraints=ONE, norm="l0")
    assert found.found.tolist() == [False, True]


def by_sets(original: Any, *asked: Any) -> Any:
    """Look for the fewest changes among sets of features, which know no rules about changes."""
    return changing._fewest(*asked)


def test_the_rules_of_the_data_are_looked_at_whatever_the_search_knows() -> None:
    forget()
    data = np.random.default_rng(0).uniform(0, 1.5, (60, 4)).round(1)
    how = {"data": data, "norm": "l0", "constraints": Constraints(bounds=LIMITS)}
    honest = Explainer(logistic(), **how).explain(data[:4]).negative
    with replaced(changing.counted_negatives, by_sets):
        found = Explainer(logistic(), **how).explain(data[:4]).negative
    assert honest.found.all()
    assert not found.found.all()
    for some in (honest, found):
        written = some.values[some.found]
        np.testing.assert_array_equal(written, np.round(written, 1), strict=True)


def test_an_order_is_claimed_only_where_proofs_show_it() -> None:
    data = np.random.default_rng(0).uniform(0, 1.5, (60, 4))
    how = {"data": data, "constraints": Constraints(bounds=LIMITS), "alternatives": 2}
    honest = Explainer(softmax(), **how).explain(data[:6]).negative
    assert all(one.proved for listed in honest.alternatives for one in listed)
    assert sum(len(listed) == 2 for listed in honest.alternatives) > 2
    forget()
    with spoilt(
        changing._few_changes,
        alternatives=lambda found: tuple(listed[1:] for listed in found.alternatives),
    ):
        found = Explainer(softmax(), **how).explain(data[:6]).negative
    assert any(found.alternatives)
    assert not any(one.proved for listed in found.alternatives for one in listed)


def test_the_ledger_knows_point_sample_and_label_in_any_order() -> None:
    points, samples = np.arange(6.0).reshape(3, 2), np.ones((3, 2))
    samples[:, 0] = [1, 2, 3]
    labels, predicted = np.array([0, 0, 1]), np.array([1, 2, 0])
    ledger = Ledger([Accepted(Kind.NOT, points, samples, labels, predicted)])
    for rows in ([0, 1, 2], [2, 0], [1, 1, 0, 2]):
        asked = points[rows], samples[rows], Kind.NOT, labels[rows]
        assert ledger.predicted(*asked).tolist() == predicted[rows].tolist()
    for rows in ([2, 1, 0], [2, 0]):  # the samples, or the labels, of other points
        own = np.arange(len(rows))
        asked = points[own], samples[rows], Kind.NOT, labels[own]
        assert (ledger.predicted(*asked) >= 0).tolist() == [r == i for i, r in enumerate(rows)]
        assert (ledger.predicted(points[own], samples[own], Kind.IS, labels[own]) < 0).all()
        assert (ledger.predicted(points[own], samples[own], Kind.NOT, labels[own] + 1) < 0).all()
    assert ledger.predicted(points[:2], None, Kind.NOT, labels[:2]).tolist() == [1, 2]


def test_changed_features_and_the_class_reached_are_those_of_the_point() -> None:
    own = softmax().predict(X)
    lies = {"changed": lambda r: ~r.changed, "target_place": lambda r: own}
    with spoilt(changing._few_changes, **lies):
        found = pertinent_negatives(softmax(), X, norm="l0", **BOX)
    assert (found.changed == (found.values != X)).all()
    assert (found.target == softmax().predict(found.values)).all()
    assert found.status.tolist() == ["optimal", "optimal"]


@pytest.mark.parametrize(("method", "search"), [("strict", strict), ("exact", exact)])
def test_kept_features_are_those_of_the_point(method: Any, search: Any) -> None:
    everywhere = lambda r: np.ones(len(r), dtype=bool)  # noqa: E731
    lies = {
        "kept": lambda r: ~r.kept,
        "trivial": everywhere,
        "sparse_values": lambda r: r.values + 1,
    }
    with spoilt(search, **lies):
        found = pertinent_positives(softmax(), X, method=method, **BOX)
    assert (found.kept == (found.values != 0.0)).all()
    assert found.kept.any()
    assert not found.trivial.any()
    assert (found.sparse_values == found.values).all()


@pytest.mark.parametrize(
    ("method", "search"), [("strict", strict), ("exact", exact), ("sufficient", sufficient)]
)
def test_no_answer_stands_in_for_a_strict_one_that_exists(method: Any, search: Any) -> None:
    with spoilt(search, fallback=lambda r: np.ones(len(r), dtype=bool)):
        found = pertinent_positives(softmax(), X, method=method, fallback=method == "strict", **BOX)
    assert not found.fallback.any()


def test_values_that_are_not_the_samples_own_are_no_strict_answer() -> None:
    def other(original: Any, setting: Any, table: Any, labels: Any, question: Any) -> Any:
        found = original(setting, table, labels, question)
        near = two_phase(SEARCH, setting, table, labels, question)
        fields = {"values": near.sparse_values, "sparse_values": near.sparse_values}
        return replace(found, fallback=np.ones(len(table), dtype=bool), **fields)

    forget()
    with replaced(strict, other):
        found = pertinent_positives(softmax(), X, method="strict", fallback=True, **BOX)
    assert found.status.tolist() == ["failed", "failed"]
    assert not found.fallback.any()


def test_alternatives_whose_points_were_not_judged_are_left_out() -> None:
    def far(original: Any, *args: Any) -> Any:
        found = original(*args)
        return replace(found, points=found.points * 0 + 9.0)

    forget()
    with replaced(contrasts._Contrasts.solve, far):
        found = pertinent_negatives(logistic(), X, alternatives=2, **BOX)
    assert found.alternatives == ((), ())


def after_a_false_one(listed: Any) -> Any:
    """Return alternatives after one whose point was never judged."""
    return (*(replace(a, values=np.full(4, 9.0)) for a in listed[:1]), *listed)


def with_false_numbers(listed: Any) -> Any:
    """Return the same points with other features and numbers."""
    lies = {"objective": 0.0, "closeness": 0.0, "label": 7}
    return tuple(replace(a, features=~a.features, **lies) for a in listed)


@pytest.mark.parametrize("lie", [after_a_false_one, with_false_numbers])
@pytest.mark.parametrize("method", ["strict", "exact", "l1", "l0"])
def test_alternatives_are_what_their_points_show(method: Any, lie: Any) -> None:
    negative = method in ("l1", "l0")

    def ask() -> Any:
        forget()
        if negative:
            return pertinent_negatives(softmax(), X, norm=method, alternatives=2, **BOX)
        return pertinent_positives(logistic(), X, method=method, alternatives=2, **BOX)

    honest = ask()
    search = changing._few_changes if negative else {"strict": strict, "exact": exact}[method]
    with spoilt(search, alternatives=lambda found: tuple(map(lie, found.alternatives))):
        found = ask()
    assert any(found.alternatives)
    for true, said in zip(honest.alternatives, found.alternatives, strict=True):
        for one, other in zip(true, said, strict=True):
            assert (one.features == other.features).all()
            names = ("objective", "closeness", "label")
            assert all(getattr(one, name) == getattr(other, name) for name in names)
            assert not other.proved
