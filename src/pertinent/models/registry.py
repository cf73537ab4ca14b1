"""One table of the classifiers we know, by name, so that none must be imported to be known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pertinent.exceptions import InputError, UnsupportedModelError, one_line, unknown_name
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import Region, missing_operations
from pertinent.models.families import why_not

#: ``(model, label, margin) -> Region``
RegionOf = Callable[[Foreign, Any, float], Region]

#: What stands around a model that is searched: nothing is known of its regions.
SEARCHED = "pertinent.models.combined.searched.Searched"

REGRESSOR = "regressor"
_NO_PREDICT = ": it has no predict"
_DECIDES = ("predict", "decision_function", "predict_proba")


@dataclass(frozen=True)
class _Entry:
    region_of: RegionOf
    subclasses: bool


_TABLE: dict[str, _Entry] = {}
#: Classes that are known for the reason why they are refused.
_REFUSED: dict[str, str] = {}


def register_model(*names: str, subclasses: bool = True) -> Callable[[RegionOf], RegionOf]:
    """Register the function that gives the decision regions of classes, by qualified name.

    Parameters
    ----------
    *names : str
        Module and class, e.g. ``"sklearn.linear_model.LogisticRegression"``. A private module
        (``sklearn.linear_model._logistic``) may be left out. Nothing is imported.
    subclasses : bool
        Whether the function also holds for subclasses that do not decide differently (that
        override none of predict, decision_function and predict_proba).

    Returns
    -------
    callable
        A decorator for ``(model, label, margin) -> Region``. The region holds the points that
        the model predicts as ``label``, tightened by ``margin`` (see `Cell.tighten`).

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models import register_model
    >>> from pertinent.models.linear import linear_region
    >>> @register_model("mypackage.Scorecard")
    ... def scorecard_region(model, label, margin):
    ...     return linear_region(model.points_[None], np.array([-model.cut_]), model, label, margin)
    """
    require_names("register_model", names)

    def add(function: RegionOf) -> RegionOf:
        require_function("register_model", function)
        for name in names:
            _TABLE[name] = _Entry(function, subclasses)
        return function

    return add


def refuse_model(*names: str, because: str) -> None:
    """Say why classes are not supported, and what to explain instead."""
    _REFUSED.update(dict.fromkeys(names, because))


def require_names(register: str, names: tuple[Any, ...]) -> None:
    """Refuse to register by anything but qualified names."""
    odd = [name for name in names if not (isinstance(name, str) and name)]
    if odd or not names:
        got = f"Got {odd[0]!r} among them" if odd else "Got none"
        raise InputError(
            f"{register} takes names of classes, and the function after them: "
            f"{register}('package.Class')(function). {got}."
        )


def require_function(register: str, function: Any) -> None:
    """Refuse to register what cannot be called."""
    if not callable(function):
        raise InputError(f"{register} registers a function. Got {function!r} instead.")


def supported_models() -> list[str]:
    """Return the names of all classes with known decision regions, in alphabetical order."""
    return sorted(name for name in _TABLE if name != SEARCHED)


def decision_region(model: Foreign, label: Any, margin: float = 0.0) -> Region:
    """Return the region of the points that a fitted classifier predicts as ``label``.

    Parameters
    ----------
    model : fitted classifier
    label : one of ``model.classes_``
    margin : float
        How far inside the points must lie, in units of each inequality's slope.

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> region = pertinent.decision_region(model, 0)
    >>> bool((region.contains(X) == (model.predict(X) == 0)).all())
    True
    """
    region_of = region_function(model)
    classes = model_classes(model)
    if label not in classes.tolist():
        raise unknown_name("label", label, classes.tolist())
    return region_of(model, label, margin)


def registered_function(model: Foreign) -> RegionOf:
    """Return the very function that was registered for a model."""
    return _find(model).region_of


def region_function(model: Foreign) -> RegionOf:
    """Return the function behind `decision_region` for a fitted model, or say what is wrong."""
    entry = _find(model)
    require_fitted(model)
    _require_plain_labels(model)
    return partial(_checked_region, entry.region_of)


def _checked_region(region_of: RegionOf, model: Foreign, label: Any, margin: float) -> Region:
    region = region_of(model, label, margin)
    missing = missing_operations(region)
    if missing:
        raise InputError(
            f"The function registered for {type(model).__name__} must return a "
            f"pertinent.geometry.region.Region. "
            f"It returned {region!r:.60} for the label {label!r}, which lacks "
            f"{', '.join(missing)}."
        )
    return region


def _require_plain_labels(model: Foreign) -> None:
    """Refuse labels that no file format of ours holds: dates, durations, tuples."""
    classes = getattr(model, "classes_", None)
    if classes is None or isinstance(classes, list) or np.ndim(classes) != 1:
        return  # see `model_classes`
    labels = np.asarray(classes)
    if labels.dtype.kind in "biufUT":
        return
    for label in labels.tolist() if labels.dtype == object else labels:
        plain = isinstance(label, str | bool | int | float | np.bool_ | np.number)
        if not plain or isinstance(label, np.timedelta64):  # to NumPy durations are integers
            raise UnsupportedModelError(
                f"{type(model).__name__} has the label {label!r}. Labels must be text, numbers or "
                "truth values: fit the model with y.astype(str)."
            )


def model_classes(model: Foreign) -> NDArray[Any]:
    """Return the labels of a fitted classifier."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(
            f"{type(model).__name__} has no classes_. Fit it first, or give the class of your "
            "own a classes_ attribute with its labels."
        )
    if isinstance(classes, list) or np.ndim(classes) != 1:
        raise InputError(
            f"{type(model).__name__} predicts several outputs at once; explain one output at a "
            "time with a single-output classifier."
        )
    return np.asarray(classes)


