"""What is wrong with a request, and where: one sentence that names the field."""

from __future__ import annotations

from pertinent.exceptions import InputError


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
