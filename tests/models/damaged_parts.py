"""Model files of which one part is damaged on purpose, with what must be said of it.

Run as a module, in a process of its own: what goes wrong here may end the process.
"""

import json
import resource
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, TargetEncoder

from pertinent.exceptions import PertinentError
from pertinent.models.files import load_model
from tests.models.whole_files import GROUPS, LABELS, MIXED, NUMBERS, encoded

#: Labels that trees tell apart by numbers and categories.
BOTH = np.where((GROUPS["age"] > 2) ^ GROUPS["job"].isin(["clerk", "pilot"]), "yes", "no")


def hist(numbers=False):
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5)
    return model.fit(NUMBERS, LABELS) if numbers else model.fit(GROUPS, BOTH)


def forest():
    return RandomForestClassifier(2, max_depth=3, random_state=0).fit(NUMBERS, LABELS)


def behind(step):
    return make_pipeline(step, LogisticRegression()).fit(NUMBERS, LABELS)


def one_hot(**options):
    return encoded(OneHotEncoder(**options)).fit(MIXED, LABELS)


def years(encoder):
    """Return a pipeline that encodes numbers."""
    table = np.column_stack([np.arange(60) % 4 + 2000, np.arange(60) % 3])
    return make_pipeline(encoder, LogisticRegression()).fit(table, LABELS)


def calibrated():
    model = CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2)
    return model.fit(NUMBERS, LABELS)


# -- How to damage them ----------------------------------------------------------------------


def node(field, value, place=0):
    """Return what sets a field of one node of the first tree of gradient boosting."""

    def damage(model):
        tree = model._predictors[0][0]
        assert not tree.nodes["is_leaf"][place]
        tree.nodes[field][place] = value

    return damage


def set_node(field, value):
    """Return what sets a field of the first node that splits by categories."""

    def damage(model):
        nodes = model._predictors[0][0].nodes
        nodes[field][np.flatnonzero(nodes["is_categorical"] & (nodes["is_leaf"] == 0))[0]] = value

    return damage


def forest_node(field, value, place=0):
    def damage(model):
        tree = model.estimators_[0].tree_
        state = tree.__getstate__()
        nodes = state["nodes"].copy()
        nodes[field][place] = value
        tree.__setstate__({**state, "nodes": nodes})

    return damage


def put(value, *path):
    """Return what sets an attribute or an item of a part of a model."""

    def damage(model):
        part = model
        for step in path[:-1]:
            part = part[step] if not isinstance(step, str) else getattr(part, step)
        new = value(part) if callable(value) else value
        if isinstance(path[-1], str):
            setattr(part, path[-1], new)
        else:
            part[path[-1]] = new

    return damage


#: The encoder of the words in a pipeline with a column transformer.
ENCODER = (0, "transformers_", 0, 1)


def another_check(model):
    step = model._preprocessor.transformers_[1][1]
    step.func = partial(step.func.func, dtype=[np.int64])


def fewer_columns(model):
    indices = model._preprocessor._transformer_to_input_indices
    indices["numerical"] = indices["numerical"][:1]


def one_child_twice(model):
    nodes = model._predictors[0][0].nodes
    nodes["left"][0] = nodes["right"][0]


def no_numbers(model):
    model._predictors[0][0].nodes["value"] = np.nan


def empty_sets(model):
    for tree in model._predictors[0]:
        tree.raw_left_cat_bitsets = tree.raw_left_cat_bitsets[:0]


