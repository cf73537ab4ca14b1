"""A short campaign with fixed seeds, and every failure that a long one has found."""

import json
from dataclasses import replace

import numpy as np
import pytest

from campaign import report, reproducers
from campaign.__main__ import run
from campaign.cases import NEGATIVE, Case, from_json, to_json
from campaign.models import FAMILIES, written_logistic
from campaign.run import family_of, run_seed

#: One seed of each family, about a second each.
SEEDS = (0, 1, 2, 18, 19, 20, 6, 22, 8, 24, 10, 26, 12, 13, 14, 219, 288)
#: What is not mended yet stands in the files themselves, as "open": why. Mend it, and drop the key.
KEPT = sorted(reproducers.FOLDER.glob("*.json"))


@pytest.mark.matrix(2)
@pytest.mark.parametrize("seed", SEEDS, ids=family_of)
def test_a_short_campaign(seed):
    outcome = run_seed(seed, rows=0.02)
    assert [shown[:2] for shown in outcome.shown] == []
    assert outcome.tally.counts["answers"] >= 16


def test_every_family_has_a_seed():
    assert [family_of(seed) for seed in SEEDS] == list(FAMILIES)


def _open(path):
    why = json.loads(path.read_text()).get("open")
    return pytest.param(path, marks=pytest.mark.xfail(reason=why, strict=True) if why else ())


@pytest.mark.parametrize("path", [_open(path) for path in KEPT], ids=[p.stem for p in KEPT])
def test_a_kept_failure_is_mended(path):
    assert reproducers.still_fails(path) is None


def test_a_failure_is_made_small_and_kept(tmp_path, monkeypatch):
    """A judge that dislikes large first features: one sample and one rule less are left."""
    rng = np.random.default_rng(0)
    model = written_logistic(rng.normal(size=(1, 4)), np.zeros(1))
    case = Case("linear", model, rng.normal(size=(6, 4)), NEGATIVE, [["frozen", 1]])
    place = int(case.X[:, 0].argmax())

    def dislikes(case, name, seed):
        return "too large" if (case.X[:, 0] == x).any() else None

    x = case.X[place, 0]
    monkeypatch.setattr(reproducers, "failure_of", dislikes)
    small, why = reproducers.minimal(case, "any", 0)
    assert (small.X.shape, small.rules, why) == ((1, 1), [], "too large")
    path = reproducers.save(small, "any judge", why, 7, tmp_path)
    again, record = from_json(path)
    assert (record["judge"], record["seed"], record["detail"]) == ("any judge", 7, "too large")
    assert (again.X == small.X).all()
    assert (again.model.predict(again.X) == small.model.predict(small.X)).all()


def test_single_precision_is_kept():
    model = written_logistic(np.ones((1, 2)), np.zeros(1))
    case = Case("linear", model, np.ones((1, 2)), NEGATIVE)
    for single in (case, replace(case, X=case.X.astype(np.float32))):
        assert json.loads(to_json(single, {}))["single"] == (single.X.dtype == np.float32)


def test_a_run_goes_on_where_the_last_one_ended(tmp_path, monkeypatch):
    """No time is left after the first seed; a torn line is left out."""
    results = tmp_path / "seeds.jsonl"
    monkeypatch.setattr("campaign.__main__._enough", frozenset)
    results.write_text(json.dumps({"seed": 26, "family": "LGMLVQ"}) + "\n" + '{"seed": 2')
    with results.open("a") as file:
        file.write("\n")
    run(minutes=0.0001, jobs=1, first=None, rows=0.02, results=results)
    seeds = [record["seed"] for record in report.read(results)]
    assert seeds[:2] == [26, 27]


def test_the_table_goes_into_a_page(tmp_path):
    page, results = tmp_path / "page.md", tmp_path / "seeds.jsonl"
    page.write_text(f"before\n{report.BEGIN}what was there\n{report.END}\nafter\n")
    record = {"seed": 3, "family": "QDA", "counts": {"answers": 1234}, "failures": []}
    results.write_text(json.dumps({**record, "date": "2026-01-02"}) + "\n")
    for _ in range(2):
        report.write(page, results)
        text = page.read_text()
        assert text.startswith("before\n" + report.BEGIN)
        assert text.endswith(report.END + "\nafter\n")
        assert "| QDA | 1 | 1,234 |" in text
        assert "what was there" not in text


def test_the_table_counts_by_family():
    counts = {"answers": 3, "predict: alone": 3, "law: batch = single": 2}
    record = {"seed": 0, "family": "linear", "counts": counts, "failures": [["predict", "x"]]}
    lines = report.table([record, {**record, "seed": 1}]).splitlines()
    assert lines[-1].split("|")[2:5] == [" 2 ", " 6 ", " 6 "]
    assert lines[-1].split("|")[-3:-1] == [" 4 ", " 2 "]
