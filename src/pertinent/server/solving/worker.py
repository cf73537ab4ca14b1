"""A worker process: reads the recipe, makes the model ready, answers until its input ends."""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
import traceback
import warnings
from math import inf
from typing import IO, Any

from pertinent.geometry.running import until
from pertinent.server.solving.refusal import Refusal
from pertinent.server.solving.wire import receive, send

#: How a message to the server begins: an answer, a refusal, or what went wrong.
ANSWER, REFUSED, BROKEN, READY = "answer", "refused", "broken", "ready"

#: The share of a request's time after which searches end: an answer has to be written yet.
USED = 0.8
#: Seconds without a request after which a worker prepares, once, for rarer ones.
QUIET = 1.0


def main() -> None:
    """Serve on standard input and output; what code prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers itself
    source = sys.stdin.buffer
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")  # a warning may quote a value, and logs hold none
    try:
        serve(source, sink)
    except (EOFError, BrokenPipeError):
        return


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer requests until there are no more."""
    from pertinent.server.solving.engine import Engine

    engine = Engine(receive(source))
    engine.rehearse()
    gc.collect()
    gc.freeze()  # what is loaded stays: collecting need not look at it again
    send(sink, (READY, None))
    rehearsed = False
    while True:
        if not rehearsed and _is_quiet(source):
            engine.rehearse_plausible()
            rehearsed = True
        task, request, seconds = receive(source)
        send(sink, answered(engine, task, request, seconds))


def _is_quiet(source: IO[bytes]) -> bool:
    """Return whether no request comes for a moment: time for what not everybody asks for."""
    try:
        return not select.select([source], [], [], QUIET)[0]
    except (OSError, ValueError):  # not every system can wait for a pipe
        return False


def answered(engine: Any, task: str, request: Any, seconds: float = inf) -> tuple[str, Any]:
    """Return the answer, or what went wrong, without any value of the request.

    The request fails after so many seconds. Searches end before, with what they have then.
    """
    try:
        with until(time.monotonic() + USED * seconds):
            return ANSWER, engine.answer(task, request)
    except Refusal as refusal:
        return REFUSED, refusal
    except Exception as error:  # whatever a model raises is told, and the worker goes on
        return BROKEN, (type(error).__name__, where_of(error))


def where_of(error: BaseException) -> str:
    """Return the kind of an error and where it was raised; its words may hold values.

    Examples
    --------
    >>> from pertinent.server.solving.worker import where_of
    >>> where_of(ValueError("Jane Doe"))
    'ValueError'
    """
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = " < ".join(
        f"{os.path.basename(frame.filename)}:{frame.lineno}" for frame in reversed(frames)
    )
    return f"{type(error).__name__} at {places}" if places else type(error).__name__


if __name__ == "__main__":
    main()
