"""Models from files, without running what is in them.

A skops file is data: types that nobody vouches for are refused by name, and what the others are
made of is checked before it is used (see `pertinent.models.sound`). Of files of XGBoost, LightGBM
and CatBoost see `pertinent.models.trees.files`.
"""

from __future__ import annotations

import shlex
import warnings
import zipfile
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from inspect import isfunction
from pathlib import Path

from pertinent.exceptions import InputError, UnsupportedModelError, optional, reading
from pertinent.geometry.arrays import Foreign
from pertinent.models import region_function, supported_models
from pertinent.models.combined.searched import is_read
from pertinent.models.registry import require_classifier, require_fitted, unread
from pertinent.models.regressors import RangeClassifier, is_regressor, regressor_reader
from pertinent.models.sound import (
    UnsafeModelError,
    rehearse,
    rehearse_texts,
    require_sound,
    require_sound_archive,
)
from pertinent.models.steps.text import is_text_model
from pertinent.models.trees.files import reader_of

__all__ = ["UnsafeModelError", "load_model", "require_sound"]

#: Compiled types beside what skops vouches for; their arrays are checked.
COMPILED = frozenset(
    {
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
    }
)
#: Parts of supported models that skops does not vouch for: data, and what only ``fit`` calls (see
#: also `_published`).
PARTS = frozenset(
    {
        "builtins.object",
        "collections.OrderedDict",
        "functools.partial",
        "imblearn.pipeline.Pipeline",
        "numpy.dtype",
        "numpy.floating",
        "numpy.integer",
        "numpy.number",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.impute._iterative.IterativeImputer",
        "sklearn.impute._iterative._ImputerTriplet",
        "sklearn.metrics._scorer._CurveScorer",
        "sklearn.metrics._scorer._MultimetricScorer",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.metrics._scorer._Scorer",
        "sklearn.multiclass._ConstantPredictor",
        "sklearn.model_selection._search_successive_halving.HalvingGridSearchCV",
        "sklearn.model_selection._search_successive_halving.HalvingRandomSearchCV",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
        "sklearn.utils.validation.check_array",
    }
)
#: So many bytes tell which library has written a file.
_START = 100
#: How the names of functions of scikit-learn end that only compare labels and predictions.
SCORES = ("_score", "_loss", "_error", "_deviance", "_corrcoef")


@lru_cache(maxsize=1)
def _published() -> frozenset[str]:
    """Return what scikit-learn publishes for ``fit`` alone: splits, scores, tests of features."""
    from sklearn import feature_selection, metrics, model_selection

    def of(package: Foreign) -> list[Foreign]:
        # Not all names are there before what is experimental is switched on.
        return [vars(package)[name] for name in package.__all__ if name in vars(package)]

    found = [
        *(one for one in of(model_selection) if hasattr(one, "split")),
        *(one for one in of(metrics) if isfunction(one) and one.__name__.endswith(SCORES)),
        *(one for one in of(feature_selection) if isfunction(one)),
    ]
    return frozenset(f"{one.__module__}.{one.__name__}" for one in found)


def load_model(
    path: str | Path,
    *,
    allow_pickle: bool = False,
    trust: Sequence[str] = (),
    search: bool = False,
) -> Foreign:
    """Return the model in a file, if it is one that we support and its arrays are sound.

    Parameters
    ----------
    path : str or Path
        A skops file, written with ``skops.io.dump(model, path)``; a file that XGBoost (JSON or
        UBJSON), LightGBM (text) or CatBoost (cbm or JSON) has written; or an ONNX file (extra
        ``onnx``).
    allow_pickle : bool
        Also read pickle and joblib files. Reading such a file runs whatever code it holds: only
        for files of your own.
    trust : sequence of str
        Full names of types in a skops file to trust beside those of supported models, e.g.
        ``["mypackage.Scaler"]``. Reading such a type may run code of its package on what the file
        holds, so name only types of files whose author you trust.
    search : bool
        Also take a classifier that only a search can explain (`Explainer(search=True)`).

    Raises
    ------
    UnsafeModelError
        The file holds types that are not trusted, or arrays that would crash compiled code.
    """
    if isinstance(trust, str):
        raise InputError(f"trust takes a list of names: trust=[{trust!r}].")
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no file {file}.")
    if file.suffix.lower() in (".pmml", ".onnx"):
        return _load_exchanged(file)
    read = _reader_of(file, trust, allow_pickle)
    with reading(file, " as a model", UnsafeModelError):
        model = read(file)
        if is_text_model(model):
            require_sound(model)
            rehearse_texts(model)
            return model
        classifier = RangeClassifier(model, low=0.0) if is_regressor(model) else model
        if search and not is_read(classifier):
            require_classifier(classifier)
            require_fitted(model)
            require_sound(model)
            return model
        try:
            region_function(classifier)  # names an unsupported or unfitted model
            if isinstance(classifier, RangeClassifier):
                regressor_reader(model)
            require_sound(model)
            rehearse(classifier)
        except UnsupportedModelError as error:
            raise unread(model, error) from error
    return model


