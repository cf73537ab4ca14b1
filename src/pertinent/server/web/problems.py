"""Errors as problem+json (RFC 9457): a type, a title, what is wrong, and with which field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from pertinent.exceptions import visible
from pertinent.server.solving.refusal import path_text

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "The request cannot be read",
    401: "A token is needed",
    403: "Not from this place",
    404: "There is nothing here",
    405: "Not this method",
    408: "The request came too slowly",
    413: "The request is too large",
    415: "The request must be JSON",
    421: "Not a host of this server",
    422: "The request cannot be answered as it is",
    429: "Too many requests",
    431: "The headers are too large",
    500: "The server failed",
    503: "The server is busy",
    504: "It took too long",
}


class Problem(HTTPException):
    """What is wrong with a request, or with the server.

    Parameters
    ----------
    status : int
    detail : str
    field : str, optional
        The part of the request that is wrong, e.g. ``rows[0].age``.
    headers : mapping, optional
    """

    def __init__(
        self,
        status: int,
        detail: str,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.field = field

    def body(self, request_id: str) -> dict[str, Any]:
        """Return the problem as JSON."""
        title = TITLES.get(self.status_code, "The request failed")
        return {
            "type": f"urn:pertinent:problem:{self.status_code}",
            "title": title,
            "status": self.status_code,
            "detail": visible(self.detail),
            "field": None if self.field is None else visible(self.field),
            "request_id": request_id,
        }

    def response(self, request_id: str) -> JSONResponse:
        """Return the answer that tells the problem."""
        return JSONResponse(
            self.body(request_id), self.status_code, dict(self.headers or {}), MEDIA_TYPE
        )


def field_of(location: Sequence[str | int], body: Any = None, missing: bool = False) -> str | None:
    """Return where in a request something is, as a path.

    Parameters
    ----------
    location : sequence of str and int
        As Pydantic tells it. Where one of several types is expected it ends with the name of one
        of these, which is no part of the request and is left out.
    body : parsed JSON, optional
    missing : bool
        Whether what is told of is not there.

    Examples
    --------
    >>> from pertinent.server.web.problems import field_of
    >>> field_of(("body", "rows", 0, "age")), field_of(("query", "limit")), field_of(("body",))
    ('rows[0].age', 'limit', None)
    >>> field_of(("body", "target", "bool"), {"target": [1]})
    'target'
    """
    path = tuple(location[1:])
    known = path if body is None else path[: _depth(path, body)]
    return path_text(path if missing else known) or None


def _depth(path: Sequence[str | int], body: Any) -> int:
    """Return how many parts of a path there are."""
    for k, part in enumerate(path):
        named = isinstance(body, Mapping) and part in body
        placed = isinstance(body, list) and isinstance(part, int) and part < len(body)
        if not (named or placed):
            return k
        body = body[part]
    return len(path)
