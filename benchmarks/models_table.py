"""Every question put to every supported model: ``make bench NAME=models``, writes docs/models.md.

Each model is fitted on the flowers of `sklearn.datasets.load_iris` (two or three kinds) and asked
about a few of them. An entry says what became of the answers: ``proved`` where all of them are
optimal (or proved not to exist) and the certificate, checked again, shows it; ``3 of 4`` where some
are; ``found`` where points are handed out without that proof; ``no`` where the question is refused,
and the reason is printed while the table is made.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import PertinentError
from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ

DOCS = Path(__file__).parents[1] / "docs" / "models.md"
QUESTIONS = (
    "positive", "negative", "strict", "exact", "sufficient", "ranges", "plausible", "proof",
)  # fmt: skip
X, KINDS = load_iris(return_X_y=True)
ROWS = X[[0, 60, 80, 140]]
#: Seconds for one sample: what takes longer is "found", or nothing.
LIMIT = 5.0

HEAD = """# What is answered for which model

Made by `make bench NAME=models`, which puts every question to every model on the iris data (four
samples, at most {limit:.0f} s each), and checks the stored explanations again. *proved*: every
answer is optimal, or proved not to exist, by a certificate that was checked again; *3 of 4*: so
many of the samples; *found*: points that `predict` accepts, without that proof; *no*: refused, with
the reason. *ranges*: how far a changed value may move. *plausible*: the smallest change within the
density of the class. *proof*: the verdict of `pertinent.check` on a stored explanation. Texts are
asked word by word, by `TextExplainer`: see [texts](guide/texts.md).

