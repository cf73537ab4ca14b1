"""Groups of different sizes, reduced for many boxes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Layers:
    """Members of groups; member k of every group that has one is *layer* k.

    Groups are sorted by size, the largest first: then layer k belongs to the first groups, and one
    operation on two blocks of memory adds it to all of them. With many boxes side by side this is
    several times as fast as `numpy.ufunc.reduceat`.

    Parameters
    ----------
    members : tuple of ndarray of int
        The members of each layer.
    place : ndarray of int, shape (n_groups,)
        The place of each group in the order of sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.proofs.ensembles.layers import Layers
    >>> pairs = Layers.of(np.array([0, 1, 1]), 3)
    >>> pairs.reduce(np.add, np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), 0.0)
    array([[ 1., 10.],
           [ 5., 50.],
           [ 0.,  0.]])
    """

    members: tuple[IntArray, ...]
    place: IntArray

    @classmethod
    def of(cls, group: IntArray, n_groups: int) -> Layers:
        """Return the layers of members of which each is in one group."""
        size = np.bincount(group, minlength=n_groups)
        order, start = np.argsort(group, kind="stable"), np.cumsum(size) - size
        largest = np.argsort(-size, kind="stable")
        place = np.empty(n_groups, dtype=np.int64)
        place[largest] = np.arange(n_groups)
        top = int(size.max(initial=0))
        count = n_groups - np.searchsorted(np.sort(size), np.arange(top), side="right")
        members = tuple(order[start[largest[:m]] + k] for k, m in enumerate(count.tolist()))
        return cls(members, place)

    def reduce(self, combine: np.ufunc, values: NDArray[Any], empty: Any) -> NDArray[Any]:
        """Return what each group comes to in each box, shape (n_groups, n_boxes).

        ``values`` has shape (n_members, n_boxes); ``empty`` is what a group begins with.
        """
        out = np.full((len(self.place), values.shape[1]), empty, dtype=values.dtype)
        for member in self.members:
            some = out[: len(member)]
            combine(some, values[member], out=some)
        return np.asarray(out[self.place])
