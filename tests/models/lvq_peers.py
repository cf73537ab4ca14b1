"""Real fitted models of sklvq and sklearn-lvq before our regions: ``make test-lvq-peers``.

Both packages need a scikit-learn of 2022, so this runs in an environment of its own, with ours on
the path. Every model is fitted by its own package; its regions must agree with its own ``predict``
on thousands of points, those close to the boundary included, and every answer must be predicted as
said.

With ``--record`` it also writes the fitted attributes and some predictions to
``recorded/lvq_peers.json``, from which the ordinary tests rebuild the models.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import pertinent

RECORDED = Path(__file__).parent / "recorded" / "lvq_peers.json"
LABELS = np.array(["virginica", "setosa", "other"])
#: What our regions are built from.
ATTRIBUTES = (
    "classes_", "n_features_in_", "distance_type", "prototypes_", "prototypes_labels_", "omega_",
    "w_", "c_w_", "lambda_", "omegas_",
)  # fmt: skip


def peers() -> dict:
    """Return unfitted models of both packages, by name."""
    from sklearn_lvq import GlvqModel, GmlvqModel, GrlvqModel, LgmlvqModel
    from sklvq import GLVQ, GMLVQ, LGMLVQ

    two = {"random_state": 0, "prototypes_per_class": 2}
    euclid = {"distance_type": "euclidean"}
    return {
        "sklvq GLVQ": GLVQ(random_state=0, prototype_n_per_class=2),
        "sklvq GLVQ, euclidean": GLVQ(random_state=0, **euclid),
        "sklvq GMLVQ": GMLVQ(random_state=0, prototype_n_per_class=2),
        "sklvq LGMLVQ": LGMLVQ(random_state=0, prototype_n_per_class=2),
        "sklvq LGMLVQ, by class": LGMLVQ(
            random_state=0, prototype_n_per_class=2, relevance_localization="class"
        ),
        "sklearn-lvq GlvqModel": GlvqModel(**two),
        "sklearn-lvq GrlvqModel": GrlvqModel(**two),
        "sklearn-lvq GmlvqModel": GmlvqModel(**two),
        "sklearn-lvq GmlvqModel, rank 2": GmlvqModel(initialdim=2, **two),
        "sklearn-lvq LgmlvqModel": LgmlvqModel(**two),
        "sklearn-lvq LgmlvqModel, by class": LgmlvqModel(classwise=True, **two),
    }


def probes(model, X: np.ndarray, count: int) -> np.ndarray:
    """Return points around the data and pairs that enclose the model's boundary closely."""
    rng = np.random.default_rng(0)
    wide = rng.uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, size=(count, X.shape[1]))
    one, two = wide[: count // 2], wide[count // 2 : 2 * (count // 2)]
    apart = model.predict(one) != model.predict(two)
    one, two = one[apart].copy(), two[apart].copy()
    for _ in range(20):  # bisect until the two are 1e-6 of their distance apart
        middle = (one + two) / 2
        here = model.predict(middle) == model.predict(one)
        one[here], two[~here] = middle[here], middle[~here]
    return np.vstack([X, wide, one, two])


def disagreements(model, points: np.ndarray) -> int:
    """Return on how many points a region and the model's own predict differ."""
    predicted = model.predict(points)
    return sum(
        int(
            (pertinent.decision_region(model, label).contains(points) != (predicted == label)).sum()
        )
        for label in model.classes_
    )


def wrong_answers(model, rows: np.ndarray) -> int:
    """Return how many answers are missing or not predicted as they must be."""
    own = model.predict(rows)
    negative = pertinent.pertinent_negatives(model, rows)
    positive = pertinent.pertinent_positives(model, rows, between=True)
    wrong = (~negative.found).sum() + (~positive.found).sum()
    wrong += (model.predict(negative.points[negative.found]) == own[negative.found]).sum()
    wrong += (model.predict(positive.points[positive.found]) != own[positive.found]).sum()
    return int(wrong)


def recorded(model, points: np.ndarray) -> dict:
    """Return what a fitted model is, and what it predicts, as JSON."""
    kept = {}
    for name in ATTRIBUTES:
        value = getattr(model, name, None)
        if isinstance(value, list):
            value = [np.asarray(item).tolist() for item in value]
        elif value is not None and not isinstance(value, str):
            value = np.asarray(value).tolist()
        if value is not None:
            kept[name] = value
    classes = model.classes_.tolist()
    return {
        "module": type(model).__module__,
        "class": type(model).__qualname__,
        "attributes": kept,
        "predicted": "".join(str(classes.index(label)) for label in model.predict(points)),
    }


def main() -> int:
    """Check every model on two data sets, print a line for each, and record those of iris."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    record: dict = {"scikit-learn": sklearn.__version__, "models": {}}
    failed = 0
    for data, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        shared = np.round(rng.uniform(-2.5, 2.5, size=(400, X.shape[1])), 3)
        for name, peer in peers().items():
            model = peer.fit(X, LABELS[y])
            points = probes(model, X, 4000)
            bad, wrong = disagreements(model, points), wrong_answers(model, X[:: len(X) // 5])
            failed += bool(bad or wrong)
            accuracy = np.mean(model.predict(X) == LABELS[y])
            print(
                f"{data:5s} {name:34s} {len(points):5d} points, {bad} disagreements, "
                f"{wrong} wrong answers, training accuracy {accuracy:.3f}",
                flush=True,
            )
            if data == "iris":
                record["points"] = shared.tolist()
                record["models"][name] = recorded(model, shared)
    if "--record" in sys.argv[1:]:
        RECORDED.write_text(json.dumps(record) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
