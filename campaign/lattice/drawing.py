"""A seed makes one model on a small table, and every question about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from campaign.lattice.case import (
    BOTH,
    CATEGORY,
    LATTICE,
    LEVELS,
    MENU,
    NEGATIVE,
    POSITIVE,
    Case,
    constraints,
    plausibility,
)
from campaign.lattice.kinds import KINDS, Kind, is_installed
from campaign.tables import Array
from pertinent.exceptions import PertinentError

Rng = np.random.Generator
#: Samples of each question.
SAMPLES = 4
#: How far a value of a sample may lie beside the lattice.
_OFF = {"a": 0.3, "b": 0.03, "e": 0.5}
METHODS = ("two-phase", "strict", "exact", "sufficient")


def kind_of(seed: int) -> str:
    """Return the kind of model of a seed: all in turn."""
    return list(KINDS)[seed % len(KINDS)]


def cases(seed: int) -> list[Case]:
    """Return the questions of a seed; none where the model cannot be had."""
    name = kind_of(seed)
    rng = np.random.default_rng([seed, 7])
    problem = _problem(rng, name) if is_installed(name) else None
    return [] if problem is None else list(_questions(rng, problem, KINDS[name]))


# -- The model ---------------------------------------------------------------------------------


def _problem(rng: Rng, name: str) -> Case | None:
    """Return a fitted model with samples and rules; None where scikit-learn refuses the table."""
    kind = KINDS[name]
    numbers = [str(t) for t in rng.permutation(["a", "b", "e"])] + ["t"] * (rng.random() < 0.2)
    has_category = "encode" in kind.steps and rng.random() < 0.4
    data, raw = _table(rng, numbers, has_category)
    labels = _labels(rng, raw, kind)
    gaps = not has_category and (kind.gaps or "impute" in kind.steps) and rng.random() < 0.5
    if gaps:
        data.loc[rng.random(len(data)) < 0.2, "a"] = np.nan
    data = _retyped(rng, data, numbers, gaps)
    model, missing = _with_steps(rng, kind, numbers, has_category, gaps)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.fit(data, labels)
        except (ValueError, np.linalg.LinAlgError):
            return None
    case = Case(name, model, data, labels, _samples(rng, data, numbers), NEGATIVE)
    rules = _rules(rng, case)
    weights = {k: float(rng.choice([0.5, 1, 2, 3])) * (10 if k == "b" else 1) for k in case.columns}
    options: dict[str, Any] = {"weights": weights, "missing": missing}
    if kind.chances and rng.random() < 0.35:
        options["min_proba"] = float(rng.choice([0.4, 0.55, 0.7]))
    case = replace(case, rules=rules, options=options, regressor=kind.regressor)
    return _rules_are_taken(replace(case, target=_target(rng, case)))


def _rules_are_taken(case: Case) -> Case | None:
    """Return the case unless its rules contradict each other in themselves, such as up and down."""
    try:
        constraints(case.rules)
    except PertinentError:
        return None
    return case


def _table(rng: Rng, numbers: list[str], has_category: bool) -> tuple[pd.DataFrame, Array]:
    """Return a table on the lattice, and a number that depends on its columns."""
    n = int(rng.integers(30, 60))
    data = pd.DataFrame({name: rng.choice(LATTICE[name], n) for name in numbers})
    scaled = {name: data[name].to_numpy() / LATTICE[name][1] / 2 for name in numbers}
    raw = sum(column * rng.normal() for column in scaled.values())
    raw = raw + 0.3 * scaled["a"] * scaled["e"] * rng.normal() + 0.2 * rng.normal(size=n)
    if has_category:
        data[CATEGORY] = rng.choice(LEVELS, n)
        shift = dict(zip(LEVELS, rng.normal(size=3), strict=True))
        raw = raw + data[CATEGORY].map(shift).to_numpy(float)
    return data, np.asarray(raw)


def _labels(rng: Rng, raw: Array, kind: Kind) -> Array:
    cuts = [0.55] if rng.random() < 0.5 else [0.4, 0.75]
    classes = np.digitize(raw, np.quantile(raw, cuts))
    return np.round(raw, 2) if kind.regressor else classes


def _retyped(rng: Rng, data: pd.DataFrame, numbers: list[str], gaps: bool) -> pd.DataFrame:
    """Return the table in single precision, with whole numbers as such, or as it is."""
    draw = rng.random()
    if draw < 0.15:
        return data.astype(dict.fromkeys(numbers, np.float32))
    whole = [name for name in numbers if name != "b"]
    return data.astype(dict.fromkeys(whole, np.int64)) if draw < 0.35 and not gaps else data


def _with_steps(
    rng: Rng, kind: Kind, numbers: list[str], has_category: bool, gaps: bool
) -> tuple[Any, str]:
    """Return the model behind its steps, and what becomes of missing values."""
    model = kind.make()
    if has_category:
        first = StandardScaler() if rng.random() < 0.7 else "passthrough"
        one_hot = not kind.gaps or rng.random() < 0.7
        coded = OneHotEncoder(sparse_output=False) if one_hot else OrdinalEncoder()
        columns = make_column_transformer((first, numbers), (coded, [CATEGORY]))
        return make_pipeline(columns, model), "error"
    if gaps and "impute" in kind.steps and (not kind.gaps or rng.random() < 0.4):
        how = str(rng.choice(["mean", "median", "most_frequent"]))
        return make_pipeline(SimpleImputer(strategy=how), model), "impute"
    if gaps:
        return model, str(rng.choice(["keep", "allow"]))
    if "bins" in kind.steps and rng.random() < 0.2:
        bins = KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
        return make_pipeline(bins, model), "error"
    if "scale" in kind.steps and rng.random() < 0.5:
        scaler = StandardScaler() if rng.random() < 0.5 else MinMaxScaler()
        return make_pipeline(scaler, model), "error"
    return model, "error"


def _samples(rng: Rng, data: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    """Return rows of the table; now and then one value lies beside the lattice."""
    rows = data.iloc[rng.choice(len(data), SAMPLES, replace=False)].reset_index(drop=True)
    name = str(rng.choice(numbers))
    if rng.random() < 0.3 and name in _OFF and rows[name].dtype.kind == "f":
        rows.loc[0, name] = rows.loc[0, name] + _OFF[name]
    return rows


# -- Rules and questions -----------------------------------------------------------------------


def _rules(rng: Rng, case: Case) -> dict[str, Any]:
    """Return bounds and steps, which make the lattice, and random rules."""
    numbers, columns = case.numbers, case.columns
    # 0.4 in single precision lies above 0.4: there the ends lie between two values.
    room = {"b": 0.05} if case.single else {}
    rules: dict[str, Any] = {
        "bounds": {
            k: [float(LATTICE[k][0]) - room.get(k, 0), float(LATTICE[k][-1]) + room.get(k, 0)]
            for k in numbers
        },
        "integer": [k for k in ("a", "t") if k in numbers],
        "decimals": {"b": 1},
        "step": {"e": 2},
    }
    sums = 0.1 if KINDS[case.kind].sums else 1.0
    if rng.random() < 0.35 * sums:
        names = [str(t) for t in rng.choice(numbers, 2, replace=False)]
        u, v = (int(t) for t in rng.integers(-3, 4, 2))
        sense = str(rng.choice(["<=", ">="], p=[0.7, 0.3]))
        rules["relations"] = [[names, [u or 1, v], sense, float(rng.integers(0, 9))]]
    if rng.random() < 0.2:
        rules["frozen"] = [str(rng.choice(columns))]
    for name in ("increase_only", "decrease_only"):
        if rng.random() < 0.2:
            rules[name] = [str(rng.choice(numbers))]
    if set(rules.get("increase_only", ())) & set(rules.get("decrease_only", ())):
        del rules["decrease_only"]
    if CATEGORY in columns:
        rules |= _rules_of_categories(rng)
    pinned = KINDS[case.kind].sums and CATEGORY in columns
    if rng.random() < (0.6 if pinned else 0.3):
        rules["max_changes"] = int(rng.integers(1, 3))
    if rng.random() < 0.1 * sums:
        rules["together"] = [[str(t) for t in rng.choice(columns, 2, replace=False)]]
    if rng.random() < 0.15:
        rules["costs"] = {columns[0]: 2.0}
    return rules


def _rules_of_categories(rng: Rng) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.25:
        return {"categories": {CATEGORY: [str(t) for t in rng.choice(LEVELS, 2, replace=False)]}}
    if draw < 0.5:
        return {"transitions": {CATEGORY: {"x": ["y"], "y": ["z"]}}}
    return {}


def _target(rng: Rng, case: Case) -> Any:
    """Return a class or none; of a number both ends of a range, of which one may be open."""
    if not case.regressor:
        classes = np.unique(case.labels)
        return int(rng.choice(classes)) if rng.random() < 0.4 else None
    predicted = np.asarray(case.model.predict(case.data), float)
    low, high = (float(t) for t in np.sort(np.quantile(predicted, rng.random(2) * 0.9)).round(2))
    high = low + 0.5 if high <= low else high
    return [[low, high], [low, high], [low, None], [None, high]][int(rng.integers(4))]


def _questions(rng: Rng, case: Case, kind: Kind) -> Iterator[Case]:
    """Yield every question about a model."""
    further = int(rng.choice([0, 0, 2, 3]))
    base = {k: float(rng.choice(LATTICE[k])) for k in case.numbers}
    baseline: dict[str, Any] = {k: base[k] for k in case.numbers}
    if CATEGORY in case.columns:
        baseline[CATEGORY] = str(rng.choice(LEVELS))
    between = bool(rng.random() < 0.4)
    for norm in ("l1", "l0"):
        yield _asking(case, NEGATIVE, norm=norm, alternatives=further)
    off_tol = float(rng.choice([0.15, 1.5, 2.5])) if rng.random() < 0.2 else 0.0
    for method in METHODS:
        given: dict[str, Any] = {"method": method, "baseline": baseline}
        if method != "sufficient":
            given["between"] = between
        if method in ("strict", "exact"):
            given["alternatives"] = further
        if method == "two-phase" and off_tol:
            given["off_tol"] = off_tol
        yield _asking(case, POSITIVE, **given)
    plain = not case.regressor and CATEGORY not in case.columns
    plain &= case.options["missing"] == "error" and kind.dense
    plausible = plain and rng.random() < 0.25 and _is_dense(case)
    dense = {"plausible": True} if plausible else {}
    if plausible:
        yield _asking(case, NEGATIVE, **dense)
        yield _asking(case, POSITIVE, baseline=baseline, between=between, **dense)
    if rng.random() < 0.5:
        method = str(rng.choice(METHODS))
        yield _asking(
            case, BOTH, method=method, norm=str(rng.choice(["l1", "l1", "l0"])),
            baseline=baseline, between=between, alternatives=further,
            overlap=str(rng.choice(["allow", "allow", "avoid"])),
            with_data=bool(rng.random() < 0.6), **(dense if method == "two-phase" else {}),
        )  # fmt: skip
    if rng.random() < 0.3:
        most = int(rng.integers(1, 4))
        menu = _asking(case, MENU, baseline=baseline, max_features=most, with_data=False)
        yield menu.rows([0, 1])


def _is_dense(case: Case) -> bool:
    """Return whether a density can be fitted to the table."""
    try:
        plausibility(case)
    except (PertinentError, ValueError):
        return False
    return True


def _asking(case: Case, ask: str, **options: Any) -> Case:
    return replace(case, ask=ask, options={**case.options, **options})
