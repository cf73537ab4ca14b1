"""A tour in under a minute: a credit model, one refused applicant, all applicants, a report.

The refused applicant is then shown to a boosted model, too. With the extra `fast` its search is
compiled on the first run, which takes half a minute or more.

Run it with ``make demo``, ``pertinent demo`` or ``python -m pertinent.demo``. It needs no network:
the data are embedded.
"""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pertinent.api.explainer import Explainer
from pertinent.api.explanation import Explanations
from pertinent.checking import check
from pertinent.datasets import load_credit
from pertinent.geometry.arrays import Foreign
from pertinent.rules.constraints import Constraints
from pertinent.rules.wording import Wording

#: Applicants to learn from; the others are explained.
LEARN = 3000

WORDING = Wording(
    names={"time": "loan term", "amount": "loan amount", "records": "bad credit record"},
    units={
        "seniority": "years",
        "time": "months",
        "age": "years",
        "expenses": "thousand pesetas",
        "income": "thousand pesetas",
        "assets": "thousand pesetas",
        "debt": "thousand pesetas",
        "amount": "thousand pesetas",
        "price": "thousand pesetas",
    },
    subject="applicant",
)

#: What an applicant can do something about, and how.
RULES = Constraints(
    frozen=["age", "marital", "records", "price"],
    bounds={"expenses": (0, None), "income": (0, None), "assets": (0, None), "debt": (0, None),
            "amount": (0, None), "time": (6, 72)},
    integer=["seniority", "time", "expenses", "income", "assets", "debt", "amount"],
)  # fmt: skip


@dataclass(frozen=True)
class Credit:
    """The demo's model with its data.

    Attributes
    ----------
    model : fitted Pipeline
    train, applicants : DataFrame
    accuracy : float
        Share of the applicants whose assessment the model predicts.
    """

    model: Foreign
    train: Any
    applicants: Any
    accuracy: float


def train_credit_model() -> Credit:
    """Return a logistic regression on numbers and categories of the embedded credit data."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    return _trained(LogisticRegression(max_iter=1000), StandardScaler(), OneHotEncoder())


def train_boosted_credit_model() -> Credit:
    """Return gradient boosting on the same data: 50 trees of at most 15 leaves."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.preprocessing import OneHotEncoder

    boosted = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=15, random_state=0)
    return _trained(boosted, "passthrough", OneHotEncoder(sparse_output=False))


def _trained(model: Foreign, numbers: Foreign, categories: Foreign) -> Credit:
    """Return a model fitted behind what is done to numbers and to categories."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    credit = load_credit(drop_missing=True)
    frame = credit.frame
    answer = np.where(credit.target == "bad", "refused", "approved")
    columns = make_column_transformer(
        (numbers, credit.numeric_names), (categories, credit.categorical_names)
    )
    whole = make_pipeline(columns, model)
    whole.fit(frame[:LEARN], answer[:LEARN])
    rest = frame[LEARN:]
    accuracy = float(np.mean(whole.predict(rest) == answer[LEARN:]))
    return Credit(whole, frame[:LEARN], rest, accuracy)


def explain_applicants(credit: Credit, count: int | None = None, first: int = 0) -> Explanations:
    """Return the explanations of the applicants that the model has not seen."""
    explainer = Explainer(credit.model, data=credit.train, constraints=RULES, wording=WORDING)
    return explainer.explain(credit.applicants[first:][:count])


def refused_applicant(result: Explanations) -> int:
    """Return the first refused applicant for whom few values were enough and few would change."""
    positive, negative = result.positive, result.negative
    refused = (positive.prediction == "refused") & positive.found & negative.found
    free = positive.kept[:, [name not in RULES.frozen for name in result.table.features.names]]
    few = (free.sum(axis=1) == 2) & (negative.changed.sum(axis=1) <= 2)
    for chosen in (refused & few, refused):
        if chosen.any():
            return int(np.flatnonzero(chosen)[0])
    raise RuntimeError("The demo's model refuses nobody.")


def main(folder: str | Path = "pertinent-demo", say: Callable[[str], None] = print) -> list[Path]:
    """Run the demo, write its files into a folder, and return their paths."""
    start = time.perf_counter()
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    credit = train_credit_model()
    say(
        f"A model of credit decisions, learned from {len(credit.train):,} applications; it agrees "
        f"with the lender on {credit.accuracy:.0%} of {len(credit.applicants):,} others.\n"
    )
    result = explain_applicants(credit)
    row = refused_applicant(result)
    say(f"One applicant (row {row})\n")
    say(_wrapped(result[row].text()))
    say("\nAll applicants\n")
    say(_wrapped(result.text()))
    boosted = train_boosted_credit_model()
    say(f"\nThe same applicant, and a boosted model that agrees on {boosted.accuracy:.0%}\n")
    one = explain_applicants(boosted, 1, row)[0]
    say(_wrapped(one.text()))
    say(f"\n  Checked again, without a solver: {check(one.json(), boosted.model).verdict}")
    paths = write_files(result, row, out)
    say("\nWritten")
    for path in paths:
        say(f"  {path}")
    say(f"\n{time.perf_counter() - start:.1f} s")
    return paths


def write_files(result: Explanations, row: int, out: Path) -> list[Path]:
    """Write the report, the pictures and the explanation of one row."""
    from pertinent.views.plot import pyplot

    # Files are all that is wanted, whether or not there is a screen.
    pyplot().switch_backend("agg")
    report = result.report(out / "report.html", title="Who gets a loan, and what would change it")
    picture, population = out / "applicant.png", out / "applicants.png"
    result[row].plot().figure.savefig(picture, dpi=130)
    result.plot_summary().savefig(population, dpi=110)
    stored = out / "applicant.json"
    stored.write_text(result[row].json(), encoding="utf-8")
    return [path.resolve() for path in (report, picture, population, stored)]


def _wrapped(text: str, width: int = 88) -> str:
    lines = [textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ")
             for line in text.split("\n")]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "pertinent-demo")
