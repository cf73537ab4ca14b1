"""Fitted regressors of every kind that is supported, on few columns."""

import functools

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    LarsCV,
    Lasso,
    LassoCV,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    PassiveAggressiveRegressor,
    PoissonRegressor,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    RidgeCV,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

#: Columns in units of their own; the target is about 20 to 200 and never negative.
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [1.0, 30.0, 0.2] + [5.0, 100.0, -1.0]
Y = np.maximum(100 + 20 * (X[:, 0] - 5) + 0.8 * (X[:, 1] - 100) - 60 * (X[:, 2] + 1), 1.0)
Y = Y + RNG.normal(size=len(Y)).clip(-0.9, 0.9)


def scaled(model):
    return make_pipeline(StandardScaler(), model)


def logs(model):
    return TransformedTargetRegressor(model, func=np.log1p, inverse_func=np.expm1)


LINEAR = {
    "linear": LinearRegression,
    "ridge": Ridge,
    "ridge, cross-validated": RidgeCV,
    "lasso": Lasso,
    "lasso, cross-validated": LassoCV,
    "lasso, lars": LassoLars,
    "lasso, lars cv": LassoLarsCV,
    "lasso, lars ic": LassoLarsIC,
    "lars": Lars,
    "lars cv": LarsCV,
    "elastic net": ElasticNet,
    "elastic net cv": ElasticNetCV,
    "pursuit": lambda: OrthogonalMatchingPursuit(n_nonzero_coefs=2),
    "pursuit cv": OrthogonalMatchingPursuitCV,
    "bayes": BayesianRidge,
    "relevance": ARDRegression,
    "huber": lambda: scaled(HuberRegressor()),
    "median": lambda: QuantileRegressor(alpha=0.01),
    "theil-sen": lambda: TheilSenRegressor(random_state=0, max_subpopulation=50),
    "support vectors": lambda: scaled(LinearSVR(C=10, max_iter=10_000)),
    "descent": lambda: scaled(SGDRegressor(random_state=0)),
    "passive": lambda: scaled(PassiveAggressiveRegressor(random_state=0)),
    "ransac": lambda: RANSACRegressor(random_state=0),
}
CURVED = {
    "poisson": lambda: scaled(PoissonRegressor()),
    "gamma": lambda: scaled(GammaRegressor()),
    "tweedie": lambda: scaled(TweedieRegressor(power=1.5)),
    "tweedie, identity": lambda: TweedieRegressor(power=0),
    "logarithms": lambda: logs(scaled(Ridge())),
    "powers": lambda: TransformedTargetRegressor(Ridge(), transformer=PowerTransformer()),
    "quantiles": lambda: TransformedTargetRegressor(
        Ridge(), transformer=QuantileTransformer(n_quantiles=30, output_distribution="normal")
    ),
    "inside": lambda: scaled(
        TransformedTargetRegressor(
            make_pipeline(PCA(2), LinearRegression()), transformer=StandardScaler()
        )
    ),
    "searched": lambda: GridSearchCV(scaled(Ridge()), {"ridge__alpha": [0.1, 1.0]}, cv=2),
}
TREES = {
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "random tree": lambda: logs(ExtraTreeRegressor(max_depth=6, random_state=1)),
    "neighbour": lambda: KNeighborsRegressor(1),
    "neighbour, brute": lambda: KNeighborsRegressor(1, algorithm="brute"),
}
SUMS = {
    "forest": lambda: RandomForestRegressor(5, max_depth=3, random_state=0),
    "forest, threads": lambda: RandomForestRegressor(5, max_depth=3, random_state=0, n_jobs=2),
    "extra trees": lambda: scaled(ExtraTreesRegressor(5, max_depth=3, random_state=0)),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=8, max_depth=2, random_state=0),
    "boosting, logarithms": lambda: logs(
        GradientBoostingRegressor(n_estimators=6, max_depth=2, random_state=0)
    ),
    "histograms": lambda: HistGradientBoostingRegressor(
        max_iter=6, max_leaf_nodes=4, min_samples_leaf=5
    ),
    "histograms, counts": lambda: HistGradientBoostingRegressor(
        loss="poisson", max_iter=6, max_leaf_nodes=4, min_samples_leaf=5
    ),
}


def _xgboost(**more):
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=6, max_depth=2, learning_rate=0.5, **more)


def _lightgbm(**more):
    from lightgbm import LGBMRegressor

    return LGBMRegressor(
        n_estimators=6, num_leaves=4, min_child_samples=5, learning_rate=0.5, verbose=-1, **more
    )


def _catboost(**more):
    from catboost import CatBoostRegressor

    return CatBoostRegressor(
        iterations=6, depth=2, learning_rate=0.5, verbose=0, allow_writing_files=False, **more
    )


class _Booster:
    """What makes a Booster without a class of scikit-learn."""

    def fit(self, X, y):
        import lightgbm

        from pertinent.models.trees.native import BoosterRegressor

        options = {"num_leaves": 4, "learning_rate": 0.5, "min_data_in_leaf": 5, "verbose": -1}
        return BoosterRegressor(lightgbm.train(options, lightgbm.Dataset(X, y), 6))


BOOSTERS = {
    "booster": _Booster,
    "xgboost": _xgboost,
    "xgboost, counts": lambda: _xgboost(objective="count:poisson"),
    "lightgbm": _lightgbm,
    "lightgbm, counts": lambda: _lightgbm(objective="tweedie"),
    "catboost": _catboost,
    "catboost, medians": lambda: _catboost(loss_function="MAE"),
}
EVERY = {**LINEAR, **CURVED, **TREES, **SUMS, **BOOSTERS}


@functools.cache
def fitted(name):
    return EVERY[name]().fit(X, Y)
