"""Our GMLVQ beside the published implementations, on the same folds.

Run with ``make bench NAME=lvq-accuracy``. sklvq and sklearn-lvq need a scikit-learn of 2022, so
they run in an environment of their own (the Python that PERTINENT_PEER_LVQ names; by default the
one that the target sets up). Without it they are reported as missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import sklearn.datasets
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import NearestCentroid

from benchmarks.peer_scripts.lvq import cross_validate
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "lvq_accuracy.md"
#: Data set and repetitions of 5-fold cross-validation.
DATA = {"iris": 10, "wine": 10, "breast_cancer": 5, "digits": 1}
OURS = {
    "class means (NearestCentroid)": lambda: NearestCentroid(),
    "pertinent GLVQ": lambda: GLVQ(random_state=0),
    "pertinent GMLVQ": lambda: GMLVQ(random_state=0),
    "pertinent LGMLVQ, rank 4": lambda: LGMLVQ(rank=4, random_state=0),
}

Scores = dict[str, dict[str, list[float]]]


def folds_of(data: str, repeats: int) -> list[tuple[list[int], list[int]]]:
    X, y = getattr(sklearn.datasets, f"load_{data}")(return_X_y=True)
    split = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    return [(train.tolist(), test.tolist()) for train, test in split.split(X, y)]


def theirs(folds: dict) -> Scores:
    python = os.environ.get("PERTINENT_PEER_LVQ", HERE.parent / ".venv-peers" / "lvq/bin/python")
    if not Path(python).exists():
        print("sklvq and sklearn-lvq: missing (make bench NAME=lvq-accuracy sets them up)")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "folds.json", Path(folder) / "scores.json"
        asked.write_text(json.dumps(folds))
        script = HERE / "peer_scripts" / "lvq.py"
        subprocess.run([str(python), str(script), str(asked), str(answered)], check=True)
        return json.loads(answered.read_text())


def table(found: Scores) -> str:
    """Return accuracies in percent, with processor seconds for one fit."""
    lines = [
        "| classifier | " + " | ".join(name.replace("_", " ") for name in DATA) + " |",
        "|---|" + "---|" * len(DATA),
    ]
    for name, scores in found.items():
        cells = [f"{100 * scores[d][0]:.2f} % ({scores[d][1]:.2f} s)" for d in DATA]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    warnings.simplefilter("ignore")
    folds = {data: folds_of(data, repeats) for data, repeats in DATA.items()}
    found = cross_validate(OURS, folds) | theirs(folds)
    text = table(found)
    print(text)
    published = [name for name in found if name.startswith(("sklvq", "sklearn-lvq"))]
    if not published:
        return 1
    RESULTS.write_text(text)
    worse = 0
    for data in DATA:
        best = max(found[name][data][0] for name in published)
        own = found["pertinent GMLVQ"][data][0]
        worse += own < best
        print(f"{data}: our GMLVQ {own:.2%}, best published {best:.2%}")
    return worse


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
