"""What stands before every request: hosts, origins, tokens, rates, sizes, headers, logs."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import Any

from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pertinent.exceptions import InputError
from pertinent.geometry.codec import read_json
from pertinent.server.solving.letter import style_hash
from pertinent.server.solving.worker import where_of
from pertinent.server.web.measuring import Measures
from pertinent.server.web.problems import Problem
from pertinent.server.web.settings import ServerSettings

log = logging.getLogger("pertinent.server")

#: Answered without a token: probes, and the page, which holds no data.
OPEN = ("/healthz", "/readyz", "/", "/favicon.ico")
#: Wrong tokens a second from one address, and how many at once.
GUESSES = 5.0, 20.0
#: Buckets of rates that are kept.
MOST_BUCKETS = 10_000
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:@/ ]+?)\.?(:\d{1,5})?")
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_POLICY = (
    "default-src 'self'; img-src 'self' data:; "
    f"style-src 'self' {style_hash()}; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def request_id_of(request: Request) -> str:
    """Return the id of a request, as the guard gave it."""
    return str(request.scope.get("state", {}).get("request_id", ""))


class Guard:
    """ASGI middleware: refuses what must not come near the application, and logs the rest.

    Logs have the id, method, route, status and time of a request: no address, no body and no
    query, which may hold values of people.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings, measures: Measures) -> None:
        self.app, self.settings, self.measures = app, settings, measures
        self._digests = [sha256(token.encode()).digest() for token in settings.tokens]
        self._rates = Rates(settings.rate, settings.burst)
        self._guesses = Rates(*GUESSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, headers = time.perf_counter(), Headers(scope=scope)
        given = headers.get("x-request-id", "")
        name = given if _ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = name
        sent: list[int] = []
        answer = self._dressed(send, scope, name, sent)
        try:
            try:
                self._admit(scope, headers)
                limited = Body(receive, self.settings)
                await self.app(scope, limited, answer)
            except Problem as problem:
                if sent:
                    raise
                await problem.response(name)(scope, receive, answer)
        except Exception as error:  # told without its words, which may hold values
            log.error("request %s failed: %s", name, where_of(error))
            if not sent:
                failed = Problem(500, "The server failed. Its log has more under the request id.")
                await failed.response(name)(scope, receive, answer)
        finally:
            self._note(scope, name, sent[0] if sent else 499, time.perf_counter() - begun)

    def _note(self, scope: Scope, name: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self.measures.note(method, route, status, seconds)
        log.info("%s %s %s %d %.1f ms", name, method, route, status, 1e3 * seconds)

    def _dressed(self, send: Send, scope: Scope, name: str, sent: list[int]) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent.append(message["status"])
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = name
                for key, value in HEADERS.items():
                    headers.setdefault(key, value)
                headers.setdefault("Cache-Control", "no-store")
                if message["status"] in (408, 413):
                    headers["Connection"] = "close"  # what is still to come is not read
            await send(message)

        return answer

    # -- who may ask -----------------------------------------------------------------------

    def _admit(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if _name_of(host) not in self.settings.trusted_hosts:
            raise Problem(421, "This server does not answer to that Host.", "Host")
        self._require_same_origin(scope, headers, host)
        path = scope["path"]
        if not (path in OPEN or path.startswith("/static/")):
            self._require_token(scope, headers)
        if scope["method"] in ("POST", "PUT", "PATCH"):
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Problem(415, "Send the body as application/json.", "Content-Type")
            length = headers.get("content-length", "0")
            if not length.isascii() or not length.isdigit():
                raise Problem(400, "Content-Length is not a number.", "Content-Length")
            if int(length) > self.settings.body_bytes:
                raise too_large(self.settings)

    def _require_same_origin(self, scope: Scope, headers: Headers, host: str) -> None:
        """Refuse what another page makes a browser ask; a link to the page itself is fine."""
        site, origin = headers.get("sec-fetch-site", "none"), headers.get("origin")
        link = scope["method"] == "GET" and scope["path"] == "/"
        if site not in ("same-origin", "none") and not link:
            raise Problem(403, "Another site may not ask this server.", "Sec-Fetch-Site")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise Problem(403, "Another origin may not ask this server.", "Origin")

    def _require_token(self, scope: Scope, headers: Headers) -> None:
        if not self._digests:
            return
        client = scope.get("client") or ("unknown", 0)
        kind, _, token = headers.get("authorization", "").partition(" ")
        given = sha256(token.strip().encode("utf-8", "surrogateescape")).digest()
        # All are compared, in constant time each: how long it takes says nothing.
        matches = [hmac.compare_digest(given, own) for own in self._digests]
        if kind.lower() != "bearer" or not any(matches):
            if not self._guesses.take(client[0]):
                raise Problem(429, "Too many wrong tokens.", headers={"Retry-After": "5"})
            raise Problem(
                401, "Send a token: Authorization: Bearer TOKEN.", "Authorization",
                {"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        if not self._rates.take(given.hex()):
            raise Problem(429, "Too many requests with this token.", headers={"Retry-After": "1"})


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def _name_of(host: str) -> str:
    """Return the name in a Host header, without its port; nothing where it is none."""
    found = _HOST.fullmatch(host.lower())
    return found["name"] if found else ""


def too_large(settings: ServerSettings) -> Problem:
    """Return the problem of a body that is too large."""
    return Problem(413, f"A body may have {settings.body_bytes:,} bytes.", "body")


class Rates:
    """A bucket for each key, which fills by so much a second and holds so much at most."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> bool:
        """Return whether one more is allowed now, and count it."""
        if self._rate <= 0:
            return True
        now = time.monotonic()
        level, then = self._known.pop(key, (self._burst, now))
        level = min(self._burst, level + self._rate * (now - then))
        allowed = level >= 1
        self._known[key] = (level - 1 if allowed else level, now)
        while len(self._known) > MOST_BUCKETS:
            self._known.popitem(last=False)
        return allowed


class Body:
    """The body of a request as it comes in, not larger and not slower than allowed."""

    def __init__(self, receive: Receive, settings: ServerSettings) -> None:
        self._receive, self._settings = receive, settings
        self._size, self._whole = 0, False
        self._end = time.monotonic() + settings.body_seconds

    async def __call__(self) -> Message:
        """Return the next part."""
        if self._whole:
            return await self._receive()
        try:
            left = max(0.0, self._end - time.monotonic())
            message = await asyncio.wait_for(self._receive(), left)
        except TimeoutError:
            raise Problem(408, "The body did not come in time.", "body") from None
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > self._settings.body_bytes:
            raise too_large(self._settings)
        return message


def json_route(settings: ServerSettings) -> type[APIRoute]:
    """Return a kind of route that reads JSON strictly: finite numbers, limited depth."""

    class Limited(Request):
        async def json(self) -> Any:
            return parsed(await self.body(), settings.depth)

    class Route(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def handled(request: Request) -> Response:
                return await handle(Limited(request.scope, request.receive))

            return handled

    return Route


def parsed(content: bytes, depth: int) -> Any:
    """Return JSON as plain values; deeper nesting and what is no JSON are refused."""
    if _depth(content) > depth:
        raise Problem(400, f"The body is nested deeper than {depth} levels.", "body")
    try:
        found = read_json(content)
    except InputError as error:
        raise Problem(400, str(error), "body") from error
    if b"\\ud" in content.lower() and not _is_text(found):
        raise Problem(400, "A text of the body has half a character (a lone surrogate).", "body")
    return found


def _is_text(found: Any) -> bool:
    """Return whether all texts can be written again."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _depth(content: bytes) -> int:
    """Return an upper bound of the nesting: brackets within texts count as well."""
    level = most = 0
    for part in re.findall(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', content, re.DOTALL):
        if part in (b"[", b"{"):
            level += 1
            most = max(most, level)
        elif part in (b"]", b"}"):
            level -= 1
    return most