"""


def models() -> Iterator[tuple[str, Any, bool]]:
    """Yield a name, a model, and whether it is fitted on two kinds of flowers only."""
    logistic = LogisticRegression(max_iter=1000)
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    yield "LogisticRegression, LinearSVC, ridge, SGD, ...", logistic, False
    yield "LinearDiscriminantAnalysis", LinearDiscriminantAnalysis(), False
    yield "OneVsRestClassifier", OneVsRestClassifier(logistic), False
    yield "MultinomialNB", MultinomialNB(), False
    yield "ComplementNB", ComplementNB(), False
    yield "BernoulliNB", BernoulliNB(binarize=2.5), False
    yield "CategoricalNB behind bins", make_pipeline(bins, CategoricalNB()), False
    yield "SVC(kernel='linear')", SVC(kernel="linear"), False
    yield "NuSVC(kernel='linear'), two classes", NuSVC(kernel="linear", nu=0.2), True
    yield "SVC(kernel='poly', degree=2)", SVC(kernel="poly", degree=2), True
    yield "OneVsOneClassifier", OneVsOneClassifier(logistic), False
    yield (
        "OutputCodeClassifier",
        OutputCodeClassifier(LinearSVC(), code_size=3, random_state=1),
        False,
    )
    voters = [("a", logistic), ("b", MultinomialNB()), ("c", LinearSVC())]
    yield "VotingClassifier, hard", VotingClassifier(voters), False
    trees = [("a", DecisionTreeClassifier(max_depth=3)), ("b", _forest(RandomForestClassifier))]
    yield "VotingClassifier, soft, of trees", VotingClassifier(trees, voting="soft"), False
    for method in ("sigmoid", "isotonic", "temperature"):
        calibrated = CalibratedClassifierCV(logistic, method=method, ensemble=False, cv=3)
        yield f"CalibratedClassifierCV, {method}", calibrated, True
    yield "QuadraticDiscriminantAnalysis", QuadraticDiscriminantAnalysis(), False
    yield "GaussianNB", GaussianNB(), False
    yield (
        "PolynomialFeatures(2), LogisticRegression",
        make_pipeline(StandardScaler(), PolynomialFeatures(2), logistic),
        True,
    )
    for bend in (
        FunctionTransformer(np.log1p), PowerTransformer(), QuantileTransformer(n_quantiles=20)
    ):  # fmt: skip
        name = bend.func.__name__ if hasattr(bend, "func") else type(bend).__name__
        for two in (True, False):
            yield f"{name}, LogisticRegression of {3 - two}", make_pipeline(bend, logistic), two
    yield "NearestCentroid", NearestCentroid(), False
    yield "KNeighborsClassifier(1)", KNeighborsClassifier(1), False
    yield "GLVQ", GLVQ(max_iter=20, random_state=0), False
    yield "GMLVQ", GMLVQ(max_iter=20, random_state=0), False
    yield "LGMLVQ", LGMLVQ(max_iter=20, random_state=0), False
    yield "DecisionTreeClassifier", DecisionTreeClassifier(max_depth=4), False
    yield "RandomForestClassifier", _forest(RandomForestClassifier), False
    yield "ExtraTreesClassifier", _forest(ExtraTreesClassifier), False
    yield "BaggingClassifier of trees", BaggingClassifier(n_estimators=5, random_state=0), False
    yield "AdaBoostClassifier of trees", AdaBoostClassifier(n_estimators=5, random_state=0), False
    yield "GradientBoostingClassifier", GradientBoostingClassifier(n_estimators=5), False
    yield "HistGradientBoostingClassifier", HistGradientBoostingClassifier(max_iter=5), False
    yield "DummyClassifier", DummyClassifier(), False


def _forest(kind: Any) -> Any:
    return kind(5, max_depth=3, random_state=0)


def row(model: Any, two: bool) -> dict[str, str]:
    """Return what became of each question."""
    data, labels = (X[50:], KINDS[50:]) if two else (X, KINDS)
    samples = ROWS[1:] if two else ROWS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data, labels)
        asked = dict(_questions(model, data, labels, samples))
        return {name: told(asked[name]) for name in QUESTIONS}


def _questions(
    model: Any, data: Any, labels: Any, samples: Any
) -> Iterator[tuple[str, Callable[[], str]]]:
    known = {"data": data, "time_limit": LIMIT}
    middle = np.median(data, axis=0)

    def positive(method: str) -> str:
        return _status(
            pertinent.pertinent_positives(
                model, samples, method, middle, between=True, **known
            ).status
        )

    def explained() -> Any:
        return pertinent.Explainer(model, **known).explain(samples)

    def ranges() -> str:
        every = [one.ranges for one in explained() if one.summary()["negative"].get("values")]
        some = sum(bool(found) for found in every)
        return "proved" if some == len(every) > 0 else f"{some} of {len(samples)}"

    def plausible() -> str:
        density = pertinent.Plausibility(data, labels, n_components=1)
        explainer = pertinent.Explainer(model, plausibility=density, **known)
        return _status(explainer.explain(samples).negative.status)

    def proof() -> str:
        verdicts = [str(pertinent.check(one.json(), model).verdict) for one in explained()]
        return "holds" if set(verdicts) == {"holds"} else ", ".join(sorted(set(verdicts)))

    yield "positive", lambda: positive("two-phase")
    yield (
        "negative",
        lambda: _status(pertinent.pertinent_negatives(model, samples, time_limit=LIMIT).status),
    )
    for method in ("strict", "exact", "sufficient"):
        yield method, lambda method=method: positive(method)  # type: ignore[misc]
    yield "ranges", ranges
    yield "plausible", plausible
    yield "proof", proof


def _status(status: Any) -> str:
    proved = np.isin(status, ["optimal", "infeasible"])
    if proved.all():
        return "proved"
    if not proved.any():
        return "found" if (status == "feasible").all() else "not in time"
    return f"{int(proved.sum())} of {len(proved)}"


def told(ask: Callable[[], str]) -> str:
    """Return an answer, or "no" where a question is refused."""
    try:
        return ask()
    except PertinentError as error:
        print(f"    refused: {str(error).splitlines()[0][:150]}")
        return "no"


#: What is said below the table.
FOOT = """Of any other model with a `predict` answers are *found* with `search=True`, and never
proved: see [the guide](guide/search.md).
"""


def table(rows: dict[str, dict[str, str]]) -> str:
    """Return the page."""
    lines = [f"| model | {' | '.join(QUESTIONS)} |", "|---" * (1 + len(QUESTIONS)) + "|"]
    for name, found in rows.items():
        lines.append(f"| `{name}` | {' | '.join(found[one] for one in QUESTIONS)} |")
    return HEAD.format(limit=LIMIT) + "\n".join(lines) + "\n\n" + FOOT


def main() -> None:
    """Ask everything, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DOCS)
    output = parser.parse_args().output
    rows: dict[str, dict[str, str]] = {}
    for name, model, two in models():
        start = time.perf_counter()
        rows[name] = row(model, two)
        print(f"{name}: {rows[name]} ({time.perf_counter() - start:.1f} s)", flush=True)
    output.write_text(table(rows))


if __name__ == "__main__":
    main()
