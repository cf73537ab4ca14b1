"""One answer of `pertinent_positives` or `pertinent_negatives`, as plain values for a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.gaps import GAP_NONCONVEX
from pertinent.rules.wording import Wording
from pertinent.setting.answers import are_trusted
from pertinent.setting.question import Method, Norm
from pertinent.setting.results import Negatives, Positives
from pertinent.summary.summary import Summary
from pertinent.summary.words import Said
from pertinent.tables.raw import Raw, raw_rows


@dataclass(frozen=True)
class Chosen:
    """Features that are kept or changed, by their places, and the point they are of."""

    features: tuple[int, ...]
    point: Sequence[Raw]
    proved: bool = True


@dataclass(frozen=True)
class Answer:
    """One row of positives or negatives, decoded.

    Attributes
    ----------
    method : str
        How a positive was asked for; "" for a negative.
    fewest : bool
        Whether the number of features is what counts.
    status : str
    reason : str or None
    label, target : str
        The prediction, and the class reached, as they are called.
    features : list of dict
        ``text``, ``unit``, ``sample`` and ``baseline`` of each.
    chosen : Chosen
    others : tuple of Chosen
        The alternatives, in order.
    objective, bound, closeness, closeness_bound : float
    proved_number : bool
        Whether it is proved that fewer features will not do.
    fallback : bool
    """

    method: str
    fewest: bool
    status: str
    reason: str | None
    label: str
    target: str
    features: list[Summary]
    chosen: Chosen
    others: tuple[Chosen, ...]
    objective: float
    bound: float
    closeness: float
    closeness_bound: float
    proved_number: bool
    fallback: bool

    @property
    def proved_closeness(self) -> bool:
        """Whether it is proved that no other set of that many features comes closer."""
        met = self.closeness_bound >= self.closeness * (1 - GAP_NONCONVEX)
        return self.status == Said.OPTIMAL or (self.proved_number and met)


def summarize_answer(
    results: Positives | Negatives, row: int = 0, wording: Wording | None = None
) -> Answer:
    """Return one positive or negative as plain values, whichever method it was asked with."""
    if not -len(results) <= row < len(results):
        raise IndexError(f"There are {len(results)} answers; got index {row}.")
    row, called = row % len(results), wording or Wording()
    table = results.table.take(np.array([row]))
    names, sample = table.features.names, raw_rows(table, table.values)[0]
    if isinstance(results, Positives):
        mask, place, method = results.kept, results.label[row], str(results.method)
        fewest, fallback = results.method is not Method.TWO_PHASE, bool(results.fallback[row])
    else:
        mask, place, method = results.changed, results.target_place[row], ""
        fewest, fallback = results.norm is Norm.L0, False

    def chosen(features: BoolArray, values: FloatArray, proved: bool) -> Chosen:
        point = raw_rows(table, values[None])[0]
        return Chosen(tuple(np.flatnonzero(features).tolist()), point, proved)

    def label(place: int) -> str:
        return "another class" if place < 0 else called.label(results.classes.tolist()[place])

    rest = sample
    if isinstance(results, Positives):
        rest = raw_rows(table, np.broadcast_to(results.baseline, table.values.shape))[0]
    return Answer(
        method=method,
        fewest=fewest,
        status=str(results.status[row]),
        reason=results.reason[row],
        label=label(int(results.label[row])),
        target=label(int(place)),
        features=[
            {
                "text": called.feature(name),
                "unit": called.units.get(name),
                "sample": own,
                "missing": bool(gone),
                "baseline": base,
            }
            for name, own, gone, base in zip(names, sample, table.missing[0], rest, strict=True)
        ],
        chosen=chosen(mask[row], results.values[row], True),
        others=tuple(chosen(a.features, a.values, a.proved) for a in results.alternatives[row]),
        objective=float(results.objective[row]),
        bound=float(results.bound[row]),
        closeness=float(results.closeness[row]),
        closeness_bound=float(results.closeness_bound[row]),
        proved_number=_is_number_proved(results, row),
        fallback=fallback,
    )


def _is_number_proved(results: Positives | Negatives, row: int) -> bool:
    if results.status[row] == Said.OPTIMAL:
        return True
    met = bool(results.bound[row] >= results.objective[row])
    return met and are_trusted(results.certificates, row)
