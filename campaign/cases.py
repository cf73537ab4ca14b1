"""One question about one model: drawn at random, asked, and written down as JSON."""

from __future__ import annotations

import base64
import json
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np

import pertinent
from campaign.models import Problem, Rng
from campaign.tables import Array

NEGATIVE, POSITIVE, BOTH = "negatives", "positives", "explain"
#: One rule: its name, its feature, and a number; see `constraints`.
Rule = list[Any]


@dataclass(frozen=True)
class Case:
    """A model, samples and a question.

    Attributes
    ----------
    ask : which function is called: negatives, positives, or `Explainer.explain`
    rules : rules as a flat list, so that each can be dropped
    options : further arguments of the function; arrays are lists
    dtypes : of the columns of a frame; an array is handed in without
    """

    family: str
    model: Any
    X: Array
    ask: str
    rules: list[Rule] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    target: Any = None
    dtypes: list[str] | None = None
    traits: tuple[str, ...] = ()

    @property
    def single(self) -> bool:
        """Whether any sample is stored in single precision."""
        return self.X.dtype == np.float32 or "float32" in (self.dtypes or ())

    def rows(self, chosen: Any) -> Case:
        """Return the same question about some of the samples."""
        return replace(self, X=self.X[chosen])

    def table(self) -> Any:
        """Return the samples as they are handed in."""
        if self.dtypes is None:
            return self.X
        import pandas as pd

        columns = zip(self.X.T, self.dtypes, strict=True)
        return pd.DataFrame({f"x{j}": np.asarray(c, t) for j, (c, t) in enumerate(columns)})

    @property
    def weights(self) -> Array:
        """The cost of one unit of each feature."""
        given = self.options.get("weights")
        return np.ones(self.X.shape[1]) if given is None else np.asarray(given, float)

    @property
    def baseline(self) -> Array:
        """What a feature of a positive is turned off to, in the precision of the samples."""
        given = np.asarray(self.options.get("baseline", 0.0), self.X.dtype)
        return np.broadcast_to(given, self.X.shape[1]).astype(float)

    @property
    def between(self) -> bool:
        """Whether positives stay between sample and baseline: by default for `Explainer` only."""
        return bool(self.options.get("between", self.ask == BOTH))

    def limits(self, x: Array) -> tuple[Array, Array]:
        """Return the lowest and highest values that the rules leave a sample's features."""
        low, high = np.full(len(x), -np.inf), np.full(len(x), np.inf)
        for name, j, *value in self.rules:
            if name in ("at least", "frozen", "increase"):
                low[j] = max(low[j], value[0] if value else x[j])
            if name in ("at most", "frozen", "decrease"):
                high[j] = min(high[j], value[0] if value else x[j])
        return low, high


def constraints(rules: list[Rule]) -> pertinent.Constraints:
    """Return the library's own object for a list of rules."""
    low = {j: v for name, j, *v in rules if name == "at least"}
    high = {j: v for name, j, *v in rules if name == "at most"}
    by = {name: [j for n, j, *_ in rules if n == name] for name in NAMES}
    return pertinent.Constraints(
        frozen=by["frozen"],
        bounds={j: (low.get(j, [None])[0], high.get(j, [None])[0]) for j in {**low, **high}},
        increase_only=by["increase"],
        decrease_only=by["decrease"],
        integer=by["integer"],
        decimals={j: v[0] for name, j, *v in rules if name == "decimals"},
        relations=[(dict(j), v[0]) for name, j, *v in rules if name == "relation"],
        max_changes=next(iter(by["max changes"]), None),
    )


NAMES = (
    "frozen", "at least", "at most", "increase", "decrease", "integer", "decimals", "relation",
    "max changes",
)  # fmt: skip


def ask(case: Case) -> tuple[Any, Any, Any]:
    """Return positives, negatives and explanations; None for what was not asked."""
    options = {**case.options}
    for name in ("weights", "baseline"):
        if options.get(name) is not None:
            options[name] = np.asarray(options[name], float)
    if case.rules:
        options["constraints"] = constraints(case.rules)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if case.ask == BOTH:
            answers = pertinent.Explainer(case.model, **options).explain(case.table(), case.target)
            return answers.positive, answers.negative, answers
        if case.ask == NEGATIVE:
            return None, pertinent.pertinent_negatives(
                case.model, case.table(), target=case.target, **options
            ), None  # fmt: skip
        return pertinent.pertinent_positives(case.model, case.table(), **options), None, None


# -- At random ---------------------------------------------------------------------------------


def samples_of(rng: Rng, problem: Problem, n: int) -> Array:
    """Return samples of the table, and noisy ones beside them."""
    X = problem.X
    chosen = X[rng.integers(len(X), size=n)]
    spread = X.std(axis=0, dtype=float)
    noise = rng.normal(size=chosen.shape) * spread * rng.choice([0.0, 0.1, 1.0], (n, 1))
    return (chosen + noise).astype(X.dtype)


def plain(rng: Rng, problem: Problem, n: int) -> list[Case]:
    """Return the two plain questions about many samples."""
    X = samples_of(rng, problem, n)
    made = {"family": problem.family, "model": problem.model, "X": X, "traits": problem.traits}
    options = {"baseline": np.median(problem.X, axis=0).tolist()}
    options["between"] = bool(rng.random() < 0.5)
    return [Case(**made, ask=NEGATIVE), Case(**made, ask=POSITIVE, options=options)]


def stored(rng: Rng, problem: Problem, n: int) -> Case:
    """Return both plain questions about a few samples, as explanations that can be stored."""
    X, between = samples_of(rng, problem, n), bool(rng.random() < 0.5)
    options = {"baseline": np.median(problem.X, axis=0).tolist(), "between": between}
    return Case(problem.family, problem.model, X, BOTH, options=options, traits=problem.traits)


