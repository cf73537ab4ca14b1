"""Our side of every bar, an older commit against this checkout: ``make bench NAME=before-after``.

For each bar two processes live side by side, one with the code of each, and take turns: what slows
the machine slows both. Times are processor time of one call on one thread with the garbage
collector off, the median over the turns. The workloads are those of ``make bench`` on fewer rows,
by the public API alone: both codes must run them. A bar is missed if it became slower (or, the
last one, larger) by more than a tenth.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import pertinent
from benchmarks.bars import no_collecting
from benchmarks.scale import peak_gib, problem, resident_gib
from experiments.digits_figure import positives, setting

ROOT = Path(__file__).parents[1]
BEFORE = "eb96647"
SLOWER = 1.10
#: As many times a bar that seems missed is measured, with fresh processes each time.
PROCESSES = 3
#: A short call is repeated within a turn until it takes this many seconds.
SHORT = 0.2

Call = Callable[[], object]


# --- the workloads: each returns the call to be timed ----------------------------------------


def scaled(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return (X / 16 if name == "digits" else StandardScaler().fit_transform(X)), y


def binary_box(rows: int) -> Call:
    X, y = scaled("breast_cancer")
    low, high = X.min(0), X.max(0)
    rules = pertinent.Constraints(bounds={i: (low[i], high[i]) for i in range(30)}, frozen=[0, 3])
    model = LogisticRegression().fit(X, y)
    explainer = pertinent.Explainer(model, baseline=0.0, constraints=rules)
    many = np.tile(X, (rows // len(X) + 1, 1))[:rows]
    many = many + np.random.default_rng(0).normal(scale=0.1, size=many.shape)
    many = np.clip(many, low, high)
    return lambda: explainer.explain(many)


def towards(model: Any, X: np.ndarray, rows: int, target: int = 3, **asked: Any) -> Call:
    """Negatives towards one class, of as many rows as there are."""
    some = X[model.predict(X) != target][:rows]
    return lambda: pertinent.pertinent_negatives(model, some, target=target, **asked)


def softmax(rows: int) -> Call:
    X, y = scaled("digits")
    return towards(LogisticRegression(max_iter=1000).fit(X, y), X, rows)


def hundred_classes(rows: int) -> Call:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(100, 500)) * 0.35
    X = means[rng.integers(100, size=2000)] + rng.normal(size=(2000, 500))
    model = LogisticRegression()
    model.coef_, model.intercept_ = means, -0.5 * (means**2).sum(1)
    model.classes_, model.n_features_in_ = np.arange(100), 500
    return towards(model, X, rows)


def glvq(prototypes: int, rows: int) -> Call:
    from pertinent.lvq import GLVQ

    X, y = scaled("digits")
    model = GLVQ(prototypes, init="kmeans", max_iter=5, random_state=0).fit(X, y)
    rules = pertinent.Constraints(bounds={i: (0.0, 1.0) for i in range(64)})
    return towards(model, X, rows, constraints=rules)


def curved(model: Any, name: str, rows: int) -> Call:
    """Negatives of evenly spread rows, each asked for the class after its own."""
    X, y = scaled(name)
    model.fit(X, y)
    some = X[np.linspace(0, len(X) - 1, rows).astype(int)]
    own = np.searchsorted(model.classes_, model.predict(some))
    target = model.classes_[(own + 1) % len(model.classes_)]
    return lambda: pertinent.pertinent_negatives(model, some, target=target)


def qda(name: str, rows: int) -> Call:
    return curved(QuadraticDiscriminantAnalysis(reg_param=0.1), name, rows)


def strict(rows: int) -> Call:
    X, y = scaled("digits")
    model, baseline = LogisticRegression(max_iter=2000).fit(X, y), X.mean(axis=0)
    some = X[model.predict(X) != model.predict(baseline[None])][:rows]
    asked: dict[str, Any] = {"method": "strict", "baseline": baseline, "between": True}
    return lambda: pertinent.pertinent_positives(model, some, **asked)


def plausible(rows: int) -> Call:
    s = setting()
    return lambda: positives(s, s.X_test[:rows], True)


def many_rows(rows: int) -> Call:
    """No smallest step for a value that changes: the older code knows no such rule."""
    has_steps = "steps_from" in inspect.signature(pertinent.Explainer).parameters
    _, X, explainer = problem(max(rows, 20_000), **({"steps_from": None} if has_steps else {}))
    return lambda: explainer.explain(X[:rows])


BARS: dict[str, tuple[Callable[..., Call], tuple[Any, ...]]] = {
    "binary linear, box, both": (binary_box, (10_000,)),
    "one single row, prepared Explainer, both": (binary_box, (1,)),
    "digits softmax K=10, negatives": (softmax, (1000,)),
    "K=100, d=500, negatives": (hundred_classes, (100,)),
    "GLVQ, 5 prototypes per class, digits": (glvq, (5, 1000)),
    "GLVQ, 20 prototypes per class, digits": (glvq, (20, 500)),
    "GLVQ, 50 prototypes per class, digits": (glvq, (50, 200)),
    "QDA 0.1, breast cancer, 2 classes": (qda, ("breast_cancer", 100)),
    "QDA 0.1, iris, all classes": (qda, ("iris", 75)),
    "QDA 0.1, wine, all classes": (qda, ("wine", 24)),
    "GaussianNB, breast cancer, 2 classes": (curved, (GaussianNB(), "breast_cancer", 569)),
    "strict positives, digits softmax, between": (strict, (500,)),
    "plausible positives, digits": (plausible, (10,)),
    "many rows x 30, scaler + LR, both": (many_rows, (50_000,)),
}
#: The one bar that is no time: a fresh process for each turn, since a peak never falls again.
MEMORY = "many rows x 30, scaler + LR, both, memory (MiB)"


# --- a worker: prepares a bar once, times it whenever it is asked to -----------------------------


def work() -> None:
    """Answer each line ``{"bar": name, "often": n}`` with the seconds of one call."""
    answers, sys.stdout = sys.stdout, sys.stderr
    warnings.simplefilter("ignore")
    print(json.dumps({"code": pertinent.__file__}), file=answers, flush=True)
    ready: dict[str, Call] = {}
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = {"value": _measured(ready, order["bar"], order["often"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def _measured(ready: dict[str, Call], bar: str, often: int) -> float:
    if bar == MEMORY:
        call = many_rows(200_000)
        before = resident_gib()
        call()
        return (peak_gib() - before) * 1024
    if bar not in ready:
        build, arguments = BARS[bar]
        ready[bar] = build(*arguments)
        ready[bar]()
    with no_collecting():
        start = time.process_time()
        for _ in range(often):
            ready[bar]()
        return (time.process_time() - start) / often


class Worker:
    """A process that has the code of one tree."""

    def __init__(self, tree: Path) -> None:
        path = os.pathsep.join([str(tree / "src"), str(ROOT)])
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchmarks.before_after", "--worker"],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        code = self._answer()["code"]
        if not Path(code).is_relative_to(tree / "src"):
            raise RuntimeError(f"expected the code of {tree}, and {code} was imported")

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a worker ended early: its message is above")
        return dict(json.loads(line))

    def measure(self, bar: str, often: int = 1) -> float:
        assert self.process.stdin is not None
        print(json.dumps({"bar": bar, "often": often}), file=self.process.stdin, flush=True)
        answer = self._answer()
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return float(answer["value"])

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextmanager
def workers(trees: list[Path]) -> Iterator[list[Worker]]:
    both = [Worker(tree) for tree in trees]
    try:
        yield both
    finally:
        for worker in both:
            worker.end()


# --- both sides in turns ----------------------------------------------------------------------


Sides = tuple[list[float], list[float]]


def in_turns(bar: str, trees: list[Path], turns: int) -> Sides:
    """Return the milliseconds of both sides in each turn; who goes first changes each time."""
    values: Sides = ([], [])
    with workers(trees) as both:
        once = [worker.measure(bar) for worker in both]
        often = max(1, round(SHORT / max(*once, 1e-6)))
        for turn in range(turns):
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                values[side].append(both[side].measure(bar, often) * 1e3)
    return values


def memory(trees: list[Path]) -> Sides:
    """Return the MiB of both sides, three times."""
    values: Sides = ([], [])
    for _ in range(3):
        for side, tree in enumerate(trees):
            with workers([tree]) as (worker,):
                values[side].append(worker.measure(MEMORY))
    return values


def medians(bar: str, trees: list[Path], turns: int) -> tuple[float, float, int]:
    """Return both medians, and over how many turns.

    Where the new side seems slower, the turns of fresh processes are added to those there are: on
    a busy machine nine turns of the same code on both sides were seen 15% apart.
    """
    values: Sides = ([], [])
    before = after = 0.0
    for _ in range(PROCESSES):
        more = memory(trees) if bar == MEMORY else in_turns(bar, trees, turns)
        values[0].extend(more[0])
        values[1].extend(more[1])
        before, after = map(statistics.median, values)
        if after <= SLOWER * before:
            break
    return before, after, len(values[0])


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """The sources of a commit in a folder that goes away afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder).resolve()


def compare(names: list[str], commit: str, turns: int) -> int:
    """Print the table; return how many bars were missed."""
    missed = 0
    print(f"{'bar':48} {'before ms':>10} {'after ms':>10} {'ratio':>6} {'turns':>6}")
    with checked_out(commit) as old:
        for name in names:
            try:
                before, after, taken = medians(name, [old, ROOT], turns)
            except RuntimeError as error:
                missed += 1
                print(f"{name:48} missing: {error}", flush=True)
                continue
            slow = after > SLOWER * before
            missed += slow
            line = f"{name:48} {before:10,.2f} {after:10,.2f} {after / before:6.2f} {taken:6}"
            print(line + ("  MISS" if slow else ""), flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="NAME", help="bars whose name holds this")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--before", default=BEFORE, metavar="COMMIT")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.worker:
        work()
        return 0
    names = [name for name in [*BARS, MEMORY] if chosen.only.lower() in name.lower()]
    if not names:
        parser.error(f"no bar's name holds {chosen.only!r}: {'; '.join([*BARS, MEMORY])}")
    missed = compare(names, chosen.before, chosen.turns)
    print(f"\n{len(names) - missed} of {len(names)} bars no slower than {chosen.before} by a tenth")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
