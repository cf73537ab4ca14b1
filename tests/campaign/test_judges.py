"""Every judge of the campaign refutes an answer that is wrong in its way, and no right one."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from campaign.attacks import judge_bounds
from campaign.cases import BOTH, NEGATIVE, POSITIVE, Case, ask
from campaign.judges import Tally, judge_file, judge_numbers, judge_points, judge_rules
from campaign.laws import _compare, judge_laws, permuted, scaled
from campaign.limits import judge_conflicts
from campaign.second import judge_brute, judge_second

X, y = load_iris(return_X_y=True)
SAMPLES = np.ascontiguousarray(X[[0, 60, 120]])
LINEAR, BAYES = LogisticRegression(max_iter=500).fit(X, y), GaussianNB().fit(X, y)
TWO = Case("linear", LINEAR, SAMPLES, NEGATIVE)


def rng():
    return np.random.default_rng(0)


def failures(judge, *args):
    tally = Tally()
    judge(*args, tally)
    return {name for name, _, _ in tally.failures}


@pytest.fixture(scope="module")
def found():
    return ask(TWO)[1]


def test_right_answers_pass(found):
    assert not failures(judge_points, TWO, found, "negative")
    assert not failures(judge_numbers, TWO, found, "negative")
    assert not failures(judge_bounds, TWO, found, "negative", rng())
    assert not failures(judge_second, TWO, found, "negative", rng())
    assert not failures(judge_laws, TWO, rng())


def test_a_point_of_the_own_class_is_seen(found):
    wrong = replace(found, values=SAMPLES.copy())
    ways = failures(judge_points, TWO, wrong, "negative")
    assert ways == {f"predict: {way}" for way in ("alone", "batch", "reversed", "Fortran order")}


def test_wrong_numbers_are_seen(found):
    worse = replace(found, objective=found.objective * 1.01)
    assert failures(judge_numbers, TWO, worse, "negative") == {"objective recomputed"}
    above = replace(found, bound=found.objective + 1)
    assert failures(judge_numbers, TWO, above, "negative") == {"bound at most objective"}
    other = replace(found, changed=~found.changed)
    assert failures(judge_numbers, TWO, other, "negative") == {"changed features"}


@pytest.mark.parametrize("model", [LINEAR, BAYES], ids=["linear", "curved"])
def test_a_bound_that_is_too_large_is_seen(model):
    case = Case("any", model, SAMPLES, NEGATIVE)
    found = ask(case)[1]
    wrong = replace(found, bound=found.bound * 1.5)
    assert failures(judge_bounds, case, wrong, "negative", rng()) == {"bounds under attack"}
    none = replace(found, bound=np.full(3, np.inf), status_code=np.full(3, 2, dtype=np.int8))
    assert failures(judge_bounds, case, none, "negative", rng()) == {"bounds under attack"}


def test_the_second_solvers_see_a_bound_that_is_too_large(found):
    wrong = replace(found, bound=found.bound * 1.001)
    assert failures(judge_second, TWO, wrong, "negative", rng()) == {"second solver: HiGHS"}
    curved = Case("any", GaussianNB().fit(X[:, :2], y), SAMPLES[:, :2].copy(), NEGATIVE)
    answer = ask(curved)[1]
    assert not failures(judge_second, curved, answer, "negative", rng())
    wrong = replace(answer, bound=answer.bound * 1.01)
    assert failures(judge_second, curved, wrong, "negative", rng()) == {"second solver: SCIP"}


@pytest.mark.parametrize(
    "rule",
    [
        ["frozen", 2], ["at most", 2, 1.0], ["at least", 2, 9.0], ["decrease", 2], ["increase", 2],
        ["integer", 2], ["decimals", 2, 1], ["relation", [[2, 1.0]], 1.0],
        ["relation", [[2, -1.0]], -9.0], ["max changes", 1],
    ],
    ids=str,
)  # fmt: skip
def test_a_broken_rule_is_seen(rule, found):
    """One point lies above its sample and one below, so that either direction is broken."""
    values = SAMPLES + np.array(
        [[0.1, 0.0, 0.321, 0.0], [0.1, 0.0, -0.321, 0.0], [0.1, 0, 4.321, 0]]
    )
    case = replace(TWO, rules=[rule])
    assert failures(judge_rules, case, replace(found, values=values), "negative") == {
        "rules obeyed"
    }


def test_a_forged_file_is_seen():
    case = Case("linear", LINEAR, SAMPLES[:1], BOTH, options={"baseline": X.mean(0).tolist()})
    answers = ask(case)[2]
    assert not failures(judge_file, case, answers)
    other = replace(case, model=LogisticRegression(C=0.01, max_iter=500).fit(X, y))
    assert failures(judge_file, other, answers) == {"checked from a file"}


def test_brute_force_sees_a_set_that_is_too_large():
    options = {"baseline": X.mean(0).tolist(), "method": "strict"}
    case = Case("linear", LINEAR, SAMPLES, POSITIVE, options=options)
    positives = ask(case)[0]
    assert not failures(judge_brute, case, positives, "positive")
    wrong = replace(positives, bound=positives.bound + 1)
    assert failures(judge_brute, case, wrong, "positive") == {"brute force: strict"}


def test_laws_see_another_model(found):
    """The permuted model must get permuted samples: else it is another question."""
    order, scale = np.array([3, 2, 1, 0]), np.array([2.0, 4.0, 0.5, 1.0])
    for other in (permuted(TWO, order), scaled(TWO, scale)):
        assert not failures(lambda o, t: _compare(TWO, found, "law", o, t), other)
        wrong = replace(other, X=SAMPLES)
        assert failures(lambda o, t: _compare(TWO, found, "law", o, t), wrong) == {"law: law"}


def test_a_conflict_with_a_rule_too_many_is_seen():
    rules = [["frozen", j] for j in range(4)]
    case = replace(TWO, rules=rules)
    answer = ask(case)[1]
    assert not failures(judge_conflicts, case, answer, "negative")
    rest = [["at most", 0, 100.0]]
    padded = replace(case, rules=rules + rest)
    reasons = answer.reasons.copy()
    for i, reason in enumerate(reasons):
        from pertinent.rules.reference import RuleKind, RuleRef

        more = RuleRef(RuleKind.AT_MOST, ("x0",), 100.0)
        reasons[i] = replace(reason, rules=(*reason.rules, more))
    wrong = replace(answer, reasons=reasons)
    assert failures(judge_conflicts, padded, wrong, "negative") == {"conflict is minimal"}
