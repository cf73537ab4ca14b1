"""A bug in what a search prunes or chooses with may cost an answer, never make a false claim.

Every function and method of solvers, answering and questions is broken, one at a time and in
several ways: its result too large or too small, always or never true, wrong in its last row, one
item short, in the wrong order; or it is not called at all. Those few that no problem breaks are
listed with the reason (`planted_reach`); a new function must be reached or listed. Whatever comes
out then, the trusted base confirms no false claim; and no answer is handed out with a false status
or bound, since `pertinent.setting` decides both. The status of `pertinent.solvers.project` is what
the solver believes, and promises nothing; nothing public is in these folders.

Which bugs are planted, and in which problems, follows from what the problems call and from the
order in which they are listed: it is the same on every machine. ``PLANT_ALL=1`` plants every bug in
every problem that it changes, which takes long; by default each function gets one of its bugs (the
kinds take turns), and of all other bugs some are planted, in the cheapest projection or in the
cheapest question. A function may also overwrite an array that it is given; of these bugs every
sixteenth is planted.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
from collections import Counter
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import pertinent.answering
import pertinent.questions
import pertinent.solvers
from tests.proofs import planted_questions, planted_truth
from tests.proofs.planted_bent import bent_projections, bent_questions
from tests.proofs.planted_order import order_questions
from tests.proofs.planted_problems import projections
from tests.proofs.planted_questions import questions
from tests.proofs.planted_ranges import grid_questions, range_questions
from tests.proofs.planted_reach import OUT_OF_REACH
from tests.proofs.planted_trees import tree_projections
from tests.proofs.planting import (
    IN_PLACE,
    LEFT_OUT,
    RARER,
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
KINDS = SPOILERS | RARER if ALL else SPOILERS
#: Of the bugs beside the first of each function, every so manyeth may be planted; of these and the
#: first ones every so manyeth is, and of those that overwrite arguments.
STRIDE, PLANTED_STRIDE, IN_PLACE_STRIDE = (1, 1, 1) if ALL else (100, 2, 16)
FOLDERS = ("solvers", "answering", "questions")
#: Results of a function that are looked at to see what would change them.
LOOKED_AT = 4


@cache
def problems():
    """Return all problems by name, of each kind the cheapest first."""
    asked = questions() | bent_questions() | range_questions() | grid_questions()
    asked |= order_questions()
    return projections() | tree_projections() | bent_projections() | asked


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
        path = codes.get(frame.f_code)
        if path is None or looked[path] >= LOOKED_AT or event == "call":
            return path is not None
        looked[path] += 1
        if frame.f_code.co_flags & inspect.CO_GENERATOR:
            found.add((path, "last one lost"))
            return True
        for kind, spoil in KINDS.items():
            if (path, kind) not in found and not is_same(result, spoilt(result, spoil)):
                found.add((path, kind))
        if result is None or path not in {p for p, _ in found}:
            found.add((path, LEFT_OUT))
        return True

    forget()
    _, calls = calls_of(problem.ask, watch=note)
    return found, calls


def chosen_bugs(traced):
    """Return bugs that may be planted: of each function at least one, the kinds in turns."""
    bugs = sorted(set.union(*(found for found, _ in traced.values())))
    by_function = [list(own) for _, own in groupby(bugs, key=lambda bug: bug[0])]
    first = [own[i % len(own)] for i, own in enumerate(by_function)]
    others = [bug for bug in bugs if bug not in set(first)]
    return sorted([*first, *others[::STRIDE]])


def planted(traced):
    """Yield each bug with the problem to plant it in.

    That is the projection or the question of the fewest calls; bugs that change both take turns.
    """
    for i, bug in enumerate(chosen_bugs(traced)[::PLANTED_STRIDE]):
        names = [name for name, (found, _) in traced.items() if bug in found]
        if ALL:
            yield from ((bug, name) for name in names)
            continue
        kinds = [[n for n in names if problems()[n].handed_out is out] for out in (False, True)]
        cheapest = [min(own, key=lambda name: traced[name][1]) for own in kinds if own]
        yield bug, cheapest[i % len(cheapest)]


def ask_with_bug(problem, f, kind, calls):
    """Return the claims under a planted bug in a function; None: it is noticed."""

    def wrong(original, *args, **kwargs):
        if kind == LEFT_OUT:
            return None
        return spoilt(original(*args, **kwargs), KINDS[kind])

    found = asked_under(problem, f, wrong, calls)
    try:
        return None if found is None else problem.claims(found)
    except np.linalg.LinAlgError:
        return None  # numbers without end in a proof: it cannot even be looked at


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
            if problem.by_word and problem.handed_out:
                assert claim.status == "feasible", name
            elif not problem.by_word and not problem.stopped:
                assert claim.status == ("optimal" if value < float("inf") else "infeasible"), name
                assert claim.confirmed, name
            assert not claim.is_false(value), (name, claim, value)


def test_the_problems_have_an_order_and_conflicts_to_get_wrong():
    listed = problems()["next best"].ask().alternatives
    assert any(one.proved for some in listed for one in some)
    for name in ("conflict", "conflict, directions"):
        reasons = problems()[name].ask().reasons
        assert any(reason.without is not None for reason in reasons), name


def test_the_problems_list_alternatives():
    for name in ("other changes", "other kept values"):
        assert any(problems()[name].ask().alternatives), name


@pytest.mark.filterwarnings("ignore")
def test_the_same_bugs_are_found_again(functions, traced):
    for name in ("half-space", "strict"):
        assert trace(problems()[name], functions)[0] == traced[name][0], name


@pytest.mark.filterwarnings("ignore")
def test_every_function_is_broken_or_listed_with_a_reason(functions, traced):
    broken = {path for path, _ in chosen_bugs(traced)}
    left = sorted(set(functions) - broken - set(OUT_OF_REACH))
    assert not left, "add a problem, or the reason to planted_reach:\n" + "\n".join(left)
    assert not set(OUT_OF_REACH) - set(functions), "these are gone"
    assert not set(OUT_OF_REACH) & broken, "a problem reaches these"
    assert all(len(why) > 20 for why in OUT_OF_REACH.values())


@pytest.mark.filterwarnings("ignore")
def test_nothing_public_is_in_these_folders():
    listed = re.findall(r"^   ([\w.]+)$", Path("docs/api.rst").read_text(), re.MULTILINE)
    public = {*pertinent.__all__, *listed}
    assert len(public) > 20
    for name in sorted(public):
        found = pkgutil.resolve_name(f"pertinent.{name}")
        home = (found.__name__ if inspect.ismodule(found) else found.__module__).split(".")[1]
        assert home not in FOLDERS, name


@pytest.mark.filterwarnings("ignore")
def test_planted_bugs_make_no_false_claim(functions, traced):
    tried, lies, believed, handled = Counter(), [], [], np.geterr()
    for (path, kind), name in planted(traced):
        problem, (_, calls) = problems()[name], traced[name]
        claims = ask_with_bug(problem, functions[path], kind, calls)
        if claims is None:
            continue  # noticed: only bugs that still got an answer count as tried
        tried[path.split(".")[1]] += 1
        for claim, value in zip(claims, problem.truth(), strict=False):
            if claim.is_confirmed_though_false(value):
                believed.append((path, kind, name, claim, value))
            elif problem.handed_out and claim.is_false(value):
                lies.append((path, kind, name, claim, value))
    assert np.geterr() == handled, "a bug must not be left behind for other tests"
    assert not believed, "\n".join(map(str, believed))
    assert not lies, "\n".join(map(str, lies))
    assert all(tried[folder] for folder in FOLDERS)
    assert sum(tried.values()) >= 300


def written_to(problem, functions):
    """Return which functions of a question are given an array that they could write to."""
    codes = {f.__code__: path for path, f in functions.items()}
    found, looked = set(), Counter()

    def note(frame, *_):
        path = codes.get(frame.f_code)
        if path is None or looked[path] >= LOOKED_AT:
            return False
        looked[path] += 1
        code = frame.f_code
        given = [frame.f_locals[n] for n in code.co_varnames[: code.co_argcount]]
        for kind in IN_PLACE:
            if argument_array(kind, given) is not None:
                found.add((path, kind))
        return False

    forget()
    _, calls = calls_of(problem.ask, watch=note)
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
        names.sort(key=lambda name: traces[name][1])
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
