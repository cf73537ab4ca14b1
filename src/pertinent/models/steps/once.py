"""The steps of a model are read once in a call; nothing is kept when the call is over.

A model may be fitted again in place between two calls, and nobody would notice. Within one call it
is the same model, however often its regions and features are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

#: What is known in this call, with the model that it is known of: so its id stays its own.
_KNOWN: ContextVar[dict[Hashable, tuple[Any, Any]] | None] = ContextVar("known", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Keep what is learnt of the steps of models, until the outermost such call ends."""
    if _KNOWN.get() is not None:
        yield
        return
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def once(name: str, model: Any, key: Hashable, make: Callable[[], T]) -> T:
    """Return what is made of a model, made again only where this call has not made it yet."""
    known = _KNOWN.get()
    if known is None:
        return make()
    place = name, id(model), key
    if place not in known:
        known[place] = model, make()
    made: T = known[place][1]
    return made
