"""Model files of XGBoost, LightGBM and CatBoost, which may come from a stranger.

The readers of these libraries follow whatever indices a file holds, and end the process where one
is wrong. So a library never sees the file:

1. A reader of our own makes plain lists and arrays of it: JSON, UBJSON (`ubjson`), LightGBM's text,
   CatBoost's FlatBuffers (`flat`). It reads nothing beyond the end of the file, and nothing large
   that the file does not hold.
2. Everything that ``predict`` depends on is checked (`checked`): each node has one node above it,
   columns and outputs exist, numbers are finite, lists are as long as they must be.
3. What was checked, and nothing else, is written anew, and the library reads that.

The numbers are handed on as the file has them, so the model is to the bit the one that the library
itself would have read. Which file it is, its first bytes say.
"""

from __future__ import annotations

from collections.abc import Callable

from pertinent.geometry.arrays import Foreign
from pertinent.models.trees.files import catboost, flat, lightgbm, ubjson, xgboost
from pertinent.models.trees.files.checked import read_json, require

#: How a file of CatBoost's own form begins.
CATBOOST = b"CBM1"


def reader_of(start: bytes) -> Callable[[bytes], Foreign] | None:
    r"""Return what reads a file that begins like this; None: no library of trees wrote it.

    Examples
    --------
    >>> from pertinent.models.trees.files import reader_of
    >>> reader_of(b"CBM1\x00").__name__, reader_of(b"PK"), reader_of(b'{"learner": ').__name__
    ('_from_cbm', None, '_from_json')
    """
    if start.startswith(CATBOOST):
        return _from_cbm
    if start.startswith(b"tree"):
        return lightgbm.model_of
    if start.startswith(b"{"):
        return _from_json if start[1:].lstrip()[:1] in (b'"', b"") else _from_ubj
    return None


def _from_json(data: bytes) -> Foreign:
    document = read_json(data)
    if "learner" in document:
        return xgboost.model_of(document)
    require("features_info" in document, "it is JSON, and neither XGBoost's nor CatBoost's")
    return catboost.model_of(document)


def _from_ubj(data: bytes) -> Foreign:
    return xgboost.model_of(ubjson.read(data))


def _from_cbm(data: bytes) -> Foreign:
    return catboost.model_of(flat.read(data), exactly=True)
