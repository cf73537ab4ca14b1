"""From what a user gives to a model made ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pertinent.density import Plausibility
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles.region import as_ensemble
from pertinent.models import region_function
from pertinent.models.combined.searched import Searched, is_read, searched
from pertinent.models.registry import decision_region, model_classes, unread
from pertinent.models.regressors import RangeClassifier, explained, is_regressor, read_range
from pertinent.models.steps.pipeline import features_of
from pertinent.models.trees.gaps import may_be_missing, standing, takes_missing
from pertinent.proofs.ensembles.conditions import Conditions
from pertinent.rules.constraints import Constraints
from pertinent.rules.form import ends_of
from pertinent.setting.options import Settings
from pertinent.setting.question import Missing
from pertinent.setting.region_key import Is
from pertinent.setting.setting import Setting
from pertinent.solvers import make_ready
from pertinent.tables.baselines import baseline_values, weight_values
from pertinent.tables.features import Features
from pertinent.tables.reading import read_table
from pertinent.tables.table import Table

#: What is typical of a class is read off at most so many rows of the data, evenly spread.
MOST_ROWS = 10_000
#: Rows of the data at which a search may begin.
MOST_SEEDS = 2_000


def evenly(data: Table, most: int) -> Table:
    """Return at most so many rows, evenly spread."""
    n = len(data)
    return data if n <= most else data.take(np.arange(most) * n // most)


def to_explain(model: Foreign, data: Any, search: bool, rules: Constraints | None) -> Foreign:
    """Return the model, or one to be searched where that was asked for and nothing else will do."""
    if not isinstance(search, bool):
        raise InputError(f"search must be True or False. Got {search!r} instead.")
    _refuse_without_range(model)
    if not search or (is_read(model, data) and _are_proved(rules, model)):
        return model
    return searched(model, data)


def _are_proved(rules: Constraints | None, model: Foreign) -> bool:
    """Return whether answers under the rules can be proved of a model that is read.

    Rules that tie features together are not, of a sum of trees.
    """
    if rules is None or not (len(rules.relations) or len(rules.together)):
        return True
    return as_ensemble(decision_region(model, model_classes(model).tolist()[0])) is None


def settings_for(model: Foreign, arguments: Mapping[str, Any]) -> Settings:
    """Return the settings among the arguments of a function, as far as the model allows them."""
    settings = Settings.of(arguments)
    return settings.searched() if isinstance(model, Searched) else settings


@contextmanager
def advising(model: Foreign, example: Any) -> Iterator[None]:
    """Let a refusal of a model whose regions are not known say what to do."""
    try:
        yield
    except UnsupportedModelError as error:
        if is_read(model, example):
            raise
        raise unread(explained(model), error) from error


def prepare(model: Foreign, X: Any, data: Any, settings: Settings) -> tuple[Setting, Table | None]:
    """Return the model made ready and the training data."""
    with advising(model, X if data is None else data):
        return _prepare(model, X, data, settings)


def _prepare(model: Foreign, X: Any, data: Any, settings: Settings) -> tuple[Setting, Table | None]:
    region_function(model)  # an unsupported or unfitted model is named here, before any work
    features = features_of(model, X if data is None else data, settings.missing is Missing.IMPUTE)
    if settings.missing.is_value:
        may_lose = settings.missing is Missing.ALLOW
        features = may_be_missing(model, features, may_lose=may_lose)
        if settings.plausibility is not None:
            raise InputError("missing='keep' does not go with plausibility: leave out one of them.")
    # What the model's imputer fills need not be told apart in the data: the model does not, either.
    filled = features if data is None else features_of(model, data, impute=True)
    filled = replace(filled, absent=features.absent, lost=features.lost)
    train = None if data is None else read_table(filled, data, "data")
    if train is not None and not len(train):
        raise InputError("data has no rows. Pass samples of the training data, or leave data out.")
    rules = settings.constraints
    rules.validate(features)  # an unknown feature is named here, before any work
    if features.absent:
        features = standing(features, typical_numbers(features, train, rules))
        train = None if train is None else with_stands(train, features)
    setting = Setting(
        model,
        features,
        weight_values(settings.weights, features, values_in(train), rules.costs),
        rules,
        settings.margin,
        settings.solving,
        settings.min_proba,
        seeds=evenly(train, MOST_SEEDS) if isinstance(model, Searched) and train else None,
    )
    if settings.plausibility is not None:
        setting = plausible(setting, settings.plausibility)
    be_ready(setting)
    return setting, train


def plausible(setting: Setting, plausibility: Plausibility) -> Setting:
    """Return the setting with where points are plausible; as it is while no range is asked for."""
    model = setting.model
    if isinstance(model, RangeClassifier):
        if model.is_open:
            return setting
        plausibility = plausibility.relabelled(model.labels)
    return replace(setting, within=plausibility.bind(setting.features, setting.classes))


def _refuse_without_range(model: Foreign) -> None:
    if is_regressor(model):
        raise InputError(
            f"{type(model).__name__} predicts a number, and a question is about a range of "
            "numbers: pertinent.Explainer(model).explain(X, target=(low, high)), or "
            "pertinent.RangeClassifier(model, low, high) instead of the model."
        )


def towards_range(model: Foreign, target: Any) -> tuple[Foreign, Any]:
    """Return a regressor with the range that is asked for, and its class; others as they are."""
    if not is_regressor(model):
        return model, target
    ranged = RangeClassifier(model, *read_range(target))
    return ranged, ranged.target


def usual_missing(model: Foreign, data: Any, plausibility: Any) -> Missing:
    """Return what becomes of missing values where nothing was asked for: nothing is guessed.

    They are read as the model's own imputer fills them; trees that take missing values keep them
    where the data have some; elsewhere they are refused.
    """
    with advising(model, data):
        region_function(model)
        features = features_of(model, data, impute=True) if data is not None else None
    if features is None:
        return Missing.ERROR
    if features.fills:
        return Missing.IMPUTE
    if plausibility is None and takes_missing(model, features):
        marked = may_be_missing(model, features, may_lose=False)
        if read_table(marked, data, "data").missing.any():
            return Missing.KEEP
    return Missing.ERROR


def be_ready(setting: Setting) -> None:
    """Do what this process need do once before it solves, such as to compile.

    Called before any time limit begins: also by processes that work side by side, which were
    handed a setting that another one has prepared.
    """
    region = setting.region(Is(0), setting.asked_margin)
    make_ready(region)
    trees = as_ensemble(region)
    if trees is not None:  # listed once, for the proofs about all classes
        Conditions.of(trees, setting.features.groups)


def typical_numbers(features: Features, data: Table | None, rules: Constraints) -> dict[int, float]:
    """Return where each number that may be missing stands while it is.

    At the median of the data (of two middle values the lower one, so that it is a value of the
    data), 0 without data; the nearest such value that the rules of the user allow.
    """
    steps, found = rules.given_lattice(features), dict[int, float]()
    if data is not None:
        steps = data.steps_held(steps)
    bounds = {features.index(name): ends_of(pair) for name, pair in rules.bounds.items()}
    for j in features.absent:
        known = np.zeros(1) if data is None else data.known_numbers(j)
        middle = np.sort(known)[(len(known) - 1) // 2] if len(known) else 0.0
        low, high = bounds.get(j, (-np.inf, np.inf))
        value, grid = np.clip(np.array([middle]), low, high), steps.get(int(features.first[j]))
        if grid is not None:
            value = grid.floor(value) if grid.floor(value) >= low else grid.ceil(value)
        found[j] = float(value[0])
    return found


def with_stands(data: Table, features: Features) -> Table:
    """Return a table whose missing numbers stand where those of the features do."""
    values = data.values.copy()
    for j, stand in features.absent.items():
        number, mark = features.columns_of(j)
        values[values[:, mark] == 1, number] = stand
    own = replace(data.features, absent=features.absent, lost=features.lost)
    return replace(data, features=own, values=values)


def middle_of(data: Table) -> FloatArray:
    """Return between which values the middle 90% of each column lie, missing ones aside."""
    middle = np.quantile(data.values, [0.05, 0.95], axis=0)
    for j in data.features.absent:
        known = data.known_numbers(j)
        if len(known):
            middle[:, data.features.first[j]] = np.quantile(known, [0.05, 0.95])
    return np.asarray(middle)


def values_in(data: Table | None) -> FloatArray | None:
    """Return the columns of the training data, if there are any."""
    return None if data is None else data.values


class TypicalByClass(Mapping[int, FloatArray]):
    """The typical values of the rows that the model puts into each class, found out when asked.

    From the place of a class in ``classes`` to its values.

    Parameters
    ----------
    setting : Setting
    data : Table
        The training data.
    how : {"median", "mean"}

    Notes
    -----
    Numbers are the median or mean, on the steps that the rules ask for; categories the most
    frequent one. A class that no row of the data is put into has no typical values. Copies for
    other processes hold the values and not the data.
    """

    def __init__(self, setting: Setting, data: Table, how: str) -> None:
        self._source = setting, evenly(data, MOST_ROWS), how

    def under(self, setting: Setting) -> TypicalByClass:
        """Return the same for a model with other classes."""
        _, data, how = self._source
        return TypicalByClass(setting, data, how)

    @cached_property
    def _by_place(self) -> dict[int, FloatArray]:
        setting, data, how = self._source
        lattice = setting.constraints.lattice(setting.features)
        places = setting.predict(data, data.values)
        return {
            int(k): baseline_values(how, setting.features, data.values[places == k], lattice)
            for k in np.unique(places)
        }

    def __getitem__(self, place: int) -> FloatArray:
        return self._by_place[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_place)

    def __len__(self) -> int:
        return len(self._by_place)

    def __reduce__(self) -> Any:
        return dict, (self._by_place,)
