"""The judge that tries every point of a lattice: it accepts right answers, and no altered one."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from campaign import report, reproducers
from campaign.judges import Tally
from campaign.lattice.case import (
    BOTH,
    LATTICE,
    MENU,
    NEGATIVE,
    POSITIVE,
    Case,
    ask,
    from_json,
    to_json,
)
from campaign.lattice.changes import judge_negatives
from campaign.lattice.conflicts import judge_conflicts
from campaign.lattice.drawing import cases, kind_of
from campaign.lattice.files import judge_files
from campaign.lattice.kept import judge_positives
from campaign.lattice.menus import judge_menus
from campaign.lattice.rooms import judge_rooms
from campaign.lattice.run import judge_alone
from campaign.run import LATTICE_FROM, run_seed
from pertinent.rules.reference import RuleKind, RuleRef

#: Seeds of a few kinds of models, about a second each.
SEEDS = (0, 9, 21, 10, 34)
BASE = {"a": 0.0, "b": 0.2, "e": 4.0}
OPTIONS = {"weights": {"a": 2.0, "b": 9.0, "e": 0.5}, "missing": "error"}
RULES = {
    "bounds": {k: [float(LATTICE[k][0]), float(LATTICE[k][-1])] for k in BASE},
    "integer": ["a"],
    "decimals": {"b": 1},
    "step": {"e": 2},
}


def _case():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.choice(LATTICE[name], 50) for name in BASE})
    labels = (data["a"] / 2 + 5 * data["b"] + data["e"] / 4 > 3).to_numpy(int)
    model = LogisticRegression(C=3).fit(data, labels)
    return Case("logistic", model, data, labels, data.head(4), NEGATIVE, RULES, OPTIONS)


CASE = _case()
POSITIVES = replace(CASE, ask=POSITIVE, options={**OPTIONS, "baseline": BASE, "method": "exact"})


def asking(kind, **options):
    return replace(CASE, ask=kind, options={**OPTIONS, "baseline": BASE, **options})


def failures(judge, *args):
    tally = Tally()
    judge(*args, tally)
    assert any(name.startswith("lattice: ") for name in tally.counts)
    return {name.removeprefix("lattice: ") for name, _, _ in tally.failures}


@pytest.mark.matrix(2)
@pytest.mark.parametrize("seed", SEEDS, ids=kind_of)
def test_answers_on_a_lattice(seed):
    outcome = run_seed(LATTICE_FROM + seed)
    assert [shown[:2] for shown in outcome.shown] == []
    assert outcome.family == "lattice"
    assert outcome.traits[0] == kind_of(seed)
    assert outcome.tally.counts["answers"] >= 16


def test_a_seed_decides_everything():
    one, other = (cases(33)[0] for _ in range(2))
    assert to_json(replace(one, model=None), {}) == to_json(replace(other, model=None), {})


@pytest.fixture(scope="module")
def found():
    return ask(CASE)


def test_right_answers_pass(found):
    assert not failures(judge_negatives, CASE, found)
    assert not failures(judge_positives, POSITIVES, ask(POSITIVES))


@pytest.mark.parametrize(
    ("field", "change", "judgement"),
    [
        ("objective", lambda v: v * 1.01, "the objective is that of the point"),
        ("bound", lambda v: v * 1.01, "no point below a bound"),
        ("changed", np.logical_not, "changed features"),
        ("status_code", lambda v: np.full_like(v, 2), "none where none is said"),
        ("status_code", lambda v: np.full_like(v, 4), "already there"),
        ("values", lambda _: CASE.samples.to_numpy(), "a point is allowed"),
        ("values", lambda v: v + np.array([0.5, 0, 0]), "a point is allowed"),
    ],
)
def test_an_altered_negative_is_seen(found, field, change, judgement):
    wrong = replace(found, **{field: change(getattr(found, field))})
    assert judgement in failures(judge_negatives, CASE, wrong)


def test_a_larger_change_called_optimal_is_seen(found):
    """An answer to a question with more rules: allowed, and not the smallest without them."""
    wrong = ask(replace(CASE, rules={**RULES, "frozen": ["e"]}))
    assert (wrong.objective > found.objective * 1.001).any()
    unproved = replace(
        wrong, bound=np.zeros(len(wrong)), unique_code=-np.ones_like(wrong.unique_code)
    )
    assert failures(judge_negatives, CASE, unproved) == {"none is smaller"}


def test_an_answer_that_is_not_the_only_one_is_seen():
    """Columns a and e cost the same and do the same."""
    model = LogisticRegression().fit(CASE.data, CASE.labels)
    model.coef_, model.intercept_ = np.array([[1.0, 0.0, 0.5]]), np.array([-4.6])
    weights = {"weights": {"a": 1.0, "b": 10.0, "e": 0.5}}
    case = replace(CASE, model=model, options={**OPTIONS, **weights})
    answer = ask(case)
    assert not failures(judge_negatives, case, answer)
    wrong = replace(answer, unique_code=np.ones_like(answer.unique_code), second={})
    assert failures(judge_negatives, case, wrong) == {"the only one"}


def test_alternatives_in_another_order_are_seen():
    case = replace(CASE, options={**OPTIONS, "alternatives": 2})
    answer = ask(case)
    row = next(i for i, some in enumerate(answer.alternatives) if len(some) == 2)
    assert not failures(judge_negatives, case, answer)
    listed = list(answer.alternatives)
    listed[row] = listed[row][::-1]
    seen = failures(judge_negatives, case, replace(answer, alternatives=tuple(listed)))
    assert seen == {"an alternative comes next"}


@pytest.mark.parametrize("method", ["two-phase", "strict", "exact", "sufficient"])
def test_an_altered_positive_is_seen(method):
    case = asking(POSITIVE, method=method)
    answer = ask(case)
    assert not failures(judge_positives, case, answer)
    if method == "sufficient":
        none = replace(answer, kept=np.zeros_like(answer.kept))
        assert failures(judge_positives, case, none) == {"enough whatever the others are"}
        every = replace(answer, kept=np.ones_like(answer.kept))
        assert failures(judge_positives, case, every) == {"none is smaller"}
        return
    above = replace(answer, bound=answer.bound + 1)
    assert failures(judge_positives, case, above) == {"no point below a bound"}
    other = replace(answer, values=np.full_like(answer.values, 0.5))
    assert failures(judge_positives, case, other) == {"a point is allowed"}
    none = replace(answer, status_code=np.full_like(answer.status_code, 2))
    assert failures(judge_positives, case, none) == {"none where none is said"}


def test_a_menu_with_a_wrong_lever_is_seen():
    case = asking(MENU).rows([0])
    menu = ask(case)[0]
    assert not failures(judge_menus, case, [menu])
    first, *rest = menu.levers
    for changed, judgement in [
        (replace(first, status="infeasible", values={}), "none where none is said"),
        (replace(first, objective=first.objective + 1), "the objective is that of the point"),
        (replace(first, bound=first.objective + 1), "no point below a bound"),
        (replace(first, features=("a",)), "a menu lists every set"),
    ]:
        wrong = replace(menu, levers=(changed, *rest))
        assert judgement in failures(judge_menus, case, [wrong])


def test_a_range_that_is_too_wide_is_seen():
    case = asking(BOTH, norm="l1", method="two-phase")
    answers = ask(case)
    assert not failures(judge_rooms, case, answers)
    assert not failures(judge_files, case, answers)

    class Forged:
        """Answers whose first box is as wide as the bounds."""

        negative, positive = answers.negative, answers.positive

        def __len__(self):
            return 1

        def __getitem__(self, row):
            name = next(iter(answers[row].box))
            wide = {name: tuple(RULES["bounds"][name])}
            return SimpleNamespace(ranges=wide, box=wide, basis="typical", kept_ranges={})

    assert failures(judge_rooms, case, Forged()) == {
        "every value of a range", "every point of a box",
    }  # fmt: skip


def test_a_file_for_another_model_is_seen():
    case = asking(BOTH, norm="l1", method="two-phase")
    other = LogisticRegression(C=0.01).fit(CASE.data, CASE.labels)
    seen = failures(judge_files, replace(case, model=other), ask(case))
    assert seen == {"the own file is accepted"}


def test_a_conflict_that_is_none_is_seen():
    """Frozen columns conflict with the change; without one of them there is no conflict."""
    case = replace(CASE, rules={**RULES, "frozen": ["a", "b", "e"]})
    answer = ask(case)
    assert (answer.status == "infeasible").all()
    assert not failures(judge_conflicts, case, answer)
    reasons = answer.reasons.copy()
    for row, reason in enumerate(reasons):
        few = replace(reason, rules=reason.rules[:1], without=None)
        reasons[row] = few
    assert failures(judge_conflicts, case, replace(answer, reasons=reasons)) == {
        "named rules conflict"
    }
    more = RuleRef(RuleKind.AT_MOST, ("a",), 4.0)
    for row, reason in enumerate(answer.reasons):
        points = np.vstack([reason.without, CASE.samples.to_numpy()[row]])
        reasons[row] = replace(reason, rules=(*reason.rules, more), without=points)
    assert failures(judge_conflicts, case, replace(answer, reasons=reasons)) == {
        "each named rule is needed"
    }


def test_a_row_that_differs_alone_is_seen(found):
    assert not failures(judge_alone, CASE, found)
    wrong = replace(found, values=found.values + 1)
    assert failures(judge_alone, CASE, wrong) == {"a row alone is as in the batch"}


def test_a_failure_is_made_small_kept_and_read(tmp_path, monkeypatch):
    """A judge that dislikes increase-only: one sample and one rule are left."""
    rules = {**RULES, "increase_only": ["a"], "frozen": ["b"]}
    case = replace(CASE, rules=rules)

    def dislikes(case, name):
        return "rises" if "increase_only" in case.rules else None

    monkeypatch.setattr("campaign.lattice.run.failure_of", dislikes)
    small, why = reproducers.minimal(case, "lattice: any", 7)
    assert (len(small.samples), set(small.rules) - set(RULES)) == (1, {"increase_only"})
    path = reproducers.save(small, "lattice: any", why, 7, tmp_path)
    again, record = from_json(path)
    assert (record["judge"], record["seed"], record["detail"]) == ("lattice: any", 7, "rises")
    assert again.samples.equals(small.samples)
    assert (again.model.predict(CASE.data) == CASE.model.predict(CASE.data)).all()
    assert reproducers.still_fails(path) == "rises"


def test_the_table_goes_into_a_page_of_its_own(tmp_path):
    page, results = tmp_path / "page.md", tmp_path / "seeds.jsonl"
    page.write_text(f"before\n{report.LATTICE_BEGIN}old\n{report.LATTICE_END}\nafter\n")
    seen = {"answers": 3, "status: optimal": 3, "lattice: the only one": 2, "refused": 1}
    record = {"seed": LATTICE_FROM + 9, "family": "lattice", "traits": ["tree"], "counts": seen}
    record["failures"] = [["lattice: the only one", "two"]]
    results.write_text(json.dumps({**record, "commit": "abc"}) + "\n")
    report.write(page, results)
    text = page.read_text()
    assert text.startswith("before\n" + report.LATTICE_BEGIN)
    assert text.endswith(report.LATTICE_END + "\nafter\n")
    assert "| tree | 1 | 3 | 3 | 0 | 0 | 0 | 0 | 2 | 1 |" in text
    assert "commits abc (1). 1 questions refused" in text
    assert "| the only one | 2 | 1 |" in text
    assert "old" not in text
    assert report.summary(results) in text
