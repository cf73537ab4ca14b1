"""A call leaves nothing behind: all that it made is gone when its last user is.

What refers to itself waits for the garbage collector. That looks for it when many small objects
were made, and does not see that a few of them hold megabytes.
"""

import gc
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.lvq import GLVQ

X, y = load_iris(return_X_y=True)
MODELS = {
    "linear": LogisticRegression(max_iter=1000),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "naive bayes": GaussianNB(),
    "qda": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "1-nn": KNeighborsClassifier(1),
    "glvq": GLVQ(prototypes_per_class=2, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(5, max_depth=3, random_state=0),
}
ASKED = {
    "negatives": lambda model: pertinent.pertinent_negatives(model, X[::30]),
    "positives": lambda model: pertinent.pertinent_positives(model, X[::30]),
    "one row": lambda model: pertinent.Explainer(model, data=X).explain(X[60:61])[0].text(),
    "rules": lambda model: pertinent.Explainer(
        model,
        data=X,
        constraints=pertinent.Constraints(frozen=[0], bounds={1: (2.0, 5.0)}),
    ).explain(X[::50]),
}


@pytest.mark.matrix(2)
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("name", MODELS)
def test_nothing_waits_for_the_garbage_collector(name, asked):
    model = MODELS[name].fit(X, y)
    ASKED[asked](model)
    gc.collect()
    gc.disable()
    try:
        ASKED[asked](model)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        ours = Counter(
            type(part).__qualname__
            for part in gc.garbage
            if type(part).__module__.startswith("pertinent") or isinstance(part, np.ndarray)
        )
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert not ours
