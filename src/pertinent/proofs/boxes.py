"""Whether every point of a box is surely of a class.

A box ``low <= x <= high`` (infinite ends allowed, most columns with ``low = high``) lies in a piece
of a region if each row of the piece holds at the box's worst point by more than it may be rounded:

- *linear rows*: ``G (x - o) + unit terms (|x|, 1)`` is convex, column by column, so that its
  largest value over a box is a sum of values at ends. This is exact.
- *quadratic rows*: exact in one column, and in many where the row does not mix them; else by the
  corners (convex rows), by all faces (few columns), or term by term, which is a bound.
- *exponential rows*: convex. Exact in one column, term by term in several.
- *rows over bent columns*: each curve rises or falls, and is largest at an end; column by column,
  term by term, which is a bound.

Several pieces together: a box may be cut, and each part must lie in some piece.

Plain code on purpose: whoever looks for large boxes does it elsewhere, with code of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from pertinent.geometry.affine import BentRows, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.cell import Exponential
from pertinent.geometry.quadratic import Quadratic, Squares, Sums
from pertinent.geometry.rounding import Leading, MarginRows
from pertinent.proofs.tolerances import LOGARITHMS

#: A box is cut into at most so many parts.
MOST_PARTS = 4000
#: Corners and faces are looked at one by one up to so many columns.
MOST_CORNERS, MOST_FACES = 10, 5
#: A part at most so many units of rounding thick is left to the model: see `gaps`.
SLIVER = 4

Box = tuple[FloatArray, FloatArray]
Groups = Sequence[IntArray]


def lies_in(
    piece: MarginRows, low: FloatArray, high: FloatArray, unit: float, groups: Groups = ()
) -> bool:
    """Return whether a box lies in a piece, each row by more than ``unit`` times its terms.

    Parameters
    ----------
    piece : MarginRows
    low, high : ndarray of shape (n_columns,)
    unit : float
        ``(d + 4) u``: see `pertinent.geometry.rounding`.
    groups : sequence of ndarray of int
        Columns of which one is 1 and all others are 0: no other point of the box counts.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.cell import Cell
    >>> from pertinent.geometry.rounding import MarginRows
    >>> below = MarginRows.as_written(Cell(np.array([[1.0, 1.0]]), np.array([3.0])))
    >>> lies_in(below, np.array([-np.inf, 0.0]), np.array([1.0, 1.0]), 1e-15)
    True
    >>> lies_in(below, np.array([-np.inf, 0.0]), np.array([2.0, 1.5]), 1e-15)
    False
    """
    if not (low <= high).all():
        return False  # ends that are no numbers, perhaps from a file
    if piece.ends is not None and ((low < piece.ends[0]) | (high > piece.ends[1])).any():
        return False
    if len(piece.G) and not (_worst_linear(piece, low, high, unit, groups) <= piece.h).all():
        return False
    if not all(worst_quadratic(row, low, high, unit) <= 0 for row, _ in piece.curved):
        return False
    for block, _ in piece.bent:
        if not (_worst_bent(block, low, high, 2 * unit, groups) <= block.h).all():
            return False
    return all(_worst_exponential(bend, low, high) <= -LOGARITHMS for bend in piece.bends)


def _worst_bent(
    block: BentRows, low: FloatArray, high: FloatArray, unit: float, groups: Groups
) -> FloatArray:
    """Return the largest left-hand side of each row, with what it may be rounded by."""
    dim, ones = block.dim, np.ones(len(block))
    flat = np.hstack([block.terms[:, :dim], block.terms[:, -1:]])
    piece = MarginRows(block.G, block.h, flat, ones, (), None)
    most = _worst_linear(piece, low, high, unit, groups)
    for m, curve in enumerate(block.curves):
        at = curve(np.array([low[curve.column], high[curve.column]]))
        B, size = block.B[:, [m]], unit * block.terms[:, [dim + m]]
        with np.errstate(invalid="ignore"):
            value = np.where(B == 0, 0.0, B * at) + np.where(
                size == 0, 0.0, size * (np.abs(at) + curve.beside)
            )
        most = most + value.max(axis=1)  # NaN, where no curve is defined, shows nothing
    return np.asarray(most)


def _worst_linear(
    piece: MarginRows, low: FloatArray, high: FloatArray, unit: float, groups: Groups
) -> FloatArray:
    """Return the largest left-hand side of each linear row, with what it may be rounded by."""
    origin = np.zeros(len(low)) if piece.origin is None else piece.origin
    slopes, constant = unit * piece.terms[:, :-1], unit * piece.terms[:, -1]
    corners = None if piece.sums is None else _corners(low, high)
    if piece.sums is not None and corners is not None:
        # Linear, and squares of what grows with a distance: convex, largest at a corner.
        value = row_products(corners - origin, piece.G) + row_products(np.abs(corners), slopes)
        value += 2 * unit * piece.sums(corners)[:, None]
        return np.asarray(value.max(axis=0) + constant)
    at_low = _at_end(piece.G, slopes, low, origin, -1.0)
    at_high = _at_end(piece.G, slopes, high, origin, 1.0)
    most = np.maximum(at_low, at_high).sum(axis=1) + constant
    if len(groups):
        most = most + _most_by_groups(at_low, at_high, high, groups)
    if piece.sums is not None:
        most = most + 2 * unit * _most_added_up(piece.sums, low, high)
    return np.asarray(most)


def _most_by_groups(
    at_low: FloatArray, at_high: FloatArray, high: FloatArray, groups: Groups
) -> FloatArray:
    """Return what is left of each row, added up over groups, if one column of each is 1.

    All are at 0, but for the one that gains most by it; if none may be 1, all are.
    """
    columns, starts = np.concatenate(groups), np.cumsum([0, *map(len, groups[:-1])])
    low, top = at_low[:, columns], np.maximum(at_low, at_high)[:, columns]
    can = high[columns] >= 1
    gain = np.where(can, at_high[:, columns] - low, -np.inf)
    most = np.maximum.reduceat(gain, starts, axis=1)
    most = np.where(np.maximum.reduceat(can, starts), most, 0.0)
    return np.asarray((most + np.add.reduceat(low - top, starts, axis=1)).sum(axis=1))


def _corners(low: FloatArray, high: FloatArray) -> FloatArray | None:
    """Return the corners of a box; None where they are too many, or infinitely far."""
    free = np.flatnonzero(low < high)
    if len(free) > MOST_CORNERS or not (np.isfinite(low).all() and np.isfinite(high).all()):
        return None
    corners = np.repeat(low[None], 2 ** len(free), axis=0)
    ends = product(*((low[j], high[j]) for j in free))
    corners[:, free] = np.array(list(ends)).reshape(len(corners), len(free))
    return corners


def _at_end(
    G: FloatArray, slopes: FloatArray, end: FloatArray, origin: FloatArray, sign: float
) -> FloatArray:
    """Return ``G_i (x_i - o_i) + slopes_i |x_i|`` at one end; at infinity it may be infinite."""
    finite = np.isfinite(end)
    x = np.where(finite, end, 0.0)
    value = G * (x - origin) + slopes * np.abs(x)
    # Where it falls towards infinity the other end is the larger one. Where it does neither, as in
    # columns of no weight, it stays what it is.
    rate = sign * G + slopes
    far = np.where(rate > 0, np.inf, np.where(rate < 0, -np.inf, -G * origin))
    return np.asarray(np.where(finite, value, far))


def _most_added_up(sums: Sums, low: FloatArray, high: FloatArray) -> float:
    """Return the largest ``sums(x)``: each part of it grows with the distance to its origin."""
    total = float(sums.slopes @ np.maximum(np.abs(low), np.abs(high))) if sums.slopes.any() else 0.0
    return total + sums.constant + sum(_most_square(one, low, high) for one in sums.squares)


def _most_square(square: Squares, low: FloatArray, high: FloatArray) -> float:
    away = np.maximum(np.abs(low - square.origin), np.abs(high - square.origin))
    S = np.diag(square.S) if square.S.ndim == 1 else square.S
    used = (S != 0).any(axis=0)
    image = S[:, used] @ away[used] + square.s
    return float(image @ image)


# -- Quadratic rows --------------------------------------------------------------------------


def worst_quadratic(row: Quadratic, low: FloatArray, high: FloatArray, unit: float) -> float:
    """Return a number that the row's left-hand side, with its rounding, nowhere exceeds."""
    free = np.flatnonzero(low < high)
    A = row.A[np.ix_(free, free)]
    corners = _corners(low, high)
    if corners is not None and (
        row.is_convex or (len(free) == 1 and A[0, 0] >= 0) or not len(free)
    ):
        # Convex, and so is what is added up: largest at a corner.
        return float((row.value(corners) + unit * row.added_up(corners)).max())
    # Seen from a point of the box: the end that is finite, or 0.
    base = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    if not (A - np.diag(np.diagonal(A))).any():
        seen = [base] if len(free) > 1 else [base, np.where(np.isfinite(high), high, base)]
        return min(_worst_separable(row, one, low, high, free, unit) for one in seen)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return np.inf
    slope = row.gradient(base[None])[0][free]
    start, span = float(row.value(base[None])[0]), (high - low)[free]
    return start + _worst_mixed(A, slope, span) + 2 * unit * _most_of_row(row, low, high)


