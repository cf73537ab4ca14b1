"""HTTP connections that do not wait forever for a request that has begun, or never does."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger("pertinent.server")

#: Seconds that the head of a request may take.
HEAD_SECONDS = 10.0


class PatientProtocol(H11Protocol):
    """Closes a connection on which no whole head of a request comes in time.

    Uvicorn itself ends connections that are idle after an answer; this ends those that send a
    head byte by byte, or nothing at all.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came; what is not a whole head yet is waited for, not forever."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._unwatch()
        elif self.cycle is None or self.cycle.response_complete:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _unwatch(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()


class Announcing(uvicorn.Server):
    """Says where it listens, once it does."""

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for server in self.servers if self.started else ():
            for socket in server.sockets:
                host, port = socket.getsockname()[:2]
                log.info("serving on http://%s:%d/", f"[{host}]" if ":" in host else host, port)
