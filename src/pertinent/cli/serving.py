"""The commands that serve: ``pertinent serve`` and ``pertinent demo --serve``."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pertinent.cli.files import model_columns, read_table
from pertinent.exceptions import optional, visible

if TYPE_CHECKING:
    from pertinent.cli.given import Given
    from pertinent.server import Recipe, ServerSettings


@dataclass(frozen=True)
class Listening:
    """Where and for whom to listen: the options of ``pertinent serve``."""

    host: str = "127.0.0.1"
    port: int = 8765
    workers: int = 2
    queue: int = 16
    time_limit: float = 30.0
    token_file: Path | None = None
    hosts: tuple[str, ...] = ()
    rate: float = 50.0

    def settings(self) -> ServerSettings:
        """Return the settings of the server; a missing token is named here."""
        optional("fastapi", "serve", "The server")
        from pertinent.server import ServerSettings, read_tokens

        return ServerSettings(
            host=self.host,
            port=self.port,
            hosts=self.hosts,
            tokens=read_tokens(self.token_file),
            workers=self.workers,
            queue=self.queue,
            time_limit=self.time_limit,
            rate=self.rate,
        )


def serve_files(
    model_file: Path, data_file: Path, given: Given, ignore: Sequence[str], where: Listening
) -> None:
    """Serve a model file and a table until interrupted."""
    settings = where.settings()
    from pertinent.server import Recipe

    model = given.load(model_file)
    rows, extra = model_columns(read_table(data_file), model, ignore)
    if extra:
        sys.stderr.write(f"Ignored columns: {visible(', '.join(extra))}.\n")
    train = rows
    if given.train is not None:
        train, _ = model_columns(read_table(given.train), model, ignore)
    recipe = Recipe(model, train, given.arguments(model, train))
    _run(recipe, rows, settings)


def serve_demo(port: int) -> None:
    """Serve the credit model of the demo until interrupted."""
    settings = Listening(port=port).settings()
    from pertinent.demo import RULES, WORDING, train_credit_model
    from pertinent.server import Recipe

    credit = train_credit_model()
    recipe = Recipe(credit.model, credit.train, {"constraints": RULES, "wording": WORDING})
    _run(recipe, credit.applicants, settings)


def _run(recipe: Recipe, rows: Any, settings: ServerSettings) -> None:
    from pertinent.server import make_server

    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log = logging.getLogger("pertinent.server")
    log.addHandler(shown)
    log.setLevel(logging.INFO)
    # FastAPI hides it, but not where threads meet: it says nothing to whoever serves a model.
    warnings.filterwarnings("ignore", message="The 'alias' attribute", category=UserWarning)
    make_server(recipe, rows, settings).run()
