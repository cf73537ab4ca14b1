"""The command line: ``pertinent demo | explain | report | check | models | run | serve``."""

from __future__ import annotations

import sys

from pertinent.cli.codes import REFUSED
from pertinent.exceptions import MissingExtraError


def main() -> None:
    """Run the command line."""
    try:
        from pertinent.cli.app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(MissingExtraError(error.name, "cli", "The command line"), file=sys.stderr)
        raise SystemExit(REFUSED) from error
    app()
