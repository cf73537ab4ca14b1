"""The commands."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pertinent.cli import codes
from pertinent.cli.files import called, model_columns, parse_rows, parse_target, read_table
from pertinent.cli.given import Given, ModelFile, Pickle, Trust, with_given
from pertinent.cli.texts import Add, AddAny, Column, TextOptions, explain_texts
from pertinent.cli.wording import in_options, options_for
from pertinent.exceptions import (
    InputError,
    PertinentError,
    UnsupportedModelError,
    reading,
    visible,
    visible_json,
    writing,
)
from pertinent.geometry.codec import MOST_CHARACTERS, read_json
from pertinent.tables.progress import told
from pertinent.tables.words import counted

# What loads scikit-learn is imported where it is needed: help and completion come at once.
if TYPE_CHECKING:
    from pertinent.api.explanation import Explanation, Explanations
    from pertinent.geometry.arrays import Foreign
    from pertinent.scale.run import Finished, Job

app = typer.Typer(
    name="pertinent",
    help="What was enough for a model's decision, and what would have changed it.",
    epilog="Exit codes: 0 done, 2 misused, 3 input refused, 4 rows without an answer, "
    "5 check refuted, 6 check incomplete.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
out, err = Console(), Console(stderr=True)

DataFile = Annotated[
    Path, typer.Argument(help='The rows: CSV, Parquet or Arrow; "-" is CSV on standard input.')
]
Rows = Annotated[str | None, typer.Option(help='Only these rows, e.g. "0,4,10-20".')]
Ignore = Annotated[list[str] | None, typer.Option(help="Columns that are not features.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


def _version(asked: bool) -> None:
    if asked:
        _say(f"pertinent {version('pertinent')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Show what holds for all commands."""


@contextmanager
def _said() -> Iterator[None]:
    """Turn errors that are the input's fault into a message and an exit code."""
    with warnings.catch_warnings():
        # Whatever the surroundings silence: who allows a pickle is warned.
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _warn
        try:
            with writing("the output"):
                yield
        except PertinentError as error:
            # Of a model that is not read: what it is, why, what to do; each on a line of its own.
            lines = str(error).splitlines() if isinstance(error, UnsupportedModelError) else [error]
            said = escape(in_options("\n".join(visible(line) for line in lines)))
            err.print(f"[red]Error:[/] {said}", highlight=False, soft_wrap=True)
            raise typer.Exit(codes.REFUSED) from error


def _warn(message: Any, *_: Any, **__: Any) -> None:
    """Print a warning without its advice for Python, if it has any."""
    said = in_options(visible(getattr(message, "said", message)))
    err.print(f"[yellow]Warning:[/] {escape(said)}", highlight=False, soft_wrap=True)


def _taken_back() -> AbstractContextManager[None]:
    """Let reasons name the options that take rules back, rather than arguments of Python."""
    from pertinent.rules.reference import taken_back_by

    return taken_back_by(options_for)


