"""Groups of rows compared: who has an answer, what it costs, and how sure the gap is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.proofs import ALREADY
from pertinent.setting.results import Negatives
from pertinent.summary.words import percent

#: Samples that are drawn, their seed, and the share of them within an interval.
DRAWS, SEED, WITHIN = 1000, 0, 0.95
#: Rows of a group that are named, and features of its changes.
MOST_IDS, MOST_LEVERS = 100, 5
#: A group of fewer rows is shown, and not compared.
FEWEST = 5


def cohort_answer(
    negative: Negatives,
    names: Sequence[str],
    ids: Sequence[Any],
    groups: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return each group with its share of answers and its median cost, and the largest gap.

    Parameters
    ----------
    negative : Negatives
        Of all rows.
    names : sequence of str
        The features.
    ids : sequence
        Of all rows.
    groups : sequence of mapping
        ``words``, ``filters`` and ``places``, the rows that belong to it.
    """
    answered = negative.found | (negative.status_code == ALREADY)
    cost = np.where(negative.status_code == ALREADY, 0.0, negative.objective)
    random = np.random.default_rng(SEED)
    told, drawn = [], []
    for group in groups:
        rows = np.asarray(group["places"], dtype=np.int64)
        draws = _draws(random, answered[rows], cost[rows])
        told.append(_group(negative, names, ids, group, rows, answered, cost, draws))
        drawn.append(draws)
    gap = _gap(told, drawn)
    return {"rows": len(negative), "groups": told, "gap": gap, "words": _words(gap)}


def _draws(random: Any, answered: Any, cost: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return shares that may be, and median costs of samples of a group with replacement.

    Of k answers in n rows shares are drawn from Beta(k + 1/2, n - k + 1/2) (Jeffreys): samples of
    5 in 5 would all be 5 in 5, as if 5 rows told everything.
    """
    if not len(answered):
        return np.full(DRAWS, np.nan), np.full(DRAWS, np.nan)
    chosen = random.integers(0, len(answered), (DRAWS, len(answered)))
    known = np.where(answered, cost, np.nan)[chosen]
    empty = np.isnan(known).all(axis=1)
    known[empty] = 0.0
    medians = np.where(empty, np.nan, np.nanmedian(known, axis=1))
    count = np.count_nonzero(answered)
    return random.beta(count + 0.5, len(answered) - count + 0.5, DRAWS), medians


def _group(
    negative: Negatives, names: Sequence[str], ids: Sequence[Any], group: Mapping[str, Any],
    rows: Any, answered: Any, cost: FloatArray, draws: tuple[FloatArray, FloatArray],
) -> dict[str, Any]:  # fmt: skip
    found = rows[answered[rows]]
    share_low, share_high = _interval(draws[0])
    median_low, median_high = _interval(draws[1])
    changed = Counter(
        names[j] for row in found for j in np.flatnonzero(negative.changed[row]).tolist()
    )
    return {
        "words": group["words"],
        "filters": list(group["filters"]),
        "n": len(rows),
        "answered": len(found),
        "share": len(found) / len(rows) if len(rows) else None,
        "share_low": share_low,
        "share_high": share_high,
        "median_cost": float(np.median(cost[found])) if len(found) else None,
        "median_low": median_low,
        "median_high": median_high,
        "levers": [
            {"feature": name, "share": count / len(found)}
            for name, count in changed.most_common(MOST_LEVERS)
        ],
        "ids": [
            {"id": ids[row], "cost": float(cost[row]) if answered[row] else None}
            for row in rows[:MOST_IDS]
        ],
    }


def _interval(draws: FloatArray) -> tuple[float | None, float | None]:
    known = draws[~np.isnan(draws)]
    if not len(known):
        return None, None
    tail = (1 - WITHIN) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def _gap(
    told: list[dict[str, Any]], drawn: list[tuple[FloatArray, FloatArray]]
) -> dict[str, Any] | None:
    """Return the gap between the groups that have answers most and least often."""
    compared = [k for k, group in enumerate(told) if group["n"] >= FEWEST]
    if len(compared) < 2:
        return None
    dear = {
        k: np.inf if told[k]["median_cost"] is None else told[k]["median_cost"] for k in compared
    }
    best = max(compared, key=lambda k: (told[k]["share"], -dear[k]))
    worst = min(compared, key=lambda k: (told[k]["share"], -dear[k]))
    if best == worst:
        return None
    return {
        "best": told[best]["words"],
        "worst": told[worst]["words"],
        "share": _difference(
            told[best]["share"], told[worst]["share"], drawn[best][0], drawn[worst][0]
        ),
        "cost": _difference(
            told[worst]["median_cost"], told[best]["median_cost"], drawn[worst][1], drawn[best][1]
        ),
    }


def _difference(
    more: float | None, less: float | None, of_more: FloatArray, of_less: FloatArray
) -> dict[str, Any]:
    low, high = _interval(of_more - of_less)
    known = more is not None and less is not None
    return {"difference": more - less if known else None, "low": low, "high": high}  # type: ignore[operator]


def _words(gap: Mapping[str, Any] | None) -> str:
    if gap is None:
        return "There are no two groups to compare."
    share = gap["share"]
    sure = share["low"] is not None and (share["low"] > 0 or share["high"] < 0)
    said = "which is more than chance explains" if sure else "which may be chance"
    return (
        f"{gap['best']} have an answer {percent(share['difference'])} more often than "
        f"{gap['worst']}, {said} (95% interval {percent(share['low'])} to "
        f"{percent(share['high'])})."
    )
