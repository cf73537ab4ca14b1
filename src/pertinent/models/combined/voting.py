"""Models that vote: hard votes are unions, mean probabilities of trees are sums of trees.

*Hard.* A class wins by any set of votes that leaves the others behind whatever the rest votes: for
each such set the region is the intersection of the members' regions, and the union of these is the
region of the class. The members' regions must be unions of cells. Single trees are read as one
ensemble instead, whose leaves add the weight of their vote.

*Soft.* The mean of the members' probabilities. Of trees and forests it is a sum of trees. Of other
models it is a sum of sigmoids of several scores, whose level sets are neither planes nor quadratic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, summation_error
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.models.registry import class_index, decision_region, lineage, register_model
from pertinent.models.steps.pipeline import VOTING, features_of
from pertinent.models.trees.forests import TREE, bagging_of, forest_of, shares
from pertinent.models.trees.nodes import OneTree, end_to_end, of_scikit_learn

#: Most cells of a union, and most members: 2^12 sets of votes are looked at in no time.
MOST_CELLS, MOST_MEMBERS = 4_000, 12
FORESTS = {
    "sklearn.ensemble.RandomForestClassifier": forest_of,
    "sklearn.ensemble.ExtraTreesClassifier": forest_of,
    "sklearn.ensemble.BaggingClassifier": bagging_of,
}


@register_model(VOTING)
def voting_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a vote of models predicts a label."""
    t, members = class_index(model, label), list(model.estimators_)
    weights = model._weights_not_none
    weights = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=float)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise UnsupportedModelError(
            f"VotingClassifier with the weights {weights.tolist()}: supported are weights of at "
            "least 0, not all of them 0."
        )
    if model.voting == "soft":
        return EnsembleRegion.of(_mean_of_trees(model, members, weights), t, margin)
    if all(_is_tree(member) for member in members):
        return EnsembleRegion.of(_voting_trees(model, members, weights), t, margin)
    return _hard(model, members, weights, t, margin)


def _is_tree(model: Foreign) -> bool:
    return any(name == TREE for _, name in lineage(type(model)))


# -- Trees -----------------------------------------------------------------------------------


def _voting_trees(model: Foreign, members: list[Foreign], weights: FloatArray) -> Ensemble:
    """Return trees whose leaves add the weight of a vote, in the order of the members."""
    nodes, count = [], len(model.classes_)
    for member, weight in zip(members, weights.tolist(), strict=True):
        winner = np.asarray(member.classes_)[shares(member.tree_).argmax(axis=1)]
        votes = np.zeros((len(winner), count))
        votes[np.arange(len(winner)), winner] = weight
        nodes.append(of_scikit_learn(member.tree_, votes))
    return Ensemble(end_to_end(nodes), int(model.n_features_in_), Tally(np.zeros(count)))


def _mean_of_trees(model: Foreign, members: list[Foreign], weights: FloatArray) -> Ensemble:
    """Return the weighted mean of trees and forests as one sum of trees.

    Each forest divides before the mean is taken, so that the last bit is not that of one sum:
    where it would decide, no class is said to win (`Tally.doubt`).
    """
    nodes: list[OneTree] = []
    total = float(weights.sum())
    for member, weight in zip(members, (weights / total).tolist(), strict=True):
        nodes += _weighted(model, member, weight)
    trees, dim = end_to_end(nodes), int(model.n_features_in_)
    tally = Tally(np.zeros(len(model.classes_)))
    leaves = Ensemble(trees, dim, tally).leaves
    # Twice: a division, a weight and a mean round every term once more than the sum does.
    doubt = 2 * summation_error(leaves.value, leaves.tree, tally)
    return Ensemble(trees, dim, replace(tally, doubt=doubt))


def _weighted(model: Foreign, member: Foreign, weight: float) -> list[OneTree]:
    """Return the trees of a member, its mean times its weight."""
    known = [name for _, name in lineage(type(member))]
    if TREE in known:
        return [of_scikit_learn(member.tree_, weight * shares(member.tree_))]
    read = next((FORESTS[name] for name in known if name in FORESTS), None)
    if read is None:
        raise UnsupportedModelError(
            f"VotingClassifier(voting='soft') over {type(member).__name__}: the mean of "
            "probabilities of several scores has level sets that are neither planes nor quadratic. "
            "Supported are trees and forests; voting='hard' is also supported for linear models, "
            "naive Bayes and others whose regions are unions of cells."
        )
    one = read(member)
    share = weight / one.tally.divisor
    return list(_apart(one, share))


def _apart(ensemble: Ensemble, share: float) -> Iterator[OneTree]:
    """Yield the trees of an ensemble one by one, their values times a share."""
    trees = ensemble.trees
    ends = [*trees.root.tolist()[1:], len(trees.column)]
    none = np.zeros(len(trees.column), dtype=bool)
    missing = none if trees.missing is None else trees.missing
    for first, last in zip(trees.root.tolist(), ends, strict=True):
        own = slice(first, last)
        inner = trees.column[own] >= 0
        yield OneTree(
            trees.column[own],
            trees.cut[own],
            np.where(inner, trees.lower[own] - first, 0),
            np.where(inner, trees.upper[own] - first, 0),
            share * trees.value[own],
            missing[own],
        )


