"""Try mutants in forks of one process that has imported and collected everything already.

A fork costs milliseconds, a fresh interpreter with NumPy, scikit-learn and the solvers seconds. In
the fork every function of the broken file gets the code that the broken text compiles to. Tests
that are known to notice a mutant (`NOTICED`) are run first, then those that noticed another mutant
of the same file, then those that follow the capability, nearest first, until a budget of processor
time is spent. What notices must pass on the unbroken source.

What is computed while tests are collected was computed by the unbroken code, and so was what a
test's own subprocesses do: a fork may miss a mutant that a fresh process notices, never the other
way round. `mutants.run` tries survivors again, in new processes and by whole files.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from mutants.apply import found
from mutants.capabilities import known_to_notice, suite_for
from mutants.catalogue import Mutant

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pertinent"
#: A fork that takes this much longer never ends: a broken search is noticed, too.
LONGER = 60.0
#: Said of a test in which the process ended.
ENDED = ": ended"


class Untried(LookupError):
    """A mutant was not tried: no living function has its code."""


def codes_of(code: CodeType) -> Iterable[CodeType]:
    """Yield a code object and all that it holds."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def living(folder: Path) -> dict[str, list[FunctionType]]:
    """Return every function that is alive, by the file below a folder that it comes from."""
    gc.unfreeze()  # what is frozen is not listed
    out: dict[str, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith(str(folder)):
            out.setdefault(thing.__code__.co_filename, []).append(thing)
    return out


def swap(path: Path, broken: str, functions: list[FunctionType]) -> int:
    """Give the functions of a file the code of the broken text; return how many changed."""
    code = compile(broken, str(path), "exec")
    made = {(c.co_qualname, c.co_firstlineno): c for c in codes_of(code)}
    count = 0
    for function in functions:
        old = function.__code__
        new = made.get((old.co_qualname, old.co_firstlineno))
        if new is not None and new != old:
            function.__code__ = new
            count += 1
    return count


def in_fork(work: Callable[[Callable[[Any], None]], None], seconds: float) -> tuple[list[Any], str]:
    """Run work in a fork; return what it handed over, and how it ended if not well."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        whole = int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 5))
        with os.fdopen(write, "w") as out:

            def hand(record: Any) -> None:
                out.write(json.dumps(record) + "\n")
                out.flush()

            try:
                work(hand)
            except BaseException as error:
                hand({"error": f"{type(error).__name__}: {error}"})
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as lines:
        records = [json.loads(line) for line in lines if line.endswith("\n")]
    _, status = os.waitpid(child, 0)
    ended = "" if status == 0 else f"by signal {os.WTERMSIG(status)}"
    return records, ended


@dataclass(eq=False)
class Session:
    """The pytest plugin: it runs ``then(session)`` in place of the tests."""

    then: Callable[[Session], None]
    items: dict[str, Any] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    functions: dict[str, list[FunctionType]] = field(default_factory=dict)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Take over once everything is collected."""
        self.items = {item.nodeid: item for item in session.items}
        self.functions = living(PACKAGE)
        gc.collect()
        gc.freeze()  # the forks share what is there
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        session.config.pluginmanager.unregister(reporter)
        self.then(self)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note what failed, and what passed to the end."""
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.passed.append(report.nodeid)

    def run(self, name: str, following: str | None) -> bool:
        """Run one test; return whether it passed."""
        item = self.items[name]
        after = self.items[following] if following is not None else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return name in self.passed and name not in self.failed


def session(tests: Iterable[str], then: Callable[[Session], None]) -> None:
    """Collect tests once, import the whole package, and go on with ``then``."""
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
    import pertinent

    for info in pkgutil.walk_packages(pertinent.__path__, "pertinent."):
        if not info.name.endswith(("__main__", "ray", "spark")):
            importlib.import_module(info.name)
    command = [
        "-q",
        "-s",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:doctest",
    ]
    command += ["-o", "addopts=--import-mode=importlib", "-m", "not slow and not engines", *tests]
    pytest.main(command, plugins=[Session(then)])


@dataclass
class Tests:
    """The tests of a session, in the order in which they are worth running for a mutant."""

    session: Session
    budget: float
    sound: dict[str, bool] = field(default_factory=dict)
    noticed: dict[Path, list[str]] = field(default_factory=dict)

    def of(self, path: Path, places: Iterable[str], first: Iterable[str] = ()) -> list[str]:
        """Return the first tests, what noticed mutants of a file before, then those of places."""
        before = [*self._at(first), *self.noticed.get(path, [])]
        near = self._at(places)
        # One case of each test, then a second of each: others of its kind notice much the same.
        cases: Counter[str] = Counter()
        turns = {}
        for name in dict.fromkeys(near):
            test = name.split("[")[0]
            turns[name] = cases[test]
            cases[test] += 1
        # Then the quick ones: how long a test takes is known once it ran.
        near = sorted(turns, key=lambda n: (min(turns[n], 3), self.session.seconds.get(n, 0.2) > 2))
        return [name for name in dict.fromkeys([*before, *near]) if self.sound.get(name, True)]

    def _at(self, places: Iterable[str]) -> list[str]:
        return [n for p in places for n in self.session.items if (n + "/").startswith(p)]

    def is_sound(self, name: str) -> bool:
        """Return whether a test passes on the unbroken source: else it notices nothing."""
        if name not in self.sound:
            records, _ = in_fork(lambda hand: hand(self.session.run(name, None)), LONGER)
            self.sound[name] = records == [True]
        return self.sound[name]

    def notices(self, mutant: Mutant) -> tuple[str, int]:
        """Return the first test that notices a mutant ("" if none), and how many were run."""
        path, _, broken = found(mutant, PACKAGE)
        places, first = suite_for(mutant), known_to_notice(mutant)
        while True:
            names = self.of(path, places, first)
            name, count = attempt(self.session, path, broken, names, self.budget)
            if not name:
                return "", count
            test = name.split(ENDED)[0]
            if self.is_sound(test):
                self.remember(path, test)
                return name, count

    def remember(self, path: Path, test: str) -> None:
        """Run a test that noticed a mutant of a file first from now on."""
        known = self.noticed.setdefault(path, [])
        known[:] = [test, *(other for other in known if other != test)][:8]


def attempt(
    session: Session, path: Path, broken: str, names: list[str], budget: float
) -> tuple[str, int]:
    """Return the first of the tests that fails with a broken file, and how many were run."""

    def work(hand: Callable[[Any], None]) -> None:
        if not swap(path, broken, session.functions.get(str(path), [])):
            raise RuntimeError("nothing changed")
        for name, following in zip(names, [*names[1:], None], strict=True):
            if time.process_time() > budget:  # of the fork: its clock began at 0
                break
            hand(name)
            begun = time.process_time()
            if not session.run(name, following):
                hand({"noticed": name})
                return
            hand([name, time.process_time() - begun])
        hand({"noticed": ""})

    if not names:
        return "", 0
    records, ended = in_fork(work, budget + LONGER)
    session.seconds |= dict(record for record in records if isinstance(record, list))
    records = [record for record in records if not isinstance(record, list)]
    if ended:
        return f"{records[-1] if records else 'at once'}{ENDED} {ended}", len(records)
    last = records[-1]
    if "error" in last:
        raise Untried(last["error"])
    return last["noticed"], len(records) - 1
