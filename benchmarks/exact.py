"""Exact answers: how often the paper's support is not minimal, what exactness costs, and bars.

Run with ``make bench NAME=exact``. One thread, processor time. Ours is end to end: search, proof
re-checked, the model's own predict on every point, the result assembled. HiGHS solves the
mixed-integer program alone, a fresh model for each row.
"""

from __future__ import annotations

import sys
import time

import highspy
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from benchmarks.bars import Bar, print_bars, seconds_per_row
from pertinent.lvq import GLVQ

DATA = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "GLVQ": lambda: GLVQ(prototypes_per_class=2, random_state=0),
    "naive Bayes": lambda: GaussianNB(var_smoothing=1e-3),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "QDA": lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
}


def load(name):
    X, y = DATA[name](return_X_y=True)
    return (X / 16 if name == "digits" else StandardScaler().fit_transform(X)), y


def milp_strict(cell, x, baseline, seconds=20.0):
    """Fewest z in {0, 1} with G (baseline + z (x - baseline)) <= h, by HiGHS."""
    A, need = -cell.G * (x - baseline), cell.G @ baseline - cell.h
    m, d = A.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = d, m
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.ones(d), np.zeros(d), np.ones(d)
    lp.row_lower_, lp.row_upper_ = need, np.full(m, np.inf)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * d
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(0, m * d + 1, d, dtype=np.int32)
    lp.a_matrix_.index_ = np.tile(np.arange(d, dtype=np.int32), m)
    lp.a_matrix_.value_ = A.ravel()
    highs = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "time_limit": seconds, "mip_abs_gap": 0.99}
    for option, value in options.items():
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    highs.run()
    return round(highs.getInfo().objective_function_value)


def binary_bar(judged: int = 60) -> Bar:
    """Strict positives, two classes: the sort against the MILP."""
    return strict_bar("breast cancer", "strict positives, breast cancer, two classes", 2000, judged)


def strict_bar(
    data: str = "digits",
    words: str = "strict positives, digits softmax, between",
    rows: int = 1500,
    judged: int = 60,
) -> Bar:
    """Strict positives, logistic regression, between=True, against the MILP."""
    X, y = load(data)
    model, baseline = LogisticRegression(max_iter=2000).fit(X, y), X.mean(axis=0)
    # As many rows as asked for: small data sets come again with a little noise.
    copies = -(-4 * rows // len(X))
    noise = np.random.default_rng(0).normal(0, 0.05, (copies * len(X), X.shape[1]))
    noise[: len(X)] = 0.0
    X = np.tile(X, (copies, 1)) + noise
    own = model.predict(X)
    some = np.flatnonzero(own != model.predict(baseline[None]))[:rows]
    samples = X[some]

    def ours():
        return pertinent.pertinent_positives(
            model, samples, method="strict", baseline=baseline, between=True
        )

    regions = {k: pertinent.decision_region(model, k, 1e-9).cells[0] for k in model.classes_}
    start = time.process_time()
    sizes = [milp_strict(regions[own[i]], X[i], baseline) for i in some[:judged]]
    other = (time.process_time() - start) / judged
    found = ours()
    excess = float((found.objective[:judged] - sizes).max())
    valid = float((model.predict(found.points) == own[some]).mean())
    proved = float((found.status == "optimal").mean())
    seconds = seconds_per_row(ours, len(samples))
    note = f"proved {proved:.0%}, sizes equal on {judged} rows"
    return Bar(
        words,
        seconds * 1e6,
        "HiGHS MILP",
        other * 1e6,
        50.0,
        valid,
        max(excess, 0.0),
        note,
    )


def timed(model, samples, **kwargs):
    start = time.process_time()
    found = pertinent.pertinent_positives(model, samples, between=True, **kwargs)
    return found, (time.process_time() - start) / max(1, len(samples)) * 1e3


def support_line(data: str, name: str, rows: int) -> str:
    """One line of the table: sizes, shares that are not minimal, milliseconds a row."""
    X, y = load(data)
    model, baseline = MODELS[name]().fit(X, y), X.mean(axis=0)
    far = np.flatnonzero(model.predict(X) != model.predict(baseline[None]))
    samples = X[np.random.default_rng(0).permutation(far)[:rows]]
    two, _ = timed(model, samples, baseline=baseline)
    strict, strict_ms = timed(model, samples, method="strict", baseline=baseline)
    exact, exact_ms = timed(model, samples, method="exact", baseline=baseline, time_limit=5.0)
    kept = two.kept.sum(axis=1)
    both = two.found & exact.found
    more = (kept > exact.objective)[both]
    proved = (exact.status == "optimal").mean()
    return (
        f"{data:14} {name:12} {len(samples):5} {kept[both].mean():9.2f} "
        f"{exact.objective[both].mean():9.2f} {np.nanmean(strict.objective):9.2f} "
        f"{more.mean():11.0%} {(kept - exact.objective)[both].max():10.0f} "
        f"{strict_ms:10.2f} {exact_ms:10.2f} "
        f"{(strict.status == 'optimal').mean():8.0%} {proved:8.0%}"
    )


def support_table(rows: int = 40) -> None:
    print(
        "\nHow often the paper's two-phase support is not minimal (values between, mean baseline)"
    )
    print(
        f"{'data':14} {'model':12} {'rows':>5} {'two-phase':>9} {'exact':>9} {'strict':>9} "
        f"{'not minimal':>11} {'excess max':>10} {'strict ms':>10} {'exact ms':>10} "
        f"{'proved':>8} {'proved':>8}"
    )
    for data in DATA:
        for name in MODELS:
            count = 10 if data == "digits" and name in ("QDA", "naive Bayes") else rows
            print(support_line(data, name, count), flush=True)


def gap_table(rows: int = 12, seconds: float = 2.0) -> None:
    """Digits with a time limit: what is proved, and how far the rest may be off."""
    X, y = load("digits")
    model = LogisticRegression(max_iter=2000).fit(X, y)
    samples = X[np.random.default_rng(1).permutation(len(X))[:rows]]
    print(f"\nDigits softmax, 64 features, {seconds:g} s a row at most")
    print(f"{'question':44} {'ms/row':>8} {'size':>6} {'proved':>7} {'largest gap':>12}")
    questions = {
        "exact, between": {"method": "exact", "between": True},
        "exact, between, margin 0.3": {"method": "exact", "between": True, "margin": 0.3},
        "strict, margin 0.3": {"method": "strict", "margin": 0.3},
        "exact, free values": {"method": "exact"},
        "sufficient, range of the data": {"method": "sufficient", "data": X},
    }
    for words, kwargs in questions.items():
        start = time.process_time()
        found = pertinent.pertinent_positives(
            model,
            samples,
            baseline=X.mean(axis=0),
            weights=np.ones(64),
            time_limit=seconds,
            **kwargs,
        )
        spent = (time.process_time() - start) / rows * 1e3
        good = found.found
        gap = (found.objective - found.bound)[good].max() if good.any() else np.nan
        proved = (found.status == "optimal").mean() + (found.status == "infeasible").mean()
        size = found.objective[good].mean() if good.any() else np.nan
        print(f"{words:44} {spent:8.1f} {size:6.2f} {proved:7.0%} {gap:12.0f}", flush=True)


def main() -> int:
    missed = print_bars("Bars", [strict_bar(), binary_bar()])
    support_table()
    gap_table()
    return missed


if __name__ == "__main__":
    sys.exit(main())
