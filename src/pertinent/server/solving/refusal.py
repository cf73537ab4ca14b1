"""What is wrong with a request, and where: one sentence that names the field."""

from __future__ import annotations

from collections.abc import Sequence

from pertinent.exceptions import InputError

#: Where something stands: names, and places in lists.
Path = tuple[str | int, ...]
#: Characters of a path that are told at most.
LONGEST = 200


class Refusal(InputError):
    """A request that cannot be answered as it is.

    Parameters
    ----------
    detail : str
        What was expected, what came, and what to do.
    field : str, optional
        The part of the request that is wrong, e.g. ``rows[0].age``.
    """

    def __init__(self, detail: str, field: str | None = None) -> None:
        super().__init__(detail)
        self.detail, self.field = detail, field

    def __reduce__(self) -> tuple[type[Refusal], tuple[str, str | None]]:
        return Refusal, (self.detail, self.field)


def path_text(path: Sequence[str | int]) -> str:
    """Return a path as it is told.

    Examples
    --------
    >>> from pertinent.server.solving.refusal import path_text
    >>> path_text(("rows", 0, "age")), path_text(("rules", "bounds", "income"))
    ('rows[0].age', 'rules.bounds.income')
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text[:LONGEST]
