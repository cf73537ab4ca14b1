"""What strangers send is answered or refused: within 5 seconds and 1 GiB."""

import json
import subprocess
import sys

import pytest

import pertinent
from pertinent.exceptions import InputError
from tests.checking.strangers import ATTACKS

SECONDS, GIBIBYTES = 5.0, 1.0


PARTS = {"first": list(ATTACKS)[::2], "second": list(ATTACKS)[1::2]}


@pytest.mark.matrix(2)
@pytest.mark.parametrize("part", PARTS)
def test_every_attack_is_refused_or_answered_in_time_and_memory(part):
    command = [sys.executable, "-m", "tests.checking.strangers", "--in-turns", *PARTS[part]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {name for name, *_ in lines} == set(PARTS[part])
    for name, wrong, seconds, memory in lines:
        assert wrong is None, (name, wrong)
        assert seconds < 3 * SECONDS, name  # asked three times: text, mapping, from_json
        assert memory < GIBIBYTES, name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"a": [' + "[]," * 1_500_000 + "[]]}", "brackets"),
        ('{"a": [' + "1," * 5_000_000 + "1]}", "commas"),
        ('{"a": ' + "9" * 5_000 + "}", "as JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": -1e400}', "-1e400 is larger than any number"),
        ('{"a": 1E+0309}', "1E.0309 is larger than any number"),
        ('{"a": ' + "9" * 400 + ".5}", "9 is larger than any number"),
        ('{"format": ', "as JSON"),
        ("{" + " " * 100_000_001, "characters"),
        (b'{"a": \xff}', "as JSON"),
        ("x" * 100_000, "cannot be read"),
        ("\x00", "cannot be read"),
        ("", "cannot be read"),
    ],
    ids=range(14),
)
def test_texts_that_are_no_explanation_are_refused(iris, text, words):
    for read in (pertinent.Explanation.from_json, lambda text: pertinent.check(text, iris[0])):
        with pytest.raises(InputError, match=words) as refused:
            read(text)
        assert len(str(refused.value)) < 500


def test_files_that_are_no_explanation_are_refused_by_name(iris, tmp_path):
    model, _ = iris
    empty, folder = tmp_path / "empty.json", tmp_path / "folder.json"
    empty.touch()
    folder.mkdir()
    for path in (empty, folder, tmp_path / "absent.json"):
        with pytest.raises(InputError, match=path.name):
            pertinent.check(path, model)


def test_a_version_of_any_length_is_refused_in_one_sentence(stored):
    with pytest.raises(InputError, match="has version") as refused:
        pertinent.Explanation.from_json(json.dumps({**stored, "version": [[]] * 10_000}))
    assert len(str(refused.value)) < 200


def test_a_summary_that_no_view_can_show_is_refused(stored):
    for broken in ({"features": []}, {"positive": 1}, {"row": "x"}, {"negative": {}}):
        document = {**stored, "summary": {**stored["summary"], **broken}}
        with pytest.raises(InputError, match="malformed"):
            pertinent.Explanation.from_json(json.dumps(document))
