"""Real fitted models of other LVQ packages before our regions: ``make test SUITE=lvq-peers``.

sklvq and sklearn-lvq need a scikit-learn of 2022, and prosemble (``--prosemble``) needs JAX, so
this runs in environments of their own, with ours on the path. Every model is fitted by its package;
its regions must agree with its own ``predict`` on thousands of points, those close to the boundary
included, and every answer must be predicted as said.

With ``--record`` it also writes the fitted attributes and some predictions to
``recorded/``, from which the ordinary tests rebuild the models.
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

RECORDED = Path(__file__).parent / "recorded"
#: What our regions are built from.
ATTRIBUTES = (
    "classes_", "n_features_in_", "distance_type", "prototypes_", "prototypes_labels_", "omega_",
    "w_", "c_w_", "lambda_", "omegas_", "prototype_labels_",
)  # fmt: skip


def prosemble() -> dict:
    """Return unfitted models of prosemble, by name."""
    from prosemble.models import GLVQ, GMLVQ, LGMLVQ

    return {
        "prosemble GLVQ": GLVQ(n_prototypes_per_class=2),
        "prosemble GMLVQ": GMLVQ(n_prototypes_per_class=2),
        "prosemble GMLVQ, rank 2": GMLVQ(latent_dim=2),
        "prosemble LGMLVQ": LGMLVQ(n_prototypes_per_class=2),
    }


def peers() -> dict:
    """Return unfitted models of sklvq and sklearn-lvq, by name."""
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


def probes(model, X: np.ndarray, count: int, halvings: int) -> np.ndarray:
    """Return points around the data and pairs that enclose the model's boundary closely."""
    rng = np.random.default_rng(0)
    wide = rng.uniform(X.min(axis=0) - 1, X.max(axis=0) + 1, size=(count, X.shape[1]))
    one, two = wide[: count // 2], wide[count // 2 : 2 * (count // 2)]
    apart = np.asarray(model.predict(one) != model.predict(two))
    one, two = one[apart].copy(), two[apart].copy()
    for _ in range(halvings):  # bisect until the two are close to each other
        middle = (one + two) / 2
        here = np.asarray(model.predict(middle) == model.predict(one))
        one[here], two[~here] = middle[here], middle[~here]
    return np.vstack([X, wide, one, two])


def disagreements(model, points: np.ndarray, is_single: bool) -> int:
    """Return on how many points a region and the model's own predict differ.

    In single precision, what lies closer to the boundary than rounding is not judged.
    """
    predicted, differ = np.asarray(model.predict(points)), 0
    for label in np.asarray(model.classes_).tolist():
        inside = pertinent.decision_region(model, label, 1e-5 * is_single).contains(points)
        own = predicted == label
        differ += int((inside & ~own).sum() if is_single else (inside != own).sum())
    return differ


def wrong_answers(model, rows: np.ndarray) -> int:
    """Return how many answers are missing or not predicted as they must be."""
    own = np.asarray(model.predict(rows))
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
    classes = np.asarray(model.classes_).tolist()
    if hasattr(model, "distance_fn"):
        kept["distance_fn"] = model.distance_fn.__name__
    return {
        "module": type(model).__module__,
        "class": type(model).__qualname__,
        "attributes": kept,
        "predicted": "".join(
            str(classes.index(label)) for label in np.asarray(model.predict(points)).tolist()
        ),
    }


def main() -> int:
    """Check every model on two data sets, print a line for each, and record those of iris."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    record: dict = {"scikit-learn": sklearn.__version__, "models": {}}
    # JAX computes in single precision, and takes whole numbers as labels only.
    is_single = "--prosemble" in sys.argv[1:]
    labels = np.arange(3) if is_single else np.array(["virginica", "setosa", "other"])
    failed = 0
    for data, load in (("iris", load_iris), ("wine", load_wine)):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        shared = np.round(rng.uniform(-2.5, 2.5, size=(400, X.shape[1])), 3)
        for name, peer in (prosemble() if is_single else peers()).items():
            peer.fit(X, labels[y])
            model = peer
            points = probes(model, X, 4000, 10 if is_single else 20)
            bad, wrong = (
                disagreements(model, points, is_single),
                wrong_answers(model, X[:: len(X) // 5]),
            )
            failed += bool(bad or wrong)
            accuracy = np.mean(model.predict(X) == labels[y])
            print(
                f"{data:5s} {name:34s} {len(points):5d} points, {bad} disagreements, "
                f"{wrong} wrong answers, training accuracy {accuracy:.3f}",
                flush=True,
            )
            if data == "iris":
                record["points"] = shared.tolist()
                record["models"][name] = recorded(model, shared)
    if "--record" in sys.argv[1:]:
        name = "prosemble.json" if is_single else "lvq_peers.json"
        (RECORDED / name).write_text(json.dumps(record) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
