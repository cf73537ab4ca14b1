"""Tables of other packages, with a class to predict, and pipelines that people use."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pertinent.datasets import load_credit


@dataclass(frozen=True)
class Stranger:
    """A table as its owner has it: columns of any kind, and the answer."""

    X: pd.DataFrame
    y: np.ndarray

    @property
    def words(self):
        return [c for c in self.X.columns if not pd.api.types.is_numeric_dtype(self.X[c])]

    @property
    def numbers(self):
        return [c for c in self.X.columns if c not in self.words]


def _split(frame, answer, drop=()):
    frame = frame.dropna().reset_index(drop=True)
    y = np.asarray(answer(frame))
    return Stranger(frame.drop(columns=list(drop)), y)


def penguins():
    from palmerpenguins import load_penguins

    return _split(load_penguins(), lambda f: f["species"].astype(str), ["species", "year"])


def statsmodels_table(name, answer, drop):
    from statsmodels import datasets

    return _split(getattr(datasets, name).load_pandas().data, answer, drop)


def votes():
    return statsmodels_table("anes96", lambda f: f["vote"].astype(int), ["vote", "logpopul"])


def affairs():
    return statsmodels_table("fair", lambda f: f["affairs"] > 0, ["affairs"])


def travel():
    return statsmodels_table(
        "modechoice", lambda f: f["choice"] == 1, ["choice", "individual", "mode"]
    )


def grades():
    return statsmodels_table("spector", lambda f: f["GRADE"] == 1, ["GRADE"])


def visits():
    return statsmodels_table("randhie", lambda f: f["mdvis"] > 0, ["mdvis"])


def cars():
    from vega_datasets import local_data

    frame = local_data.cars().drop(columns=["Name", "Year"])
    return _split(frame, lambda f: f["Origin"].astype(str), ["Origin"])


def weather():
    from vega_datasets import local_data

    frame = local_data.seattle_weather().drop(columns=["date"])
    rain = frame["weather"].isin(["rain", "snow"])
    return _split(frame.assign(wet=rain), lambda f: f["wet"], ["wet", "weather", "precipitation"])


def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return Stranger(X, np.asarray(y))


def credit():
    found = load_credit(drop_missing=True)
    return Stranger(found.frame, np.asarray(found.target))


TABLES = (penguins, votes, affairs, travel, grades, visits, cars, weather, wine, credit)


def _all_columns(last):
    def fitted(table):
        columns = make_column_transformer(
            (StandardScaler(), table.numbers),
            (OneHotEncoder(sparse_output=False), table.words),
        )
        return table.X, make_pipeline(columns, last()).fit(table.X, table.y)

    return fitted


def _numbers_only(last):
    def fitted(table):
        X = table.X[table.numbers]
        return X, make_pipeline(StandardScaler(), last()).fit(X, table.y)

    return fitted


def _calibrated():
    plain = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=5000))
    return CalibratedClassifierCV(plain, cv=2, ensemble=False)


def calibrated(table):
    X = table.X[table.numbers]
    return X, _calibrated().fit(X, table.y == table.y[0])


def nearest(table):
    """Return the nearest neighbour of 200 rows: all of a large table would take hours."""
    X = table.X[table.numbers]
    some = np.linspace(0, len(X) - 1, min(len(X), 200)).astype(int)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    return X, model.fit(X.iloc[some], table.y[some])


PIPELINES = {
    "logistic": _all_columns(lambda: LogisticRegression(tol=1e-8, max_iter=5000)),
    "lda": _all_columns(LinearDiscriminantAnalysis),
    "tree": _all_columns(lambda: DecisionTreeClassifier(max_depth=4, random_state=0)),
    "naive bayes": _numbers_only(GaussianNB),
    "nearest": nearest,
    "calibrated": calibrated,
}