def random_rules(rng: Rng, X: Array, density: float) -> list[Rule]:
    """Return rules about some of the features, in the units of the table."""
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    rules: list[Rule] = []
    for j in range(X.shape[1]):
        if rng.random() > density:
            continue
        name = str(rng.choice(["frozen", "increase", "decrease", "bounds", "bounds", "lattice"]))
        if name == "bounds":
            room = (high[j] - low[j]) * float(rng.choice([0.0, 0.5, 2.0]))
            if rng.random() < 0.8:
                rules.append(["at least", j, float(low[j] - room)])
            if rng.random() < 0.8:
                rules.append(["at most", j, float(high[j] + room)])
        elif name == "lattice":
            if np.abs(X[:, j]).max() < 1e9:
                rules.append(["integer", j] if rng.random() < 0.5 else ["decimals", j, 1])
        else:
            rules.append([name, j])
    if X.shape[1] > 1 and rng.random() < 0.2:
        chosen = rng.choice(X.shape[1], 2, replace=False).tolist()
        side = [float(c) for c in rng.choice([-1.0, 1.0, 0.5], 2)]
        values = X[:, chosen].astype(float) @ side
        terms = [[j, c] for j, c in zip(chosen, side, strict=True)]
        rules.append(["relation", terms, float(np.quantile(values, rng.choice([0.5, 1.0])))])
    return rules


def random_case(rng: Rng, problem: Problem, n: int) -> Case:
    """Return a random question, with random rules, about a few samples."""
    X, d = samples_of(rng, problem, n), problem.X.shape[1]
    rules = random_rules(rng, problem.X, min(1.0, 4.0 / d) * float(rng.choice([0.0, 0.3, 1.0])))
    options: dict[str, Any] = {}
    spread = problem.X.std(axis=0, dtype=float)
    if rng.random() < 0.5 and (spread > 0).all() and np.isfinite(1 / spread).all():
        options["weights"] = (1 / spread).tolist()
    ask = str(rng.choice([NEGATIVE, POSITIVE, BOTH, BOTH]))
    if ask != NEGATIVE:
        options["baseline"] = _baseline(problem.X, rules)
        options["between"] = bool(rng.random() < 0.5)
        options["method"] = str(
            rng.choice(["two-phase"] * 4 + (["strict", "exact"] if d <= 8 else []))
        )
        if ask == POSITIVE and d <= 8 and rng.random() < 0.2:
            options["method"] = "sufficient"
            rules += _closed(problem.X, rules)
        if options["method"] == "two-phase" and rng.random() < 0.15:
            options["off_tol"] = float(np.median(np.abs(problem.X))) * 0.1
    target = None
    if ask != POSITIVE:
        if d <= 8 and rng.random() < 0.15:
            options["norm"] = "l0"
        if rng.random() < 0.2:
            target = problem.model.classes_[rng.integers(len(problem.model.classes_))].item()
            own = np.asarray(problem.model.predict(X)) != target
            X = X[own] if own.any() else X
            target = target if own.any() else None
        if rng.random() < 0.1:
            rules.append(["max changes", int(rng.integers(1, 4))])
    if options.get("norm") or options.get("method") in ("exact", "sufficient"):
        options["time_limit"] = 2.0
    dtypes = None
    if rng.random() < 0.15 and np.abs(problem.X).max() < 1e6 and d <= 30:
        dtypes = rng.choice(["float32", "float64", "int64"], d).tolist()
        X = np.stack([np.asarray(c, t).astype(float) for c, t in zip(X.T, dtypes, strict=True)], 1)
    return Case(
        problem.family, problem.model, X, ask, rules, options, target, dtypes, problem.traits
    )


def _baseline(X: Array, rules: list[Rule]) -> list[float]:
    """Return the median, with as many digits as the rules ask for."""
    middle = np.median(X, axis=0).astype(float)
    for name, j, *digits in rules:
        if name in ("integer", "decimals"):
            middle[j] = np.round(middle[j], digits[0] if digits else 0)
    return [float(v) for v in middle]


def _closed(X: Array, rules: list[Rule]) -> list[Rule]:
    """Return the bounds that are missing: "sufficient" asks what happens within bounds."""
    there = {(name, j) for name, j, *_ in rules if name in ("at least", "at most")}
    ends = [["at least", j, float(v)] for j, v in enumerate(X.min(axis=0))]
    ends += [["at most", j, float(v)] for j, v in enumerate(X.max(axis=0))]
    return [rule for rule in ends if (rule[0], rule[1]) not in there]


# -- In files ----------------------------------------------------------------------------------


def to_json(case: Case, about: dict[str, Any]) -> str:
    """Return a case with its model, and what is known about it."""
    import skops.io

    record = {
        **about,
        "family": case.family,
        "ask": case.ask,
        "rules": case.rules,
        "options": case.options,
        "target": case.target,
        "dtypes": case.dtypes,
        "single": bool(case.X.dtype == np.float32),
        "samples": case.X.astype(float).tolist(),
        "model": base64.b64encode(skops.io.dumps(case.model, compression=ZIP_DEFLATED)).decode(),
    }
    return json.dumps(record, indent=1)


def from_json(path: Path) -> tuple[Case, dict[str, Any]]:
    """Return a case from a file of this repository, and all that the file says."""
    import skops.io

    record = json.loads(path.read_text())
    data = base64.b64decode(record["model"])
    model = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    X = np.array(record["samples"], dtype=np.float32 if record["single"] else float)
    case = Case(
        record["family"], model, X, record["ask"], record["rules"], record["options"],
        record["target"], record["dtypes"],
    )  # fmt: skip
    return case, record
