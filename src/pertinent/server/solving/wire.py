"""Messages between the server and its worker processes: a length, then a pickle.

Both ends are our own: nothing that came by HTTP is ever unpickled.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message."""
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    send_bytes(stream, content)


def send_bytes(stream: IO[bytes], content: bytes) -> None:
    """Write one message that is pickled already."""
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Return the next message; `EOFError` where the other end is gone."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if content is None or len(content) < count:
        raise EOFError("the other end is gone")
    return content
