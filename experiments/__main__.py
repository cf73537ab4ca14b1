"""Recompute the paper's table: ``python -m experiments`` (or ``make paper``)."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments import missing_half
from experiments.report import figure, markdown, print_halves, print_table
from experiments.runs import load, load_halves, run
from experiments.summary import read_csv, summarise, write_csv

HERE = Path(__file__).parent


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20, help="seeds 0, 1, ... (20)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument(
        "--report-only", action="store_true", help="only render what the CSV files hold"
    )
    options = parser.parse_args(arguments)
    out: Path = options.out
    if not options.report_only:
        run(out / "pieces", options.repetitions, options.jobs)
        write_csv(summarise(load(out / "pieces", options.repetitions)), out / "table.csv")
        missing_half.write(load_halves(out / "pieces"), out / "missing_half.csv")
    # Rendered from the files, so that the page says what they say, digit by digit.
    cells = read_csv(out / "table.csv")
    halves = missing_half.read(out / "missing_half.csv")
    print_table(cells)
    print_halves(halves)
    (out / "table.md").write_text(markdown(cells, halves))
    figure(cells, out / "table.png")
    print(f"Written: {out / 'table.csv'}, {out / 'table.md'}, {out / 'table.png'}")


if __name__ == "__main__":
    main()
