"""Results judged again: bounds recomputed from the model and the certificates, without a solver."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Limits
from pertinent.questions.negative import negative_limits
from pertinent.questions.positive import PositiveQuestion, held_limits, positive_limits
from pertinent.setting.answers import Certified
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting


def recheck_negatives(
    prepared: Setting, negatives: Negatives, untouched: BoolArray | None = None
) -> FloatArray:
    """Return the lower bound that each row's certificate proves for its negative."""
    samples = negatives.table.values
    limits = negative_limits(prepared, negatives.table, untouched)
    margin = prepared.asked_margin
    return _bounds(prepared, negatives.certificates, samples, limits, margin)


def recheck_positives(
    prepared: Setting, question: PositiveQuestion, positives: Positives
) -> tuple[FloatArray, FloatArray]:
    """Return what the certificates prove: the bounds of phase 1 and of phase 2 (eq. 8)."""
    samples = positives.table.values
    question = question.in_precision_of(positives.table)
    margin = prepared.asked_margin
    lower, upper = positive_limits(prepared, positives.table, question)
    centers = np.broadcast_to(question.baseline, samples.shape)
    first = _bounds(prepared, positives.certificates, centers, (lower, upper), margin)
    off = np.abs(positives.sparse_values - question.baseline) <= question.off_tol
    held = off & positives.found[:, None]
    second = _bounds(
        prepared,
        positives.closeness_certificates,
        samples,
        held_limits(lower, upper, question, held),
        margin,
    )
    apart = np.abs(samples - question.baseline)
    spent = (np.where(held, prepared.weights, 0.0) * apart).sum(axis=1)
    return first, second - spent


def _bounds(
    prepared: Setting,
    certified: Sequence[Certified],
    centers: FloatArray,
    limits: Limits,
    margin: float,
) -> FloatArray:
    low, high = (np.broadcast_to(limit, centers.shape) for limit in limits)
    # No point within the limits is closer than the nearest one of them.
    outside = np.maximum(np.maximum(low - centers, centers - high), 0.0)
    proved: FloatArray = (prepared.weights * outside).sum(axis=1)
    for part in certified:
        if not len(part.rows):
            continue
        region = prepared.region(part.key, margin)
        rows = part.rows
        shown = part.certificate.bounds(
            region, centers[rows], prepared.weights, low[rows], high[rows]
        )
        proved[rows] = np.maximum(proved[rows], shown)
    return proved
