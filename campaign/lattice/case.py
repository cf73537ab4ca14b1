"""One question about a small table: asked of the library, and written down as JSON."""

from __future__ import annotations

import base64
import json
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import pandas as pd

import pertinent
from campaign.tables import Array

NEGATIVE, POSITIVE, BOTH, MENU = "negatives", "positives", "explain", "menu"
#: The values of each column of numbers.
LATTICE: dict[str, Array] = {
    "a": np.arange(5.0),
    "b": np.round(np.arange(5) / 10, 1),
    "e": np.arange(0.0, 9.0, 2.0),
    "t": np.arange(2.0),
}
LEVELS = ("x", "y", "z")
#: The column of categories.
CATEGORY = "c"


@dataclass(frozen=True)
class Case:
    """A model, samples and a question.

    Attributes
    ----------
    data, labels : the table that the model was fitted on
    samples : which the question is about
    rules : arguments of `pertinent.Constraints`; a relation is [names, numbers, "<=", number]
    options : further arguments of the function; "plausible" and "with_data" stand for the table
    target : a label, or both ends of a range of numbers
    """

    kind: str
    model: Any
    data: pd.DataFrame
    labels: Array
    samples: pd.DataFrame
    ask: str
    rules: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    target: Any = None
    regressor: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in the order of the table."""
        return list(self.data.columns)

    @property
    def numbers(self) -> list[str]:
        """Names of the columns of numbers."""
        return [name for name in self.columns if name != CATEGORY]

    @property
    def single(self) -> bool:
        """Whether numbers are in single precision."""
        return bool((self.samples[self.numbers].dtypes == np.float32).any())

    @property
    def weights(self) -> Array:
        """What one unit of each column costs."""
        costs, given = self.rules.get("costs", {}), self.options["weights"]
        return np.array([given[name] * costs.get(name, 1.0) for name in self.columns])

    def rows(self, chosen: list[int]) -> Case:
        """Return the same question about some of the samples."""
        return replace(self, samples=self.samples.iloc[chosen].reset_index(drop=True))


def constraints(rules: dict[str, Any]) -> pertinent.Constraints:
    """Return the library's own object for the rules."""
    given = {**rules}
    given["relations"] = [
        f"{' + '.join(f'{u} * {n}' for u, n in zip(numbers, names, strict=True))} {sense} {most}"
        for names, numbers, sense, most in rules.get("relations", ())
    ]
    given["bounds"] = {name: tuple(ends) for name, ends in rules.get("bounds", {}).items()}
    return pertinent.Constraints(**given)


def plausibility(case: Case) -> pertinent.Plausibility:
    """Return the density that a case asks for: it is fitted to the table again."""
    return pertinent.Plausibility(case.data, case.labels, n_components=1, quantile=0.2)


def ask(case: Case) -> Any:
    """Return what the library answers: negatives, positives, explanations or menus."""
    options = {"constraints": constraints(case.rules), **case.options}
    if options.pop("plausible", False):
        options["plausibility"] = plausibility(case)
    with_data = options.pop("with_data", False)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if case.ask == NEGATIVE:
            return pertinent.pertinent_negatives(
                case.model, case.samples, target=_target(case), **options
            )
        if case.ask == POSITIVE:
            return pertinent.pertinent_positives(_classifier(case), case.samples, **options)
        most = options.pop("max_features", 2)
        given = {"limits_from": None, "steps_from": None, "rare": 0, **options}
        data = case.data if with_data else None
        explainer = pertinent.Explainer(case.model, data=data, **given)
        if case.ask == BOTH:
            return explainer.explain(case.samples, target=_target(case))
        rows = range(len(case.samples))
        return [explainer.menu(case.samples.iloc[[i]], most, _target(case)) for i in rows]


def _target(case: Case) -> Any:
    return tuple(case.target) if case.regressor else case.target


def _classifier(case: Case) -> Any:
    """Return the model whose class a positive keeps: of numbers, the side of the range."""
    return pertinent.RangeClassifier(case.model, *case.target) if case.regressor else case.model


# -- In files ----------------------------------------------------------------------------------


def to_json(case: Case, about: dict[str, Any]) -> str:
    """Return a case with its model, and what is known about it."""
    import skops.io

    record = {
        **about,
        "family": "lattice",
        "kind": case.kind,
        "ask": case.ask,
        "rules": case.rules,
        "options": case.options,
        "target": case.target,
        "regressor": case.regressor,
        "dtypes": {name: str(case.samples[name].dtype) for name in case.numbers},
        "samples": _written(case.samples),
        "data": _written(case.data),
        "labels": case.labels.tolist(),
        "model": base64.b64encode(skops.io.dumps(case.model, compression=ZIP_DEFLATED)).decode(),
    }
    return json.dumps(record)


def _written(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Return a table by columns; what is missing is null."""
    return {
        str(name): [None if pd.isna(value) else value for value in table[name].tolist()]
        for name in table.columns
    }


def from_json(path: Path) -> tuple[Case, dict[str, Any]]:
    """Return a case from a file of this repository, and all that the file says."""
    import skops.io

    record = json.loads(path.read_text())
    packed = base64.b64decode(record["model"])
    model = skops.io.loads(packed, trusted=skops.io.get_untrusted_types(data=packed))
    tables = [pd.DataFrame(record[name]).astype(record["dtypes"]) for name in ("data", "samples")]
    case = Case(
        record["kind"], model, tables[0], np.array(record["labels"]), tables[1], record["ask"],
        record["rules"], record["options"], record["target"], record["regressor"],
    )  # fmt: skip
    return case, record
