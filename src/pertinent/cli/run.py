"""``pertinent run``: a model file and a Parquet data set in, a folder of explanations out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pertinent import cli
from pertinent.cli.app import _said, app, err, out
from pertinent.cli.files import parse_label
from pertinent.cli.given import Given, ModelFile, with_given
from pertinent.scale.files import sha256
from pertinent.scale.run import BATCH_ROWS, Finished, Job
from pertinent.scale.run import run as run_job


@app.command(epilog="Example: [bold]pertinent run model.skops data/ out/ --train train.parquet[/]")
@with_given
def run(
    model: ModelFile,
    data: Annotated[Path, typer.Argument(help="A Parquet file, or a folder of them.")],
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="A folder for the answers.")],
    given: Given,
    keep: Annotated[
        list[str] | None, typer.Option(help="Columns to hand through, such as a key.")
    ] = None,
    batch_rows: Annotated[int, typer.Option(min=1, help="Rows in each file.")] = BATCH_ROWS,
    jobs: Annotated[int, typer.Option(help="Files at a time.")] = 1,
) -> None:
    """Explain a whole data set; started again after any end, it goes on where it stopped."""
    with _said():
        job = _job(model, given, keep)
        done = _shown(job, data, folder, batch_rows, jobs)
        for line in summary_lines(done):
            out.print(line, highlight=False, soft_wrap=True)
        if any(counts.get("failed") for counts in done.statuses.values()):
            err.print("[yellow]Some rows got no answer; see their reasons.[/]")
            raise typer.Exit(cli.UNANSWERED)


def _job(model_file: Path, given: Given, keep: list[str] | None) -> Job:
    """Return the job that the options describe; what they say goes into the manifest."""
    model = given.load(model_file)
    settings = {**given.rules(), "train": None if given.train is None else sha256(given.train)}
    label = parse_label(given.target, model)
    return Job(given.explainer(model), sha256(model_file), settings, label, tuple(keep or ()))


def _shown(job: Job, data: Path, folder: Path, batch_rows: int, jobs: int) -> Finished:
    """Run the job with a bar that fills up as files are written."""
    columns = (TextColumn("Explaining"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=None)
        return run_job(
            job,
            data,
            folder,
            batch_rows=batch_rows,
            n_jobs=jobs,
            progress=lambda done, rows: bar.update(task, completed=done, total=rows),
        )


def summary_lines(done: Finished) -> list[str]:
    r"""Return what a run has done, in words.

    Examples
    --------
    >>> from pertinent.cli.run import summary_lines
    >>> from pertinent.scale import Finished
    >>> statuses = {"positive": {"optimal": 5}, "negative": {"failed": 1, "optimal": 4}}
    >>> print("\n".join(summary_lines(Finished(5, 2, 1, statuses))))
    5 rows in 2 files, 1 of them written before.
      positives: 5 optimal
      negatives: 1 failed, 4 optimal
    """
    lines = [
        f"{done.rows:,} rows in {done.files:,} files, {done.found_done:,} of them written before."
    ]
    for kind, counts in done.statuses.items():
        listed = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        lines.append(f"  {kind}s: {listed}")
    return lines
