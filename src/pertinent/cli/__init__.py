"""The command line: ``pertinent demo | explain | report | check | models | run``.

Exit codes
----------
0
    Done; for ``check``: every claim was checked and holds.
2
    The command was not understood.
3
    A file, a model or data cannot be used; the message says why.
4
    Some rows got neither an answer nor a proof that there is none.
5
    ``check``: a claim of an explanation is not true of the model.
6
    ``check``: nothing is wrong, but some proof cannot be checked here.
"""

from __future__ import annotations

import sys

from pertinent.exceptions import MissingExtraError

DONE, MISUSED, REFUSED, UNANSWERED, REFUTED, UNCHECKED = 0, 2, 3, 4, 5, 6


def main() -> None:
    """Run the command line."""
    try:
        import pertinent.cli.run  # noqa: F401 - registers its command beside the others
        from pertinent.cli.app import app
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(MissingExtraError(error.name, "cli", "The command line"), file=sys.stderr)
        raise SystemExit(REFUSED) from error
    app()
