"""What the model predicts of every served row, filled in behind the first answers."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.models.registry import predicted_labels

#: Rows predicted at a time; small enough that other threads get their turn.
CHUNK = 10_000


class Scores:
    """Predicted class and probability of each row, computed by a thread of its own.

    Attributes
    ----------
    label : ndarray of int, shape (n,)
        Place of the predicted class; -1 where it is not known yet, or cannot be predicted.
    score : ndarray of float, shape (n,)
        Probability of the predicted class; NaN where the model has none.
    done : int
        How many rows are done, from the first one on.
    """

    def __init__(self, model: Foreign, data: Any, classes: list[Any]) -> None:
        self._model, self._data, self._classes = model, data, classes
        count = 0 if data is None else len(data)
        self.label: IntArray = np.full(count, -1, dtype=np.int64)
        self.score: FloatArray = np.full(count, np.nan)
        self.done = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def progress(self) -> float:
        """The share of rows that are done."""
        return self.done / len(self.label) if len(self.label) else 1.0

    def start(self) -> None:
        """Begin, or go on, in a thread."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._fill, name="scores", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def wait(self, timeout: float) -> bool:
        """Return whether all rows are done within some seconds."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self.done == len(self.label)

    def _fill(self) -> None:
        for start in range(0, len(self.label), CHUNK):
            if self._stop.wait(0.001):
                return
            self._predict(start, min(start + CHUNK, len(self.label)))
            self.done = min(start + CHUNK, len(self.label))

    def _predict(self, start: int, stop: int) -> None:
        """Fill in some rows; where the model refuses them, half by half down to single rows."""
        rows = (
            self._data.iloc[start:stop] if hasattr(self._data, "iloc") else self._data[start:stop]
        )
        try:
            place = places_of(predicted_labels(self._model, rows), self._classes)
            chance = chances_of(self._model, rows)
        except (ValueError, TypeError):  # such as a missing value that the model does not take
            if stop - start > 1:
                middle = (start + stop) // 2
                self._predict(start, middle)
                self._predict(middle, stop)
            return
        self.label[start:stop] = place
        if chance is not None:
            self.score[start:stop] = chance[np.arange(stop - start), place]


def places_of(labels: Any, classes: list[Any]) -> IntArray:
    """Return the place of each label among the classes."""
    known = np.asarray(classes)
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(known, labels, sorter=order)], dtype=np.int64)


def chances_of(model: Foreign, rows: Any) -> FloatArray | None:
    """Return the probability of each class of some rows; None where the model has none."""
    ask = getattr(model, "predict_proba", None)
    return None if ask is None else np.asarray(ask(rows), dtype=float)