def _say(text: str) -> None:
    """Write text of ours, in which every name is visible."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _say_json(text: str) -> None:
    """Write JSON; invisible characters, which only its texts can hold, are written as escapes."""
    _say(visible_json(text))


def _known_length(length: str) -> str:
    from pertinent.views.text import LENGTHS

    if length not in LENGTHS:
        raise typer.BadParameter(f"{length!r} is not one of {', '.join(LENGTHS)}.")
    return length


def _explained(
    model: Foreign, data_file: Path, given: Given, rows: str | None, ignore: list[str] | None
) -> Explanations:
    from pertinent.tables.reading import tables_called

    frame, extra = model_columns(read_table(data_file), model, ignore or [])
    if extra:
        err.print(
            f"Ignored columns that the model does not know: {escape(visible(', '.join(extra)))}."
        )
    if given.is_few(frame):
        err.print(
            "Without --train, typical values are those of the table itself. It has too few rows "
            "to take ranges and rare categories from: what is never negative stays so, and "
            "anything else may be suggested.",
            soft_wrap=True,
        )
    places = parse_rows(rows, len(frame))
    chosen = frame if places is None else frame.iloc[places]
    named = {"X": called(data_file), "data": called(given.train or data_file)}
    with tables_called(named):
        explainer = given.explainer(model, frame, ignore or [])
        return explainer.explain(chosen, parse_target(given.target, model))


def _name(summary: dict[str, Any]) -> str:
    """Return what a row of a table, or a text, is called."""
    return f"{'Text' if 'passage' in summary else 'Row'} {visible(summary['id'])}"


def _finish(result: Iterable[Explanation]) -> None:
    """Leave with the code for rows that got no answer, if there are any."""
    from pertinent.proofs import FAILED

    failed = 0
    for one in result:
        found = one.explanations
        assert found is not None  # not from a file
        parts = found.positive, found.negative
        failed += any(part.status_code[one.row] == FAILED for part in parts)
    if failed:
        err.print(f"[yellow]{failed} rows got no answer; see their reasons.[/]")
        raise typer.Exit(codes.UNANSWERED)


@app.command(
    epilog="Example: [bold]pertinent explain model.skops rows.csv --rows 0-4 --freeze age[/]"
)
@with_given
def explain(
    model: ModelFile,
    data: DataFile,
    given: Given,
    rows: Rows = None,
    ignore: Ignore = None,
    column: Column = None,
    add: Add = None,
    add_any: AddAny = False,
    length: Annotated[
        str, typer.Option(help="short, medium or long.", callback=_known_length)
    ] = "medium",
    json_: AsJson = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to a file instead.")
    ] = None,
) -> None:
    """Explain rows of a table in words, or texts, or as JSON lines that `check` verifies."""
    from pertinent.models.steps.text import is_text_model

    with _said():
        loaded, options = given.load(model), TextOptions(column, add or [], add_any)
        result: Iterable[Explanation]
        if is_text_model(loaded):
            result = explain_texts(loaded, data, given, rows, options)
        else:
            options.require_none()
            result = _explained(loaded, data, given, rows, ignore)
        if json_:
            text = "\n".join(explanation.json() for explanation in result)
        else:
            with _taken_back():
                parts = [f"{_name(e.summary())}\n\n{e.text(length)}" for e in result]
            text = "\n\n".join(parts)
        if output is None:
            (_say_json if json_ else _say)(text)
        else:
            with writing(output):
                output.write_text(text + "\n", encoding="utf-8")
            err.print(f"Written: {escape(visible(output))}", soft_wrap=True)
        _finish(result)


@app.command(epilog="Example: [bold]pertinent report model.skops rows.parquet -o report.html[/]")
@with_given
def report(
    model: ModelFile,
    data: DataFile,
    given: Given,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    max_rows: Annotated[int, typer.Option(min=0, help="Rows listed one by one.")] = 1000,
    date: Annotated[
        str | None, typer.Option(help='Date on the page; today by default, "" for none.')
    ] = None,
    rows: Rows = None,
    ignore: Ignore = None,
    json_: AsJson = False,
) -> None:
    """Write one self-contained HTML page about all rows of a table."""
    with _said():
        result = _explained(given.load(model), data, given, rows, ignore)
        files = {"Model file": model, "Table": data, "Training data": given.train}
        with nullcontext() if json_ else _taken_back():
            path = result.report(output, title, max_rows, date=date, facts=_named(files))
            if json_:
                _say_json(json.dumps(result.summary(), ensure_ascii=False))
            else:
                out.print(escape(result.text()), highlight=False, soft_wrap=True)
        err.print(f"Written: {escape(visible(path))} ({_size(path)})", soft_wrap=True)
        _finish(result)


def _named(files: dict[str, Path | None]) -> dict[str, str]:
    """Return files by name, with what `sha256sum` says of them."""
    from pertinent.scale.files import sha256

    known = {name: path for name, path in files.items() if path is not None and path.is_file()}
    return {name: f"{path.name}, SHA-256 {sha256(path)}" for name, path in known.items()}


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


@app.command("check", epilog="Example: [bold]pertinent check explanation.json model.skops[/]")
def check_(
    explanation: Annotated[Path, typer.Argument(help="JSON of `explain --json`, one or more.")],
    model: ModelFile,
    json_: AsJson = False,
    allow_pickle: Pickle = False,
    trust: Trust = None,
) -> None:
    """Verify stored explanations again: with the model, without a solver."""
    from pertinent.checking import REFUTED, UNKNOWN, check
    from pertinent.models.files import load_model
    from pertinent.summary.stored import to_json

    with _said():
        how = {
            "allow_pickle": allow_pickle,
            "search": True,
        }  # the file says whether it was searched
        loaded = load_model(model, trust=trust or [], **how)
        checked = []
        for document in _documents(explanation):
            with reading(explanation):
                checked.append((document["summary"], check(document, loaded)))
        if json_:
            found = [
                {
                    "id": summary["id"],
                    "format": c.format,
                    "verdict": c.verdict,
                    "findings": [vars(f) for f in c.findings],
                }
                for summary, c in checked
            ]
            _say_json(to_json({"explanations": found}))
        else:
            for words in dict.fromkeys(one.format for _, one in checked):
                out.print(words)
            for summary, one in checked:
                out.print(_check_table(_name(summary), one))
    verdicts = {one.verdict for _, one in checked}
    if REFUTED in verdicts:
        raise typer.Exit(codes.REFUTED)
    if UNKNOWN in verdicts:
        raise typer.Exit(codes.UNCHECKED)


def _check_table(name: str, checked: Any) -> Table:
    from pertinent.checking import HOLDS, REFUTED, UNKNOWN

    colours = {HOLDS: "green", REFUTED: "red", UNKNOWN: "yellow"}
    title = f"{escape(name)}: {checked.verdict}"
    table = Table(title=title, title_justify="left", show_header=False, box=None)
    for finding in checked.findings:
        colour = colours.get(finding.verdict, "dim")
        table.add_row(
            f"[{colour}]{finding.verdict}[/]",
            *(escape(visible(t)) for t in (finding.claim, finding.detail)),
        )
    return table


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the explanations in a file: one, a list, or one on each line."""
    from pertinent.summary.stored import require_document

    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    with reading(path, " as text"), path.open(encoding="utf-8") as file:
        first = file.readline(MOST_CHARACTERS + 1)
        try:
            found = read_json(first)
        except InputError:  # not one on each line
            found = read_json(first + file.read(MOST_CHARACTERS + 1))
        if found == []:
            raise InputError("It holds no explanation.")
        yield from map(require_document, found if isinstance(found, list) else [found])
        while line := file.readline(MOST_CHARACTERS + 1):
            if line.strip():
                yield require_document(read_json(line))


