"""Small models of families that came to the second format after its first files were stored.

They are fitted once, when their files are made; the file of the model is kept beside them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB
from sklearn.neighbors import KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pertinent


@dataclass(frozen=True)
class Family:
    """A model that is not fitted yet, and the question that is stored of it."""

    made: Any
    row: int = 0
    target: Any = None
    options: Any = None

    @property
    def is_about_numbers(self) -> bool:
        return isinstance(self.target, tuple)

    def run(self) -> tuple[Any, pertinent.Explanations]:
        """Return the fitted model and the explanation of one row of its data."""
        load = load_diabetes if self.is_about_numbers else load_iris
        X, y = load(return_X_y=True)
        if self.is_about_numbers:
            X, y = np.round(100 * X[:120, [2, 3, 8]]), y[:120]
        model = self.made.fit(X, y)
        explainer = pertinent.Explainer(model, data=X, **(self.options or {}))
        return model, explainer.explain(X[[self.row]], target=self.target)


def _tree(**options: Any) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=3, random_state=0, **options)


def _members() -> list[tuple[str, Any]]:
    return [("linear", LogisticRegression()), ("centroid", NearestCentroid()), ("tree", _tree())]


def _trees() -> list[tuple[str, Any]]:
    return [("all", _tree()), ("some", _tree(max_features=2))]


LOW, HIGH = (None, 120.0), (180.0, None)
BAND = (140.0, 160.0)
FAMILIES: dict[str, Family] = {
    # Regressors, with a range of predictions as the target.
    "regressor-linear": Family(make_pipeline(StandardScaler(), Ridge()), target=HIGH),
    "regressor-linear-band": Family(make_pipeline(StandardScaler(), Ridge()), 1, BAND),
    "regressor-linear-exact": Family(Ridge(), 1, HIGH, {"method": "exact"}),
    "regressor-log-link": Family(make_pipeline(StandardScaler(), PoissonRegressor()), 1, BAND),
    "regressor-tree": Family(DecisionTreeRegressor(max_depth=3, random_state=0), 1, HIGH),
    "regressor-forest": Family(RandomForestRegressor(4, max_depth=3, random_state=0), 1, HIGH),
    "regressor-forest-band": Family(
        RandomForestRegressor(4, max_depth=3, random_state=0), 1, BAND
    ),
    "regressor-boosting": Family(
        GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0), target=LOW
    ),
    "regressor-neighbours": Family(KNeighborsRegressor(1), 1, HIGH),
    # Votes and duels.
    "vote-hard": Family(VotingClassifier(_members(), voting="hard"), 60),
    "vote-hard-trees": Family(VotingClassifier(_trees(), voting="hard"), 60),
    "vote-soft-trees": Family(VotingClassifier(_trees(), voting="soft"), 60),
    "one-vs-one": Family(OneVsOneClassifier(LogisticRegression()), 60),
    "one-vs-rest": Family(OneVsRestClassifier(LogisticRegression()), 60),
    "output-code": Family(OutputCodeClassifier(LogisticRegression(), random_state=0), 60),
    "svc-linear": Family(SVC(kernel="linear"), 60),
    # Counts.
    "multinomial": Family(MultinomialNB(), 60),
    "bernoulli": Family(BernoulliNB(binarize=1.5), 60),
    "categorical": Family(
        make_pipeline(KBinsDiscretizer(3, encode="ordinal", strategy="uniform"), CategoricalNB()),
        60,
    ),
    # Sums of trees with their own links, and what stands around a model.
    "boosting": Family(GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), 60),
    "adaboost": Family(AdaBoostClassifier(_tree(), n_estimators=3, random_state=0), 60),
    "calibrated": Family(
        CalibratedClassifierCV(
            LogisticRegression(), method="temperature", ensemble=False, cv=3
        ),
        60,
    ),
    "products": Family(
        make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()), 60
    ),
    "nearest-centroid": Family(NearestCentroid(), 60),
    "constant": Family(DummyClassifier(), 60),
}  # fmt: skip

#: Linear models behind bent columns, which have proofs of their own since.
BENT: dict[str, Family] = {
    "bent": Family(make_pipeline(PowerTransformer(), LogisticRegression(max_iter=1000)), 60),
}
