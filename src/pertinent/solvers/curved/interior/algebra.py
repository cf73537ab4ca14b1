"""The algebra of the second-order cone ``v0 >= |v1|``, for many vectors at once.

With ``J = diag(1, -1, .., -1)`` a vector is inside the cone where ``v'Jv > 0`` and ``v0 > 0``.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray


class Scaling:
    """The Nesterov-Todd scaling W of a second-order cone: ``W z = u / W``."""

    def __init__(self, u: FloatArray, z: FloatArray) -> None:
        size_u, size_z = np.sqrt(form(u)), np.sqrt(form(z))
        u, z = u / size_u[:, None], z / size_z[:, None]
        self.size = np.sqrt(size_u / size_z)
        mirrored = z.copy()
        mirrored[:, 1:] *= -1
        half = np.sqrt((1 + (u * z).sum(axis=1)) / 2)
        self.w = (u + mirrored) / (2 * half[:, None])
        self.point = self.times(z) * size_z[:, None]

    def times(self, v: FloatArray) -> FloatArray:
        """Return W v."""
        return self.size[:, None] * self._apply(v, 1.0)

    def over(self, v: FloatArray) -> FloatArray:
        """Return the inverse of W, times v."""
        return self._apply(v, -1.0) / self.size[:, None]

    def _apply(self, v: FloatArray, sign: float) -> FloatArray:
        w0, w1 = self.w[:, :1], sign * self.w[:, 1:]
        inner = (w1 * v[:, 1:]).sum(axis=1, keepdims=True)
        first = w0 * v[:, :1] + inner
        rest = v[:, 1:] + (v[:, :1] + inner / (1 + w0)) * w1
        return np.concatenate([first, rest], axis=1)

    def squared(self) -> FloatArray:
        """Return W^2 = size^2 (2 w w' - J)."""
        out = 2 * self.w[:, :, None] * self.w[:, None, :]
        here = np.arange(1, out.shape[1])
        out[:, 0, 0] -= 1.0
        out[:, here, here] += 1.0
        return np.asarray(out * (self.size**2)[:, None, None])


def form(v: FloatArray) -> FloatArray:
    """Return v'Jv, positive inside the cone."""
    tail = np.linalg.norm(v[:, 1:], axis=1)
    return np.asarray((v[:, 0] - tail) * (v[:, 0] + tail))


def jordan(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the product (a'b, a0 b1 + b0 a1) of the cone's algebra."""
    out = a[:, :1] * b + b[:, :1] * a
    out[:, 0] = (a * b).sum(axis=1)
    return out


def divide(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return x with a x = b in the cone's algebra."""
    first = (a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(axis=1)) / form(a)
    rest = (b[:, 1:] - first[:, None] * a[:, 1:]) / a[:, :1]
    return np.concatenate([first[:, None], rest], axis=1)


def cone_room(at: FloatArray, change: FloatArray) -> FloatArray:
    """Return the largest t that keeps at + t change in the cone."""
    # The first root of  a t^2 + 2 b t + c = 0,  c = at'J at > 0.
    a = signed_form(change, change)
    b, c = signed_form(at, change), form(at)
    bottom = -b + np.sqrt(b * b - a * c)
    return np.asarray(np.where(bottom > 0, c / bottom, np.inf))


def signed_form(v: FloatArray, w: FloatArray) -> FloatArray:
    """Return ``v0 w0 - v1'w1`` of each row."""
    return np.asarray(v[:, 0] * w[:, 0] - (v[:, 1:] * w[:, 1:]).sum(axis=1))