DAMAGES = {
    "hist: a cycle": (hist, node("left", 0), "children out of range"),
    "hist: a child outside": (hist, node("right", 2**31), "children out of range"),
    "hist: two parents": (hist, one_child_twice, "nodes with two parents"),
    "hist: a feature outside": (hist, node("feature_idx", 10**9), "feature out of range"),
    "hist: a feature below 0": (hist, node("feature_idx", -1), "feature out of range"),
    "hist: a set outside": (hist, set_node("bitset_idx", 10**6), "sets out of range"),
    "hist: no sets": (hist, empty_sets, "sets out of range"),
    "hist: a number by sets": (
        partial(hist, numbers=True),
        node("is_categorical", 1),
        "splits a number by categories",
    ),
    "hist: no nodes": (
        hist,
        put(lambda tree: tree.nodes[:0], "_predictors", 0, 0, "nodes"),
        "another number of nodes",
    ),
    "hist: values that are no numbers": (hist, no_numbers, "values that are no numbers"),
    "hist: a category outside": (
        hist,
        put(np.array([0.0, 1e6]), "_bin_mapper", "bin_thresholds_", 0),
        "categories out of range",
    ),
    "hist: bins of fewer features": (
        hist,
        put(lambda mapper: mapper.is_categorical_[:1], "_bin_mapper", "is_categorical_"),
        "bins of other features",
    ),
    "hist: columns that are lost": (hist, fewer_columns, "an encoder of other columns"),
    "hist: another function": (hist, another_check, "not known to be affine"),
    "hist: fewer sums": (hist, put(np.zeros((1, 3)), "_baseline_prediction"), "sums of another"),
    "hist: more trees": (hist, put(lambda all: all[0] * 2, "_predictors", 0), "trees of another"),
    "hist: being fitted": (hist, put(True, "_in_fit"), "is being fitted"),
    "forest: a cycle": (forest, forest_node("left_child", 0), "children out of range"),
    "forest: a child outside": (forest, forest_node("right_child", 10**6), "out of range"),
    "forest: a feature outside": (forest, forest_node("feature", 10**6), "feature out of range"),
    "imputer: statistics": (
        partial(behind, SimpleImputer()),
        put(np.zeros(2), 0, "statistics_"),
        "statistics of other features",
    ),
    "neighbours' imputer: points": (
        partial(behind, KNNImputer()),
        put(lambda step: step._fit_X[:, :2], 0, "_fit_X"),
        "cannot be read as a model",
    ),
    "iterative imputer: features": (
        partial(behind, IterativeImputer(max_iter=1)),
        put(lambda all: all[0]._replace(feat_idx=99), 0, "imputation_sequence_", 0),
        "cannot be read as a model",
    ),
    "bins: not in order": (
        partial(behind, KBinsDiscretizer(3, encode="ordinal", strategy="uniform")),
        put(lambda edges: edges[0][::-1].copy(), 0, "bin_edges_", 0),
        "bins not in order",
    ),
    "bins: of fewer features": (
        partial(behind, KBinsDiscretizer(3, encode="ordinal", strategy="uniform")),
        put(lambda step: step.bin_edges_[:1], 0, "bin_edges_"),
        "bins of other features",
    ),
    "one-hot: numbers not in order": (
        partial(years, OneHotEncoder()),
        put(lambda known: known[0][::-1].copy(), 0, "categories_", 0),
        "categories that are not in order",
    ),
    "ordinal: numbers not in order": (
        partial(years, OrdinalEncoder()),
        put(lambda known: known[0][::-1].copy(), 0, "categories_", 0),
        "categories that are not in order",
    ),
    "one-hot: words twice": (
        one_hot,
        put(lambda known: known[0][[0, 0, 1]], *ENCODER, "categories_", 0),
        "categories that appear twice",
    ),
    "one-hot: fewer columns": (
        one_hot,
        put([1, 1], *ENCODER, "_n_features_outs"),
        "another number of columns",
    ),
    "one-hot: dropped outside": (
        partial(one_hot, drop="first"),
        put(np.array([10**6, 0], dtype=object), *ENCODER, "_drop_idx_after_grouping"),
        "dropped categories out of range",
    ),
    "one-hot: rare ones outside": (
        partial(one_hot, min_frequency=25),
        put(np.array([10**6] * 3), *ENCODER, "_default_to_infrequent_mappings", 0),
        "rare categories elsewhere",
    ),
    "one-hot: rare places outside": (
        partial(one_hot, min_frequency=25),
        put(np.array([10**6]), *ENCODER, "_infrequent_indices", 0),
        "rare categories out of range",
    ),
    "target: fewer numbers": (
        lambda: encoded(TargetEncoder(cv=2)).fit(MIXED, LABELS),
        put(lambda all: all[0][:1], *ENCODER, "encodings_", 0),
        "encodings of another number",
    ),
    "calibrated: more calibrators": (
        calibrated,
        put(lambda one: one.calibrators * 2, "calibrated_classifiers_", 0, "calibrators"),
        "calibrators of another number",
    ),
    "calibrated: a list of slopes": (
        calibrated,
        put(np.ones(3), "calibrated_classifiers_", 0, "calibrators", 0, "a_"),
        "a calibrator of another shape",
    ),
    "calibrated: no number": (
        calibrated,
        put(float("nan"), "calibrated_classifiers_", 0, "calibrators", 0, "b_"),
        "a calibrator that is no number",
    ),
}


def said_of(name, path):
    """Return the error that a damaged model leads to."""
    make, damage, _ = DAMAGES[name]
    model = make()
    skops.io.dump(model, path)
    load_model(path)  # as it was
    damage(model)
    skops.io.dump(model, path)
    try:
        load_model(path)
    except PertinentError as error:
        return str(error)
    return ""


def main():
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    with tempfile.TemporaryDirectory() as folder:
        for name in DAMAGES:  # one line each, so that the last one is known where it ends
            print(json.dumps([name, said_of(name, Path(folder, "model.skops"))]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
