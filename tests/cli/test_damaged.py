"""Files that are damaged, or cannot be written: one sentence that names the file, no traceback."""

import json
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from pertinent.cli import codes
from pertinent.cli.app import app
from pertinent.exceptions import InputError
from pertinent.scale.plan import Plan

X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["age", "income"])


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest")
    skops.io.dump(LogisticRegression().fit(X, X.age > 0), folder / "model.skops")
    X.head(5).to_csv(folder / "rows.csv", index=False)
    X.head(5).to_parquet(folder / "rows.parquet")
    X.head(5).to_feather(folder / "rows.arrow")
    given = [str(folder / "model.skops"), str(folder / "rows.csv")]
    done = CliRunner().invoke(app, ["explain", *given, "--json"])
    (folder / "stored.json").write_text(done.stdout, encoding="utf-8")
    return folder


def refused(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == codes.REFUSED, (done.output, done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    *noted, said = done.stderr.splitlines(keepends=True)
    assert said.startswith("Error: ")
    assert not any(line.startswith(("Error", "Traceback")) for line in noted)
    return said


def damaged(path):
    """Yield the same file with other bytes."""
    whole = path.read_bytes()
    half = len(whole) // 2
    yield from (
        b"",
        whole[:half],
        bytes(100),
        b"\xff\xfe" * 50,
        b'{"a": 1}',
        b"PAR1" + whole[4:half],
    )


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("model.skops", ("explain", "report", "check", "run")),
        ("rows.parquet", ("explain", "run")),
        ("rows.arrow", ("report",)),
        ("stored.json", ("check",)),
    ],
)
def test_a_damaged_file_is_named(honest, tmp_path, name, commands):
    bad = tmp_path / name
    for content in damaged(honest / name):
        bad.write_bytes(content)
        model = bad if name == "model.skops" else honest / "model.skops"
        rows = bad if name.startswith("rows") else honest / "rows.parquet"
        stored = bad if name == "stored.json" else honest / "stored.json"
        given = {
            "explain": (model, rows),
            "report": (model, rows, "-o", tmp_path / "report.html"),
            "check": (stored, model),
            "run": (model, rows, tmp_path / "out", "--train", honest / "rows.csv"),
        }
        for command in commands:
            assert name in refused(command, *given[command])


def test_a_stored_explanation_that_lacks_something_is_named(honest, tmp_path):
    document = json.loads((honest / "stored.json").read_text().splitlines()[0])
    document = document[0] if isinstance(document, list) else document
    del document["proof"]["question"]["sample"]
    lacking = tmp_path / "lacking.json"
    lacking.write_text(json.dumps(document))
    assert "lacking.json: " in refused("check", lacking, honest / "model.skops")


def test_a_table_that_is_read_but_holds_text_for_a_number_is_named(honest, tmp_path):
    lines = (honest / "rows.csv").read_text().splitlines()
    lines[2] = "~" + lines[2]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("\n".join(lines))
    assert "wrong.csv" in refused("explain", honest / "model.skops", wrong)
    whole = honest / "rows.csv"
    assert "wrong.csv" in refused("explain", honest / "model.skops", whole, "--train", wrong)


def test_a_table_of_nothing_is_named(honest, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.touch()
    assert "empty.csv" in refused("explain", honest / "model.skops", empty)
    (tmp_path / "text.csv").write_bytes(b"\x00\xff\xfe,\n")
    assert "text.csv" in refused("explain", honest / "model.skops", tmp_path / "text.csv")
    (tmp_path / "names.csv").write_text("a,b\n")
    assert "names.csv" in refused("explain", honest / "model.skops", tmp_path / "names.csv")
    (tmp_path / "null.csv").write_bytes(b"a,b\n1,\x00\n")
    assert "null.csv" in refused("explain", honest / "model.skops", tmp_path / "null.csv")
    (tmp_path / "none.json").write_text("[]")
    assert "none.json" in refused("check", tmp_path / "none.json", honest / "model.skops")
    train = ("--train", tmp_path / "absent.csv")
    given = (honest / "model.skops", honest / "rows.parquet", tmp_path / "out")
    assert "absent.csv" in refused("run", *given, *train)


def test_outputs_that_cannot_be_written_are_named(honest, tmp_path):
    given = (honest / "model.skops", honest / "rows.parquet")
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.touch()
    assert "folder" in refused("explain", *given, "-o", folder)
    assert "folder" in refused("report", *given, "-o", folder)
    assert "Cannot write" in refused("explain", *given, "-o", "/dev/full")
    assert "Cannot write" in refused("report", *given, "-o", "/dev/full")
    assert "file" in refused("run", *given, file, "--train", honest / "rows.csv")
    assert "file" in refused("demo", "-o", file)


def test_a_full_disk_ends_a_run_in_one_sentence(honest, tmp_path):
    """A limit on the size of files stands for a disk that is full."""
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, {resource.RLIM_INFINITY}));"
        "sys.argv[0] = 'pertinent'; from pertinent.cli import main; main()"
    )
    given = [honest / "model.skops", honest / "rows.parquet", tmp_path / "out"]
    command = [sys.executable, "-c", code, "run", *map(str, given), "--train",
               str(honest / "rows.csv")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == codes.REFUSED, done.stderr
    assert "Cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "pertinent", "models", "--json"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert "Traceback" not in done.stderr


def test_lines_and_lists_of_explanations_are_read(honest, tmp_path):
    lines = (honest / "stored.json").read_text(encoding="utf-8")
    documents = [json.loads(line) for line in lines.splitlines()]
    for text in (lines, json.dumps(documents), json.dumps(documents, indent=1)):
        (tmp_path / "stored.json").write_text(text, encoding="utf-8")
        given = ["check", str(tmp_path / "stored.json"), str(honest / "model.skops"), "--json"]
        done = CliRunner().invoke(app, given)
        assert done.exit_code == codes.DONE, done.output
        assert len(json.loads(done.stdout)["explanations"]) == 5


def test_a_damaged_parquet_file_is_named_from_python(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="bad.parquet"):
        Plan.of(tmp_path / "bad.parquet", 10)
