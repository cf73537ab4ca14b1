"""Every mutant still finds its line; a few of them are tried, and noticed."""

import ast
import gc
import json
from functools import cache

import pytest

from mutants import checks, run, warm
from mutants.__main__ import summary
from mutants.apply import Lost, found
from mutants.capabilities import EQUIVALENT, FOLLOWS, NOTICED, TABLES, WIDE, suite_for
from mutants.catalogue import MUTANTS, Mutant
from mutants.equivalent import CHECKS

pytestmark = pytest.mark.matrix(2)

CHECKING, PROOFS = "tests/checking/test_single_checks.py", "tests/proofs/test_single_checks.py"
#: Mutants that survived once, each with a test that notices it within seconds.
TRIED = {
    "negative multipliers are accepted": PROOFS,
    "a prediction always holds": CHECKING,
    "rules are not looked at": CHECKING,
    "the gap of an optimal answer is 1e-2": CHECKING,
}


def test_there_are_enough_of_every_kind():
    assert len(MUTANTS) >= 120
    assert len({mutant[:3] for mutant in MUTANTS}) == len(MUTANTS)
    folders = {mutant.where.split("/")[0] for mutant in MUTANTS}
    assert folders >= {"models", "solvers", "proofs", "checking", "rules", "setting", "scale"}


@cache
def dumped(text):
    return ast.dump(ast.parse(text))


def test_most_mutants_find_their_line():
    """The code moves on: `make mutants` names the lost ones, to be written anew."""
    here = 0
    for i, mutant in enumerate(MUTANTS):
        try:
            _, text, broken = found(mutant, run.PACKAGE)
        except Lost:
            continue
        if i % 5 == 0:  # reading code takes long
            assert ast.dump(ast.parse(broken)) != dumped(text), mutant
        here += 1
    assert here >= max(120, 0.8 * len(MUTANTS))


def test_every_mutant_has_tests_that_exist():
    named = {test for tests in FOLLOWS.values() for test in tests} | set(WIDE)
    named |= {test.split("::")[0] for test in NOTICED.values()}
    assert [test for test in named if not (run.ROOT / test).exists()] == []
    assert set(NOTICED) <= {mutant.breaks for mutant in MUTANTS}
    assert all(suite_for(mutant) for mutant in MUTANTS)
    single = checks.read(run.PACKAGE)
    known = {mutant[:3] for mutant in (*MUTANTS, *single)}
    assert [key for key in EQUIVALENT if key not in known] == []
    named = {(mutant.where, mutant.breaks.removeprefix("not checked: ")) for mutant in single}
    assert [check for check in CHECKS if check not in named] == []
    tables = {test for tests in TABLES.values() for test in tests}
    assert [test for test in tables if not (run.ROOT / test).exists()] == []


def test_a_line_that_is_gone_is_reported(tmp_path):
    (tmp_path / "one.py").write_text(
        "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x + 1\n"
    )
    gone = Mutant("one.py:f", "x + 2", "x", "")
    with pytest.raises(Lost, match="stands 0 times"):
        found(gone, tmp_path)
    _, _, broken = found(Mutant("one.py:g", "x + 1", "x", ""), tmp_path)
    assert broken == "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
    moved = Mutant("gone/other.py:g", "x + 1", "x", "")
    assert found(moved, tmp_path)[2] == broken


def test_what_was_not_tried_here_stays_on_the_page(monkeypatch):
    """Results are not kept with the sources: the page is."""
    one, other = Mutant("a.py:f", "x", "y", "one"), Mutant("a.py:f", "x", "z", "other")
    record = {"outcome": "killed", "date": "2026-01-02"}
    monkeypatch.setattr("mutants.__main__.known", lambda: {one[:3]: record})
    monkeypatch.setattr("mutants.__main__.sections", lambda: {"First": [one], "Second": [other]})
    text = summary("\n**First.** old.\n\n**Second.** 5 of 6 killed.\n\n- survived: a\n")
    assert text.startswith("**First.** 1 of 1 mutants killed")
    assert text.endswith("**Second.** 5 of 6 killed.\n\n- survived: a\n")


def test_every_single_check_is_a_mutant(tmp_path):
    """Refusals and conjunctions become mutants; what only tells kinds apart does not."""
    here = checks.read(run.PACKAGE)
    assert len(here) >= 250
    for mutant in here[::8]:
        _, text, broken = found(mutant, run.PACKAGE)
        assert ast.dump(ast.parse(broken)) != dumped(text), mutant
    (tmp_path / "proofs").mkdir()
    (tmp_path / "proofs" / "one.py").write_text(
        "def f(x, y):\n    if x < 0:\n        return False\n"
        "    return x is not None and y > 1 and y < 9\n"
    )
    made = {(m.old, m.new) for m in checks.read(tmp_path)}
    assert made == {("x < 0", "False"), ("y > 1", "True"), ("y < 9", "True")}


def test_code_is_swapped_in_living_functions(tmp_path):
    """Those of the broken file alone, closures that are made later included."""
    path = tmp_path / "one.py"
    path.write_text("def f(x):\n    return x + 1\n\n\ndef g(x):\n    return lambda: x\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    broken = path.read_text().replace("x + 1", "x + 2").replace("lambda: x", "lambda: -x")
    gc.freeze()
    assert warm.swap(path, broken, warm.living(tmp_path)[str(path)]) == 2
    gc.freeze()
    assert (names["f"](1), names["g"](1)()) == (3, -1)


def test_a_mutant_that_changes_nothing_is_lost_and_did_not_survive(tmp_path):
    session = warm.Session(then=lambda session: None)
    with pytest.raises(warm.Untried, match="nothing changed"):
        warm.attempt(session, tmp_path / "one.py", "def f():\n    pass\n", ["a_test"], 60.0)


def test_what_ends_the_process_notices_and_is_run_again_by_its_name(tmp_path):
    """A mutant that ends the process is noticed, too; the next one of its file is tried as well."""
    path = tmp_path / "one.py"
    path.write_text("def f():\n    return 1\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    broken = "def f():\n    import os\n    os.kill(os.getpid(), 9)\n"
    session = warm.Session(then=lambda session: None, functions=warm.living(tmp_path))
    session.run = lambda name, following: names["f"]() == 1
    found = warm.attempt(session, path, broken, ["a_test"], 60.0)
    assert found == ("a_test: ended by signal 9", 1)
    tests = warm.Tests(session, 60.0, sound={"a_test": True})
    tests.remember(path, "b_test")
    tests.remember(path, "a_test")
    assert tests.noticed[path] == ["a_test", "b_test"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return run.scratch(tmp_path_factory.mktemp("mutants"))


@pytest.mark.matrix(2)
@pytest.mark.parametrize("breaks", TRIED)
def test_some_mutants_are_noticed(breaks, copy):
    mutant = next(mutant for mutant in MUTANTS if mutant.breaks == breaks)
    record = run.try_mutant(mutant, copy, (TRIED[breaks],))
    if record["outcome"] == run.LOST:
        pytest.skip(f"write it anew in mutants/catalogue.txt: {record['by']}")
    assert record["outcome"] == run.KILLED, json.dumps(record, indent=1)


def test_an_unbroken_copy_passes(copy):
    """What counts as noticed is a failing test, not a copy that cannot be imported."""
    assert run.run_tests(copy, (PROOFS,))[0] == run.SURVIVED
