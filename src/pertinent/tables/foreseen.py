"""What a model says of points of one sample: asked together, told of each as if it were alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray

#: Numbers beyond this are left to who needs them: a model may refuse them.
LARGEST_FORESEEN = 1e100


@dataclass(eq=False)
class Foreseen:
    """The predictions of points that are known, by their numbers."""

    known: dict[bytes, int] = field(default_factory=dict)

    def note(self, points: FloatArray, places: IntArray) -> None:
        """Note what points are predicted as."""
        for point, place in zip(points, places.tolist(), strict=True):
            self.known[point.tobytes()] = place

    def of(self, points: FloatArray) -> IntArray | None:
        """Return what all points are predicted as; None unless each is known."""
        found = [self.known.get(point.tobytes()) for point in points]
        places = [place for place in found if place is not None]
        return np.array(places, dtype=np.int64) if len(places) == len(found) else None

    def missing(self, points: FloatArray) -> FloatArray:
        """Return the points that are not known yet, each once, without NaN and huge numbers."""
        usual = points[(np.abs(points) < LARGEST_FORESEEN).all(axis=1)]
        new = {point.tobytes(): point for point in usual if point.tobytes() not in self.known}
        return np.array(list(new.values())).reshape(len(new), points.shape[1])
