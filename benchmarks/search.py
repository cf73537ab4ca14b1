"""Search beside DiCE, on the same models and rows: ``make bench NAME=search``.

Three tables (credit, breast cancer, wine), three models each (forest, boosting, network). Ours is
the search over ``predict``: the model is hidden in an object that has nothing else. DiCE (random,
genetic, kdtree) runs in an environment of its own (PERTINENT_PEER_DICE, by default the one that
``make bench NAME=search`` sets up), one row after the other; ours gets all rows at once. Both keep
numbers within the range of the training data; ours also on the steps that they are written in.

Valid is the share of rows whose point the model puts into the other class. The size (weighted L1,
each number by its standard deviation, as ours measures) and the number of changed features are
means over the rows where both ours and that method are valid; ``ours`` is our size on these rows.
Times are of the processor, per row.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.demo import train_credit_model
from pertinent.geometry.task import distance
from pertinent.tables.reading import read_table

HERE = Path(__file__).parent
RESULTS = HERE / "results"
#: Rows of each table, and the most seconds that all of them may take.
ROWS, MOST = 10, 900
METHODS = ("random", "genetic", "kdtree")


class Hidden:
    """A model that can do nothing but predict."""

    def __init__(self, model):
        self.model = model

    def predict(self, X):
        return self.model.predict(X)


@dataclass(frozen=True)
class Line:
    """One method on one model: see the top of the file."""

    table: str
    model: str
    method: str
    valid: float | None = None
    l1: float | None = None
    ours: float | None = None
    changed: float | None = None
    milliseconds: float | None = None
    note: str = ""


def tables() -> Iterator[tuple[str, pd.DataFrame, np.ndarray, pd.DataFrame]]:
    """Yield each table: its name, training data with labels 0 and 1, and rows to explain."""
    for name, load in (("wine", load_wine), ("breast cancer", load_breast_cancer)):
        X, y = load(return_X_y=True, as_frame=True)
        order = np.random.default_rng(0).permutation(len(X))
        train, test = order[ROWS:], order[:ROWS]
        yield name, X.iloc[train], (y.iloc[train] == 1).astype(int).to_numpy(), X.iloc[test]
    credit = train_credit_model()
    y = (credit.model.predict(credit.train) == credit.model.classes_[1]).astype(int)
    yield "credit", credit.train, y, credit.applicants


def models() -> dict[str, object]:
    return {
        "forest": RandomForestClassifier(random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "network": MLPClassifier((32,), max_iter=400, random_state=0),
    }


def fitted(train: pd.DataFrame, y: np.ndarray, model):
    numbers = list(train.select_dtypes("number").columns)
    others = [name for name in train.columns if name not in numbers]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = make_column_transformer((StandardScaler(), numbers), (encoder, others))
    return make_pipeline(steps, model).fit(train, y), numbers


@dataclass(frozen=True)
class Problem:
    table: str
    name: str
    model: object
    train: pd.DataFrame
    rows: pd.DataFrame
    numbers: list[str]
    explainer: pertinent.Explainer

    def judged(self, points: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return which points are valid, their sizes, and how many features each changes."""
        setting, own = self.explainer.setting, self.model.predict(self.rows)
        n = len(self.rows)
        valid, size, changed = np.zeros(n, dtype=bool), np.full(n, np.nan), np.full(n, np.nan)
        sample = read_table(setting.features, self.rows).values
        for i, point in enumerate(points):
            if point is None:
                continue
            frame = pd.DataFrame([point], columns=self.rows.columns).astype(self.rows.dtypes)
            valid[i] = self.model.predict(frame)[0] != own[i]
            values = read_table(setting.features, frame).values
            size[i] = distance(values, sample[i : i + 1], setting.weights)[0]
            changed[i] = setting.features.by_feature(values != sample[i : i + 1]).sum()
        return valid, size, changed


def ours(problem: Problem) -> tuple[list, float]:
    rules = problem.explainer.setting.constraints
    ask = {"data": problem.train, "constraints": rules, "search": True}
    start = time.process_time()
    found = pertinent.pertinent_negatives(Hidden(problem.model), problem.rows, **ask)
    seconds = time.process_time() - start
    frame = found.points
    points = [list(frame.iloc[i]) if ok else None for i, ok in enumerate(found.found)]
    return points, 1e3 * seconds / len(points)


def dice(problem: Problem, method: str) -> tuple[list, float] | str:
    """Return DiCE's points and its milliseconds a row, or why there are none."""
    default = HERE.parent / ".venv-peers/dice/bin/python"
    python = os.environ.get("PERTINENT_PEER_DICE", str(default))
    if not Path(python).exists():
        return "missing: DiCE has no environment"
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "problem.joblib", Path(folder) / "answers.json"
        given = {"model": problem.model, "numbers": problem.numbers}
        for name in ("train", "rows"):
            frame = getattr(problem, name)
            given[name] = {column: frame[column].tolist() for column in frame.columns}
        joblib.dump(given, files[0])
        script = str(HERE / "peer_scripts" / "dice_any.py")
        try:
            done = subprocess.run(
                [python, script, *map(str, files), method],
                capture_output=True, text=True, timeout=MOST,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"missing: took more than {MOST} s"
        if done.returncode:
            return f"missing: {(done.stderr.strip().splitlines() or ['no message'])[-1][:120]}"
        found = json.loads(files[1].read_text())
    return found["points"], 1e3 * float(np.mean(found["seconds"]))


def lines(problem: Problem) -> Iterator[Line]:
    place = problem.table, problem.name
    points, milliseconds = ours(problem)
    own, own_size, own_changed = problem.judged(points)
    mean = float(own_size[own].mean())
    changed = float(own_changed[own].mean())
    yield Line(*place, "ours", float(own.mean()), mean, mean, changed, milliseconds)
    for method in METHODS:
        found = dice(problem, method)
        if isinstance(found, str):
            yield Line(*place, f"DiCE {method}", note=found)
            continue
        valid, size, changed = problem.judged(found[0])
        both = valid & own
        sizes = [float(a[both].mean()) if both.any() else None for a in (size, own_size, changed)]
        yield Line(*place, f"DiCE {method}", float(valid.mean()), *sizes, found[1])


def problems() -> Iterator[Problem]:
    for table, train, y, rows in tables():
        rows = rows.iloc[:ROWS].reset_index(drop=True)
        for name, model in models().items():
            pipeline, numbers = fitted(train, y, model)
            explainer = pertinent.Explainer(Hidden(pipeline), data=train, search=True)
            yield Problem(table, name, pipeline, train, rows, numbers, explainer)


def shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def save(found: list[Line]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "search.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Line)])
        writer.writerows(astuple(line) for line in found)


def main() -> int:
    warnings.filterwarnings("ignore")
    found = []
    print(f"{'table':14} {'model':9} {'method':13} {'valid':>6} {'L1':>8} {'ours':>8} "
          f"{'changed':>8} {'ms/row':>9}")  # fmt: skip
    for problem in problems():
        for line in lines(problem):
            found.append(line)
            print(
                f"{line.table:14} {line.model:9} {line.method:13} {shown(line.valid, '.0%'):>6} "
                f"{shown(line.l1, '.3f'):>8} {shown(line.ours, '.3f'):>8} "
                f"{shown(line.changed, '.1f'):>8} {shown(line.milliseconds, '.0f'):>9} {line.note}",
                flush=True,
            )
        save(found)  # what is known so far
    return 0


if __name__ == "__main__":
    sys.exit(main())
