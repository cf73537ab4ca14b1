"""Models from files, without running what is in them.

A skops file is data: types that nobody vouches for are refused by name. That alone is not enough,
since compiled code trusts the arrays of a model. A tree whose feature index is out of range, for
example, crashes the process in ``predict``. So the arrays that compiled code follows blindly are
checked before the model is used.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pertinent.exceptions import InputError, PertinentError, optional
from pertinent.geometry.arrays import Foreign
from pertinent.models import region_function, supported_models

#: Compiled types beside what skops vouches for; their arrays are checked below.
COMPILED = frozenset(
    {
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
    }
)
#: A list of columns, as the ColumnTransformer of scikit-learn 1.6 remembers its remainder.
LISTS = frozenset({"sklearn.compose._column_transformer._RemainderColsList"})
#: Largest model file, unpacked.
LARGEST = 2_000_000_000


class UnsafeModelError(PertinentError, ValueError):
    """A model file holds something that is not trusted, or arrays that do not fit together."""


def load_model(path: str | Path, *, allow_pickle: bool = False) -> Foreign:
    """Return the classifier in a file, if it is one that we support and its arrays are sound.

    Parameters
    ----------
    path : str or Path
        A skops file. Write one with ``skops.io.dump(model, path)``.
    allow_pickle : bool
        Also read pickle and joblib files. Reading such a file runs whatever code it holds: only
        for files of your own.

    Raises
    ------
    UnsafeModelError
        The file holds types that are not trusted, or arrays that would crash compiled code.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no file {file}.")
    if zipfile.is_zipfile(file):
        model = _load_skops(file)
    elif allow_pickle:
        model = _load_pickle(file)
    else:
        raise UnsafeModelError(
            f"{file.name} is not a skops file. Write one with skops.io.dump(model, path). A pickle "
            "runs whatever code it holds; for a file of your own, allow it explicitly "
            "(--allow-pickle, allow_pickle=True)."
        )
    region_function(model)  # names an unsupported or unfitted model
    require_sound(model)
    return model


def _load_skops(file: Path) -> Foreign:
    io = optional("skops.io", "cli", "Reading a model file")
    with zipfile.ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > LARGEST:
        raise UnsafeModelError(f"{file.name} unpacks to {size:,} bytes; at most {LARGEST:,}.")
    try:
        unknown = set(io.get_untrusted_types(file=file))
        refused = sorted(name for name in unknown if not _is_trusted(name))
        if refused:
            raise UnsafeModelError(
                f"{file.name} holds types that are not trusted: {', '.join(refused)}. "
                "Only supported models and their parts are loaded."
            )
        return io.load(file, trusted=sorted(unknown))
    except UnsafeModelError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError, ImportError) as error:
        raise UnsafeModelError(f"{file.name} cannot be read as a model: {error}.") from error


def _is_trusted(name: str) -> bool:
    public = ".".join(part for part in name.split(".") if not part.startswith("_"))
    own = name.startswith("pertinent.") and public in supported_models()
    return own or name in COMPILED | LISTS


def _load_pickle(file: Path) -> Foreign:
    warnings.warn(
        f"{file.name} is read as a pickle, which runs whatever code it holds.", stacklevel=3
    )
    import joblib

    return joblib.load(file)


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


def _require(holds: Any, words: str) -> None:
    if not bool(np.all(holds)):
        raise UnsafeModelError(f"The model file is damaged: {words}.")


def _tree(tree: Any) -> None:
    """Check a decision tree: children come after their parent, features exist."""
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    here, inner = np.arange(len(left)), left != -1
    _require(len(left) > 0, "a tree has no nodes")
    _require((left == -1) == (right == -1), "a tree has nodes with one child")
    for child in (left[inner], right[inner]):
        _require((child > here[inner]) & (child < len(left)), "a tree has children out of range")
    places = feature[inner]
    _require((places >= 0) & (places < tree.n_features), "a tree splits on a feature out of range")


def _decision_tree(model: Any) -> None:
    if hasattr(model, "tree_"):
        _require(model.tree_.n_features == model.n_features_in_, "a tree has other features")
        _require(model.tree_.n_classes[0] == len(model.classes_), "a tree has other classes")


def _search_tree(tree: Any) -> None:
    """Check a KD tree or ball tree: its indices point at its own points."""
    points, order, nodes, _ = (np.asarray(array) for array in tree.get_arrays())
    _require(len(order) == len(points), "a search tree has another number of points")
    _require((order >= 0) & (order < len(points)), "a search tree points out of range")
    starts, ends = nodes["idx_start"], nodes["idx_end"]
    _require((starts >= 0) & (starts <= ends) & (ends <= len(points)), "a search tree's nodes")


def _neighbours(model: Any) -> None:
    labels = np.asarray(getattr(model, "_y", []))
    if labels.size and hasattr(model, "classes_"):
        _require((labels >= 0) & (labels < len(model.classes_)), "neighbours with unknown labels")
        _require(len(labels) == len(model._fit_X), "neighbours without labels")


def _support_vectors(model: Any) -> None:
    if not hasattr(model, "_n_support"):
        return
    count, classes = int(np.sum(model._n_support)), len(model.classes_)
    pairs = classes * (classes - 1) // 2
    _require(np.asarray(model._n_support) >= 0, "negative numbers of support vectors")
    vectors = model.support_vectors_.shape
    _require(vectors == (count, model.n_features_in_), "support vectors of another shape")
    _require(model._dual_coef_.shape == (classes - 1, count), "coefficients of another shape")
    _require(len(np.ravel(model._intercept_)) == pairs, "intercepts of another shape")


def _linear(model: Any) -> None:
    coef = getattr(model, "coef_", None)
    if coef is not None and hasattr(model, "n_features_in_"):
        _require(coef.shape[-1] == model.n_features_in_, "coefficients of other features")


def _sparse(matrix: Any) -> None:
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise UnsafeModelError(f"The model file is damaged: {error}.") from error


_CHECKS: dict[str, Callable[[Any], None]] = {
    "Tree": _tree,
    "BaseDecisionTree": _decision_tree,
    "KDTree": _search_tree,
    "BallTree": _search_tree,
    "NeighborsBase": _neighbours,
    "BaseLibSVM": _support_vectors,
    "LinearClassifierMixin": _linear,
}
