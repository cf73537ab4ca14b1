"""How a server is run: where it listens, whom it trusts, and how much it takes."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path

from pertinent.exceptions import InputError, reading

#: The environment variable that tokens may come from.
TOKENS = "PERTINENT_TOKENS"
#: Characters that a token has at least: those of 128 random bits in hexadecimal digits.
SHORTEST = 32


@dataclass(frozen=True)
class ServerSettings:
    """Limits and trust of a server; the defaults are for one person on one machine.

    Parameters
    ----------
    host, port
        Where to listen. Any other address than those of this machine needs a token.
    hosts : tuple of str
        Names under which the server may be called, beside ``localhost`` and its addresses.
    tokens : tuple of str
        Who may ask; empty: everybody on this machine.
    workers : int
        Processes that solve.
    queue : int
        Requests that may wait for them; one more is answered with 503 at once.
    time_limit : float
        Seconds that a request may take, waiting included.
    body_bytes, rows, depth : int
        Largest body, most rows of a request, deepest nesting of its JSON.
    body_seconds : float
        How long a client may take to send a request.
    rate, burst : float
        Requests a second of each token, and how many may come at once; 0: no limit.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    hosts: tuple[str, ...] = ()
    tokens: tuple[str, ...] = field(default=(), repr=False)
    workers: int = 2
    queue: int = 16
    time_limit: float = 30.0
    body_bytes: int = 4_000_000
    rows: int = 200
    depth: int = 40
    body_seconds: float = 10.0
    rate: float = 50.0
    burst: float = 100.0

    def __post_init__(self) -> None:
        for name, least in (("workers", 1), ("queue", 1), ("rows", 1), ("depth", 4)):
            if getattr(self, name) < least:
                raise InputError(f"{name} must be at least {least}. Got {getattr(self, name)!r}.")
        if not self.time_limit > 0:
            raise InputError(f"time_limit must be positive. Got {self.time_limit!r}.")
        if any(len(token) < SHORTEST for token in self.tokens):
            raise InputError(
                f"A token must have at least {SHORTEST} characters. Make one with: "
                'python -c "import secrets; print(secrets.token_urlsafe(32))"'
            )
        if not self.is_local and not self.tokens:
            raise InputError(
                f"Listening on {self.host} lets other machines ask, which needs a token. Give a "
                f"file of tokens (--token-file), or set {TOKENS}; or listen on 127.0.0.1."
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def trusted_hosts(self) -> frozenset[str]:
        """The names in a request's Host header that are answered, without ports."""
        own = {"localhost", "127.0.0.1", "[::1]"}
        if self.host not in ("0.0.0.0", "::"):
            own.add(f"[{self.host}]" if ":" in self.host else self.host.lower())
        return frozenset(own | {name.lower() for name in self.hosts})


def read_tokens(path: str | Path | None) -> tuple[str, ...]:
    """Return the tokens of a file, one on each line, or those of the environment.

    Empty lines and lines that start with ``#`` are left out.
    """
    if path is None:
        text = os.environ.get(TOKENS, "")
    else:
        with reading(Path(path), " as tokens"):
            text = Path(path).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.replace(",", "\n").splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))