@app.command(epilog="Example: [bold]pertinent models --json[/]")
def models(json_: AsJson = False) -> None:
    """List the models that can be explained, by family, and what is proved for each."""
    from pertinent.models.families import families
    from pertinent.models.registry import supported_models
    from pertinent.models.regressors.registry import supported_regressors

    listed = [
        {"family": family.title, "proved": family.proved, "models": names}
        for family, names in families(supported_models(), supported_regressors()).items()
    ]
    with _said():
        if json_:
            _say_json(json.dumps(listed))
            return
        for one in listed:
            out.print(f"[bold]{one['family']}[/]: {one['proved']}", highlight=False)
            for name in one["models"]:
                out.print(f"  {name}", highlight=False, soft_wrap=True)
        out.print(
            "[bold]any other classifier or regressor[/]: found, not proved, with --search",
            highlight=False,
        )


@app.command(epilog="Example: [bold]pertinent demo --output tour[/]")
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path(
        "pertinent-demo"
    ),
    json_: AsJson = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the credit model instead: see `serve`.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --serve: where.")] = 8765,
) -> None:
    """Explain decisions of a credit model on embedded data, in under a minute."""
    from pertinent.demo import main as run

    if serve:
        from pertinent.cli.serving import serve_demo

        with _said():
            serve_demo(port)
        return
    with _said(), writing(output):
        if json_:
            paths = run(output, say=lambda text: None)
            _say_json(json.dumps({"written": [str(path) for path in paths]}))
        else:
            run(output, say=lambda text: out.print(escape(text), highlight=False, soft_wrap=True))


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
    batch_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows in each file; 20,000 by default.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Files at a time.")] = 1,
) -> None:
    """Explain a whole data set; started again after any end, it goes on where it stopped.

    The answers are one row for each sample; with --alternatives, a column lists those of the row.
    """
    from pertinent.scale.run import BATCH_ROWS
    from pertinent.scale.run import run as run_job

    with _said():
        job = _job(model, given, keep)
        with told(None, "Explaining") as tell:
            each = batch_rows or BATCH_ROWS
            done = run_job(job, data, folder, batch_rows=each, n_jobs=jobs, progress=tell)
        for line in summary_lines(done):
            out.print(line, highlight=False, soft_wrap=True)
        if any(counts.get("failed") for counts in done.statuses.values()):
            err.print("[yellow]Some rows got no answer; see their reasons.[/]")
            raise typer.Exit(codes.UNANSWERED)


