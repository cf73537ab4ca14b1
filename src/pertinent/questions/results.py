"""One builder for the results of questions that count features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.proofs import FEASIBLE
from pertinent.setting.answers import Certified
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.results import Alternative, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def positives_by_number(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    method: Method,
    points: FloatArray,
    kept: BoolArray,
    status: IntArray,
    claimed: FloatArray,
    *,
    reasons: NDArray[np.object_],
    unique: IntArray | CodeArray,
    certificates: tuple[Certified, ...],
    closeness: FloatArray | None = None,
    closeness_bound: FloatArray | None = None,
    closeness_certificates: tuple[Certified, ...] = (),
    alternatives: tuple[tuple[Alternative, ...], ...] = (),
) -> Positives:
    """Return positives whose objective is the number of features that they keep.

    ``claimed`` is the number of features claimed to be necessary, ``inf`` where no number will do;
    ``kept`` is looked at only where there is a point. The others are as in `Positives`; by default
    kept values are the sample's own, at distance 0.
    """
    found = np.asarray(status <= FEASIBLE)
    kept = kept & found[:, None]
    size = np.where(found, kept.sum(axis=1).astype(float), np.nan)
    return Positives(
        table=table,
        classes=setting.classes,
        values=points,
        status_code=status.astype(np.int8),
        reasons=reasons,
        unique_code=unique.astype(np.int8),
        label=labels,
        objective=size,
        bound=np.where(found, np.fmin(claimed, size), claimed),
        second={},
        sparse_values=points,
        closeness=np.where(found, 0.0, np.nan) if closeness is None else closeness,
        closeness_bound=np.zeros(len(table)) if closeness_bound is None else closeness_bound,
        kept=kept,
        trivial=found & (size == 0),
        baseline=question.baseline,
        certificates=certificates,
        closeness_certificates=closeness_certificates,
        method=method,
        alternatives=alternatives,
    )