def _worst_mixed(A: FloatArray, b: FloatArray, span: FloatArray) -> float:
    """Return the largest ``t'At + b't`` over ``0 <= t <= span``, or a bound on it."""
    middle, half = span / 2, span / 2
    slope = b + 2 * A @ middle
    sizes = np.abs(A)
    np.fill_diagonal(sizes, np.maximum(np.diagonal(A), 0.0))
    bound = float(middle @ A @ middle + b @ middle + np.abs(slope) @ half + half @ sizes @ half)
    return min(bound, _over_faces(A, b, span)) if len(b) <= MOST_FACES else bound


def _over_faces(A: FloatArray, b: FloatArray, span: FloatArray) -> float:
    """Return the largest ``t'At + b't``: it lies inside a face, where its slope along it is 0.

    A stationary point of a face that is not unique, or that rounding may have put outside of the
    box, is not the only place of its value: some face of the face has it too, or one as large.
    """
    k, best = len(b), -np.inf
    for state in product((0, 1, 2), repeat=k):  # at 0, at the other end, in between
        where = np.array(state)
        inside = where == 2
        t = np.where(where == 1, span, 0.0)
        if inside.any():
            block = A[np.ix_(inside, inside)]
            right = -(b + 2 * A @ t)[inside] / 2
            if abs(np.linalg.det(block)) == 0:
                continue
            t[inside] = np.linalg.solve(block, right)
            if ((t < 0) | (t > span)).any():
                continue
        best = max(best, float(t @ A @ t + b @ t))
    return best


