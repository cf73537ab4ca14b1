"""Try mutants in forks of one process that has imported and collected everything already.

A fork costs milliseconds, a fresh interpreter with NumPy, scikit-learn and the solvers seconds. In
the fork every function of the broken file gets the code that the broken text compiles to. A test
is only run for a mutant whose function it was seen to call, nearest and quickest first.

What is computed while tests are collected was computed by the unbroken code, and so was what a
test's own subprocesses do: a fork may miss a mutant that a fresh process notices, never the other
way round. Survivors are therefore tried again by `mutants.run`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

from mutants.apply import found
from mutants.catalogue import Mutant

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pertinent"
#: Seconds of processor time: for one test to be used at all, and for all tests of a mutant.
ONE_TEST, ALL_TESTS = 3.0, 45.0
#: A fork that takes so many times longer than its tests do on the unbroken source never ends.
PATIENCE = 5.0


class Followed(NamedTuple):
    """A test that passes on the unbroken source: how long it takes, which functions it calls."""

    name: str
    seconds: float
    calls: frozenset[tuple[str, str]]


class TooSlow(Exception):
    """A test took longer than `ONE_TEST`."""


def codes_of(code: CodeType) -> Iterable[CodeType]:
    """Yield a code object and all that it holds."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def swap(path: Path, broken: str) -> int:
    """Give every living function of a file the code of the broken text; return how many changed."""
    name = str(path)
    made = {(c.co_qualname, c.co_firstlineno): c for c in codes_of(compile(broken, name, "exec"))}
    count = 0
    gc.unfreeze()  # else the functions that the forks share are not among the objects
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == name:
            old = thing.__code__
            new = made.get((old.co_qualname, old.co_firstlineno))
            if new is not None and new != old:
                thing.__code__ = new
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
    ended = "" if status == 0 else f"ended by signal {os.WTERMSIG(status)}"
    return records, ended


@dataclass(eq=False)
class Session:
    """The pytest plugin: it runs ``then(session)`` in place of the tests."""

    then: Callable[[Session], None]
    items: dict[str, Any] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Take over once everything is collected."""
        self.items = {item.nodeid: item for item in session.items}
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
class Memory:
    """Which tests are of use, file by file: each file is run once, when it is first needed.

    ``path`` keeps what was seen, one line for each file, for the next run.
    """

    session: Session
    path: Path
    say: Callable[[str], None] = print
    known: dict[str, list[Followed]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            self._learn(*json.loads(line))

    def _learn(self, file: str, used: list[Any]) -> None:
        tests = [Followed(name, sec, frozenset(map(tuple, calls))) for name, sec, calls in used]
        self.known[file] = [test for test in tests if test.name in self.session.items]

    def of(self, places: Iterable[str]) -> list[Followed]:
        """Return the tests of use in files and folders, in this order."""
        files = dict.fromkeys(name.split("::")[0] for name in self.session.items)
        wanted = [file for place in places for file in files if (file + "/").startswith(place)]
        for file in wanted:
            if file not in self.known:
                used = self._follow(file)
                self._learn(file, used)
                with self.path.open("a") as out:
                    out.write(json.dumps([file, used]) + "\n")
        return [test for file in dict.fromkeys(wanted) for test in self.known[file]]

    def _follow(self, file: str) -> list[Any]:
        names = [name for name in self.session.items if name.split("::")[0] == file]
        start, used, left = time.monotonic(), [], names
        while left:
            # A test that is stopped within pytest's own code ends the fork: go on behind it.
            records, _ = in_fork(lambda hand, left=left: _follow(self.session, left, hand), 900.0)
            used += [record for record in records if isinstance(record, list)]
            left = left[max(sum(isinstance(record, str) for record in records), 1) :]
        spent = time.monotonic() - start
        self.say(f"{file}: {len(used)} of {len(names)} tests are of use, {spent:.0f} s")
        return used


def _follow(session: Session, names: list[str], hand: Callable[[Any], None]) -> None:
    def late(*_: Any) -> None:
        raise TooSlow

    signal.signal(signal.SIGPROF, late)
    seen: set[CodeType] = set()
    for name, following in zip(names, [*names[1:], None], strict=True):
        seen.clear()
        hand(name)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, ONE_TEST)
        sys.settrace(lambda frame, event, arg: seen.add(frame.f_code))
        try:
            right = session.run(name, following)
        except TooSlow:
            right = False
        finally:
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        if right:
            own = str(PACKAGE) + os.sep
            calls = {
                (code.co_filename.removeprefix(own), code.co_qualname)
                for code in seen
                if code.co_filename.startswith(own)
            }
            hand([name, round(time.process_time() - start, 3), sorted(calls)])


def changed(path: Path, text: str, broken: str) -> set[tuple[str, str]]:
    """Return the innermost functions whose code differs, as a test's calls name them."""
    sides = [
        {(c.co_qualname, c.co_firstlineno): c for c in codes_of(compile(t, str(path), "exec"))}
        for t in (text, broken)
    ]
    names = {key[0] for key, code in sides[1].items() if code != sides[0].get(key)}
    inner = {n for n in names if not any(m.startswith(n + ".") for m in names)} - {"<module>"}
    return {(str(path.relative_to(PACKAGE)), name) for name in inner}


def chosen(tests: list[Followed], mutant: Mutant) -> list[str]:
    """Return the tests that call what a mutant breaks, the quickest first."""
    broken = changed(*found(mutant, PACKAGE))
    calling = [test for test in tests if test.calls & broken]
    calling.sort(key=lambda test: test.seconds)
    total, names = 0.0, []
    for test in calling:
        if total + test.seconds <= ALL_TESTS:
            total += test.seconds
            names.append(test.name)
    return names


def attempt(session: Session, mutant: Mutant, names: list[str]) -> tuple[str, int]:
    """Return the first test that notices a mutant ("" if none), and how many were run."""
    path, _, broken = found(mutant, PACKAGE)
    if not names:
        return "", 0

    def work(hand: Callable[[Any], None]) -> None:
        if not swap(path, broken):
            raise RuntimeError("nothing changed")
        for name, following in zip(names, [*names[1:], None], strict=True):
            hand(name)
            if not session.run(name, following):
                hand({"noticed": name})
                return
        hand({"noticed": ""})

    records, ended = in_fork(work, PATIENCE * ALL_TESTS)
    if ended:
        return f"{records[-1] if records else 'at once'}: {ended}", len(records)
    last = records[-1]
    if "error" in last:
        raise RuntimeError(f"{mutant.where}: {last['error']}")
    return last["noticed"], len(records) - 1
