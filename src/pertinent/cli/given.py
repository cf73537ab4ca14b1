"""The options that commands share: training data, the class to reach and the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pertinent.cli.files import (
    model_columns,
    parse_bounds,
    parse_limits,
    parse_steps,
    read_table,
)
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import Foreign
from pertinent.rules.inferring import HANDFUL
from pertinent.setting.question import Method, Missing, Norm

# What loads scikit-learn is imported where it is needed: help and completion come at once.
if TYPE_CHECKING:
    from pertinent.api.explainer import Explainer
    from pertinent.density import Plausibility

ModelFile = Annotated[
    Path,
    typer.Argument(
        help="The model: a skops file, or one that XGBoost, LightGBM or CatBoost wrote."
    ),
]
Pickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Read pickles too: they run whatever they hold.")
]
Names = list[str] | None
Trust = Annotated[
    Names,
    typer.Option(
        help="Full name of a type in the model file to trust beside those of supported models; "
        "reading it may run code. Repeat it for several.",
        metavar="TYPE",
    ),
]
#: Options of these kinds have a panel of their own in the help.
_rule = partial(typer.Option, rich_help_panel="What answers obey")
_default = partial(typer.Option, rich_help_panel="What the data suggest")


#: So many rows to be explained tell by themselves what values there are; fewer do not.
PICTURE = 100


class Steps(StrEnum):
    """Where the steps of numbers come from."""

    DATA = "data"
    NONE = "none"


@dataclass(frozen=True)
class Given:
    """What a command that explains is given beside the model and the rows."""

    train: Annotated[
        Path | None, typer.Option(help="Training data: typical values and spreads come from it.")
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            help="The class to reach; by default the nearest. Of a model that predicts a number "
            'the range to reach, e.g. "160000:", ":100" or "1:2.5".'
        ),
    ] = None
    freeze: Annotated[Names, _rule(help="Features that stay as they are.")] = None
    bound: Annotated[Names, _rule(help='Bounds, e.g. "income=0:" or "time=6:72".')] = None
    increase: Annotated[Names, _rule(help="Features that may only increase.")] = None
    decrease: Annotated[Names, _rule(help="Features that may only decrease.")] = None
    integer: Annotated[Names, _rule(help="Features that take whole numbers.")] = None
    step: Annotated[
        Names, _rule(help='Multiples, e.g. "amount=50"; "age=none" allows any number.')
    ] = None
    any_category: Annotated[
        Names, _rule(help="Features of which every category may be suggested.")
    ] = None
    relation: Annotated[Names, _rule(help='e.g. "debt <= 0.4 * income".')] = None
    max_changes: Annotated[int | None, _rule(help="How many features may change.", min=1)] = None
    method: Annotated[Method, typer.Option(help="How to look for what was enough.")] = (
        Method.TWO_PHASE
    )
    norm: Annotated[
        Norm, typer.Option(help="What to have least of: l1 is the change, l0 changed features.")
    ] = Norm.L1
    alternatives: Annotated[
        int, typer.Option(min=0, help="How many other changes that work to list.")
    ] = 0
    min_proba: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability that answers must have.")
    ] = None
    missing: Annotated[
        Missing | None,
        typer.Option(
            help="Refuse missing values (error), have the model's imputer fill them (impute), or "
            "leave them to a model that takes them (keep); allow: other values may become missing, "
            "too. By default as the model takes them."
        ),
    ] = None
    plausible: Annotated[
        bool, typer.Option("--plausible", help="Stay where training data of the class lie.")
    ] = False
    limits: Annotated[
        str | None,
        _default(
            help='"data": values stay in its range; "0.1": a tenth wider; "none". '
            f"By default data, with --train or {PICTURE} rows."
        ),
    ] = None
    steps: Annotated[
        Steps, _default(help="data: values are written as there (whole numbers, decimals).")
    ] = Steps.DATA
    rare: Annotated[
        int | None,
        _default(
            help="Categories of fewer rows are not suggested. "
            f"By default {HANDFUL}, with --train or {PICTURE} rows.",
            min=0,
        ),
    ] = None
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for each search for a proof.")
    ] = None
    search: Annotated[
        bool,
        typer.Option(
            "--search",
            help="Explain any classifier by asking it: answers are found, not proved. Needs "
            "training data.",
        ),
    ] = False
    allow_pickle: Pickle = False
    trust: Trust = None

    def rules(self) -> dict[str, Any]:
        """Return the rules as they were given, for a manifest."""
        lists = (
            "freeze", "bound", "increase", "decrease", "integer", "step", "any_category",
            "relation",
        )  # fmt: skip
        given = {name: getattr(self, name) or [] for name in lists}
        names = (
            "max_changes", "method", "norm", "alternatives", "min_proba", "missing", "plausible",
            "limits", "steps", "rare", "time_limit", "search",
        )  # fmt: skip
        return given | {name: getattr(self, name) for name in names}

    def load(self, model_file: Path) -> Foreign:
        """Return the model of a file."""
        from pertinent.models.files import load_model

        how = {"allow_pickle": self.allow_pickle, "search": self.search}
        return load_model(model_file, trust=self.trust or [], **how)

    def explainer(self, model: Foreign, data: Any = None, ignore: Sequence[str] = ()) -> Explainer:
        """Return what explains by these rules, with ``data`` where no training data are given."""
        from pertinent.api.explainer import Explainer  # loads solvers, which `check` does without

        if self.train is not None:
            data, _ = model_columns(read_table(self.train), model, ignore)
        return Explainer(model, data=data, **self.arguments(model, data))

    def arguments(self, model: Foreign, data: Any) -> dict[str, Any]:
        """Return the arguments of `Explainer` that the options stand for, beside model and data."""
        from pertinent.rules.constraints import Constraints

        few = self.is_few(data)
        signs = _never_negative(data) if few and self.limits is None else {}
        rules = Constraints(
            frozen=self.freeze or [],
            bounds=signs | parse_bounds(self.bound or []),
            increase_only=self.increase or [],
            decrease_only=self.decrease or [],
            integer=self.integer or [],
            step=parse_steps(self.step or []),
            categories=dict.fromkeys(self.any_category or []),
            relations=self.relation or [],
            max_changes=self.max_changes,
        )
        return {
            "constraints": rules,
            "plausibility": self._plausibility(model, data),
            "method": self.method,
            "norm": self.norm,
            "alternatives": self.alternatives,
            "min_proba": self.min_proba,
            "missing": self.missing,
            "time_limit": self.time_limit,
            "limits_from": parse_limits(self.limits or ("none" if few else "data")),
            "steps_from": None if self.steps is Steps.NONE else "data",
            "rare": (0 if few else HANDFUL) if self.rare is None else self.rare,
            "search": self.search,
        }

    def is_few(self, data: Any) -> bool:
        """Return whether these are the rows to be explained alone, too few to tell what there is.

        A single row would allow nothing but itself.
        """
        asked = self.limits is not None and self.rare is not None
        alone = self.train is None and data is not None
        return alone and not asked and len(data) < PICTURE

    def _plausibility(self, model: Foreign, data: Any) -> Plausibility | None:
        if not self.plausible:
            return None
        if self.train is None:
            raise InputError("--plausible needs training data. Name them: --train FILE.")
        from pertinent.density import Plausibility
        from pertinent.models.registry import predicted_labels

        return Plausibility(data, predicted_labels(model, data))


def _never_negative(data: Any) -> dict[str | int, tuple[float | None, float | None]]:
    """Return the bounds that keep numbers of a table that are never negative as they are."""
    numbers = data.select_dtypes("number")
    return {name: (0.0, None) for name in numbers if numbers[name].min() >= 0}


def with_given(command: Callable[..., None]) -> Callable[..., None]:
    """Let the command line show each field of `Given` as an option of a command.

    The command itself has one keyword ``given`` in their place.
    """
    names = [f.name for f in fields(Given)]
    own = [p for p in signature(command, eval_str=True).parameters.values() if p.name != "given"]
    given = signature(Given, eval_str=True).parameters
    shared = [given[name] for name in names]

    @wraps(command)
    def called(**options: Any) -> None:
        own = Given(**{name: options.pop(name) for name in names if name in options})
        command(**options, given=own)

    every = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*own, *shared)]
    called.__signature__ = signature(command).replace(parameters=every)  # type: ignore[attr-defined]
    return called
