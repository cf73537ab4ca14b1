"""A bug in what a search prunes or chooses with may cost an answer, never make a false claim.

Every function of solvers, answering and questions that the problems call is broken, one at a time
and in several ways: its result too large or too small, always or never true, wrong in its last row,
one item short. Whatever comes out then, the trusted base confirms no false claim; and no answer is
handed out with a false status or bound, since `pertinent.setting` decides both.

``PLANT_ALL=1`` plants all of about 1500 bugs, which takes minutes; by default it is some of each.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

import pytest

import pertinent.answering
import pertinent.questions
import pertinent.solvers
from tests.proofs.planted_problems import problems
from tests.proofs.planting import SPOILERS, at_most, functions_of, is_same, replaced, spoilt

#: Results of a function that are looked at to see what would change them; every so manyeth bug is
#: planted.
LOOKED_AT = 4
STRIDE = 1 if os.environ.get("PLANT_ALL") else 6


@pytest.fixture(scope="module")
def functions():
    """Return all functions that are not trusted."""
    return functions_of(pertinent.solvers, pertinent.answering, pertinent.questions)


@pytest.fixture(scope="module")
def bugs(functions):
    """Return each bug (function, what is wrong) with problems it changes.

    The fastest projection, and the fastest question whose answer is handed out.
    """
    found = {}
    for name, problem in problems().items():
        begun = time.perf_counter()
        changed = spoilable(problem, functions)
        took = time.perf_counter() - begun
        for bug in changed:
            found.setdefault(bug, []).append((took, name))
    return {bug: list(fastest(of)) for bug, of in sorted(found.items())}


def fastest(of):
    """Yield the fastest projection and the fastest question of those (seconds, name)."""
    for handed_out in (False, True):
        yield from sorted(one for one in of if problems()[one[1]].handed_out is handed_out)[:1]


def spoilable(problem, functions):
    """Return the functions that a problem calls, with what would change any of their results."""
    codes = {f.__code__: path for path, f in functions.items()}
    found, looked = set(), Counter()

    def note(frame, event, result):
        path = codes.get(frame.f_code) if event == "return" else None
        if path is None or looked[path] >= LOOKED_AT:
            return
        looked[path] += 1
        sys.setprofile(None)
        for kind, spoil in SPOILERS.items():
            if (path, kind) not in found and not is_same(result, spoilt(result, spoil)):
                found.add((path, kind))
        sys.setprofile(note)

    sys.setprofile(note)
    try:
        problem.ask()
    finally:
        sys.setprofile(None)
    return found


def ask_with_bug(problem, f, spoil, seconds):
    """Return the claims under a planted bug.

    None where the bug is noticed: an exception, or no answer in time, is no false claim.
    """

    def wrong(original, *args, **kwargs):
        return spoilt(original(*args, **kwargs), spoil)

    try:
        with at_most(seconds), replaced(f, wrong):
            found = problem.ask()
    except Exception:
        return None
    return problem.claims(found)


def test_the_problems_are_solved_right():
    for name, problem in problems().items():
        claims, truth = problem.claims(problem.ask()), problem.truth()
        assert len(claims) == len(truth), name
        for claim, value in zip(claims, truth, strict=True):
            assert claim.status == ("optimal" if value < float("inf") else "infeasible"), name
            assert claim.confirmed, name
            assert not claim.is_false(value), (name, claim, value)


@pytest.mark.filterwarnings("ignore")
def test_planted_bugs_make_no_false_claim(functions, bugs):
    tried, lies, believed = Counter(), [], []
    for (path, kind), of in list(bugs.items())[::STRIDE]:
        for took, name in of:
            problem = problems()[name]
            claims = ask_with_bug(problem, functions[path], SPOILERS[kind], 0.5 + 5 * took)
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
    assert min(tried[folder] for folder in ("solvers", "answering", "questions")) >= 5
    assert sum(tried.values()) >= 150
