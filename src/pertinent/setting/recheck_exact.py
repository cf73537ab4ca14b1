"""Exact answers judged again: bounds recomputed from the model and the certificates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.proofs import FewestProofs
from pertinent.questions.counted import is_mixed, recheck_counted
from pertinent.questions.effort import ExactQuestion
from pertinent.questions.negative import negative_limits
from pertinent.questions.positive import positive_limits
from pertinent.questions.strict import strict_limits
from pertinent.questions.sufficient.sufficient import proof_margin, sufficient_limits
from pertinent.setting.answers import Certified
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting


def recheck_exact_positives(
    prepared: Setting, question: ExactQuestion, positives: Positives
) -> tuple[FloatArray, FloatArray]:
    """Return the proved number of features, and the proved closeness, of each sample.

    For the methods "strict", "exact" and "sufficient". No solver is called.
    """
    samples = positives.table.values
    if positives.method == "sufficient":
        limits = sufficient_limits(prepared, positives.table, question)
    elif positives.method == "strict":
        limits = strict_limits(prepared, positives.table, question)
    else:
        limits = positive_limits(prepared, positives.table, question)
    margin = prepared.asked_margin
    if positives.method == "sufficient":
        parts = [([part], proof_margin(prepared, part.key[0])) for part in positives.certificates]
        proved = [_bounds(prepared, one, samples, limits, m) for one, m in parts]
        # Each proof stands for itself: the same one twice proves no more than once.
        size = np.max([np.zeros(len(samples)), *proved], axis=0)
        return size, np.zeros(len(samples))
    size = _bounds(prepared, positives.certificates, samples, limits, margin)
    close = _bounds(prepared, positives.closeness_certificates, samples, limits, margin)
    return size, close


def recheck_few_changes(prepared: Setting, negatives: Negatives) -> FloatArray:
    """Return what the certificates of ``norm="l0"`` or ``max_changes`` prove of the objective."""
    samples = negatives.table.values
    if negatives.norm == "l0" and is_mixed(prepared, negatives.table) and not _of_sets(negatives):
        return recheck_counted(prepared, negatives)
    limits = negative_limits(prepared, negatives.table)
    return _bounds(prepared, negatives.certificates, samples, limits, prepared.asked_margin)


def _of_sets(negatives: Negatives) -> bool:
    """Return whether certificates speak of sets of features, as they do with alternatives."""
    blocks = [block for part in negatives.certificates for block in part.certificate.blocks]
    return all(isinstance(block.proofs, FewestProofs) for block in blocks)


def _bounds(
    prepared: Setting,
    certified: Sequence[Certified],
    samples: FloatArray,
    limits: tuple[FloatArray, FloatArray],
    margin: float,
) -> FloatArray:
    low, high = (np.broadcast_to(limit, samples.shape) for limit in limits)
    proved = np.zeros(len(samples))
    for part in certified:
        region = prepared.region(part.key, margin)
        rows = part.rows
        if len(rows):
            proved[rows] = part.certificate.bounds(
                region, samples[rows], prepared.weights, low[rows], high[rows]
            )
    return proved