@app.command("serve", epilog="Example: [bold]pertinent serve model.skops rows.parquet[/]")
@with_given
def serve_(
    model: ModelFile,
    data: DataFile,
    given: Given,
    ignore: Ignore = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8765,
    workers: Annotated[int, typer.Option(min=1, help="Processes that solve.")] = 2,
    queue: Annotated[int, typer.Option(min=1, help="Requests that may wait for them.")] = 16,
    request_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a request may take.")
    ] = 30.0,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Tokens that may ask, one on each line; else of PERTINENT_TOKENS."),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another name of this server, as behind a proxy.")
    ] = None,
    rate: Annotated[float, typer.Option(min=0, help="Requests a second of each token.")] = 50.0,
) -> None:
    """Serve a page to explore a model and its rows, and an HTTP API."""
    from pertinent.cli.serving import Listening, serve_files

    with _said():
        where = Listening(
            host, port, workers, queue, request_limit, token_file, tuple(allow_host or ()), rate
        )
        serve_files(model, data, given, ignore or [], where)


def _job(model_file: Path, given: Given, keep: list[str] | None) -> Job:
    """Return the job that the options describe; what they say goes into the manifest."""
    from pertinent.scale.files import sha256
    from pertinent.scale.run import Job

    model = given.load(model_file)
    settings = {**given.rules(), "train": None if given.train is None else sha256(given.train)}
    label = parse_target(given.target, model)
    return Job(given.explainer(model), sha256(model_file), settings, label, tuple(keep or ()))


def summary_lines(done: Finished) -> list[str]:
    r"""Return what a run has done, in words.

    Examples
    --------
    >>> from pertinent.cli.app import summary_lines
    >>> from pertinent.scale import Finished
    >>> statuses = {"positive": {"optimal": 5}, "negative": {"failed": 1, "optimal": 4}}
    >>> print("\n".join(summary_lines(Finished(5, 2, 1, statuses))))
    5 rows in 2 files, 1 of them written before.
      positives: 5 optimal
      negatives: 1 failed, 4 optimal
    """
    rows, files = counted(done.rows, "row"), counted(done.files, "file")
    lines = [f"{rows} in {files}, {done.found_done:,} of them written before."]
    for kind, counts in done.statuses.items():
        listed = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        lines.append(f"  {kind}s: {listed}")
    return lines
