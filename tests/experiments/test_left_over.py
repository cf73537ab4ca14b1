"""What is left between the paper's table and ours: the explanations that the page gives."""

import numpy as np
import pytest

from experiments import left_over


def test_the_papers_overlap_is_what_its_positives_keep():
    """For every cell but those of GLVQ, whose negatives were not all found."""
    cells = {(r["data"], r["model"]): r for r in left_over.overlap_table()}
    for (_, model), cell in cells.items():
        if model != "GLVQ":
            assert cell["overlap"] == pytest.approx(cell["kept"], abs=1e-9)
    assert cells["wine", "GLVQ"]["overlap"] == pytest.approx(28 * 2 / 51, abs=5e-3)


def test_a_solver_changes_every_feature():
    for record in left_over.changed_by_solver(most=3):
        assert record["overlap, not 0"] == record["kept"]
        assert record["overlap, more than 0.001"] == record["ours"]


def test_folds_as_logged_are_closer():
    """The logged folds hold all samples, each once, and bring the paper's closeness into reach."""
    for record in left_over.closeness_table(repetitions=12):
        assert np.mean(record["folds as logged"]) < np.mean(record["stratified, all samples"]) - 0.1
        low, high = min(record["folds as logged"]), max(record["folds as logged"])
        assert low < record["paper"] < high
    for data, (counts, _) in left_over.LOGGED.items():
        _, y = left_over.DATA[data]()
        assert np.sum(counts, axis=0).tolist() == np.bincount(y).tolist()
        parts = left_over.shares_as_logged(np.random.default_rng(0), y, data)
        assert np.sort(np.concatenate(parts)).tolist() == list(range(len(y)))
