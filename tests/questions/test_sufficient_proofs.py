"""That a set is sufficient is itself proved, kept in the file, and checked without a solver."""

import json
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.proofs.core import Certificate
from pertinent.questions.sufficient import rivals

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
WHATEVER = "it holds whatever the other values are"


def stored(model, rows, **settings):
    """Return explanations of some rows as documents."""
    explainer = pertinent.Explainer(model, data=X, method="sufficient", **settings)
    return [json.loads(explanation.json()) for explanation in explainer.explain(rows)]


def verdicts(document, model):
    """Return the verdict of each claim."""
    return {f.claim: f.verdict for f in pertinent.check(document, model).findings}


@pytest.fixture(scope="module")
def nearest():
    # Each class is a union of polyhedra, one for each of its points: only a solver finds rivals.
    return KNeighborsClassifier(n_neighbors=1).fit(X[::10], y[::10])


def test_a_union_of_polyhedra_is_proved_free_of_rivals(nearest):
    for document in stored(nearest, X[::25]):
        assert document["proof"]["positive"]["status_code"]["values"] == [0]
        assert verdicts(document, nearest)[WHATEVER] == "holds"
        # Without its proof the claim is open, not refuted.
        del document["proof"]["positive"]["closeness_certificates"][:]
        assert verdicts(document, nearest)[WHATEVER] == "not re-checkable here"


def test_a_proof_of_another_set_shows_nothing(nearest):
    (document,) = stored(nearest, X[60:61])
    kept = document["proof"]["positive"]["kept"]["values"]
    kept[kept.index(True)] = False
    assert verdicts(document, nearest)[WHATEVER] != "holds"


def test_a_set_whose_proof_is_lost_is_not_handed_out(nearest, monkeypatch):
    monkeypatch.setattr(rivals, "Certificate", lambda n, blocks: Certificate(n))
    found = pertinent.pertinent_positives(
        nearest, X[::25], method="sufficient", data=X, baseline=np.zeros(4)
    )
    assert (found.status == "failed").all()
    assert not found.kept.any()


@pytest.mark.parametrize(
    "model", [LogisticRegression(), DecisionTreeClassifier(max_depth=3, random_state=0)]
)
def test_the_reason_for_none_is_checked(model):
    model = model.fit(X, y)
    documents = stored(model, X[50:150:10], margin=1.0)
    none = [d for d in documents if d["proof"]["positive"]["status_code"]["values"] == [2]]
    assert none
    for document in none:
        said = verdicts(document, model)
        assert said["what was enough: there is none"] == "holds"
        assert said["what was enough: the reason is as said"] == "holds"


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(7, max_depth=4, random_state=1),
        GradientBoostingClassifier(n_estimators=10),
        make_pipeline(PowerTransformer(), LogisticRegression(C=10)),
    ],
    ids=["forest", "boosted", "bent"],
)
def test_another_class_is_a_rival_however_unlikely_it_is(model):
    """Where no class has the probability that is asked for, the class may be another one."""
    rng = np.random.default_rng(2)
    data = rng.integers(0, 6, (150, 4)).astype(float)
    total = data @ rng.normal(size=4) + 0.5 * rng.normal(size=150)
    model.fit(data, total > np.median(total))
    samples, every = data[:8], np.array(list(product(range(6), repeat=4)), dtype=float)
    predicted, own = model.predict(every), model.predict(samples)
    found = pertinent.pertinent_positives(
        model, samples, method="sufficient", data=data, min_proba=0.7
    )
    assert found.found.any()
    for i in np.flatnonzero(found.found):
        kept = found.kept[i]
        same = (every[:, kept] == samples[i, kept]).all(axis=1)
        assert (predicted[same] == own[i]).all()