def _worst_separable(
    row: Quadratic,
    base: FloatArray,
    low: FloatArray,
    high: FloatArray,
    free: IntArray,
    unit: float,
) -> float:
    """Return the largest value of a row that does not mix the free columns.

    With ``x = base + t`` the row and its rounding are at most
    ``c + sum_i (a_i t_i^2 + b_i t_i + d_i |t_i|)``, each part with a largest value of its own.
    """
    squares, slopes, constant = _growth(row, base, len(free))
    a = np.diagonal(row.A)[free] + unit * squares[free]
    b, d = row.gradient(base[None])[0][free], unit * slopes[free]
    total = float(row.value(base[None])[0]) + unit * constant
    for i, j in enumerate(free):
        total += max(
            _worst_parabola(float(a[i]), float(b[i] + d[i]), float(high[j] - base[j])),
            _worst_parabola(float(a[i]), float(d[i] - b[i]), float(base[j] - low[j])),
        )
    return total


def _worst_parabola(a: float, b: float, end: float) -> float:
    """Return the largest ``a t^2 + b t`` over ``0 <= t <= end``."""
    if end <= 0 or (a <= 0 and b <= 0):
        return 0.0
    if a < 0 and -b / (2 * a) <= end:  # the peak
        return -b * b / (4 * a)
    return np.inf if np.isinf(end) else max(0.0, (a * end + b) * end)


def _growth(row: Quadratic, base: FloatArray, k: int) -> tuple[FloatArray, FloatArray, float]:
    """Return how what is added up grows from a point on: squares, slopes and constant.

    With k columns that move by ``t_i``, and ``s = S |u| + ...`` at the point itself,
    ``(s + sum_i S_i |t_i|)^2 <= s^2 + 2 s sum_i S_i |t_i| + k sum_i S_i^2 t_i^2``.
    """
    squares, slopes = np.zeros(len(base)), np.abs(row.q)
    for square in _squares(row):
        S = np.diag(square.S) if square.S.ndim == 1 else square.S
        image = S @ np.abs(base - square.origin) + square.s
        squares = squares + k * (S * S).sum(axis=0)
        slopes = slopes + 2 * image @ S
    if row.sums is not None:
        slopes = slopes + row.sums.slopes
    return squares, slopes, float(row.added_up(base[None])[0])


def _squares(row: Quadratic) -> list[Squares]:
    """Return the squares that `Quadratic.added_up` adds up, with products taken one by one."""
    own = [Squares(np.abs(f), row.at, np.zeros(len(f))) for f in (row.plus, row.minus) if len(f)]
    return own + (own if row.sums is None else list(row.sums.squares))


def _most_of_row(row: Quadratic, low: FloatArray, high: FloatArray) -> float:
    """Return the most that is added up to decide a row, over a finite box."""
    away = np.maximum(np.abs(row.seen(low)), np.abs(row.seen(high)))
    total = float(np.abs(row.q) @ away) + abs(row.c)
    total += sum(_most_square(one, low, high) for one in _squares(row))
    if row.sums is not None:
        total += row.sums.constant
        total += float(row.sums.slopes @ np.maximum(np.abs(low), np.abs(high)))
    return total


