"""The nearest-prototype classifiers under test, fitted shortly: accuracy does not matter here."""

from __future__ import annotations

import warnings
from functools import cache

from linear_models import data
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

ESTIMATORS = {
    **{f"glvq_{k}": (lambda k=k: GLVQ(k, random_state=0, max_iter=15)) for k in (1, 3, 10)},
    **{f"gmlvq_{k}": (lambda k=k: GMLVQ(k, random_state=0, max_iter=10)) for k in (1, 3, 10)},
    "nearest_centroid": NearestCentroid,
    "shrunken_centroid": lambda: NearestCentroid(shrink_threshold=0.3),
    "centroid_priors": lambda: NearestCentroid(priors="empirical"),
    "one_nn": lambda: KNeighborsClassifier(1),
}
LOCAL = {
    f"lgmlvq_{k}": (lambda k=k: LGMLVQ(k, random_state=0, max_iter=5, rank=8)) for k in (1, 3, 10)
}


@cache
def fitted(estimator: str, name: str) -> object:
    X, y = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = {**ESTIMATORS, **LOCAL}[estimator]()
        if "lgmlvq" in estimator and X.shape[1] < 8:
            model.set_params(rank=None)
        return model.fit(X, y)
