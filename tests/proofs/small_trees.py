"""Small sums of trees with questions about them, and proofs drawn at random."""

import numpy as np

from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, Trees
from pertinent.geometry.task import Task
from pertinent.proofs.ensembles.conditions import Conditions
from pertinent.proofs.ensembles.proof import EnsembleProofs
from pertinent.proofs.ensembles.tables import Tables
from pertinent.proofs.ensembles.weights import Sections, Weights


def ensemble_of(trees, dim, base=(0.0, 0.0), **how):
    """Return trees written as ``(column, cut, lower, upper)``; a leaf is the list of its values."""
    column, cut, lower, upper, value = [], [], [], [], []

    def add(node):
        at = len(column)
        is_leaf = isinstance(node, list)
        column.append(-1 if is_leaf else node[0])
        cut.append(0.0 if is_leaf else node[1])
        value.append(node if is_leaf else [0.0] * len(base))
        lower.append(0), upper.append(0)
        if not is_leaf:
            lower[at], upper[at] = add(node[2]), add(node[3])
        return at

    root = [add(tree) for tree in trees]
    parts = (np.array(part) for part in (root, column, cut, lower, upper))
    nodes = Trees(*parts, np.array(value, dtype=float))
    return Ensemble(nodes, dim, Tally(np.array(base, dtype=float), **how))


def drawn_tree(rng, cuts, classes, depth):
    if depth == 0 or rng.random() < 0.15:
        return rng.integers(-3, 4, classes).astype(float).tolist()
    j = int(rng.integers(len(cuts)))
    below, above = (drawn_tree(rng, cuts, classes, depth - 1) for _ in range(2))
    return j, float(rng.choice(cuts[j])), below, above


def drawn_task(rng, kind):
    """Return a task with one row about four columns; ``kind`` says what is allowed."""
    dim, classes = 4, 2 + ("three" in kind)
    cuts = [np.array([-1.75, -0.25, 0.5, 1.25]) for _ in range(dim)]
    if "groups" in kind:  # cuts beside both values are met by both, or by none
        cuts[:3] = [np.array([-0.5, 0.5, 0.5, 0.5, 1.5])] * 3
    trees = [drawn_tree(rng, cuts, classes, 2) for _ in range(4)]
    ensemble = ensemble_of(trees, dim, [0.0] * classes)
    region = EnsembleRegion.of(ensemble, 0, 0.2 if "margin" in kind else 0.0)
    own = np.round(rng.uniform(-2.5, 2.5, (1, dim)), 2)
    lower, upper = np.full((1, dim), -np.inf), np.full((1, dim), np.inf)
    if "bounds" in kind:
        lower[0, 3], upper[0, 3] = np.sort(rng.uniform(-2.5, 2.5, 2))
    decimals, groups, owner = np.full(dim, np.nan), (), np.arange(dim)
    if "groups" in kind:
        decimals[:3], groups, owner = 0.0, (np.arange(3),), np.array([0, 0, 0, 1])
        own[0, :3] = np.eye(3)[rng.integers(3)]
        chosen, draw = int(own[0, :3].argmax()), rng.random() + ("changes" in kind)
        if draw < 0.3:
            upper[0, (chosen + 1) % 3] = 0.0
        elif draw < 0.5:
            lower[0, (chosen + 1) % 3] = 1.0
    center = own.copy()
    if "whole" in kind:
        decimals[2:] = 0.0
        center[0, 2:] = rng.uniform(-2.5, 2.5, 2)
    most = (1 if "groups" in kind else 2) if "changes" in kind else None
    domain = None
    if most is not None or not np.isnan(decimals).all():
        domain = Domain(decimals, groups, owner, max_changes=most, own=own)
    weights = rng.uniform(0.5, 2.0, dim)
    return Task.of(region, center, weights, lower, upper, domain)


def drawn_proof(rng, task, claimed, weights=True):
    """Return a proof of one row with branchings, prices and weights that nobody thought about."""
    region = task.region
    groups = () if task.domain is None else task.domain.groups
    tables, conditions = Tables.of(task, region), Conditions.of(region, groups)
    width = np.diff(tables.offset)
    wide = np.flatnonzero(width > 1)
    column, cut = [], []

    def branch(depth):
        if depth == 0 or rng.random() < 0.2:
            column.append(-1), cut.append(0)
            return
        j = int(rng.choice(wide))
        column.append(j), cut.append(2 * int(rng.integers(width[j] - 1)) + int(rng.integers(2)))
        branch(depth - 1), branch(depth - 1)

    branch(int(rng.integers(4)))
    n = len(column)
    stated = None
    if weights:
        sections = Sections.of(conditions, tables.offset)
        where = np.stack([sections.way // region.dim, sections.column, sections.place])
        each = len(sections)
        stated = Weights(
            (np.full(n, each),), (where,), (np.tile(np.arange(each), n),),
            (rng.integers(0, 9, n * each),),
        )  # fmt: skip
    price = rng.exponential(1.0, n) * (rng.random(n) < 0.8)
    rival = rng.integers(0, len(region.rivals), n)
    return EnsembleProofs(
        np.array([claimed]), (np.array(column),), (np.array(cut),), (rival,), (price,), stated
    )
