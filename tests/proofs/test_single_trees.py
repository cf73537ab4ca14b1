"""Single steps of the check of sums of trees: whatever a proof says, no point is lost."""

import numpy as np
import pytest

from tests.proofs.small_trees import drawn_proof, drawn_task
from tests.solvers.every_cell import least_cost

KINDS = ["plain", "bounds", "margin", "three", "groups", "whole", "changes", "changes whole",
         "groups changes"]  # fmt: skip


@pytest.mark.parametrize("weights", [True, False], ids=["stated", "guessed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_above_the_truth_is_not_confirmed(kind, weights):
    confirmed = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        task = drawn_task(rng, kind)
        best = least_cost(task.region, task, 0)
        for claim in (best * 1.01, best + 5.0, np.inf):
            proved = drawn_proof(rng, task, claim, weights).bounds(task)[0]
            assert proved <= best * (1 + 1e-12), (seed, claim)
        proved = drawn_proof(rng, task, best, weights).bounds(task)[0]
        assert proved == pytest.approx(best, rel=1e-9), seed
        confirmed += best > 0
    assert confirmed > 5
