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
from pertinent.models.registry import decision_region, model_classes, predicted_labels
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.features import Features
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
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    here, inner = np.arange(len(left)), left != -1
    require((left == -1) == (right == -1), "a tree has nodes with one child")
    for child in (left[inner], right[inner]):
        require((child > here[inner]) & (child < len(left)), "a tree has children out of range")
    children = np.concatenate([left[inner], right[inner]])
    require(len(np.unique(children)) == len(children), "a tree has nodes with two parents")
    places = feature[inner]
    require((places >= 0) & (places < tree.n_features), "a tree splits on a feature out of range")
    require(np.isfinite(tree.threshold[inner]), "a tree has thresholds that are no numbers")


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
    trees, sums = model.estimators_, 1 if len(model.classes_) == 2 else len(model.classes_)
    require(np.ndim(trees) == 2 and trees.shape[1] == sums, "trees of another number")
    whole = [type(getattr(one, "tree_", None)).__name__ == "Tree" for one in trees.ravel()]
    require(len(whole) and all(whole), "trees of another kind")
    require(
        model.init_ == "zero" or type(model.init_).__name__ == "DummyClassifier",
        "it starts from another model, which is not supported",
    )
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    require(model._raw_predict_init(row).shape == (1, sums), "sums of another number")


def _neighbours(model: Any) -> None:
    """Check neighbours, and make their search tree again: nothing follows the one of the file."""
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
    count, classes = int(np.sum(model._n_support)), len(model.classes_)
    pairs = classes * (classes - 1) // 2
    numbers = np.asarray(model._n_support)
    require((numbers >= 0) & (len(numbers) == classes), "numbers of support vectors")
    vectors, coefficients = model.support_vectors_, model._dual_coef_
    require(vectors.shape == (count, model.n_features_in_), "support vectors of another shape")
    require(np.shape(model.support_) == (count,), "support vectors of another number")
    require(coefficients.shape == (classes - 1, count), "coefficients of another shape")
    require(np.shape(model._intercept_) == (pairs,), "intercepts of another shape")
    for slopes in (model._probA, model._probB):
        require(np.size(slopes) in (0, pairs), "probabilities of another shape")
    require(np.size(model._probA) == np.size(model._probB), "probabilities of another shape")


def _sparse(matrix: Any) -> None:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        require(False, one_line(error))


def _linear(model: Any) -> None:
    coef = getattr(model, "coef_", None)
    if coef is not None and hasattr(model, "n_features_in_"):
        require(coef.shape[-1] == model.n_features_in_, "coefficients of other features")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "BaseEstimator": _estimator,
    "Tree": _tree,
    "BaseDecisionTree": _decision_tree,
    "BaseEnsemble": _ensemble,
    "GradientBoostingClassifier": _gradient_boosting,
    "NeighborsBase": _neighbours,
    "BaseLibSVM": _support_vectors,
    "LinearClassifierMixin": _linear,
}


# -- Everything else -------------------------------------------------------------------------


def rehearse(model: Foreign) -> None:
    """Refuse a model that cannot do what every explanation asks of it."""
    classes = model_classes(model)
    require(len(np.unique(classes.astype(str))) == len(classes) > 0, "its labels")
    decision_region(model, classes.tolist()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model without names says so, rightly, later
        row = _row(features_of(model), hasattr(model, "feature_names_in_"))
        label = predicted_labels(model, row)
    require(np.shape(label) == (1,) and label[0] in classes, "it predicts something else")


def _row(features: Features, named: bool) -> Any:
    """Return a table of one row: zeros, and the first of each feature's categories."""
    levels = features.levels or (None,) * len(features)
    values = [0.0 if known is None else known[0] for known in levels]
    if named:
        columns = {name: [value] for name, value in zip(features.names, values, strict=True)}
        return nw.from_dict(columns, backend=installed_backend()).to_native()
    return np.array([values], dtype=object if features.levels else float)