def predicted_labels(model: Foreign, table: Foreign) -> NDArray[Any]:
    """Return what a model predicts, one label a row; CatBoost gives a column of them."""
    try:
        labels = np.asarray(model.predict(table))
    except TypeError as error:  # scikit-learn's encoders, for numbers where they know text
        raise InputError(
            f"{type(model).__name__} cannot read values of these types: {one_line(error)}. Give "
            "every column the type that it had in training."
        ) from error
    except ValueError as error:
        if not isinstance(table, np.ndarray) or not hasattr(model, "feature_names_in_"):
            raise
        raise InputError(
            f"{type(model).__name__} was trained on a table with names and cannot read an array: "
            f"{one_line(error)}. Write pd.DataFrame(X, columns=model.feature_names_in_) instead "
            "of X."
        ) from error
    return labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels


def dense(array: Foreign) -> FloatArray:
    """Return an array of a model, sparse or not, in double precision."""
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=float)


def class_index(model: Foreign, label: Any) -> int:
    """Return the place of a label in ``classes_``."""
    return int(model_classes(model).tolist().index(label))


def require_fitted(model: Foreign) -> None:
    """Refuse a model that is not fitted, as far as that can be told."""
    if not hasattr(model, "fit"):
        return
    words = f"This {type(model).__name__} is not fitted yet. Call fit(X, y) on it first."
    if not isinstance(model, BaseEstimator):
        # CatBoost says so itself. Of others nobody can tell: they have no classes_ then.
        if hasattr(model, "is_fitted") and not model.is_fitted():
            raise InputError(words)
        return
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise InputError(words) from error


def _find(model: Foreign) -> _Entry:
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"Expected a fitted classifier, got the class {model.__name__}. "
            "Create and fit it first."
        )
    own = type(model)
    for ancestor, name in lineage(own):
        entry = _TABLE.get(name)
        if entry is None:
            continue
        if ancestor is own or (entry.subclasses and not _decides_anew(own, ancestor)):
            return entry
        raise UnsupportedModelError(
            f"{own.__qualname__} is a subclass of {name} that may decide differently. "
            f"Register its own regions with pertinent.register_model."
        )
    for _, name in lineage(own):
        if name in _REFUSED:
            raise UnsupportedModelError(_REFUSED[name])
    raise _unsupported(model)


