"""Recompute the paper's table: ``python -m experiments`` (or ``make paper``)."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.report import figure, markdown, print_table
from experiments.runs import load, run
from experiments.summary import read_csv, summarise, write_csv

HERE = Path(__file__).parent


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20, help="seeds 0, 1, ... (20)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument(
        "--report-only", action="store_true", help="only render what table.csv holds"
    )
    options = parser.parse_args(arguments)
    out: Path = options.out
    if options.report_only:
        cells = read_csv(out / "table.csv")
    else:
        run(out / "pieces", options.repetitions, options.jobs)
        cells = summarise(load(out / "pieces", options.repetitions))
        write_csv(cells, out / "table.csv")
    print_table(cells)
    (out / "table.md").write_text(markdown(cells))
    figure(cells, out / "table.png")
    print(f"Written: {out / 'table.csv'}, {out / 'table.md'}, {out / 'table.png'}")


if __name__ == "__main__":
    main()