def _worst_exponential(bend: Exponential, low: FloatArray, high: FloatArray) -> float:
    """Return a number that ``log sum_k exp(W_k x + b_k)`` nowhere exceeds."""
    none = np.zeros_like(bend.W)
    zero = np.zeros(len(low))
    ends = [_at_end(bend.W, none, end, zero, sign) for end, sign in ((low, -1.0), (high, 1.0))]
    terms = np.maximum(*ends).sum(axis=1) + bend.b
    top = terms.max()
    most = float(top + np.log(np.exp(terms - top).sum())) if np.isfinite(top) else float(top)
    finite = np.isfinite(low).all() and np.isfinite(high).all()
    if (low < high).sum() == 1 and finite:  # convex: the larger of both ends
        return min(most, float(bend.value(np.stack([low, high])).max()))
    return most


# -- Several pieces --------------------------------------------------------------------------


def gaps(
    pieces: Sequence[MarginRows],
    low: FloatArray,
    high: FloatArray,
    unit: float,
    groups: Groups = (),
    nothing: Callable[[FloatArray, FloatArray], bool] | None = None,
) -> list[Box] | None:
    """Return the parts of a box that no piece is shown to hold; None if they are more than slivers.

    The box is cut where pieces end, so that neighbouring leaves of a tree cover it together. A
    *sliver* is a part between two ends that differ by a few units of rounding: steps before a tree
    have rounded them. It holds so few numbers that the model itself can be asked about each.

    Parameters
    ----------
    pieces : sequence of MarginRows
    low, high : ndarray of shape (n_columns,)
    unit : float
    groups : sequence of ndarray of int
        See `lies_in`.
    nothing : callable, optional
        ``nothing(low, high)`` says whether no point of a part counts, as between two whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.cell import Cell
    >>> from pertinent.geometry.rounding import MarginRows
    >>> def leaf(low, high):
    ...     return MarginRows.as_written(Cell(np.zeros((0, 1)), np.zeros(0), (), low, high))
    >>> left = leaf(np.array([-np.inf]), np.array([1.0]))
    >>> right = leaf(np.nextafter([1.0], 2.0), np.array([3.0]))
    >>> gaps([left, right], np.array([0.0]), np.array([2.0]), 1e-15)
    []
    >>> gaps([left, right], np.array([0.0]), np.array([4.0]), 1e-15) is None
    True
    """
    free = low < high
    todo, left, parts = [(low, high)], [], 0
    while todo:
        box, parts = todo.pop(), parts + 1
        near = _worth_asking(pieces, box)
        if any(lies_in(piece, *box, unit, groups) for piece in near):
            continue
        halves = _cut(near, box) if parts <= MOST_PARTS else None
        if halves is not None:
            todo += halves
        elif nothing is not None and nothing(*box):
            continue
        elif _is_sliver(*box, free):
            left.append(box)
        else:
            return None
    return left


def _worth_asking(pieces: Sequence[MarginRows], box: Box) -> Sequence[MarginRows]:
    """Return the pieces that may hold a box: of many items, those that lead at its ends."""
    if len(pieces) == 1 or not isinstance(pieces, Leading):
        return pieces
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in box)
    ends = np.stack(
        [np.where(np.isfinite(box[0]), low, high), np.where(np.isfinite(box[1]), high, low)]
    )
    points = np.vstack([ends, ends.mean(axis=0)])
    return [pieces[i] for i in dict.fromkeys(pieces.leading(points).tolist())]


def _cut(pieces: Sequence[MarginRows], box: Box) -> list[Box] | None:
    """Return a box cut in two where a piece that reaches into it ends; None where none does."""
    low, high = box
    for piece in pieces:
        if piece.ends is None:
            continue
        first, last = piece.ends
        if ((first > high) | (last < low)).any():
            continue
        for j in np.flatnonzero((last < high) & (low < high)):
            return _halves(box, int(j), last[j], np.nextafter(last[j], np.inf))
        for j in np.flatnonzero((first > low) & (low < high)):
            return _halves(box, int(j), np.nextafter(first[j], -np.inf), first[j])
    return None


def _halves(box: Box, column: int, below: float, above: float) -> list[Box]:
    middle = box[1].copy(), box[0].copy()
    middle[0][column], middle[1][column] = below, above
    return [(box[0], middle[0]), (middle[1], box[1])]


def _is_sliver(low: FloatArray, high: FloatArray, free: BoolArray) -> bool:
    finite = np.isfinite(low) & np.isfinite(high)
    size = np.spacing(np.where(finite, np.maximum(np.abs(low), np.abs(high)), 1.0))
    with np.errstate(invalid="ignore"):
        return bool((finite & free & (high - low <= SLIVER * size)).any())