def _unsupported(model: Foreign) -> UnsupportedModelError:
    lacking, names = _lacking(model), [name for _, name in lineage(type(model))]
    add = "pertinent.register_model", supported_models()
    return unsupported(model, *why_not(names), *add, lacking, search=not lacking)


def unsupported(
    model: Foreign,
    why: str,
    instead: str,
    register: str,
    supported: Iterable[str],
    lacking: str = "",
    *,
    search: bool = True,
) -> UnsupportedModelError:
    """Return three lines: what the model is, why there is no exact answer, what to do."""
    own = type(model)
    short = dict.fromkeys(name.rpartition(".")[2] for name in supported)
    asked = "search=True finds answers that are valid and not proved; or " if search else ""
    return UnsupportedModelError(
        f"{own.__module__}.{own.__qualname__} is not supported{lacking}.\n"
        f"Why there is no exact answer: {why}.\n"
        f"What to do: {asked}explain {instead}, fitted to what this model predicts; or add its "
        f"regions with {register}. Supported are: {', '.join(short)}."
    )


def unread(model: Foreign, why: Exception) -> UnsupportedModelError:
    """Return a refusal of a model as three lines, from what was said where it could not be read."""
    if "\n" in str(why) or isinstance(model, type) or _lacks(model):
        return why if isinstance(why, UnsupportedModelError) else UnsupportedModelError(str(why))
    own, reason = type(model), getattr(why, "why", why)
    instead = getattr(why, "instead", "") or "`pertinent models` lists what is supported."
    return UnsupportedModelError(
        f"{own.__module__}.{own.__qualname__} is not supported as it is.\n"
        f"Why there is no exact answer: {one_line(reason, limit=2000)}.\n"
        "What to do: search=True finds answers that are valid and not proved; or explain what is "
        f"named above. {instead}"
    )


def require_classifier(model: Foreign) -> None:
    """Refuse what has no ``predict``, or is known to be no classifier."""
    if isinstance(model, type) or _lacking(model):
        _find(model)  # says what it is instead
        raise _unsupported(model)


def _lacking(model: Foreign) -> str:
    """Return what a model is instead of a classifier, where it is none."""
    kind = estimator_kind(model)
    if not _lacks(model) and kind != REGRESSOR:
        return ""
    if not hasattr(model, "predict"):
        return _NO_PREDICT
    article = "an" if str(kind).startswith(("a", "e", "i", "o", "u")) else "a"
    return f": it is {article} {str(kind).replace('_', ' ')}, not a classifier"


def _lacks(model: Foreign) -> bool:
    """Return whether a model predicts neither classes nor numbers."""
    kinds = (None, "classifier", REGRESSOR)
    return not hasattr(model, "predict") or estimator_kind(model) not in kinds


def estimator_kind(model: Foreign) -> str | None:
    """Return what a model says that it is: "classifier", "regressor" and others; None: nothing."""
    kind = getattr(model, "_estimator_type", None)
    if kind is None and isinstance(model, BaseEstimator):
        kind = get_tags(model).estimator_type
    return kind


def _lineage(cls: type) -> tuple[tuple[type, str], ...]:
    """Return a class and its ancestors with their names, with and without private modules."""
    pairs = []
    for ancestor in cls.__mro__:
        full = f"{ancestor.__module__}.{ancestor.__qualname__}"
        public = ".".join(part for part in full.split(".") if not part.startswith("_"))
        # Where packages keep what is public: before the first private module.
        package = f"{ancestor.__module__.split('._')[0]}.{ancestor.__qualname__}"
        pairs += [(ancestor, name) for name in dict.fromkeys((full, public, package))]
    return tuple(pairs)


#: Kept for the classes asked about last: a plain row asks a dozen times.
lineage: Callable[[type], tuple[tuple[type, str], ...]] = lru_cache(maxsize=512)(_lineage)


def _decides_anew(own: type, ancestor: type) -> bool:
    return any(getattr(own, name, None) is not getattr(ancestor, name, None) for name in _DECIDES)
