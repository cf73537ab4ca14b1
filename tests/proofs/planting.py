"""Bugs planted in any function: its code is replaced everywhere, its result is spoilt."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import signal
import sys
import types
from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary

import numpy as np


class Late(BaseException):
    """The run took too long: a bug may cost an answer. Nothing but the test catches it."""


def functions_of(*packages: Any) -> dict[str, types.FunctionType]:
    """Return every function and method that is written in the packages, by its path.

    The compiled kernel is read as plain Python: numba compiles the very same lines.
    """
    found: dict[str, types.FunctionType] = {}
    for package in packages:
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            plain = info.name.endswith(".kernel")
            module = plain_kernel(info.name) if plain else importlib.import_module(info.name)
            for name, value in vars(module).items():
                if getattr(value, "__module__", None) != info.name:
                    continue
                value = inspect.unwrap(value)  # what a cache or a dispatcher calls
                own = _methods(value) if isinstance(value, type) else [("", value)]
                for method, f in own:
                    # What dataclasses and named tuples write themselves comes from no file.
                    known = any(f is other for other in found.values())
                    if isinstance(f, types.FunctionType) and is_written_in(f, module) and not known:
                        found[f"{info.name}.{name}.{method}".rstrip(".")] = f
    return found


@functools.cache
def plain_kernel(name: str) -> types.ModuleType:
    """Return a module that numba would compile, not compiled; numba need not be there."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module, jit = importlib.util.module_from_spec(spec), types.ModuleType("jit")
    jit.entry = jit.compiled = jit.inlined = lambda function: function  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, {"pertinent.solvers.jit": jit}):
        spec.loader.exec_module(module)
    return module


def is_written_in(f: types.FunctionType, module: types.ModuleType) -> bool:
    """Return whether the lines of a function stand in the file of a module."""
    return f.__code__.co_filename == module.__file__


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(cls).items():
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        if isinstance(value, property):
            value = value.fget
        if isinstance(value, functools.cached_property):
            value = value.func
        yield name, value


