"""Models from files, without running what is in them.

A skops file is data: types that nobody vouches for are refused by name, and what the others are
made of is checked before it is used (see `pertinent.models.sound`).
"""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path

from pertinent.exceptions import InputError, optional, reading
from pertinent.geometry.arrays import Foreign
from pertinent.models import region_function, supported_models
from pertinent.models.sound import (
    UnsafeModelError,
    rehearse,
    require_sound,
    require_sound_archive,
)

__all__ = ["UnsafeModelError", "load_model", "require_sound"]

#: Compiled types beside what skops vouches for; their arrays are checked.
COMPILED = frozenset(
    {
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.metrics._dist_metrics.ManhattanDistance64",
        "sklearn.neighbors._ball_tree.BallTree",
        "sklearn.neighbors._kd_tree.KDTree",
        "sklearn.tree._tree.Tree",
    }
)
#: Parts of supported models that skops does not vouch for: data, and functions that only ``fit``
#: calls.
PARTS = frozenset(
    {
        "numpy.dtype",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.feature_selection._univariate_selection.chi2",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
    }
)


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
    is_skops = zipfile.is_zipfile(file)
    if not is_skops and not allow_pickle:
        raise UnsafeModelError(
            f"{file.name} is not a skops file. Write one with skops.io.dump(model, path). A pickle "
            "runs whatever code it holds; for a file of your own, allow it explicitly "
            "(--allow-pickle, allow_pickle=True)."
        )
    with reading(file, " as a model", UnsafeModelError):
        model = _load_skops(file) if is_skops else _load_pickle(file)
        region_function(model)  # names an unsupported or unfitted model
        require_sound(model)
        rehearse(model)
    return model


def _load_skops(file: Path) -> Foreign:
    io = optional("skops.io", "cli", "Reading a model file")
    with zipfile.ZipFile(file) as archive:
        require_sound_archive(archive)
    unknown = set(io.get_untrusted_types(file=file))
    refused = sorted(name for name in unknown if not _is_trusted(name))
    if refused:
        raise UnsafeModelError(
            f"It holds types that are not trusted: {', '.join(refused)}. "
            "Only supported models and their parts are loaded."
        )
    return io.load(file, trusted=sorted(unknown))


def _is_trusted(name: str) -> bool:
    public = ".".join(part for part in name.split(".") if not part.startswith("_"))
    own = name.startswith("pertinent.") and public in supported_models()
    return own or name in COMPILED | PARTS


def _load_pickle(file: Path) -> Foreign:
    warnings.warn(
        f"{file.name} is read as a pickle, which runs whatever code it holds.", stacklevel=3
    )
    import joblib

    return joblib.load(file)
