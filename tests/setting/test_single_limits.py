"""Each limit of an answer, each margin and each claim by itself."""

from __future__ import annotations

from time import monotonic

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent.questions.fewest_changed as changing
from pertinent import Constraints, pertinent_negatives, pertinent_positives
from pertinent.geometry.rounding import ROUNDOFF, ROUNDOFF_SINGLE, Rounding
from pertinent.models.steps.pipeline import features_of
from pertinent.questions.strict import strict
from pertinent.setting.effort import Budget, Effort
from pertinent.setting.limits import held_limits, negative_limits, positive_limits, turned_off
from pertinent.setting.margins import first_margins
from pertinent.setting.options import Settings
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.setting import Setting
from tests.proofs.planted_questions import BOX, LIMITS
from tests.proofs.planted_truth import X, logistic, softmax
from tests.setting.test_claims import PAIR, spoilt

MODEL = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
SAMPLE = np.array([[1.0, 2.0]])
FEATURES = features_of(MODEL, SAMPLE, False)
BOUNDS = Constraints(bounds={0: (-9, 9), 1: (-8, 8)})
SETTING = Setting(MODEL, FEATURES, np.ones(2), BOUNDS, 0.0)


def question(**more):
    return PositiveQuestion(baseline=np.array([0.0, 4.0]), **more)


def ends(limits):
    return [np.broadcast_to(limit, SAMPLE.shape)[0].tolist() for limit in limits]


def test_what_a_negative_leaves_alone_moves_neither_way():
    assert ends(negative_limits(SETTING, SAMPLE)) == [[-9, -8], [9, 8]]
    alone = np.array([[True, False]])
    assert ends(negative_limits(SETTING, SAMPLE, alone)) == [[1, -8], [1, 8]]


def test_a_positive_lies_between_sample_and_baseline():
    between = positive_limits(SETTING, SAMPLE, question(between=True))
    assert ends(between) == [[0, 2], [1, 4]]
    anywhere = positive_limits(SETTING, SAMPLE, question(between=False))
    assert ends(anywhere) == [[-9, -8], [9, 8]]


@pytest.mark.parametrize(
    ("tol", "low", "high"), [(0.0, 0.0, 0.0), (0.5, -0.5, 0.5), (10.0, -9.0, 9.0)]
)
def test_what_is_turned_off_stays_within_the_tolerance_and_the_rules(tol, low, high):
    limits = np.array([[-9.0, -8.0]]), np.array([[9.0, 8.0]])
    held = np.array([[True, False]])
    found = held_limits(SETTING, *limits, question(off_tol=tol), held)
    assert ends(found) == [[low, -8], [high, 8]]


def test_off_is_what_is_no_farther_than_the_tolerance():
    points = np.array([[0.5, 4.5], [-0.5, 3.4]])
    off = turned_off(SETTING, points, question(off_tol=0.5))
    assert off.tolist() == [[True, True], [True, False]]


class Sizes(Rounding):
    """So much is added up at each point."""

    def row_sizes(self, points):
        return np.abs(points).sum(axis=1)

    sizes = row_sizes


@pytest.mark.parametrize(
    ("single", "sums_in_single", "unit"),
    [(False, False, ROUNDOFF), (True, True, ROUNDOFF_SINGLE), (True, False, ROUNDOFF_SINGLE / 6)],
)
def test_the_first_margin_covers_what_rounds(single, sums_in_single, unit):
    """(d + 4) u S of 2 features; where sums are double, the point itself is rounded once."""
    centers = 10.0 ** np.linspace(-3, 3, 40)[:, None] * np.ones(2)
    margins = first_margins(Sizes(), centers, single, sums_in_single)
    needed = 6 * unit * centers.sum(axis=1)
    assert (margins >= needed).all()
    assert (margins <= 1000 * needed).all()


def test_what_rounds_at_a_center_that_all_share_is_looked_at_once(monkeypatch):
    """The sample of a menu was looked at for each of its 465 sets of features."""
    looked, sizes = [], Sizes.sizes
    monkeypatch.setattr(Sizes, "sizes", lambda s, some: looked.append(len(some)) or sizes(s, some))
    center = np.array([[2.0, 1e5]])
    for centers in (np.repeat(center, 4, axis=0), np.broadcast_to(center, (4, 2))):
        together = first_margins(Sizes(), centers, False, False)
        assert together.tolist() == [*first_margins(Sizes(), center, False, False)] * 4
    assert looked == [1, 1, 1, 1]
    first_margins(Sizes(), np.array([[2.0, 1e5], [3.0, 1e5], [2.0, 1e5]]), False, False)
    assert looked[-1] == 3
    assert len(first_margins(Sizes(), center[:0], False, False)) == 0


def test_the_fewest_changes_are_not_proved_by_their_size_alone():
    """That no other change of as many features is nearer says nothing of fewer features."""
    asked = {"norm": "l0", "constraints": Constraints(bounds=LIMITS)}
    honest = pertinent_negatives(logistic(), PAIR[:1], **asked)
    assert (honest.status.tolist(), honest.objective.tolist()) == (["optimal"], [2.0])
    with spoilt(changing._few_changes, certificates=lambda found: ()):
        found = pertinent_negatives(logistic(), PAIR[:1], **asked)
    assert found.status.tolist() == ["feasible"]


def test_strict_positives_are_not_proved_by_their_size_alone():
    honest = pertinent_positives(softmax(), X, method="strict", **BOX)
    assert honest.status.tolist() == ["optimal", "optimal"]
    with spoilt(strict, certificates=lambda found: ()):
        found = pertinent_positives(softmax(), X, method="strict", **BOX)
    assert "optimal" not in found.status.tolist()


def test_a_time_limit_ends_when_it_says():
    now = monotonic()
    assert Budget(deadline=now - 1.0).expired()
    assert not Budget(deadline=now + 3600.0).expired()
    assert not Budget().expired()
    end = Effort(time_limit=1000.0).budget(3).deadline
    assert now + 3000.0 <= end <= monotonic() + 3000.0


def test_limits_of_an_exact_answer_are_passed_on():
    options = Settings(exact=True, gap=0.25, time_limit=7.0).solving
    assert (options.exact, options.gap, options.time_limit) == (True, 0.25, 7.0)
