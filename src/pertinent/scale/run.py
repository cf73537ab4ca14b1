"""A run over a Parquet data set that may be killed at any moment and started again.

Each batch of rows has an output file of its own, written whole or not at all. A manifest says
which model, settings and data the folder belongs to. A new start with the same goes on where
the last one was stopped; one with others is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

import pertinent
from pertinent.api.parallel import in_parallel
from pertinent.exceptions import InputError, reading, writing
from pertinent.scale.arrow import explain_batches, kept_columns
from pertinent.scale.files import remove_unfinished, sole_use, write_json, write_whole
from pertinent.scale.plan import Part, Plan, parquet
from pertinent.scale.schema import arrow, output_schema
from pertinent.tables.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from pertinent.api.explainer import Explainer

MANIFEST, SUMMARY = "_manifest.json", "_summary.json"
#: Rows in one output file.
BATCH_ROWS = 20_000


@dataclass(frozen=True)
class Job:
    """What a run explains, and with what.

    Parameters
    ----------
    explainer : Explainer
    model_hash : str
        Names the model's content; for a file its SHA-256.
    settings : mapping
        Everything that was chosen for the explainer, as JSON knows it; part of the manifest.
    target : label, optional
    keep : sequence of str
        Columns to hand through, such as a key.
    """

    explainer: Explainer
    model_hash: str
    settings: Mapping[str, Any]
    target: Any = None
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finished:
    """What a run left behind: rows, output files, how many were done before, counts by status."""

    rows: int
    files: int
    found_done: int
    statuses: dict[str, dict[str, int]]


def run(
    job: Job,
    data: str | Path,
    out: str | Path,
    *,
    batch_rows: int = BATCH_ROWS,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Finished:
    """Explain a Parquet data set into a folder of Parquet files, going on where it stopped.

    Parameters
    ----------
    job : Job
    data : path
        A Parquet file, or a folder of them.
    out : path
        A folder; made if it is not there.
    batch_rows : int
        Rows in one output file.
    n_jobs : int, optional
        Batches in parallel, through joblib.
    progress : callable, optional
        Called with the number of rows done and of all rows.

    Notes
    -----
    The output is the same, byte for byte, however often the run was interrupted. Besides the
    parts, which hold the columns of `output_schema`, the folder holds a manifest and, once all is
    done, a summary; their names begin with ``_``, which Arrow and Spark ignore.
    """
    if batch_rows < 1:
        raise InputError(f"batch_rows must be at least 1. Got {batch_rows!r} instead.")
    plan, folder = Plan.of(Path(data), batch_rows), Path(out)
    columns = _columns(job, plan)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with sole_use(folder), writing(folder):
        remove_unfinished(folder)
        _claim(folder, _manifest(job, plan))
        todo = [part for part in plan.parts if not _is_done(folder / part.name, part.rows)]
        done = plan.rows - sum(part.rows for part in todo)
        tell = progress or (lambda done, rows: None)
        tell(done, plan.rows)
        for part in _work(job, plan.read({part.name for part in todo}, columns), folder, n_jobs):
            done += part.rows
            tell(done, plan.rows)
        statuses = _statuses(folder, plan)
        write_json(folder / SUMMARY, {"rows": plan.rows, "statuses": statuses})
    return Finished(plan.rows, len(plan.parts), len(plan.parts) - len(todo), statuses)


def _columns(job: Job, plan: Plan) -> list[str] | None:
    """Return the columns to read; what every row would fail on is raised here, before any work."""
    names = job.explainer.setting.features.names
    for source in plan.sources:
        with reading(source.path):
            schema = parquet().read_schema(source.path)
        kept_columns(schema, job.keep)
        try:
            list(explain_batches(job.explainer, [_no_rows(schema)], job.target, job.keep))
        except InputError as error:
            raise InputError(f"{source.name}: {error}") from error
    by_name = all(set(names) <= set(parquet().read_schema(s.path).names) for s in plan.sources)
    return list(dict.fromkeys([*job.keep, *names])) if by_name else None


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    pa = arrow()
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _work(
    job: Job, batches: Iterator[tuple[Part, pa.RecordBatch]], folder: Path, n_jobs: int | None
) -> Iterator[Part]:
    """Yield each part once its file is written."""
    if effective_n_jobs(n_jobs) == 1:
        for part, batch in batches:
            yield _write_part(job, part, batch, folder)
    else:
        yield from in_parallel(_write_part, ((job, *one, folder) for one in batches), n_jobs)


def _write_part(job: Job, part: Part, batch: pa.RecordBatch, folder: Path) -> Part:
    (answers,) = explain_batches(job.explainer, [batch], job.target, job.keep)
    table = arrow().Table.from_batches([answers])
    write_whole(
        folder / part.name,
        lambda file: parquet().write_table(
            table, file, compression="zstd", write_page_checksum=True
        ),
    )
    return part


def _is_done(path: Path, rows: int) -> bool:
    """Return whether a part is there and whole; a damaged one is written again.

    Every page of values is read and compared with its checksum; names of columns have none.
    """
    if not path.exists():
        return False
    try:
        with parquet().ParquetFile(path, page_checksum_verification=True) as file:
            return sum(len(batch) for batch in file.iter_batches()) == rows
    except (arrow().ArrowException, OSError, ValueError):  # a damaged name is no UTF-8
        return False


def _manifest(job: Job, plan: Plan) -> dict[str, Any]:
    settings = {**job.settings, "target": _plain(job.target), "keep": list(job.keep)}
    files = {
        source.name: {"rows": sum(source.groups), "fingerprint": source.fingerprint}
        for source in plan.sources
    }
    schema = output_schema(job.explainer)
    return {
        "format": 1,
        "model": job.model_hash,
        "settings": settings,
        "settings_hash": digest(settings),
        "batch_rows": plan.batch_rows,
        "data": files,
        "columns": {field.name: str(field.type) for field in schema},
        "versions": {
            "pertinent": pertinent.__version__,
            **{name: version(name) for name in ("numpy", "scikit-learn", "pyarrow")},
        },
    }


def digest(content: Any) -> str:
    """Return a hash of anything JSON can hold."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _claim(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest, or check that the one that is there says the same."""
    path = folder / MANIFEST
    if not path.exists():
        strangers = sorted(p.name for p in folder.glob("*.parquet"))
        if strangers:
            raise InputError(
                f"{folder} holds {strangers[0]} and no manifest: choose an empty folder."
            )
        write_json(path, manifest)
        return
    known = _known_manifest(path)
    other = [key for key in manifest if json.loads(json.dumps(manifest[key])) != known.get(key)]
    if other:
        raise InputError(
            f"{folder} holds the output of a run with another {_listed(other)}, and outputs of "
            f"different runs are not mixed. Choose another folder, or delete this one."
        )


def _known_manifest(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # no text, or no JSON
        known = None
    if not isinstance(known, dict):
        raise InputError(
            f"{path} is damaged, so that nothing tells which run {path.parent} belongs to. Choose "
            "another folder, or delete this one."
        )
    return known


def _listed(keys: Sequence[str]) -> str:
    words = {"settings_hash": None, "batch_rows": "batch size", "versions": "set of versions"}
    return " and ".join(w for w in (words.get(key, key) for key in keys) if w)


def _statuses(folder: Path, plan: Plan) -> dict[str, dict[str, int]]:
    """Return how many rows have which status, read from the files."""
    names = ("positive_status", "negative_status")
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for part in plan.parts:
        table = parquet().read_table(folder / part.name, columns=list(names))
        for name in names:
            found = table[name].value_counts().to_pylist()
            counts[name].update({pair["values"]: pair["counts"] for pair in found})
    return {name.removesuffix("_status"): dict(sorted(c.items())) for name, c in counts.items()}
