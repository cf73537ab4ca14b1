"""Models of LightGBM's text, checked and written anew, each number in the digits of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pertinent.exceptions import optional
from pertinent.geometry.arrays import Foreign
from pertinent.models.trees.files.checked import (
    MOST_BYTES,
    MOST_CLASSES,
    MOST_FEATURES,
    NUMBER,
    from_the_root,
    names_of,
    numbers,
    require,
    require_modest,
    whole,
    wholes,
)
from pertinent.models.trees.native import BoosterClassifier, BoosterRegressor
from pertinent.models.trees.of_lightgbm import DECIDING, parts_of, require_plain

#: The bits of a decision: the side of a missing value, and which values are missing.
MOST_DECISION = 0b1011
#: The name of an objective or of one of its options.
_NAME = re.compile(r"[a-z_0-9]{1,40}")


def model_of(data: bytes) -> Foreign:
    """Return the model of a text, which the library predicts with."""
    library = optional("lightgbm", "boosters", "Predicting with a model of LightGBM")
    require(len(data) <= MOST_BYTES, "it is larger than any model that is read")
    text = data.decode("utf-8").replace("\r\n", "\n")
    require("\nend of trees" in text, "it has no end of trees")
    head, trees = parts_of(text)
    objective = head["objective"].split()
    require(objective and all(map(_is_option, objective)), "its objective")
    dim = whole(head["max_feature_idx"], 0, MOST_FEATURES - 1, "its number of columns") + 1
    outputs = whole(head["num_tree_per_iteration"], 1, MOST_CLASSES, "its number of classes")
    require(len(trees) % outputs == 0, "its trees in a round")
    several = {word for word in objective if word.startswith("num_class:")}
    right = {f"num_class:{outputs}"} if objective[0] == "multiclass" else set()
    require(several == right and (outputs == 1 or right), "its number of classes")
    lines = [
        "tree", "version=v4", f"num_class={outputs}", f"num_tree_per_iteration={outputs}",
        "label_index=0", f"max_feature_idx={dim - 1}", f"objective={' '.join(objective)}",
        *(["average_output"] if "average_output" in head else []),
        f"feature_names={' '.join(f'Column_{j}' for j in range(dim))}",
        f"feature_infos={' '.join(['none'] * dim)}",
        "",
    ]  # fmt: skip
    leaves = 0
    for place, tree in enumerate(trees):
        leaves += whole(tree["num_leaves"], 1, MOST_BYTES, "its number of leaves")
        lines += [f"Tree={place}", *_tree(tree, dim), "", ""]
    require_modest(leaves, dim, outputs)
    booster = library.Booster(model_str="\n".join([*lines, "end of trees", ""]))
    names = names_of(head.get("feature_names", "").split(" "), dim, "Column_")
    kind = BoosterClassifier if objective[0] in DECIDING else BoosterRegressor
    return kind(booster, names=names)


def _is_option(word: str) -> bool:
    """Return whether a word of an objective is a name, or a name and a number above 0."""
    name, colon, value = word.partition(":")
    number = not colon or (NUMBER.fullmatch(value) and 0.0 < float(value) < np.inf)
    return bool(_NAME.fullmatch(name) and number)


def _tree(tree: dict[str, str], dim: int) -> list[str]:
    """Return the lines of a tree."""
    require_plain(tree)
    leaves = int(tree["num_leaves"])
    inner = leaves - 1
    values = _numbers(tree["leaf_value"], leaves, "a leaf")
    if not inner:
        return ["num_leaves=1", "num_cat=0", *_rest(1), f"leaf_value={values}"]
    # A leaf l is written as -l - 1; here it is node inner + l.
    below = [_wholes(tree[name], inner, -leaves, inner - 1, "a node below") for name in SIDES]
    left, right = (
        np.concatenate([np.where(side < 0, inner - side - 1, side), np.full(leaves, -1)])
        for side in below
    )
    require(len(from_the_root(left, right)) == inner + leaves, "a node below no other")
    column = _wholes(tree["split_feature"], inner, 0, dim - 1, "a column that is none")
    decision = _wholes(tree["decision_type"], inner, 0, MOST_DECISION, "a kind of decision")
    require((decision & 1) == 0, "a kind of decision")
    lists = {"split_feature": column, "decision_type": decision}
    lists |= dict(zip(SIDES, below, strict=True))
    return [
        f"num_leaves={leaves}",
        "num_cat=0",
        *(f"{name}={' '.join(map(str, found.tolist()))}" for name, found in lists.items()),
        f"threshold={_numbers(tree['threshold'], inner, 'a threshold')}",
        f"leaf_value={values}",
        *_rest(leaves),
    ]


SIDES = ("left_child", "right_child")


def _rest(leaves: int) -> list[str]:
    """Return what no prediction needs."""
    zeros = {name: "0 " * (leaves - 1) for name in ("split_gain", "internal_value",
             "internal_weight", "internal_count")}  # fmt: skip
    zeros |= {name: "0 " * leaves for name in ("leaf_weight", "leaf_count")}
    return [*(f"{name}={found.strip()}" for name, found in zeros.items()), "is_linear=0",
            "shrinkage=1"]  # fmt: skip


def _numbers(text: str, count: int, what: str) -> str:
    """Return so many numbers in their own digits."""
    words = text.split()
    require(all(map(NUMBER.fullmatch, words)), what)
    numbers([float(word) for word in words], count, what)
    return " ".join(words)


def _wholes(text: str, count: int, low: int, high: int, what: str) -> np.ndarray:
    found: Sequence[int] = [whole(word, low, high, what) for word in text.split()]
    return wholes(found, count, low, high, what)
