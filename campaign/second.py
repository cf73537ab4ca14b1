"""The same questions, given to other solvers, and to brute force where they are small.

The rows of each class come from `tests.brute_force`, which writes them down from the attributes of
the fitted model and shares no code with the library. HiGHS (through SciPy) and Clarabel solve
linear rows, SCIP curved ones. A nearer point than ours counts only if the model's own ``predict``
agrees with it.
"""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from campaign.attacks import CLEARLY, is_robust, may_attack, typed, wanted_by
from campaign.cases import Case
from campaign.judges import Tally
from campaign.laws import LINEAR
from campaign.models import Rng
from campaign.tables import Array
from tests import brute_force

#: Two optima further apart than this, relatively, disagree.
AGREE, AGREE_CURVED = 1e-5, 3e-4
#: Samples of one question that SCIP is asked about, and programs that HiGHS solves for one.
MOST_CURVED, MOST_LINEAR = 60, 1500
#: Rules that limits and linear rows cannot say.
BEYOND = ("integer", "decimals", "max changes")


def judge_second(case: Case, found: Any, kind: str, rng: Rng, tally: Tally) -> None:
    """Compare each optimum with that of another solver."""
    d, name = case.X.shape[1], type(case.model).__name__
    known = name in LINEAR or name in brute_force._FAMILIES
    if not known or not may_attack(case, found, kind) or case.dtypes is not None or case.single:
        return
    if d > 30 or len(case.model.classes_) > 10:
        return
    if any(rule[0] in BEYOND for rule in case.rules) or case.options.get("off_tol"):
        return
    by_class: dict[Any, list[Any]] = {}
    solved = 0
    for row in range(len(found)):
        own = found.prediction[row].item()
        if own not in by_class:
            by_class[own] = _pieces(case, found, kind, row)
        pieces = by_class[own]
        curved = any(piece.curved for piece in pieces)
        if len(pieces) > 60 or (curved and (d > 3 or len(pieces) > 4 or row >= MOST_CURVED)):
            continue
        if solved >= MOST_LINEAR:
            return
        solved += len(pieces)
        _compare(case, found, kind, row, pieces, curved, rng, tally)


def _pieces(case: Case, found: Any, kind: str, row: int) -> list[Any]:
    own = found.prediction[row]
    if kind == "positive":
        return pieces_of(case.model, own)
    if case.target is not None:
        return pieces_of(case.model, case.target)
    others = [label for label in case.model.classes_.tolist() if label != own]
    return [piece for label in others for piece in pieces_of(case.model, label)]


def pieces_of(model: Any, label: Any) -> list[Any]:
    """Return the pieces of a class, from the model's own attributes."""
    if type(model).__name__ in LINEAR:
        return brute_force._linear(model, model.classes_.tolist().index(label), label)
    return brute_force.pieces(model, label)


