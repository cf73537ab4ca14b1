"""Stored explanations changed at random: values, names, arrays and types, here and there."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

#: What takes the place of anything.
STRANGE: list[Any] = [
    None, True, False, 0, -1, 1, 2, 10**18, -(10**40), 0.5, -0.0, 1e-320, 1e308, "", "x", "nan",
    "inf", "<script>alert(1)</script>", "\x1b[2J", "\ud800", "yes", "no", "optimal", "infeasible",
    "0" * 3000, [], [[]], [0], [None], {}, {"type": "array"}, {"type": "nothing", "n": 1},
    {"type": "mapping", "pairs": [[[], 1]]}, {"type": "float", "value": "nan"}, [[1.0, 2.0]] * 3,
]  # fmt: skip
Place = tuple[Any, Any]


def places(node: Any) -> Iterator[Place]:
    """Yield where everything of a document stands: the container, and the key or place in it."""
    inner = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(inner):
        yield node, key
        if isinstance(value, dict | list):
            yield from places(value)


def mutated(document: Any, others: list[Any], rng: np.random.Generator) -> tuple[Any, list[str]]:
    """Return a document with one to three changes, and what was done."""
    document = copy.deepcopy(document)
    told = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        every = list(places(document))
        # Parts are as likely as each other, however large they are.
        part = document[str(rng.choice(list(document)))] if rng.random() < 0.7 else document
        some = list(places(part)) if isinstance(part, dict | list) else []
        container, key = _one(some or every, rng)
        how = _one(HOW, rng)
        told.append(f"{how.__name__} {key!r}")
        how(container, key, rng, others)
    return document, told


def _one(choices: list[Any], rng: np.random.Generator) -> Any:
    return choices[int(rng.integers(len(choices)))]


def _replace(container, key, rng, others):
    container[key] = copy.deepcopy(_one(STRANGE, rng))


def _delete(container, key, rng, others):
    del container[key]


def _nudge(container, key, rng, others):
    """Move a number a little, a text by a letter, or turn a truth value round."""
    value = container[key]
    if isinstance(value, bool):
        container[key] = not value
    elif isinstance(value, int | float):
        step = _one([1, -1, 0.01 * value, -0.01 * value, 1e-3, value, -2 * value], rng)
        container[key] = value + (int(step) or 1 if isinstance(value, int) else step)
    elif isinstance(value, str):
        container[key] = _one([value + "s", value[:-1], value.upper(), value[::-1]], rng)
    elif isinstance(value, list) and value:
        value.append(copy.deepcopy(_one(value, rng)))
    else:
        _replace(container, key, rng, others)


def _swap(container, key, rng, others):
    """Swap two entries of a list, or the values of two keys."""
    keys = list(container) if isinstance(container, dict) else list(range(len(container)))
    other = _one(keys, rng)
    container[key], container[other] = container[other], container[key]


def _rename(container, key, rng, others):
    if isinstance(container, dict):
        container[_one(["x", key + "_", "type", "n"], rng)] = container.pop(key)
    else:
        container.insert(int(rng.integers(len(container) + 1)), copy.deepcopy(container[key]))


def _graft(container, key, rng, others):
    """Put in what stands under the same name in another explanation."""
    same = [
        node[name] for node, name in places(_one(others, rng)) if name == key
        and type(node) is type(container)
    ]  # fmt: skip
    container[key] = copy.deepcopy(_one(same, rng)) if same else None


def _retype(container, key, rng, others):
    value = container[key]
    container[key] = _one([[value], {"value": value}, json.dumps(value), str(value)], rng)


HOW = [_replace, _delete, _nudge, _nudge, _swap, _rename, _graft, _graft, _retype]
