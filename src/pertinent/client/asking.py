"""The client: one method for each thing that the server answers."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from pertinent.client.answers import Explained, Page, Prediction, Row, Value, Verdict
from pertinent.exceptions import PertinentError


class ServerError(PertinentError, RuntimeError):
    """The server refused a request, or failed.

    Attributes
    ----------
    status : int
        Of HTTP: 422 a request that cannot be answered, 503 busy, 504 too long, and so on.
    detail : str
        What is wrong, in one sentence.
    field : str or None
        The part of the request that is wrong, e.g. ``rows[0].age``.
    request_id : str or None
        Under which the server's log has more.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.detail = str(problem.get("detail") or problem.get("title") or "no detail")
        self.field: str | None = problem.get("field")
        self.request_id: str | None = problem.get("request_id")
        where = f" ({self.field})" if self.field else ""
        super().__init__(f"{status}: {self.detail}{where}")


class _Stay(HTTPRedirectHandler):
    """Follows no redirect: a token must not be sent elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Return that there is nothing to follow."""
        return None


class Client:
    """Asks a server of `pertinent`.

    Parameters
    ----------
    url : str
        Where the server is, such as ``http://127.0.0.1:8765``.
    token : str, optional
        Sent as a bearer token.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        How often to ask again where the server is busy; it says how long to wait.
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = 60.0, retries: int = 3
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must start with http:// or https://. Got {url!r}.")
        self.url, self.timeout, self.retries = url.rstrip("/"), timeout, retries
        self._token = token
        self._opener = build_opener(_Stay)

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"

    # -- the model and its rows ------------------------------------------------------------

    def model(self) -> dict[str, Any]:
        """Return the model's name, classes, features, rules and options."""
        return cast(dict[str, Any], self._get("/api/v1/model"))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schemas of a row, of rules and of a stored explanation."""
        return cast(dict[str, Any], self._get("/api/v1/schema"))

    def rows(
        self,
        filters: Sequence[tuple[str, str, Value]] = (),
        *,
        sort: str = "@id",
        descending: bool = False,
        offset: int = 0,
        limit: int = 50,
    ) -> Page:
        """Return a page of the rows.

        Parameters
        ----------
        filters : sequence of (name, operation, value)
            ``("income", "ge", 100)``; a feature or ``"@class"``, ``"@score"``, ``"@id"``.
        sort : str
            A feature or one of these.
        descending : bool
        offset, limit : int
        """
        query = [("filter", filter_text(*one)) for one in filters]
        query += [("sort", sort), ("order", "desc" if descending else "asc"),
                  ("offset", str(offset)), ("limit", str(limit))]  # fmt: skip
        return cast(Page, self._get(f"/api/v1/rows?{urlencode(query)}"))

    def row(self, id: int) -> Row:
        """Return one row of the table."""
        return cast(Row, self._get(f"/api/v1/rows/{int(id)}"))

    # -- questions -------------------------------------------------------------------------

    def predict(self, rows: Sequence[Mapping[str, Value]]) -> list[Prediction]:
        """Return classes and probabilities of rows, each a mapping from names to values."""
        found = self._post("/api/v1/predict", {"rows": [dict(row) for row in rows]})
        return cast(list[Prediction], found["predictions"])

    def explain(
        self,
        rows: Sequence[Mapping[str, Value]] | None = None,
        *,
        ids: Sequence[int] | None = None,
        certificate: bool = True,
        **question: Any,
    ) -> list[Explained]:
        """Return the explanations of new rows, or of rows of the table by id.

        Parameters
        ----------
        rows : sequence of mapping, optional
        ids : sequence of int, optional
        certificate : bool
            Whether to have them as they are stored, with what a check needs.
        **question
            ``target``, ``rules``, ``min_probability``, ``method``, ``norm``, ``plausible`` and
            ``time_limit``, as in the API.
        """
        body = _asked(rows, ids, certificate=certificate, **question)
        return cast(list[Explained], self._post("/api/v1/explain", body)["explanations"])

    def alternatives(
        self, row: Mapping[str, Value] | int, count: int = 3, **question: Any
    ) -> dict[str, Any]:
        """Return the explanation of one row, and other changes that work as ``cards``."""
        found = self._about("/api/v1/alternatives", row, count=count, **question)
        return cast(dict[str, Any], found)

    def menu(
        self, row: Mapping[str, Value] | int, max_features: int = 2, **question: Any
    ) -> dict[str, Any]:
        """Return which features alone, or in pairs, can work or provably cannot."""
        found = self._about("/api/v1/menu", row, max_features=max_features, **question)
        return cast(dict[str, Any], found)

    def cohorts(
        self, by: str, filters: Sequence[tuple[str, str, Value]] = (), **question: Any
    ) -> dict[str, Any]:
        """Return groups of rows compared: who has an answer, what it costs, and the gap."""
        body = {"by": by, "filters": [filter_text(*one) for one in filters], **question}
        return cast(dict[str, Any], self._post("/api/v1/cohorts", body))

    def check(self, explanation: Mapping[str, Any]) -> Verdict:
        """Return what the independent check says of a stored explanation."""
        return cast(Verdict, self._post("/api/v1/check", {"explanation": dict(explanation)}))

    def report(self, ids: Sequence[int], **question: Any) -> str:
        """Return a report of rows of the table, as one HTML page."""
        return cast(str, self._post("/api/v1/report", _asked(None, ids, **question)))

    def letter(self, row: Mapping[str, Value] | int, **question: Any) -> str:
        """Return a letter about one row, as an HTML page."""
        return cast(str, self._about("/api/v1/letter", row, **question))

    def ready(self) -> bool:
        """Return whether the server answers questions."""
        try:
            self._get("/readyz", retries=0)
        except (ServerError, OSError):
            return False
        return True

    # -- HTTP ------------------------------------------------------------------------------

    def _about(self, path: str, row: Mapping[str, Value] | int, **question: Any) -> Any:
        new = None if isinstance(row, int) else [row]
        return self._post(path, _asked(new, [row] if isinstance(row, int) else None, **question))

    def _get(self, path: str, retries: int | None = None) -> Any:
        return self._ask(path, None, self.retries if retries is None else retries)

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._ask(path, json.dumps(body, allow_nan=False).encode(), self.retries)

    def _ask(self, path: str, body: bytes | None, retries: int) -> Any:
        headers = {"Accept-Encoding": "gzip", "User-Agent": "pertinent-client"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        for attempt in range(retries + 1):
            request = Request(self.url + path, data=body, headers=headers)
            try:
                with self._opener.open(request, timeout=self.timeout) as response:
                    return _read(response)
            except HTTPError as error:
                with error:
                    wait = error.headers.get("Retry-After", "")
                    if error.code in (429, 503) and wait.isdigit() and attempt < retries:
                        time.sleep(min(int(wait), self.timeout))
                        continue
                    raise ServerError(error.code, _problem(error)) from None
        raise AssertionError("the last attempt returns or raises")


def filter_text(name: str, operation: str, value: Value = None) -> str:
    """Return a filter as the API has it.

    Examples
    --------
    >>> from pertinent.client.asking import filter_text
    >>> filter_text("debt: total", "ge", 100), filter_text("age", "missing")
    ('debt%3A total:ge:100', 'age:missing')
    """
    said = f"{quote(name, safe='@ ')}:{operation}"
    if value is None:
        return said
    return f"{said}:{str(value).lower() if isinstance(value, bool) else value}"


def _asked(
    rows: Sequence[Mapping[str, Value]] | None, ids: Sequence[int] | None, **question: Any
) -> dict[str, Any]:
    chosen = {"ids": [int(id) for id in ids]} if ids is not None else {
        "rows": [dict(row) for row in rows or ()]
    }  # fmt: skip
    return {**chosen, **{name: value for name, value in question.items() if value is not None}}


def _read(response: Any) -> Any:
    content = response.read()
    if response.headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    if response.headers.get_content_type() == "application/json":
        return json.loads(content)
    return content.decode("utf-8")


def _problem(error: HTTPError) -> dict[str, Any]:
    try:
        found = _read(error)
        found = json.loads(found) if isinstance(found, str) else found
    except (ValueError, OSError):
        return {"title": error.reason}
    return found if isinstance(found, dict) else {"title": error.reason}