def _reader_of(file: Path, trust: Sequence[str], allow_pickle: bool) -> Callable[[Path], Foreign]:
    """Return what reads a file, by what is in it."""
    if zipfile.is_zipfile(file):
        return partial(_load_skops, trust=trust)
    with file.open("rb") as opened:
        of_trees = reader_of(opened.read(_START))
    if of_trees is not None:
        return lambda path: of_trees(path.read_bytes())
    if allow_pickle:
        return _load_pickle
    raise UnsafeModelError(
        f"{file.name} is not a skops file, nor one that XGBoost, LightGBM or CatBoost has "
        "written. Write one with skops.io.dump(model, 'model.skops'). A pickle runs whatever code "
        "it holds; for a file of your own, allow it explicitly (--allow-pickle, allow_pickle=True)."
    )


def _load_exchanged(file: Path) -> Foreign:
    """Return the model of an ONNX file; PMML is refused."""
    if file.suffix.lower() == ".pmml":
        raise InputError(
            f"{file.name}: PMML is not read, since no runtime says what it predicts to the last "
            "bit; write the model with skops.io.dump, or convert it to ONNX."
        )
    from pertinent.models.trees.of_onnx import OnnxClassifier

    with reading(file, " as a model", UnsafeModelError):
        model = OnnxClassifier(file)
        region_function(model)
        rehearse(model)
    return model


def _load_skops(file: Path, trust: Sequence[str]) -> Foreign:
    io = optional("skops.io", "cli", "Reading a model file")
    with zipfile.ZipFile(file) as archive:
        require_sound_archive(archive)
    unknown = set(io.get_untrusted_types(file=file))
    refused = sorted(name for name in unknown - set(trust) if not _is_trusted(name))
    if refused:
        raise UnsafeModelError(_refusal(refused))
    return io.load(file, trusted=sorted(unknown))


def _refusal(names: list[str]) -> str:
    """Return which types are not trusted, and what to write if they are to be.

    Examples
    --------
    >>> from pertinent.models.files import _refusal
    >>> print(_refusal(["mypackage.Scaler"]))
    It holds types that are not trusted: mypackage.Scaler; if you trust whoever made the file, add
    --trust mypackage.Scaler (in Python: trust=['mypackage.Scaler']).
    """
    options = " ".join(f"--trust {shlex.quote(name)}" for name in names)
    said = (
        f"It holds types that are not trusted: {', '.join(names)}; if you trust whoever made the "
        f"file, add {options} (in Python: trust={names})."
    )
    if any(name.startswith("scipy.stats.") for name in names):
        said += (
            " A distribution runs text of the file when it is read; of a search, the file of its "
            "best_estimator_ does without."
        )
    return said


def _is_trusted(name: str) -> bool:
    public = ".".join(part for part in name.split(".") if not part.startswith("_"))
    own = name.startswith("pertinent.") and public in supported_models()
    return own or name in COMPILED | PARTS | _published()


def _load_pickle(file: Path) -> Foreign:
    warnings.warn(
        f"{file.name} is read as a pickle, which runs whatever code it holds.", stacklevel=3
    )
    import joblib

    return joblib.load(file)
