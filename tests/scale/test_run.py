"""Runs that survive being killed, and refuse to mix outputs."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from dataclasses import replace
from pathlib import Path

import joblib
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pertinent.api.explainer import Explainer
from pertinent.exceptions import InputError
from pertinent.models.files import load_model
from pertinent.scale import Job, explain_batches, run
from pertinent.scale.files import sha256, sole_use

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
skops = pytest.importorskip("skops.io")
command = pytest.importorskip("pertinent.cli.app")

ROWS, BATCH = 300, 10


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A model file, and a data set of two files with a broken row each."""
    folder = tmp_path_factory.mktemp("run")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    skops.dump(model, folder / "model.skops")
    pq.write_table(pa.Table.from_pandas(X), folder / "reference.parquet")
    (folder / "data").mkdir()
    for k in range(2):
        rows = X.sample(ROWS // 2, replace=True, random_state=k, ignore_index=True)
        rows.iloc[7, 3] = float("nan")
        table = pa.Table.from_pandas(rows.assign(key=rows.index + k * len(rows)))
        pq.write_table(table, folder / "data" / f"{k}.parquet", row_group_size=110)
    return folder


@pytest.fixture(scope="module")
def job(work):
    file = work / "model.skops"
    train = pq.read_table(work / "reference.parquet").to_pandas()
    return Job(Explainer(load_model(file), data=train), sha256(file), {}, keep=("key",))


@pytest.fixture(scope="module")
def undisturbed(work, job):
    process = started(work, work / "undisturbed")
    process.join()
    return content(work / "undisturbed")


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def started(work: Path, out: Path):
    """Return a process that runs the command; the server it is forked from has all imports."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pertinent.cli.app", "skops.io", "pyarrow.parquet"])
    files = {"model": work / "model.skops", "data": work / "data", "folder": out}
    settings = {"train": work / "reference.parquet", "keep": ["key"], "batch_rows": BATCH}
    process = context.Process(target=command.run, kwargs=files | settings)
    process.start()
    return process


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_random_moments_it_ends_the_same(work, undisturbed, times):
    """kill -9, again and again: at a random part, and a random moment within it."""
    out, rng, kills, amid = work / f"killed-{times}-times", random.Random(0), 0, 0
    parts = len(undisturbed) - 2
    while kills < times:
        process = started(work, out)
        wanted = min(_parts(out) + rng.randint(0, 2 * parts // times), parts - 1)
        while process.is_alive() and _parts(out) < wanted:
            time.sleep(0.001)
        time.sleep(rng.random() * 0.03)
        process.kill()
        process.join()
        for path in out.glob("part-*"):
            assert path.read_bytes() == undisturbed[path.name]
        if process.exitcode == 0:  # it came to its end before: once more from the start
            assert content(out) == undisturbed
            out = work / f"killed-{times}-times-{kills}"
        else:
            kills += 1
            amid += 0 < _parts(out) < parts
    assert amid >= times // 2
    process = started(work, out)
    process.join()
    assert content(out) == undisturbed


def _parts(out: Path) -> int:
    return len(list(out.glob("part-*")))


def test_nothing_is_lost_or_doubled(work, job, undisturbed):
    found = pq.read_table(work / "undisturbed")
    assert found["key"].to_pylist() == list(range(ROWS))
    data = pq.read_table(work / "data").combine_chunks().to_batches()
    assert found.equals(pa.Table.from_batches(explain_batches(job.explainer, data, keep=["key"])))


def test_failed_rows_are_in_the_output(work, undisturbed):
    found = pq.read_table(work / "undisturbed").to_pandas().set_index("key")
    assert found["positive_status"][7] == found["negative_status"][7] == "failed"
    assert "mean area" in found["negative_reason"][7]
    summary = json.loads(undisturbed["_summary.json"])
    assert summary["statuses"]["negative"] == {"failed": 2, "optimal": ROWS - 2}


def test_going_on_does_only_what_is_left(work, job, tmp_path):
    seen = []
    run(job, work / "data", tmp_path, batch_rows=40)
    before = content(tmp_path)
    (tmp_path / "part-000003.parquet").unlink()
    whole = tmp_path / "part-000004.parquet"
    pq.write_table(pq.read_table(whole).slice(1), whole)  # sound, and without its first row
    (tmp_path / "part-000005.parquet").write_bytes(b"damaged")
    (tmp_path / ".part-000005.parquet.1.unfinished").write_bytes(b"begun")
    again = run(job, work / "data", tmp_path, batch_rows=40, progress=lambda *c: seen.append(c))
    assert again.found_done == again.files - 3
    assert len(seen) == 4
    assert seen[-1] == (ROWS, ROWS)
    assert content(tmp_path) == before


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_jobs_write_the_same_bytes(work, job, tmp_path, backend):
    run(job, work / "data", tmp_path / "one", batch_rows=80)
    with joblib.parallel_config(backend=backend):
        run(job, work / "data", tmp_path / "two", batch_rows=80, n_jobs=2)
    assert content(tmp_path / "one") == content(tmp_path / "two")


@pytest.mark.parametrize(
    ("changes", "batch_rows", "named"),
    [
        ({"target": 1}, 150, "settings"),
        ({"settings": {"between": False}}, 150, "settings"),
        ({"model_hash": "another"}, 150, "model"),
        ({}, 100, "batch size"),
    ],
)
def test_outputs_of_different_settings_are_not_mixed(
    work, job, tmp_path, changes, batch_rows, named
):
    run(job, work / "data", tmp_path, batch_rows=150)
    before = content(tmp_path)
    with pytest.raises(InputError, match=f"another {named}.*Choose another folder"):
        run(replace(job, **changes), work / "data", tmp_path, batch_rows=batch_rows)
    assert content(tmp_path) == before


def test_other_data_is_not_mixed(work, job, tmp_path):
    run(job, work / "data" / "0.parquet", tmp_path, batch_rows=150)
    with pytest.raises(InputError, match="another data"):
        run(job, work / "data", tmp_path, batch_rows=150)


def test_a_folder_with_other_parquet_files_is_refused(work, job):
    with pytest.raises(InputError, match="holds 0.parquet and no manifest"):
        run(job, work / "data", work / "data")


def test_two_runs_at_once_are_refused(work, job, tmp_path):
    with sole_use(tmp_path), pytest.raises(InputError, match="Another run"):
        run(job, work / "data", tmp_path)


def test_what_is_missing_is_named_before_any_work(work, job, tmp_path):
    with pytest.raises(InputError, match="no .parquet files"):
        run(job, tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="batch_rows must be at least 1. Got 0"):
        run(job, work / "data", tmp_path / "out", batch_rows=0)
    short = pq.read_table(work / "data" / "0.parquet").drop_columns(["mean radius"])
    pq.write_table(short, tmp_path / "short.parquet")
    with pytest.raises(InputError, match="short.parquet: .*mean radius"):
        run(job, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_line(work, tmp_path):
    from typer.testing import CliRunner

    files = [str(work / "model.skops"), str(work / "data" / "0.parquet"), str(tmp_path / "out")]
    options = ["--freeze", "mean radius", "--keep", "key", "--target", "1"]
    done = CliRunner().invoke(command.app, ["run", *files, *options])
    assert done.exit_code == 4, done.output
    assert "150 rows in 2 files" in done.output
    found = pq.read_table(tmp_path / "out").to_pandas()
    assert (found["target"].dropna() == 1).all()
    assert not found["changed"].str.contains("mean radius").any()
    other = CliRunner().invoke(command.app, ["run", *files, *options[2:]])
    assert other.exit_code == 3
    assert "another settings" in other.output


@pytest.mark.parametrize("content", [b"{", b"", b"\xff\xfe", b"[1]"], ids=repr)
def test_a_damaged_manifest_is_named(work, job, tmp_path, content):
    (tmp_path / "_manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=r"_manifest.json is damaged"):
        run(job, work / "data", tmp_path, batch_rows=150)


def test_a_part_with_one_flipped_bit_is_written_again(work, job, tmp_path):
    run(job, work / "data", tmp_path, batch_rows=300)
    before = content(tmp_path)
    path = tmp_path / "part-000000.parquet"
    column = pq.read_metadata(path).row_group(0).column(20)
    flipped = bytearray(path.read_bytes())
    begin = column.dictionary_page_offset or column.data_page_offset
    flipped[begin + column.total_compressed_size - 1] ^= 1  # the last byte of its last page
    path.write_bytes(flipped)
    again = run(job, work / "data", tmp_path, batch_rows=300)
    assert again.found_done == again.files - 1
    assert content(tmp_path) == before
