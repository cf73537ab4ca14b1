"""Whether the parts of a model from a file fit together.

Compiled code trusts the arrays of a model: a tree whose feature index is out of range crashes the
process in ``predict``. So nothing of a file reaches compiled code unchecked:

1. `require_sound_archive` looks at the file before anything is built: sizes, and whether each
   array holds as many numbers as its header says.
2. `require_sound` checks every array that compiled code follows: shapes, ranges, order. A search
   tree is not checked but made again from its points.
3. `rehearse` asks for the region of a class and for one prediction. What is wrong in a way that
   Python itself finds is found here, and not in the middle of an explanation.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from zipfile import ZipFile

import narwhals as nw
import numpy as np
from scipy import sparse

from pertinent.exceptions import PertinentError, one_line
from pertinent.geometry.arrays import Foreign
from pertinent.models.combined.sound import CHECKS
from pertinent.models.linear import LARGEST_COEFFICIENT
from pertinent.models.registry import decision_region, model_classes, predicted_labels
from pertinent.models.steps.pipeline import features_of
from pertinent.models.steps.text import TextModel
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing
from pertinent.tables.table import installed_backend

#: Largest model file, unpacked, and the largest description of its parts.
LARGEST, LARGEST_SCHEMA = 2_000_000_000, 100_000_000
#: Most features of a model.
MOST_FEATURES = 1_000_000


class UnsafeModelError(PertinentError, ValueError):
    """A model file holds something that is not trusted, or arrays that do not fit together."""


def require(holds: Any, words: str) -> None:
    """Refuse a model of which something does not hold."""
    if not bool(np.all(holds)):
        raise UnsafeModelError(f"The model file is damaged: {words}.")


# -- Before anything is built ----------------------------------------------------------------


def require_sound_archive(archive: ZipFile, left: int = LARGEST) -> None:
    """Refuse a skops file that would take more memory than it may, or claims more than it holds."""
    size = sum(entry.file_size for entry in archive.infolist())
    require(size <= left, f"it unpacks to more than {LARGEST:,} bytes")
    for entry in archive.infolist():
        if entry.filename.endswith(".npy"):
            with archive.open(entry) as file:
                _require_sound_array(file, entry.file_size)
        elif entry.filename.endswith(".npz"):  # a sparse matrix is an archive of its own
            with ZipFile(io.BytesIO(archive.read(entry))) as inner:
                require_sound_archive(inner, left - size)
        else:
            require(entry.file_size <= LARGEST_SCHEMA, "its schema is too large")


def _require_sound_array(file: Any, size: int) -> None:
    """Check a file of one array: plain numbers or text, and as many as its header says."""
    one = np.lib.format.read_magic(file) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if one else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    require(not dtype.hasobject, "an array holds objects")
    claimed = dtype.itemsize * math.prod(int(n) for n in shape)
    require(claimed == size - file.tell(), "an array has another size than it says")


# -- Arrays that compiled code follows blindly -----------------------------------------------


def require_sound(model: Foreign) -> None:
    """Refuse a model with arrays that would make compiled code read out of range."""
    for part in _parts(model):
        for kind, check in _CHECKS.items():
            if any(kind == cls.__name__ for cls in type(part).__mro__):
                check(part)
        for kind, holds in CHECKS.items():
            if any(kind == cls.__name__ for cls in type(part).__mro__):
                for good, words in holds(part):
                    require(good, words)
        if sparse.issparse(part) and hasattr(part, "check_format"):
            _sparse(part)


def _parts(model: Foreign) -> Iterator[Any]:
    """Yield everything a model is made of, each part once."""
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | bool | type(None)):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += list(part.values())
        elif isinstance(part, list | tuple | set | frozenset):
            waiting += list(part)
        elif isinstance(part, np.ndarray):
            waiting += list(part.ravel()) if part.dtype == object else []
        else:
            waiting += list(getattr(part, "__dict__", {}).values())


def _estimator(model: Any) -> None:
    """Check what estimators share: their number of features, and that they are what they are."""
    count = getattr(model, "n_features_in_", 1)
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    require(whole and 1 <= count <= MOST_FEATURES, "its number of features")
    # An instance's own "_impl" or "predict" would stand in front of that of its class.
    hidden = [name for name in vars(model) if name in _METHODS or hasattr(type(model), name)]
    require(not hidden, f"{type(model).__name__} has an attribute {hidden[:1]} of its own")


_METHODS = ("predict", "transform", "decision_function", "predict_proba")


def _tree(tree: Any) -> None:
    """Check a decision tree: children come after their parent, features exist."""
    require(0 < tree.node_count <= tree.capacity, "a tree has another number of nodes")
    require(tree.n_outputs == 1, "a tree has several outputs")
    left, right, inner = tree.children_left, tree.children_right, tree.children_left != -1
    require((left == -1) == (right == -1), "a tree has nodes with one child")
    _require_forward(left, right, inner)
    _require_within(tree.feature[inner], tree.n_features, "a tree splits on a feature out of range")
    require(np.isfinite(tree.threshold[inner]), "a tree has thresholds that are no numbers")


def _require_forward(left: Any, right: Any, inner: Any) -> None:
    """Refuse nodes with children that do not come after them, which is how a walk ends."""
    here = np.arange(len(inner))[inner]
    children = np.concatenate([left[inner], right[inner]]).astype(np.int64)
    forward = (children > np.concatenate([here, here])) & (children < len(inner))
    require(forward, "a tree has children out of range")
    require(len(np.unique(children)) == len(children), "a tree has nodes with two parents")


def _require_within(places: Any, end: int, words: str) -> None:
    """Refuse places that are not among 0, 1, ..., end - 1."""
    numbers = np.asarray(places)
    require((numbers >= 0) & (numbers < end), words)


def _decision_tree(model: Any) -> None:
    if hasattr(model, "tree_"):
        require(model.tree_.n_features == model.n_features_in_, "a tree has other features")
        labels = getattr(model, "classes_", [None])
        require(model.tree_.n_classes[0] == len(labels), "a tree has other classes")


def _ensemble(model: Any) -> None:
    """Check an ensemble: its code asks the trees inside without a check of its own."""
    trees = np.ravel(getattr(model, "estimators_", []))
    # Of bagging each sees some of the columns.
    seen = getattr(model, "estimators_features_", None)
    require(seen is None or len(seen) == len(trees), "trees of another number")
    for i, one in enumerate(trees):
        if hasattr(one, "tree_"):
            count = model.n_features_in_ if seen is None else len(seen[i])
            require(one.tree_.n_features == count, "a tree has other features")


def _gradient_boosting(model: Any) -> None:
    """Check gradient boosting: compiled code adds each column of trees to a column of sums."""
    if not hasattr(model, "estimators_"):  # not fitted, as in a search
        return
    labels = len(model.classes_) if hasattr(model, "classes_") else 2  # a number is one sum, too
    trees, sums = model.estimators_, 1 if labels == 2 else labels
    require(np.ndim(trees) == 2 and trees.shape[1] == sums, "trees of another number")
    whole = [type(getattr(one, "tree_", None)).__name__ == "Tree" for one in trees.ravel()]
    require(len(whole) and all(whole), "trees of another kind")
    require(
        model.init_ == "zero"
        or type(model.init_).__name__ in ("DummyClassifier", "DummyRegressor"),
        "it starts from another model, which is not supported",
    )
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    require(model._raw_predict_init(row).shape == (1, sums), "sums of another number")


def _hist_boosting(model: Any) -> None:
    """Check gradient boosting on histograms: compiled code follows nodes, columns and bits."""
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    if not hasattr(model, "_predictors"):
        return
    sums, mapper = model.n_trees_per_iteration_, model._bin_mapper
    require(not getattr(model, "_in_fit", False), "it says that it is being fitted")
    require(np.shape(model._baseline_prediction) == (1, sums), "sums of another number")
    require(np.isfinite(model._baseline_prediction), "sums that start from no numbers")
    require([len(step) == sums for step in model._predictors], "trees of another number")
    labels = len(model.classes_) if hasattr(model, "classes_") else 2  # a number is one sum, too
    require(sums == (1 if labels == 2 else labels), "labels of another number")
    _hist_columns(model)
    count, sets = model.n_features_in_, np.asarray(mapper.is_categorical_, dtype=bool)
    require(sets.shape == (count,) == (len(mapper.bin_thresholds_),), "bins of other features")
    for j in np.flatnonzero(sets):
        _require_within(mapper.bin_thresholds_[j], 256, "categories out of range")
    for tree in (tree for step in model._predictors for tree in step):
        require(type(tree) is TreePredictor, "trees of another kind")
        _hist_tree(tree, sets)


def _hist_columns(model: Any) -> None:
    """Check the encoder inside: each column reaches the trees once, which nothing else checks."""
    encoder = model._preprocessor
    if encoder is None:
        return
    chosen, words = np.asarray(model.is_categorical_), "an encoder of other columns"
    require(chosen.dtype == bool and chosen.shape == (model.n_features_in_,), words)
    require(encoder.n_features_in_ == model.n_features_in_, words)
    kinds, masks = ("OrdinalEncoder", "FunctionTransformer"), (chosen, ~chosen)
    require(len(encoder.transformers_) >= 2, words)
    for (name, step, own), kind, mask in zip(encoder.transformers_, kinds, masks, strict=False):
        require(type(step).__name__ == kind and np.array_equal(own, mask), words)
        places = encoder._transformer_to_input_indices[name]
        require(np.array_equal(places, np.flatnonzero(mask)), words)
    require([step == "drop" for _, step, _ in encoder.transformers_[2:]], words)
    require(len({name for name, *_ in encoder.transformers_}) == len(encoder.transformers_), words)


def _hist_tree(tree: Any, sets: Any) -> None:
    """Check one tree; ``sets`` says which features are categories."""
    nodes, words = tree.nodes, np.asarray(tree.raw_left_cat_bitsets)
    require(nodes.ndim == 1 and len(nodes), "a tree has another number of nodes")
    inner = nodes["is_leaf"] == 0
    _require_forward(nodes["left"], nodes["right"], inner)
    columns = nodes["feature_idx"][inner]
    _require_within(columns, len(sets), "a tree splits on a feature out of range")
    require(~np.isnan(nodes["num_threshold"][inner]), "a tree has thresholds that are no numbers")
    require(np.isfinite(nodes["value"][~inner]), "a tree has values that are no numbers")
    by_sets = nodes["is_categorical"][inner] != 0
    require(sets[columns[by_sets]], "a tree splits a number by categories")
    require(words.dtype == np.uint32 and words.shape[1:] == (8,), "sets of another shape")
    _require_within(nodes["bitset_idx"][inner][by_sets], len(words), "a tree has sets out of range")


_NUMBER = (bool, int, float, np.bool_, np.number)


def _encoder(step: Any) -> None:
    """Check an encoder: codes are places in sorted numbers, and columns of sparse matrices."""
    known = getattr(step, "categories_", None)
    if known is None:
        return
    require(len(known) == step.n_features_in_, "categories of other features")
    for own in known:
        require(np.ndim(own) == 1 and len(own), "categories of another shape")
        values = [value for value in own.tolist() if not is_missing([value])[0]]
        numbers = all(isinstance(value, _NUMBER) for value in values)
        require(not numbers or np.diff(values) > 0, "categories that are not in order")
        require(len(set(values)) == len(values), "categories that appear twice")
    sizes = [len(own) for own in known]
    if getattr(step, "_infrequent_enabled", False):
        sizes = _require_rare(step, sizes)
    if hasattr(step, "_n_features_outs"):
        _require_width(step, sizes)
    if hasattr(step, "encodings_"):
        count = len(step.encodings_) // len(known)  # one for each class where there are several
        wanted = [size for size in sizes for _ in range(count)]
        require([len(own) for own in step.encodings_] == wanted, "encodings of another number")


def _require_rare(step: Any, sizes: list[int]) -> list[int]:
    """Check which categories an encoder takes together; return how many are left of each."""
    left, skipped = list(sizes), getattr(step, "_missing_indices", {})
    require(len(step._infrequent_indices) == len(sizes), "rare categories of other features")
    for j, (rare, mapping) in enumerate(
        zip(step._infrequent_indices, step._default_to_infrequent_mappings, strict=True)
    ):
        if rare is None:
            require(mapping is None, "rare categories that are not mapped")
            continue
        count = sizes[j] - (j in skipped)
        _require_within(rare, count, "rare categories out of range")
        frequent = np.setdiff1d(np.arange(count), rare)
        wanted = np.full(count, len(frequent))
        wanted[frequent] = np.arange(len(frequent))
        require(len(rare) > 0 and np.array_equal(mapping, wanted), "rare categories elsewhere")
        left[j] = len(frequent) + 1
    return left


def _require_width(step: Any, sizes: list[int]) -> None:
    """Check how many columns a one-hot encoder makes; sparse matrices take its word for it."""
    dropped = step._drop_idx_after_grouping
    drops = [None] * len(sizes) if dropped is None else list(dropped)
    require(len(drops) == len(sizes), "dropped categories of other features")
    for drop, size in zip(drops, sizes, strict=True):
        _require_within([] if drop is None else drop, size, "dropped categories out of range")
    wanted = [size - (drop is not None) for drop, size in zip(drops, sizes, strict=True)]
    require(list(step._n_features_outs) == wanted, "an encoder of another number of columns")


def _bins(step: Any) -> None:
    if hasattr(step, "bin_edges_"):
        require(len(step.bin_edges_) == step.n_features_in_, "bins of other features")
        for own in step.bin_edges_:
            widths = np.diff(np.asarray(own, dtype=float))
            require(len(widths) > 0 and widths >= 0, "bins not in order")


def _statistics(step: Any) -> None:
    if hasattr(step, "statistics_"):
        found = np.shape(step.statistics_)
        require(found == (step.n_features_in_,), "statistics of other features")


def _calibrated(model: Any) -> None:
    count = len(model.classes)  # one temperature stands for all of them
    wanted = 1 if count == 2 or model.method == "temperature" else count
    require(len(model.calibrators) == wanted, "calibrators of another number")


def _sigmoid(calibrator: Any) -> None:
    numbers = [calibrator.a_, calibrator.b_]
    require([np.ndim(number) == 0 for number in numbers], "a calibrator of another shape")
    require(np.isfinite(np.array(numbers, dtype=float)), "a calibrator that is no number")


def _neighbours(model: Any) -> None:
    """Check neighbours, and make their search tree again: nothing follows the one of the file."""
    if not (hasattr(model, "_fit_X") or hasattr(model, "_tree")):
        return
    points = model._fit_X
    require(points.dtype.kind in "fiu", "training points that are no numbers")
    shape = (model.n_samples_fit_, model.n_features_in_)
    require(points.shape == shape and len(model._y) == shape[0] > 0, "training points of a shape")
    plain = points.data if sparse.issparse(points) else points
    require(np.isfinite(plain), "training points that are no finite numbers")
    if hasattr(model, "classes_"):
        labels = np.asarray(model._y)
        require(labels.dtype.kind in "iu" and labels.ndim == 1, "labels of another kind")
        require((labels >= 0) & (labels < len(model.classes_)), "neighbours with unknown labels")
    if model._tree is not None:
        metric, more = model.effective_metric_, model.effective_metric_params_
        kinds = ("KDTree", "BallTree")
        require(type(model._tree).__name__ in kinds and type(metric) is str, "a search tree")
        model._tree = type(model._tree)(points, int(model.leaf_size), metric, **more)


def _support_vectors(model: Any) -> None:
    if not hasattr(model, "_n_support"):
        return
    require(not model._sparse, "an SVC of sparse data, which is not supported in files")
    numbers = np.asarray(model._n_support)
    # A number is one sum, too; its vectors are counted twice.
    is_number = not hasattr(model, "classes_")
    classes = 2 if is_number else len(model.classes_)
    count = int(numbers[0] if is_number else np.sum(numbers))
    pairs = classes * (classes - 1) // 2
    require((numbers >= 0) & (len(numbers) == classes), "numbers of support vectors")
    vectors, coefficients = model.support_vectors_, model._dual_coef_
    require(vectors.shape == (count, model.n_features_in_), "support vectors of another shape")
    require(np.shape(model.support_) == (count,), "support vectors of another number")
    require(coefficients.shape == (classes - 1, count), "coefficients of another shape")
    require(np.shape(model._intercept_) == (pairs,), "intercepts of another shape")
    for slopes in (model._probA, model._probB):
        require(np.size(slopes) in (0, pairs), "probabilities of another shape")
    require(np.size(model._probA) == np.size(model._probB), "probabilities of another shape")


def _vectorizer(model: Any) -> None:
    if not hasattr(model, "vocabulary_"):
        return
    places = list(model.vocabulary_.values())
    whole = all(isinstance(place, int | np.integer) for place in places)
    require(whole and sorted(places) == list(range(len(places))), "a vocabulary without order")


def _sparse(matrix: Any) -> None:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        require(False, one_line(error))


def _linear(model: Any) -> None:
    coef = getattr(model, "coef_", None)
    if coef is not None and hasattr(model, "n_features_in_"):
        require(coef.shape[-1] == model.n_features_in_, "coefficients of other features")
        plain = coef.data if sparse.issparse(coef) else coef
        for numbers in (plain, getattr(model, "intercept_", 0.0)):
            require(np.abs(numbers) <= LARGEST_COEFFICIENT, "coefficients that overflow")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "BaseEstimator": _estimator,
    "Tree": _tree,
    "BaseDecisionTree": _decision_tree,
    "BaseEnsemble": _ensemble,
    "GradientBoostingClassifier": _gradient_boosting,
    "GradientBoostingRegressor": _gradient_boosting,
    "BaseHistGradientBoosting": _hist_boosting,
    "_BaseEncoder": _encoder,
    "KBinsDiscretizer": _bins,
    "SimpleImputer": _statistics,
    "_CalibratedClassifier": _calibrated,
    "_SigmoidCalibration": _sigmoid,
    "NeighborsBase": _neighbours,
    "BaseLibSVM": _support_vectors,
    "CountVectorizer": _vectorizer,
    "LinearClassifierMixin": _linear,
    "LinearModel": _linear,
    "BaseSGD": _linear,
    "_GeneralizedLinearRegressor": _linear,
}


# -- Everything else -------------------------------------------------------------------------


def rehearse(model: Foreign) -> None:
    """Refuse a model that cannot do what every explanation asks of it."""
    classes = model_classes(model)
    require(len(np.unique(classes.astype(str))) == len(classes) > 0, "its labels")
    decision_region(model, classes.tolist()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model without names says so, rightly, later
        for part in _parts(model):
            if type(part).__name__ in _IMPUTERS and hasattr(part, "n_features_in_"):
                _fill(part)
        row = _row(features_of(model), hasattr(model, "feature_names_in_"))
        label = predicted_labels(model, row)
    require(np.shape(label) == (1,) and label[0] in classes, "it predicts something else")


def rehearse_texts(model: Foreign) -> None:
    """Refuse a model of texts that is not read, or cannot do what every explanation asks of it."""
    TextModel(model).require_linear(model_classes(model).tolist())
    label = predicted_labels(model, [""])
    require(np.shape(label) == (1,) and label[0] in model_classes(model), "it predicts no label")


_IMPUTERS = ("SimpleImputer", "KNNImputer", "IterativeImputer")


def _fill(imputer: Any) -> None:
    """Have an imputer fill every column once, some of them in each of two rows."""
    text = np.asarray(getattr(imputer, "statistics_", 0.0)).dtype == object
    rows = np.zeros((2, imputer.n_features_in_), dtype=object if text else float)
    rows[0, ::2] = rows[1, 1::2] = imputer.missing_values
    imputer.transform(rows)


def _row(features: Features, named: bool) -> Any:
    """Return a table of one row: zeros, and the first of each feature's categories."""
    levels = features.levels or (None,) * len(features)
    values = [0.0 if known is None else known[0] for known in levels]
    if named:
        columns = {name: [value] for name, value in zip(features.names, values, strict=True)}
        return nw.from_dict(columns, backend=installed_backend()).to_native()
    return np.array([values], dtype=object if features.levels else float)
