"""Short names for the content of a model and of samples: another content has another one."""

from __future__ import annotations

import pickle
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from pertinent.summary.summary import asked_of

if TYPE_CHECKING:
    from pertinent.summary.asked import Answered

#: Hexadecimal digits that are shown.
DIGITS = 16


def fingerprints(explanations: Answered) -> dict[str, str | None]:
    """Return those of the model and of the samples; None where there is none."""
    return {
        "model": model_fingerprint(asked_of(explanations).model),
        "data": data_fingerprint(explanations),
    }


def model_fingerprint(model: Any) -> str | None:
    """Return what stands for the parameters of a model, the fitted ones included.

    None where it cannot be pickled, as a model that holds a lambda.

    Examples
    --------
    >>> from pertinent.views.fingerprints import model_fingerprint
    >>> from sklearn.linear_model import LogisticRegression
    >>> one, other = (LogisticRegression().fit([[0.0], [x]], [0, 1]) for x in (1.0, 2.0))
    >>> model_fingerprint(one) == model_fingerprint(other), len(model_fingerprint(one))
    (False, 16)
    """
    try:
        return str(joblib.hash(model, hash_name="sha1"))[:DIGITS]
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def data_fingerprint(explanations: Answered) -> str:
    """Return what stands for the names and values of the samples, as the model reads them."""
    table = explanations.table
    content = sha256("\0".join(map(str, table.features.names)).encode())
    content.update(np.ascontiguousarray(table.values, dtype="<f8").tobytes())
    content.update(np.ascontiguousarray(table.missing, dtype=bool).tobytes())
    return content.hexdigest()[:DIGITS]
