"""Models of CatBoost, checked and written anew as its JSON.

A split of the JSON has a number, by which the library finds its feature and its border: the borders
of all features are counted one after the other. What else the split says of itself must agree.

The library rounds numbers of JSON in a way of its own, in the last bit. So the digits are handed on
as they are; leaves of a file in CatBoost's own form are set after reading, to the bit.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError, optional
from pertinent.geometry.arrays import Foreign
from pertinent.models.trees.files.checked import (
    MOST_CLASSES,
    MOST_FEATURES,
    Digits,
    names_of,
    numbers,
    require,
    require_modest,
    whole,
    written,
)
from pertinent.models.trees.of_catboost import SUMS, require_numbers

#: How deep a tree may be.
MOST_DEPTH = 64
TREATMENTS = ("AsIs", "AsFalse", "AsTrue")
#: Losses of classes, by whether there are two of them.
DECIDING = {"Logloss": True, "CrossEntropy": True, "MultiClass": False, "MultiClassOneVsAll": False}


def model_of(document: Any, exactly: bool = False) -> Foreign:
    """Return the model of a document, which the library predicts with.

    ``exactly`` sets its leaves to the numbers of the document to the bit.
    """
    library = optional("catboost", "boosters", "Predicting with a model of CatBoost")
    read = _Model(document)
    kind = library.CatBoostClassifier if read.loss in DECIDING else library.CatBoostRegressor
    model = kind(thread_count=1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        file.write_text(written(read.clean), encoding="utf-8")
        model.load_model(str(file), format="json")
    if exactly:
        model.set_leaf_values(np.array(read.leaves, dtype=float))
        scale, bias = read.clean["scale_and_bias"]
        model.set_scale_and_bias(scale, [float(one) for one in bias])
    if read.names is not None:
        model.feature_names_in_ = np.array(read.names, dtype=object)
    return model


class _Model:
    """A document of which every part has been checked.

    Parameters
    ----------
    document : dict

    Attributes
    ----------
    clean : dict
        What the library may read.
    leaves : list of float
        What its leaves add, in the order of the library.
    names : list of str or None
    loss : str
        What the model was trained for.
    """

    def __init__(self, document: Any) -> None:
        require_numbers(document)
        features = document["features_info"]["float_features"]
        require(1 <= len(features) <= MOST_FEATURES, "its number of columns")
        self._checked = [_feature(found, place) for place, found in enumerate(features)]
        self.names = names_of([found["feature_id"] for found in features], len(features), "")
        #: Feature and border of each split, by its number.
        self._borders = [
            (place, border)
            for place, found in enumerate(self._checked)
            for border in found["borders"]
        ]
        self.leaves: list[float] = []
        symmetric = document.get("oblivious_trees")
        self._outputs = _outputs(document["trees"] if symmetric is None else symmetric)
        self.loss, info = _info(document["model_info"], self._outputs)
        scale, bias = document["scale_and_bias"]
        bias = bias if isinstance(bias, list) else [bias]
        bias = [0] * self._outputs if bias == [0] else bias
        numbers([scale, *bias], self._outputs + 1, "its scale and bias")
        trees = (
            {"trees": [self._branched(tree, 0) for tree in document["trees"]]}
            if symmetric is None
            else {"oblivious_trees": [self._symmetric(tree) for tree in symmetric]}
        )
        require_modest(len(self.leaves) // self._outputs, len(features), self._outputs)
        self.clean = {
            "features_info": {"float_features": self._checked},
            "model_info": info,
            "scale_and_bias": [scale, bias],
            **trees,
        }

    def _split(self, split: Any) -> dict[str, Any]:
        """Return a split by its number; feature and border are those of the number."""
        index = whole(split["split_index"], 0, len(self._borders) - 1, "a split that is none")
        place, border = self._borders[index]
        said = split.get("float_feature_index", place), split.get("border", border)
        same = said[0] == place and np.float32(said[1]) == np.float32(border)
        require(same and split.get("split_type", "FloatFeature") == "FloatFeature", "a split")
        return {
            "border": border,
            "float_feature_index": place,
            "split_index": index,
            "split_type": "FloatFeature",
        }

    def _values(self, values: Any, count: int) -> list[Any]:
        numbers(values, count, "its leaves")
        self.leaves += values
        return list(values)

    def _symmetric(self, tree: Any) -> dict[str, Any]:
        splits = [self._split(split) for split in tree["splits"] or []]
        require(len(splits) <= MOST_DEPTH, "a tree that is too deep")
        values = self._values(tree["leaf_values"], self._outputs << len(splits))
        return {"leaf_values": values, "splits": splits}

    def _branched(self, node: Any, level: int) -> dict[str, Any]:
        require(level <= MOST_DEPTH, "a tree that is too deep")
        if "value" in node:
            one = self._outputs == 1
            values = self._values([node["value"]] if one else node["value"], self._outputs)
            return {"value": values[0] if one else values, "weight": 0}
        return {
            "split": self._split(node["split"]),
            "left": self._branched(node["left"], level + 1),
            "right": self._branched(node["right"], level + 1),
        }


def _outputs(trees: Any) -> int:
    """Return how many sums the first tree adds to."""
    tree = trees[0]
    while "split" in tree:
        tree = tree["left"]
    if "value" in tree:
        return np.size(tree["value"])
    return whole(
        len(tree["leaf_values"]) >> len(tree["splits"] or []), 1, MOST_CLASSES, "its leaves"
    )


def _feature(found: Any, place: int) -> dict[str, Any]:
    """Return a feature of numbers; they stand in the order of the columns."""
    same = found["feature_index"] == found["flat_feature_index"] == place
    require(same, "the order of its columns")
    borders = numbers(found["borders"], len(found["borders"]), "a border").astype(np.float32)
    require(np.isfinite(borders) & (np.diff(borders, prepend=-np.inf) > 0), "a border")
    require(found["nan_value_treatment"] in TREATMENTS, "how a missing value is treated")
    require(isinstance(found["feature_id"], str), "the names of its columns")
    return {
        "borders": borders.astype(float).tolist(),
        "feature_id": found["feature_id"],
        "feature_index": place,
        "flat_feature_index": place,
        "has_nans": bool(found["has_nans"]),
        "nan_value_treatment": found["nan_value_treatment"],
    }


def _info(info: Any, outputs: int) -> tuple[str, dict[str, Any]]:
    """Return the loss, and what the library has to know of a model beside its trees."""
    params = info["params"]
    loss = params["loss_function"]["type"]
    if loss not in {*DECIDING, *SUMS}:
        raise UnsupportedModelError(
            f"CatBoost's loss {loss!r} makes no sum of trees that decides between classes or is a "
            f"number; supported are {', '.join([*DECIDING, *sorted(SUMS)])}."
        )
    binarization = params.get("data_processing_options", {}).get("float_features_binarization", {})
    missing = binarization.get("nan_mode", "Min")
    require(missing in ("Min", "Max", "Forbidden"), "how a missing value is treated")
    out: dict[str, Any] = {
        "params": {
            "data_processing_options": {"float_features_binarization": {"nan_mode": missing}},
            "flat_params": {},
            "loss_function": {"params": {}, "type": loss},
        }
    }
    if loss in DECIDING:
        out["class_params"] = _classes(info.get("class_params") or {}, DECIDING[loss], outputs)
    threshold = info.get("binclass_probability_threshold")
    if threshold is not None:
        require(0.0 < float(threshold) < 1.0, "its probability threshold")
        out["binclass_probability_threshold"] = repr(float(threshold))
    return loss, out


def _classes(found: Any, two: bool, outputs: int) -> dict[str, Any]:
    """Return the labels of a model: as many as sums, or two where there is one sum."""
    labels = found.get("class_names") or list(range(2 if two else outputs))
    require(len(labels) == (2 if two else outputs) > 1 and (outputs == 1 or not two), "its labels")
    kind = found.get("class_label_type", "Integer")
    kinds: dict[str, set[type]] = {
        "Integer": {int},
        "Float": {int, Digits, float},
        "String": {str},
        "Boolean": {bool},
    }
    require(set(map(type, labels)) <= kinds.get(kind, set()), "its labels")
    require(len(set(map(str, labels))) == len(labels), "its labels")
    return {
        "class_label_type": kind,
        "class_names": [float(n) if isinstance(n, Digits) else n for n in labels],
        "class_to_label": list(range(len(labels))),
        "classes_count": 0,
    }
