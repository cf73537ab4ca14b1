"""The questions whose answers are kept: model x method x rules, each with a few rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import pertinent
from tests.golden.models import Fitted, fitted, is_curved

ROWS = 7
LOAN_RANGES = {"income": (200, 6000), "debt": (0, 3000), "months": (6, 72), "age": (18, 90)}
IRIS_RANGES = {"bounds": {0: (4.3, 7.9), 1: (2.0, 4.4), 2: (1.0, 6.9), 3: (0.1, 2.5)}}
COUNTS = {"integer": ["children", "loans"], "bounds": {"children": (0, 3), "loans": (0, 2)}}
USUAL = {"job": "part-time", "home": "rent", "children": 2, "loans": 1}
RARE = {"job": "none", "home": "own", "children": 0, "loans": 2}


@dataclass(frozen=True)
class Case:
    """One question.

    Attributes
    ----------
    ask : the public function that is called, or `Explainer`
    model : name in `tests.golden.models.MODELS`
    rows : places of the samples in the training data, or how many of them
    rules, like : arguments of `Constraints` and of `Plausibility`
    change : what is done to the samples first
    options : passed on
    """

    ask: Callable[..., Any]
    model: str
    rows: int | list[int] = ROWS
    rules: dict[str, Any] | None = None
    like: dict[str, Any] | None = None
    target: Any = None
    change: Callable[[Any], Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_curved(self) -> bool:
        return is_curved(self.model)

    def explainer(self) -> pertinent.Explainer:
        source = fitted(self.model)
        return pertinent.Explainer(source.model, **self._asked(source))

    def run(self) -> Any:
        source = fitted(self.model)
        rows = source.some(self.rows, None if isinstance(self.target, list) else self.target)
        rows = rows if self.change is None else self.change(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pertinent.PlausibilityWarning)
            if self.ask is pertinent.Explainer:
                return self.explainer().explain(rows, target=self.target)
            asked = self._asked(source)
            if self.target is not None:
                asked["target"] = self.target
            return self.ask(source.model, rows, **asked)

    def _asked(self, source: Fitted) -> dict[str, Any]:
        asked = {"data": source.X, **self.options}
        if self.rules is not None:
            asked["constraints"] = pertinent.Constraints(**self.rules)
        if self.like is not None:
            asked["plausibility"] = pertinent.Plausibility(source.X, source.y, **self.like)
        return asked


def _case(ask: Callable[..., Any]) -> Callable[..., Case]:
    def make(model: str, **given: Any) -> Case:
        own = {k: given.pop(k) for k in list(given) if k in Case.__dataclass_fields__}
        return Case(ask, model, **own, options=given)

    return make


plus, minus = _case(pertinent.pertinent_positives), _case(pertinent.pertinent_negatives)
#: With the defaults, which know the data, and without what these infer.
known = _case(pertinent.Explainer)
both = partial(known, limits_from=None, steps_from=None, rare=0)


def single(rows: np.ndarray) -> np.ndarray:
    return rows.astype(np.float32)


def with_gaps(rows: Any) -> Any:
    rows = rows.copy()
    rows.iloc[0, rows.columns.get_loc("income")] = np.nan
    rows.iloc[1, rows.columns.get_loc("job")] = None
    rows.iloc[2, rows.columns.get_loc("assets")] = np.nan
    return rows


def box(columns: int, low: float, high: float) -> dict[str, Any]:
    return {"bounds": {j: (low, high) for j in range(columns)}}


NEGATIVE_MODELS = (
    "logistic pair", "logistic iris", "linear SVC", "ridge", "LDA", "one-vs-rest", "calibrated",
    "QDA 0", "QDA 0.1", "QDA cancer", "QDA 1", "naive Bayes", "naive Bayes cancer", "SVC degree 2",
    "products", "QDA wine", "GLVQ", "GMLVQ", "LGMLVQ", "LGMLVQ wine", "nearest centroid",
    "1-NN", "tree", "scaled", "PCA", "PCA tree", "clipped", "bins", "bins, ordinal",
    "bins, naive Bayes", "one-hot", "ordinal", "one-hot tree", "counts GLVQ",
)  # fmt: skip
POSITIVE_MODELS = (
    "logistic cancer", "logistic wine", "linear SVC", "ridge", "one-vs-rest", "calibrated",
    "QDA 0", "QDA wine", "naive Bayes", "SVC degree 2", "GLVQ", "GMLVQ", "LGMLVQ",
    "nearest centroid", "1-NN", "tree", "PCA", "clipped", "bins", "one-hot", "one-hot tree",
)  # fmt: skip
#: Methods by the models that they are asked of.
COUNTED = {
    "strict": ("logistic cancer", "logistic wine", "naive Bayes", "QDA 0.1", "GLVQ", "tree",
               "1-NN", "counts"),
    "exact": ("logistic cancer", "logistic wine", "naive Bayes", "QDA 0.1", "GMLVQ", "tree",
              "counts", "counts tree"),
    "sufficient": ("logistic cancer", "logistic wine", "naive Bayes", "GMLVQ", "tree", "counts",
                   "counts naive Bayes"),
}  # fmt: skip
FEWEST = (
    "logistic cancer", "linear SVC", "QDA 0.1", "naive Bayes", "GMLVQ", "tree", "1-NN", "PCA",
    "counts", "counts QDA",
)  # fmt: skip

CASES: dict[str, Case] = {
    **{f"negative, {name}": minus(name) for name in NEGATIVE_MODELS},
    **{
        f"positive, {name}": plus(name, baseline="median", between=True)
        for name in POSITIVE_MODELS
    },
    **{
        f"{method}, {name}": plus(
            name,
            method=method,
            rows=5,
            **({"rules": COUNTS, "baseline": USUAL} if "counts" in name else
               {"baseline": "median", "between": method == "exact"}),
        )
        for method, names in COUNTED.items()
        for name in names
    },
    **{
        f"fewest changes, {name}": minus(
            name, norm="l0", rows=5, **({"rules": COUNTS} if "counts" in name else {})
        )
        for name in FEWEST
    },
    # -- What is asked for ---------------------------------------------------------------------
    "target, logistic": minus("logistic iris", target=2),
    "target of each row": minus("logistic iris", rows=6, target=[1, 2, 2, 0, 0, 1]),
    "target, QDA": minus("QDA 0.1", target=1),
    "target, 1-NN": minus("1-NN", target=0),
    "target, fewest changes": minus("logistic wine", target=1, norm="l0"),
    "at most two changes": minus("logistic wine", max_changes=2),
    "at most one change, fewest": minus("logistic wine", max_changes=1, norm="l0"),
    "at most one change, naive Bayes": minus("naive Bayes", max_changes=1),
    "alternatives of a negative": minus("logistic wine", alternatives=3, rows=5),
    "alternatives of a negative, target": minus("logistic iris", target=1, alternatives=2),
    "alternatives, fewest changes": minus("logistic cancer", norm="l0", alternatives=2, rows=5),
    "alternatives, counts": minus("counts", norm="l0", alternatives=2, rules=COUNTS),
    "alternatives, tree": minus("tree", alternatives=2),
    "alternatives, strict": plus(
        "logistic wine", method="strict", baseline="median", alternatives=2, rows=5
    ),
    "alternatives, exact": plus(
        "logistic wine", method="exact", baseline="median", between=True, alternatives=2, rows=4
    ),
    "strict or else two-phase": plus("QDA 0.1", method="strict", fallback=True, baseline=0.0),
    "not between": plus("logistic wine", baseline="median"),
    "not between, QDA": plus("QDA wine", baseline="mean"),
    "no data": plus("logistic iris", data=None, baseline=None),
    "given baseline": plus("logistic iris", baseline=[6.0, 3.0, 4.0, 1.0], between=True),
    "off_tol": plus("logistic wine", baseline="median", between=True, off_tol=0.3),
    "off_tol, exact": plus("logistic wine", method="exact", baseline="median", off_tol=0.3, rows=4),
    "given weights": minus("logistic iris", weights=[1.0, 5.0, 0.5, 2.0], data=None),
    "margin": minus("logistic iris", margin=0.05),
    "margin, QDA": minus("QDA 0.1", margin=0.05),
    "min_proba, two classes": minus("logistic cancer", min_proba=0.9),
    "min_proba, three classes": minus("logistic iris", min_proba=0.8),
    "min_proba, positives": plus("logistic iris", min_proba=0.8, baseline="mean"),
    "min_proba, naive Bayes": minus("naive Bayes cancer", min_proba=0.8),
    "single precision": minus("logistic iris", change=single),
    "single precision, positives": plus("logistic wine", change=single, baseline="median"),
    "single precision, tree": minus("tree", change=single),
    "single precision, GMLVQ": minus("GMLVQ", change=single),
    "ties": minus("ties", data=None),
    "ties, positives": plus("ties", data=None, baseline=[5.0, 2.0, 3.0, 1.0], between=True),
    # -- Rules ---------------------------------------------------------------------------------
    "frozen": minus("logistic iris", rules={"frozen": [2]}),
    "frozen, QDA": minus("QDA 0.1", rules={"frozen": [0, 2]}),
    "frozen, positives": plus(
        "logistic iris", rules={"frozen": [1]}, baseline="median", between=True
    ),
    "bounds": minus("logistic wine", rules=box(10, -1.5, 1.5)),
    "bounds, naive Bayes": minus("naive Bayes", rules=box(4, 0.2, 7.0)),
    "bounds, QDA": minus("QDA 0", rules=box(4, 0.2, 7.0)),
    "bounds, 1-NN": minus("1-NN", rules=box(4, 0.2, 7.0)),
    "directions": minus("logistic iris", rules={"increase_only": [0, 3], "decrease_only": [2]}),
    "directions, tree": minus("tree", rules={"increase_only": [0], "decrease_only": [6]}),
    "directions, LGMLVQ": minus("LGMLVQ", rows=4, rules={"increase_only": [2, 3]}),
    "whole numbers": minus("logistic iris", rules={"integer": [2, 3]}),
    "whole numbers, naive Bayes": minus("naive Bayes", rows=4, rules={"integer": [2, 3]}),
    "whole numbers, QDA": minus("QDA 0.1", rows=4, rules={"integer": [2], **box(4, 0.0, 9.0)}),
    "decimals": minus("scaled", rules={"decimals": {0: 1, 1: 1, 2: 1, 3: 1}}),
    "decimals, loans": minus(
        "one-hot", rules={"decimals": {"income": -1, "debt": 0}, "integer": ["months", "age"]}
    ),
    "categories": minus("one-hot", rules={"categories": {"job": ["freelance", "part time"]}}),
    "transitions": minus(
        "one-hot",
        rules={
            "transitions": {"education": {"school": ["bachelor"], "bachelor": ["master"]}},
            "frozen": ["job", "debt", "age"],
        },
    ),
    "relations": minus("one-hot", rules={"relations": ["debt <= 0.2 * income"]}),
    "relations, QDA": minus("QDA 0.1", rules={"relations": ["x2 <= x0 - 1", "x3 <= x1"]}),
    "rule of few changes": minus("one-hot", rules={"max_changes": 2, "bounds": LOAN_RANGES}),
    "together": minus("one-hot", rules={"together": [["income", "job"]]}),
    "together, fewest": minus(
        "counts", norm="l0", rules={**COUNTS, "together": [["children", "loans"]]}
    ),
    "costs": minus("one-hot", rules={"costs": {"job": 10.0, "education": 0.1}}),
    "many rules": minus(
        "one-hot",
        rules={
            "frozen": ["age"], "increase_only": ["income"], "integer": ["months"],
            "bounds": LOAN_RANGES, "relations": ["debt <= 0.4 * income"], "max_changes": 3,
        },
    ),
    "rules, tree": minus(
        "one-hot tree", rules={"integer": ["months", "age"], "frozen": ["income"]}
    ),
    "rules, naive Bayes": minus(
        "one-hot naive Bayes", rows=4, rules={"frozen": ["age"], "bounds": LOAN_RANGES}
    ),
    "rare baseline": plus("counts", method="exact", baseline=RARE, rules=COUNTS),
    # -- Nothing obeys the rules ---------------------------------------------------------------
    "conflict": minus("logistic iris", target=2, rules={"frozen": [2, 3], **box(4, 0.1, 8.0)}),
    "conflict, QDA": minus("QDA 0.1", target=2, rules={"frozen": [2, 3], **IRIS_RANGES}),
    "conflict, naive Bayes": minus("naive Bayes", rules={"frozen": [2, 3], **IRIS_RANGES}),
    "conflict, tree": minus("tree", rules={"frozen": [0, 1, 2, 3, 5, 6, 9]}),
    "conflict, 1-NN": minus("1-NN", target=0, rules={"frozen": [2, 3], **box(4, 0.1, 8.0)}),
    "neither answer nor proof": minus("1-NN crowded", target=0, rows=5, data=None),
    "conflict, loans": minus(
        "one-hot",
        rules={
            "frozen": ["income", "age", "education"],
            "bounds": {"debt": (0, None), "months": (60, None)},
            "categories": {"job": ["none"]},
            "relations": ["debt >= 0.4 * income"],
        },
    ),
    "conflict, few changes": minus(
        "one-hot",
        rules={"frozen": ["income", "debt"], "bounds": LOAN_RANGES, "max_changes": 1},
    ),
    "conflict of a positive": plus(
        "logistic iris",
        baseline=[5.0, 3.4, 1.5, 0.2],
        rules={"bounds": {0: (4, 8), 1: (2, 4.5), 2: (0.5, 2.5), 3: (0, 0.6)}},
    ),
    "conflict with the density": minus(
        "logistic iris", target=1, rules={"frozen": [0, 1]}, like={"n_components": 2, "quantile": 1}
    ),
    # -- Plausibility --------------------------------------------------------------------------
    "dense": minus("logistic iris", like={"n_components": 2}),
    "dense positives": plus("logistic iris", like={"n_components": 2}),
    "dense, projected": minus("logistic wine", like={"n_components": 2, "projection": 4}),
    "dense, bounds": minus("logistic iris", like={"n_components": 1}, rules=box(4, 0.3, 6.5)),
    "dense, GMLVQ": minus("GMLVQ", like={"n_components": 2}),
    "dense, QDA": minus("QDA 0.1", rows=3, like={"n_components": 1}),
    "blends": minus("logistic iris", like={"method": "hull", "n_neighbors": 8}),
    "blends, positives": plus("logistic iris", like={"method": "hull", "n_neighbors": 8}),
    # -- Both, stored and checked --------------------------------------------------------------
    "both, logistic": both("logistic iris", rows=4),
    "both, wine": both("logistic wine", rows=4),
    "both, target": both("logistic iris", rows=4, target=2),
    "both, strict": both("logistic wine", rows=3, method="strict"),
    "both, exact": both("logistic wine", rows=3, method="exact"),
    "both, sufficient": both("tree", rows=3, method="sufficient"),
    "both, ties": both("ties", rows=4, data=None, baseline=[5.0, 2.0, 3.0, 1.0]),
    "both, apart": both("logistic iris", rows=4, overlap="avoid"),
    "both, apart within bounds": both(
        "logistic iris", rows=6, overlap="avoid", rules={"frozen": [0, 1], **IRIS_RANGES}
    ),
    "both, apart, naive Bayes": both("naive Bayes", rows=4, overlap="avoid", rules=IRIS_RANGES),
    "both, apart, tree": both(
        "PCA tree", rows=6, overlap="avoid", rules={"frozen": [0, 1], **IRIS_RANGES}
    ),
    "both, QDA": both("QDA 0.1", rows=3),
    "both, SVC": both("SVC degree 2", rows=3),
    "both, 1-NN": both("1-NN", rows=3),
    "both, dense": both("logistic iris", rows=3, like={"n_components": 2}),
    "both, blends": both(
        "logistic iris", rows=3, between=False, like={"method": "hull", "n_neighbors": 8}
    ),
    "both, probable": both("logistic iris", rows=3, min_proba=0.7),
    "both, conflict": both("logistic iris", rows=3, target=2,
                           rules={"frozen": [2, 3], **box(4, 0.1, 8.0)}),
    "both, single precision": both("logistic iris", rows=3, change=single),
    "both, few changes": both("one-hot", rows=4, rules={"max_changes": 2, "bounds": LOAN_RANGES}),
    "both, credit": both("credit", rows=5),
    "both, credit with rules": both(
        "credit",
        rows=5,
        rules={
            "frozen": ["age", "marital", "records", "price"],
            "bounds": {"income": (0, None), "debt": (0, None), "time": (6, 72)},
            "integer": ["seniority", "time", "expenses", "income", "assets", "debt", "amount"],
        },
    ),
    "both, credit apart": both("credit", rows=4, overlap="avoid"),
    "both, credit with gaps": both("credit with gaps", rows=4, missing="impute", change=with_gaps),
    # -- With rules that the data suggest --------------------------------------------------------
    "data, logistic": known("logistic iris", rows=4),
    "data, wine": known("logistic wine", rows=4),
    "data, strict": known("logistic wine", rows=3, method="strict"),
    "data, exact": known("logistic wine", rows=3, method="exact"),
    "data, fewest": known("logistic wine", rows=3, norm="l0"),
    "data, apart": known("logistic iris", rows=4, overlap="avoid"),
    "data, wider": known("logistic iris", rows=4, limits_from=0.5),
    "data, tree": known("tree", rows=4),
    "data, sufficient": known("tree", rows=3, method="sufficient"),
    "data, QDA": known("QDA 0.1", rows=3),
    "data, naive Bayes": known("naive Bayes", rows=3),
    "data, 1-NN": known("1-NN", rows=3),
    "data, dense": known("logistic iris", rows=3, like={"n_components": 2}),
    "data, blends": known("logistic iris", rows=3, like={"method": "hull", "n_neighbors": 8}),
    "data, single precision": known("logistic iris", rows=3, change=single),
    "data, credit": known("credit", rows=5),
    "data, credit with gaps": known("credit with gaps", rows=4, missing="impute", change=with_gaps),
}  # fmt: skip
