"""Why there is no answer: the rules that a proof of infeasibility rests on, in words."""

from __future__ import annotations

import numpy as np

from pertinent._typing import FloatArray
from pertinent.certificate import Certificate, LinearProofs
from pertinent.constraints import Constraints
from pertinent.features import Features
from pertinent.regions import Region


def why_infeasible(
    certificate: Certificate,
    region: Region,
    lower: FloatArray,
    upper: FloatArray,
    asked: str,
    features: Features,
    constraints: Constraints,
) -> str:
    """Return one sentence naming the limits that the proof of one row uses.

    A Farkas ray adds up rows of the region with slopes ``a``; it proves emptiness with the lower
    limit of the features with ``a_i > 0`` and the upper limit of those with ``a_i < 0``.
    """
    if not len(region):
        return f"no point {asked}: the model never predicts it"
    sides = _contradictory(lower, upper)
    if not sides:
        for block in certificate.blocks:
            if isinstance(block.proofs, LinearProofs) and block.proofs.ray.any():
                G = region.cells[block.piece].G
                slopes = np.maximum(block.proofs.multipliers, 0.0) @ G
                size = np.abs(slopes).max(initial=0.0)
                for i in np.flatnonzero(np.abs(slopes[0]) > 1e-12 * size):
                    sides.add((int(i), "low" if slopes[0][i] > 0 else "high"))
    if not sides:
        return f"no point {asked}: its conditions contradict each other for this model"
    known = constraints.named_limits(features)
    words = {word for side in sides for word in known.get(side, [_plain(side, features)])}
    return f"no point {asked} and obeys: {'; '.join(sorted(words))}"


def _contradictory(lower: FloatArray, upper: FloatArray) -> set[tuple[int, str]]:
    crossed = np.flatnonzero(lower > upper)
    return {(int(i), side) for i in crossed for side in ("low", "high")}


def _plain(side: tuple[int, str], features: Features) -> str:
    end = "lower" if side[1] == "low" else "upper"
    return f"{end} limit of {features.names[side[0]]}"
