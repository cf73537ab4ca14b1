"""The options that commands share: training data, the class to reach and the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pertinent.cli.files import model_columns, parse_bounds, read_table
from pertinent.geometry.arrays import Foreign
from pertinent.models.files import load_model
from pertinent.rules.constraints import Constraints

if TYPE_CHECKING:
    from pertinent.api.explainer import Explainer

ModelFile = Annotated[Path, typer.Argument(help="The model: a skops file.")]
Pickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Read pickles too: they run whatever they hold.")
]
Names = list[str] | None


@dataclass(frozen=True)
class Given:
    """What a command that explains is given beside the model and the rows."""

    train: Annotated[
        Path | None, typer.Option(help="Training data: typical values and spreads come from it.")
    ] = None
    target: Annotated[
        str | None, typer.Option(help="The class to reach; by default the nearest.")
    ] = None
    freeze: Annotated[Names, typer.Option(help="Features that stay as they are.")] = None
    bound: Annotated[Names, typer.Option(help='Bounds, e.g. "income=0:" or "time=6:72".')] = None
    increase: Annotated[Names, typer.Option(help="Features that may only increase.")] = None
    decrease: Annotated[Names, typer.Option(help="Features that may only decrease.")] = None
    integer: Annotated[Names, typer.Option(help="Features that take whole numbers.")] = None
    relation: Annotated[Names, typer.Option(help='e.g. "debt <= 0.4 * income".')] = None
    max_changes: Annotated[
        int | None, typer.Option(min=1, help="How many features may change.")
    ] = None
    allow_pickle: Pickle = False

    def rules(self) -> dict[str, Any]:
        """Return the rules as they were given, for a manifest."""
        lists = ("freeze", "bound", "increase", "decrease", "integer", "relation")
        given = {name: getattr(self, name) or [] for name in lists}
        return given | {"max_changes": self.max_changes}

    def load(self, model_file: Path) -> Foreign:
        """Return the model of a file."""
        return load_model(model_file, allow_pickle=self.allow_pickle)

    def explainer(self, model: Foreign, data: Any = None, ignore: Sequence[str] = ()) -> Explainer:
        """Return what explains by these rules, with ``data`` where no training data are given."""
        from pertinent.api.explainer import Explainer  # loads solvers, which `check` does without

        if self.train is not None:
            data, _ = model_columns(read_table(self.train), model, ignore)
        rules = Constraints(
            frozen=self.freeze or [],
            bounds=parse_bounds(self.bound or []),
            increase_only=self.increase or [],
            decrease_only=self.decrease or [],
            integer=self.integer or [],
            relations=self.relation or [],
            max_changes=self.max_changes,
        )
        return Explainer(model, data=data, constraints=rules)


def with_given(command: Callable[..., None]) -> Callable[..., None]:
    """Let the command line show each field of `Given` as an option of a command.

    The command itself has one keyword ``given`` in their place.
    """
    names = [f.name for f in fields(Given)]
    own = [p for p in signature(command, eval_str=True).parameters.values() if p.name != "given"]
    shared = signature(Given, eval_str=True).parameters.values()

    @wraps(command)
    def called(**options: Any) -> None:
        given = Given(**{name: options.pop(name) for name in names if name in options})
        command(**options, given=given)

    every = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*own, *shared)]
    called.__signature__ = signature(command).replace(parameters=every)  # type: ignore[attr-defined]
    return called
