"""Where spans and boxes are cut, so that each part can be shown by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.proofs.boxes import Box
from pertinent.setting.ranges import Span
from pertinent.setting.setting import Setting


def parts_of(setting: Setting, point: FloatArray, span: Span) -> Iterator[Box]:
    """Yield boxes that cover a span: cut as it says, and wherever the number falls in other bins.

    A number so close to an edge that the model may put it in either bin belongs to both parts.
    """
    bins = [b for b in setting.features.bins if b.column == span.column]
    edges = [edge for b in bins for edge in b.edges.tolist() if span.low <= edge <= span.high]
    guard = max((b.guard for b in bins), default=0.0)
    inner = sorted({*(c for c in span.cuts if span.low < c < span.high), *edges})
    known = setting.features.domain()
    for first, last in zip([span.low, *inner], [*inner, span.high], strict=True):
        low, high = point.copy(), point.copy()
        low[span.column] = max(span.low, first - guard)
        high[span.column] = min(span.high, last + guard)
        if known is None or not bins:
            yield low, high
            continue
        # Which columns follow, by a number well within the bin; both sides of an edge are tried.
        for value in dict.fromkeys(_within(first, last, point[span.column])):
            middle = point.copy()
            middle[span.column] = value
            follow = known.completed(middle[None])[0]
            ends = [known.completed(end[None])[0] for end in (low, high)]
            moves = [b.excess for b in bins if b.excess is not None]
            for end, own in zip((low, high), ends, strict=True):
                hidden = setting.features.hidden
                end[hidden] = follow[hidden]
                end[moves] = own[moves]
            yield low.copy(), high.copy()


def is_cut(spans: tuple[Span, ...]) -> bool:
    """Return whether a span says where it is to be cut."""
    return any(span.cuts for span in spans)


def sides_of(span: Span) -> list[Span]:
    """Return the parts that a side of a box is cut into."""
    inner = sorted({c for c in span.cuts if span.low < c < span.high})
    ends = zip([span.low, *inner], [*inner, span.high], strict=True)
    return [Span(span.column, first, last) for first, last in ends]


def _within(first: float, last: float, own: float) -> list[float]:
    """Return a number between two edges, and the edges themselves where there is none."""
    if first < own < last:
        return [own]
    if np.isinf(first) or np.isinf(last):
        return [last - 1.0 - abs(last) if np.isinf(first) else first + 1.0 + abs(first)]
    middle = first + (last - first) / 2
    return [middle] if first < middle < last else [first, last]