# -- Hard votes of other models --------------------------------------------------------------


def _hard(
    model: Foreign, members: list[Foreign], weights: FloatArray, t: int, margin: float
) -> Region:
    """Return the union of the intersections of members' regions by which class t wins."""
    if len(members) > MOST_MEMBERS:
        raise UnsupportedModelError(
            f"VotingClassifier(voting='hard') with {len(members)} members has too many sets of "
            f"votes; supported are at most {MOST_MEMBERS}."
        )
    dim = features_of(model).dim
    known: dict[tuple[int, int], tuple[Cell, ...]] = {}
    cells: list[Cell] = []
    for votes in winning_votes(weights, len(model.classes_), t):
        parts = []
        for m, k in votes:
            if (m, k) not in known:
                known[m, k] = _cells(model, members[m], k, margin, dim)
            parts.append(known[m, k])
        cells += _met(parts, MOST_CELLS - len(cells))
    return CellUnion(tuple(cells), dim)


def _cells(model: Foreign, member: Foreign, k: int, margin: float, dim: int) -> tuple[Cell, ...]:
    """Return the cells of a member's region in the raw columns."""
    region = decision_region(member, k, margin)
    cells, name = cells_of(region), type(member).__name__
    if cells is None:
        raise UnsupportedModelError(
            f"VotingClassifier(voting='hard') over {name}: its regions are no union of cells, "
            "which could be intersected with those of others. Supported are members with linear or "
            "quadratic regions, and single trees; forests with voting='soft'."
        )
    if region.dim != dim:
        raise UnsupportedModelError(
            f"VotingClassifier over {name}: its members read the raw features each in a way of its "
            "own (some encode or bin them). Put the steps that encode or bin in front of it."
        )
    return tuple(cells)


def _met(parts: list[tuple[Cell, ...]], left: int) -> list[Cell]:
    """Return the intersections of one cell of each part; boxes without room are left out."""
    if np.prod([float(len(part)) for part in parts]) > max(left, 0):
        raise UnsupportedModelError(
            "VotingClassifier(voting='hard'): the regions of its members meet in more than "
            f"{MOST_CELLS:,} cells. Use fewer or smaller members, or trees only."
        )
    met = (reduce(Cell.intersect, some) for some in product(*parts))
    return [cell for cell in met if (cell.lower <= cell.upper).all()]


Votes = tuple[tuple[int, int], ...]


def winning_votes(weights: FloatArray, n_classes: int, t: int) -> list[Votes]:
    """Return sets of votes (member, class) by which class t wins, whatever the others vote.

    None of them can do without one of its votes. As in NumPy's ``bincount``, weights are added in
    the order of the members, and the first class with the largest sum wins.

    Examples
    --------
    >>> import numpy as np
    >>> winning_votes(np.ones(3), 2, 1)
    [((0, 1), (1, 1)), ((0, 1), (2, 1)), ((1, 1), (2, 1))]
    >>> winning_votes(np.array([2.0, 1.0, 1.0]), 2, 0)  # the first of equals wins
    [((0, 0),), ((1, 0), (2, 0))]
    """
    found: dict[frozenset[tuple[int, int]], None] = {}
    stack: list[Votes] = [()]
    while stack:
        votes = stack.pop()
        if _wins(weights, n_classes, t, votes):
            found.setdefault(_needed(weights, n_classes, t, votes))
        elif len(votes) < len(weights) and _may_win(weights, n_classes, t, votes):
            stack += [(*votes, (len(votes), k)) for k in range(n_classes)]
    least = [votes for votes in found if not any(other < votes for other in found)]
    return sorted(tuple(sorted(votes)) for votes in least)


def _sums(weights: FloatArray, n_classes: int, votes: Votes, rest: int) -> FloatArray:
    """Return the sums of all classes where members that are not named vote for class ``rest``."""
    said = np.full(len(weights), rest)
    for m, k in votes:
        said[m] = k
    return np.asarray(np.bincount(said, weights=weights, minlength=n_classes), dtype=float)


def _wins(weights: FloatArray, n_classes: int, t: int, votes: Votes) -> bool:
    """Return whether class t wins whatever the members that are not named vote.

    Against a rival the worst is that all of them vote for it.
    """
    for rival in range(n_classes):
        if rival != t:
            sums = _sums(weights, n_classes, votes, rival)
            if sums[rival] > sums[t] or (sums[rival] == sums[t] and rival < t):
                return False
    return True


def _may_win(weights: FloatArray, n_classes: int, t: int, votes: Votes) -> bool:
    """Return whether class t wins where all members that are not named vote for it."""
    return bool(np.argmax(_sums(weights, n_classes, votes, t)) == t)


def _needed(
    weights: FloatArray, n_classes: int, t: int, votes: Votes
) -> frozenset[tuple[int, int]]:
    """Return votes without those that make no difference."""
    kept = list(votes)
    for vote in votes:
        fewer = tuple(v for v in kept if v != vote)
        if _wins(weights, n_classes, t, fewer):
            kept = list(fewer)
    return frozenset(kept)