@contextlib.contextmanager
def replaced(f: types.FunctionType, by: Callable[..., Any]) -> Iterator[None]:
    """Let every call of a function, whoever holds it, call ``by(original, *args)`` instead."""
    code, name = f.__code__, f"_planted_{id(f)}"
    original = types.FunctionType(code, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    original.__kwdefaults__ = f.__kwdefaults__
    f.__globals__[name] = lambda *args, **kwargs: by(original, *args, **kwargs)
    f.__code__ = _stand_in(name, len(code.co_freevars))
    try:
        yield
    finally:
        f.__code__ = code
        del f.__globals__[name]


def _stand_in(name: str, n_free: int) -> types.CodeType:
    """Return the code of a function that calls another; it closes over so many variables."""
    free = [f"v{k}" for k in range(n_free)]
    made: dict[str, Any] = {}
    source = f"""
def outer({", ".join(free)}):
    def stand_in(*args, **kwargs):
        {", ".join(free) or "pass"}
        return {name}(*args, **kwargs)
    return stand_in
"""
    exec(source, made)
    code: types.CodeType = made["outer"](*free).__code__
    return code


def forget(package: str = "pertinent.") -> None:
    """Empty every cache of the package: what one run computed must not answer the next."""
    for clear in _clearing(package, len(sys.modules)):
        clear()


@functools.lru_cache(1)
def _clearing(package: str, _: int) -> list[Callable[[], None]]:
    """Return what empties each cache; found again when more modules are loaded."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(package):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    found[id(value)] = value.cache_clear
                elif isinstance(value, WeakKeyDictionary):
                    found[id(value)] = value.clear
    return list(found.values())


def calls_of(
    run: Callable[[], Any],
    most: float = np.inf,
    seconds: float = 60.0,
    watch: Callable[[types.FrameType, str, Any], bool] = lambda *_: False,
) -> tuple[Any, int]:
    """Return what a function returns, and how many Python functions it called.

    ``watch(frame, "call", None)`` is told of every call, and of ``"return"`` with the result where
    it answered True.

    Raises
    ------
    Late
        After ``most`` calls, a limit that is the same on every machine; or after so many seconds,
        for the loop that calls nothing.
    """
    called = 0

    def count(frame: types.FrameType, *_: Any) -> Any:
        nonlocal called
        called += 1
        if called > most:
            raise Late
        if watch(frame, "call", None):
            frame.f_trace_lines = False
            return left
        return None

    def left(frame: types.FrameType, event: str, result: Any) -> Any:
        if event == "return":
            watch(frame, event, result)
        return left

    def stop(*_: Any) -> None:
        raise Late

    before, tracer = signal.signal(signal.SIGALRM, stop), sys.gettrace()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    sys.settrace(count)
    try:
        # NumPy keeps in the context what an invalid number leads to: whoever is stopped while it
        # is set, in the middle of a function of linear algebra, leaves it behind.
        return copy_context().run(run), called
    finally:
        sys.settrace(tracer)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _numbers(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a spoiler of floats and arrays of them."""

    def spoil(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            return change(value)
        return change(value) if isinstance(value, float) else value

    return spoil


def _truths(answer: bool) -> Callable[[Any], Any]:
    """Return a spoiler of truth values."""

    def spoil(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype == bool:
            return np.full_like(value, answer)
        return answer if isinstance(value, bool | np.bool_) else value

    return spoil


def _last_row(value: Any) -> Any:
    """Spoil the last row only: one candidate, one case or one piece is seen wrongly."""
    if isinstance(value, np.ndarray) and value.ndim and len(value) and value.dtype.kind in "fb":
        worse = value.copy()
        worse[-1] = ~worse[-1] if value.dtype == bool else worse[-1] + 1.0
        return worse
    return value


def _one_entry(value: Any) -> Any:
    """Spoil one number by a part of 1: what counts something is then no count any more."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        worse = value.copy()
        worse.reshape(-1)[value.size // 2] += 0.37
        return worse
    return value


def _shorter(value: Any) -> Any:
    """Lose the last of several: items, places, entries."""
    if isinstance(value, list) and value:
        return value[:-1]
    if isinstance(value, dict) and value:
        return dict(list(value.items())[:-1])
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.ndim and len(value):
        return value[:-1]
    return value


def _backwards(value: Any) -> Any:
    """Return places and codes in the wrong order."""
    is_order = isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.ndim
    return value[::-1].copy() if is_order else value


def _counts(step: int) -> Callable[[Any], Any]:
    """Return a spoiler of whole numbers that count or name something."""

    def spoil(value: Any) -> Any:
        is_count = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return value + step if is_count else value

    return spoil


#: What may be wrong with the result of a function.
SPOILERS: dict[str, Callable[[Any], Any]] = {
    "too large": _numbers(lambda x: x * 2.0 + 0.25),
    "too small": _numbers(lambda x: x * 0.5),
    "endless": _numbers(lambda x: x + np.inf),
    "always": _truths(True),
    "never": _truths(False),
    "last row": _last_row,
    "last one lost": _shorter,
    "wrong order": _backwards,
    "one more": _counts(1),
    "one less": _counts(-1),
}
#: Planted by ``PLANT_ALL=1`` only.
RARER: dict[str, Callable[[Any], Any]] = {"one entry": _one_entry}
#: A function is not called at all: its result is None, and whatever it changes stays as it was.
LEFT_OUT = "left out"


def spoilt(value: Any, spoil: Callable[[Any], Any], depth: int = 2) -> Any:
    """Return a result with every part spoilt: items of tuples, fields of dataclasses."""
    if isinstance(value, types.GeneratorType):
        return _spoilt_items(value, spoil)
    if type(value) is tuple and depth:
        return tuple(spoilt(item, spoil, depth - 1) for item in value)
    if is_dataclass(value) and not isinstance(value, type) and depth:
        new = object.__new__(type(value))
        if not hasattr(value, "__dict__"):
            return value
        new.__dict__.update(value.__dict__)
        for f in fields(value):
            new.__dict__[f.name] = spoilt(getattr(value, f.name), spoil, depth - 1)
        return new
    return value if isinstance(value, Enum) else spoil(value)


def _spoilt_items(items: Iterator[Any], spoil: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield every item spoilt; where the last of several is lost, all but the last."""
    kept = list(items) if spoil is _shorter else None
    yield from (spoilt(item, spoil) for item in items) if kept is None else kept[:-1]


def is_same(one: Any, other: Any) -> bool:
    """Return whether spoiling changed nothing."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool(
            np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if is_dataclass(one):
        return all(is_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    return bool(one == other)


#: Arrays that a function may write to by mistake: its first one, or a part of an argument.
IN_PLACE = ("first array", "centers", "lower", "upper", "low", "high", "weights", "values")


def argument_array(kind: str, arguments: Iterator[Any]) -> Any:
    """Return the array among the arguments that a kind of `IN_PLACE` names; None without any."""
    for value in arguments:
        found = value if kind == "first array" else vars_of(value).get(kind)
        if isinstance(found, np.ndarray) and found.dtype.kind == "f" and found.any():
            return found
    return None


def vars_of(value: Any) -> dict[str, Any]:
    """Return the fields of an object, those of its table included."""
    own = getattr(value, "__dict__", {})
    return getattr(own.get("table"), "__dict__", {}) | own


@contextlib.contextmanager
def restored(*owners: Any) -> Iterator[None]:
    """Give arrays, and those that objects hold, their numbers back at the end."""
    arrays: dict[int, Any] = {}
    left = [(one, 4) for one in owners]
    while left:
        one, depth = left.pop()
        if isinstance(one, np.ndarray) and one.dtype.kind == "f":
            arrays[id(one)] = one, one.copy()
        elif depth:
            parts = one if isinstance(one, tuple | list) else vars_of(one).values()
            left += [(part, depth - 1) for part in parts]
    try:
        yield
    finally:
        for array, before in arrays.values():
            if not np.array_equal(array, before, equal_nan=True):
                array[...] = before
