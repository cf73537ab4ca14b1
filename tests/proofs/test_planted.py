"""A bug in what a search prunes or chooses with may cost an answer, never make a false claim.

Every function of solvers, answering and questions that the problems call is broken, one at a time
and in several ways: its result too large or too small, always or never true, wrong in its last row,
one item short. Whatever comes out then, the trusted base confirms no false claim; and no answer is
handed out with a false status or bound, since `pertinent.setting` decides both. The status of
`pertinent.solvers.project` is what the solver believes, and promises nothing; nothing public is in
these folders.

Which bugs are planted, and in which problems, follows from what the problems call and from the
order in which they are listed: it is the same on every machine. ``PLANT_ALL=1`` plants every bug in
every problem that it changes, which takes minutes; by default every second bug is planted, in the
cheapest projection and in the cheapest question. A function may also overwrite an array that it is
given; of these bugs every eighth is planted.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import pertinent.answering
import pertinent.questions
import pertinent.solvers
from tests.proofs import planted_questions, planted_truth
from tests.proofs.planted_problems import projections
from tests.proofs.planted_questions import questions
from tests.proofs.planting import (
    IN_PLACE,
    SPOILERS,
    Late,
    argument_array,
    calls_of,
    forget,
    functions_of,
    is_same,
    replaced,
    restored,
    spoilt,
)

ALL = bool(os.environ.get("PLANT_ALL"))
#: Every so manyeth bug is planted.
STRIDE, IN_PLACE_STRIDE = (1, 1) if ALL else (2, 8)
FOLDERS = ("solvers", "answering", "questions")
#: Results of a function that are looked at to see what would change them.
LOOKED_AT = 4


@cache
def problems():
    """Return all problems by name, of each kind the cheapest first."""
    return projections() | questions()


@pytest.fixture(scope="module")
def functions():
    """Return all functions that are not trusted."""
    return functions_of(pertinent.solvers, pertinent.answering, pertinent.questions)


@pytest.fixture(scope="module")
def traced(functions):
    """Return for each problem the bugs (function, what is wrong) that change it, and its calls."""
    return {name: trace(problem, functions) for name, problem in problems().items()}


def trace(problem, functions):
    """Return what would change a result of any function that a problem calls, and its calls."""
    codes = {f.__code__: path for path, f in functions.items()}
    found, looked = set(), Counter()

    def note(frame, event, result):
        path = codes.get(frame.f_code) if event == "return" else None
        if path is None or looked[path] >= LOOKED_AT:
            return
        looked[path] += 1
        if frame.f_code.co_flags & inspect.CO_GENERATOR:
            found.add((path, "last one lost"))
        for kind, spoil in SPOILERS.items():
            if (path, kind) not in found and not is_same(result, spoilt(result, spoil)):
                found.add((path, kind))

    forget()
    sys.setprofile(note)
    try:
        _, calls = calls_of(problem.ask)
    finally:
        sys.setprofile(None)
    return found, calls


def planted(traced):
    """Yield each bug with the problem to plant it in."""
    bugs = sorted(set.union(*(found for found, _ in traced.values())))
    for bug in bugs[::STRIDE]:
        names = [name for name, (found, _) in traced.items() if bug in found]
        for handed_out in (False, True):
            of_kind = [n for n in names if problems()[n].handed_out is handed_out]
            yield from ((bug, name) for name in of_kind[: None if ALL else 1])


def ask_with_bug(problem, f, spoil, calls):
    """Return the claims under a planted bug in the result of a function; None: it is noticed."""

    def wrong(original, *args, **kwargs):
        return spoilt(original(*args, **kwargs), spoil)

    found = asked_under(problem, f, wrong, calls)
    return None if found is None else problem.claims(found)


def asked_under(problem, f, wrong, calls):
    """Return the answers where ``wrong`` stands in for a function.

    None where the bug is noticed: an exception, or no answer in time, is no false claim.
    """
    forget()
    try:
        with replaced(f, wrong):
            return calls_of(problem.ask, 10_000 + 3 * calls)[0]
    except (Exception, Late):
        return None


def test_the_problems_are_solved_right():
    for name, problem in problems().items():
        claims, truth = problem.claims(problem.ask()), problem.truth()
        assert len(claims) == len(truth), name
        for claim, value in zip(claims, truth, strict=True):
            if problem.by_word:
                assert claim.status == "feasible", name
            else:
                assert claim.status == ("optimal" if value < float("inf") else "infeasible"), name
                assert claim.confirmed, name
            assert not claim.is_false(value), (name, claim, value)


def test_the_problems_list_alternatives():
    for name in ("other changes", "other kept values"):
        assert any(problems()[name].ask().alternatives), name


@pytest.mark.filterwarnings("ignore")
def test_the_same_bugs_are_found_again(functions, traced):
    for name in ("half-space", "categories", "strict", "few changes"):
        assert trace(problems()[name], functions) == traced[name], name


@pytest.mark.filterwarnings("ignore")
def test_nothing_public_is_in_these_folders():
    listed = re.findall(r"^   ([\w.]+)$", Path("docs/api.rst").read_text(), re.MULTILINE)
    public = {*pertinent.__all__, *listed}
    assert len(public) > 20
    for name in sorted(public):
        home = pkgutil.resolve_name(f"pertinent.{name}").__module__.split(".")[1]
        assert home not in FOLDERS, name


@pytest.mark.filterwarnings("ignore")
def test_planted_bugs_make_no_false_claim(functions, traced):
    tried, lies, believed = Counter(), [], []
    for (path, kind), name in planted(traced):
        problem, (_, calls) = problems()[name], traced[name]
        claims = ask_with_bug(problem, functions[path], SPOILERS[kind], calls)
        if claims is None:
            continue  # noticed: only bugs that still got an answer count as tried
        tried[path.split(".")[1]] += 1
        for claim, value in zip(claims, problem.truth(), strict=False):
            if claim.is_confirmed_though_false(value):
                believed.append((path, kind, name, claim, value))
            elif problem.handed_out and claim.is_false(value):
                lies.append((path, kind, name, claim, value))
    assert not believed, "\n".join(map(str, believed))
    assert not lies, "\n".join(map(str, lies))
    assert all(tried[folder] for folder in FOLDERS)
    assert sum(tried.values()) >= 500


def written_to(problem, functions):
    """Return which functions of a question are given an array that they could write to."""
    codes = {f.__code__: path for path, f in functions.items()}
    found, looked = set(), Counter()

    def note(frame, event, _):
        path = codes.get(frame.f_code) if event == "call" else None
        if path is None or looked[path] >= LOOKED_AT:
            return
        looked[path] += 1
        code = frame.f_code
        given = [frame.f_locals[n] for n in code.co_varnames[: code.co_argcount]]
        for kind in IN_PLACE:
            if argument_array(kind, given) is not None:
                found.add((path, kind))

    forget()
    sys.setprofile(note)
    try:
        _, calls = calls_of(problem.ask)
    finally:
        sys.setprofile(None)
    return found, calls


@pytest.mark.filterwarnings("ignore")
def test_arguments_overwritten_in_place_make_no_false_claim(functions):
    """A function halves an array that it was given; where that is read-only, it is noticed."""
    asked = {name: one for name, one in problems().items() if one.handed_out}
    models = [getattr(planted_truth, name)() for name in ("logistic", "stern", "softmax", "bayes")]
    given = (planted_truth.X, planted_truth.DATA, *planted_questions.BLENDS.values(), *models)
    traces = {name: written_to(problem, functions) for name, problem in asked.items()}
    tried, lies = Counter(), []
    bugs = sorted(set.union(*(found for found, _ in traces.values())))
    for path, kind in bugs[::IN_PLACE_STRIDE]:
        names = [name for name, (found, _) in traces.items() if (path, kind) in found]
        for name in names[: None if ALL else 1]:

            def wrong(original, *args, kind=kind, **kwargs):
                array = argument_array(kind, (*args, *kwargs.values()))
                if array is not None:
                    array *= 0.5
                return original(*args, **kwargs)

            problem = asked[name]
            with restored(*given):
                found = asked_under(problem, functions[path], wrong, traces[name][1])
            tried["noticed" if found is None else path.split(".")[1]] += 1
            if found is None:
                continue
            for claim, value in zip(problem.claims(found), problem.truth(), strict=False):
                if claim.is_confirmed_though_false(value) or claim.is_false(value):
                    lies.append((path, kind, name, claim, value))
    assert not lies, "\n".join(map(str, lies))
    assert tried["solvers"] >= 20, tried
    assert tried["noticed"] >= 20, tried