def _compare(
    case: Case, found: Any, kind: str, row: int, pieces: list[Any], curved: bool, rng: Rng,
    tally: Tally,
) -> None:  # fmt: skip
    own = case.X[row].astype(float)
    center = own if kind == "negative" else case.baseline.astype(float)
    low, high = case.limits(own)
    if kind == "positive" and case.between:
        low = np.maximum(low, np.minimum(own, center))
        high = np.minimum(high, np.maximum(own, center))
    if (low > high).any():
        return
    unit = float(found.objective[row]) if found.found[row] else float(np.abs(center).max() or 1.0)
    if not np.isfinite(unit) or unit <= 0:
        return
    scale = unit / case.weights
    ends = (low - center) / scale, (high - center) / scale
    extra = _relation_rows(case, center, scale)
    of_squares = type(case.model).__name__ not in LINEAR
    if max(_rounds(piece, center, scale, of_squares) for piece in pieces) > AGREE / 10:
        tally.counts["second solver: rows too rounded"] += 1
        return
    best, where, name = np.inf, None, "HiGHS"
    for piece in pieces:
        moved = shifted(piece, center, scale, extra)
        if curved:
            name = "SCIP"
            cost, z = scip(moved, *ends)
        else:
            cost, z = highs(moved, *ends)
            if len(pieces) == 1 and np.isfinite(cost):
                _clarabel_agrees(moved, ends, cost, row, tally)
        if cost < best:
            best, where = cost, z
    tally.counts[f"second solver: {name}"] += 1
    agree = AGREE_CURVED if curved else AGREE
    bound = float(found.bound[row]) / unit
    if where is not None and best < bound * (1 - max(agree, CLEARLY)):
        point = center + where * scale * (1 + agree / 10)
        wanted = wanted_by(case, found, kind, row)
        inside = ((point >= low) & (point <= high)).all()
        right = inside and wanted(case.model.predict(typed(case, point[None])))[0]
        if right and is_robust(case, point, wanted, rng):
            tally.fail(
                f"second solver: {name}",
                row,
                f"{kind}, {found.status[row]}: bound {bound * unit!r}, and {best * unit!r} is "
                f"reached at {point.tolist()}",
            )
    elif name == "HiGHS" and found.found[row] and 1.0 + 1e-3 < best < np.inf:
        tally.fail(
            "second solver: HiGHS", row, f"{kind}: {unit!r} is ours, HiGHS has {best * unit!r}"
        )


def _relation_rows(case: Case, center: Array, scale: Array) -> tuple[Array, Array]:
    """Return relations as rows ``g'z + c <= 0`` of the moved variables."""
    rows, sides = [], []
    for name, terms, *value in case.rules:
        if name == "relation":
            g = np.zeros(len(center))
            for j, c in terms:
                g[j] += c
            rows.append(g * scale)
            sides.append(g @ center - value[0])
    return np.reshape(rows, (-1, len(center))), np.array(sides)


def _rounds(piece: Any, center: Array, scale: Array, of_squares: bool) -> float:
    """Return by how much the rows of a piece may be off at the center, in units of their slopes.

    They are written from 0, and a center far from there, such as 1e6 beside 1, costs digits; those
    ``of_squares`` were made from squares of such numbers, of which little is left in a difference.
    """
    size, A = np.abs(center), np.abs(piece.A)
    terms = np.einsum("mij,i,j->m", A, size, size) + np.abs(piece.q) @ size + np.abs(piece.c)
    q = (piece.q + 2 * piece.A @ center) * scale
    slope = np.maximum(np.abs(q).max(axis=1), (A * scale[:, None] * scale).max(axis=(1, 2)))
    terms += of_squares * (size @ size)
    unit = 4 * (len(center) + 2) * np.finfo(float).eps
    return float((unit * terms[slope > 0] / slope[slope > 0]).max(initial=0.0))


def shifted(piece: Any, center: Array, scale: Array, extra: tuple[Array, Array]) -> Any:
    """Return the piece in ``z = (x - center) / scale``, its rows of size 1."""
    A = piece.A * scale[:, None] * scale
    q = (piece.q + 2 * piece.A @ center) * scale
    c = piece.values(center)
    q, c = np.vstack([q, extra[0]]), np.r_[c, extra[1]]
    A = np.concatenate([A, np.zeros((len(extra[0]), *A.shape[1:]))])
    size = np.maximum(np.abs(q).max(axis=1), np.abs(A).max(axis=(1, 2)))
    size = np.where(size > 0, size, 1.0)
    return brute_force.Piece(A / size[:, None, None], q / size[:, None], c / size)


def _program(piece: Any, low: Array, high: Array) -> tuple[Array, Array, list[Any]]:
    """Return ``min 1'(up + down)``, rows ``S (up - down) <= -c``, and the limits of both."""
    S = np.hstack([piece.q, -piece.q])
    bounds = [(max(0.0, lo), max(0.0, hi)) for lo, hi in zip(low, high, strict=True)]
    bounds += [(max(0.0, -hi), max(0.0, -lo)) for lo, hi in zip(low, high, strict=True)]
    return S, -piece.c, bounds


def highs(piece: Any, low: Array, high: Array) -> tuple[float, Array | None]:
    """Return the least L1 size of a point of linear rows, and the point."""
    S, side, bounds = _program(piece, low, high)
    if not np.isfinite(S).all() or not np.isfinite(side).all():
        return np.inf, None
    answer = linprog(np.ones(S.shape[1]), S, side, bounds=bounds)
    if answer.status != 0:
        return np.inf, None
    d = len(low)
    return float(answer.fun), answer.x[:d] - answer.x[d:]


def _clarabel_agrees(
    piece: Any, ends: tuple[Array, Array], cost: float, row: int, tally: Tally
) -> None:
    """Compare HiGHS with an interior-point method: two judges that must agree themselves."""
    S, side, bounds = _program(piece, *ends)
    lower = np.array([b[0] for b in bounds])
    upper = np.array([b[1] for b in bounds])
    some = np.isfinite(upper)
    eye = np.eye(S.shape[1])
    rows = sparse.csc_matrix(np.vstack([S, -eye, eye[some]]))
    sides = np.r_[side, -lower, upper[some]]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    nothing = sparse.csc_matrix((S.shape[1], S.shape[1]))
    answer = clarabel.DefaultSolver(
        nothing, np.ones(S.shape[1]), rows, sides, [clarabel.NonnegativeConeT(len(sides))], settings
    ).solve()
    if str(answer.status) != "Solved":
        return
    tally.counts["second solver: Clarabel"] += 1
    if abs(answer.obj_val - cost) > 1e-4 * max(1.0, abs(cost)):
        tally.fail("second solver: Clarabel", row, f"{answer.obj_val!r}, and HiGHS {cost!r}")


def scip(piece: Any, low: Array, high: Array) -> tuple[float, Array | None]:
    """Return the least L1 size of a point of curved rows within 2 of 0, and the point."""
    from pyscipopt import Model, quicksum

    d, model = len(low), Model()
    model.hideOutput()
    model.setParam("limits/gap", 1e-5)
    model.setParam("limits/time", 5.0)
    z = [model.addVar(lb=max(lo, -2.0), ub=min(hi, 2.0)) for lo, hi in zip(low, high, strict=True)]
    e = [model.addVar(lb=0.0, ub=2.0) for _ in range(d)]
    for zi, ei in zip(z, e, strict=True):
        model.addCons(ei >= zi)
        model.addCons(ei >= -zi)
    for A, q, c in zip(piece.A, piece.q, piece.c, strict=True):
        square = quicksum(A[i, j] * z[i] * z[j] for i in range(d) for j in range(d))
        model.addCons(square + quicksum(q[i] * z[i] for i in range(d)) <= -c)
    model.setObjective(quicksum(e))
    model.optimize()
    if model.getStatus() not in ("optimal", "gaplimit"):
        return np.inf, None
    return float(model.getObjVal()), np.array([model.getVal(v) for v in z])


def judge_brute(case: Case, found: Any, kind: str, tally: Tally) -> None:
    """Try every set of features where there are few: strict positives by ``predict`` alone."""
    if kind != "positive" or found.method.value != "strict" or case.X.shape[1] > 8:
        return
    if case.dtypes is not None or case.rules:
        return
    base = case.baseline.astype(case.X.dtype)
    for row, x in enumerate(case.X):
        if found.fallback[row]:
            continue
        masks = brute_force.masks_of(len(x))
        same = case.model.predict(np.where(masks, x, base)) == found.prediction[row]
        sizes = masks.sum(axis=1)
        tally.counts["brute force: strict"] += 1
        if same.any() and found.bound[row] > sizes[same].min() + 1e-9:
            rng = np.random.default_rng(0)
            i = np.flatnonzero(same)[0]
            point = np.where(masks[i], x, base).astype(float)
            own = found.prediction[row]
            if is_robust(case, point, lambda labels, own=own: labels == own, rng):
                tally.fail(
                    "brute force: strict", row,
                    f"{found.status[row]}, bound {found.bound[row]}: {sizes[same].min()} own "
                    f"values are enough, {masks[i].tolist()}",
                )  # fmt: skip
