"""Run with ``make bench NAME=trees``: what tree ensembles must show, with pass or miss.

Each row is a question of its own: found, predicted by the model and checked. Times, and time limits
as well, are processor time. HiGHS, treecf and OCEAN answer the same rows in processes of their own.
What was measured is kept in ``results/trees.csv``: a run goes on where the one before stopped.
``--rows`` says how many rows a model gets of us, ``--oracle`` and ``--peers`` how many of HiGHS and
of the peers, ``--minutes`` when to stop, ``--only`` which lines ("checker", "between", "nearest:
cancer: forest"), and ``--again`` begins them anew. ``--show`` measures nothing.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from benchmarks.bars import Measure, print_measures
from benchmarks.trees import checks, forms, judged, limits, questions, rates, shares
from benchmarks.trees.models import cases
from benchmarks.trees.results import FILE, Results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--oracle", type=int, default=20)
    parser.add_argument("--peers", type=int, default=20)
    parser.add_argument("--judged", type=int, default=50, help="rows of each of 12 models")
    parser.add_argument("--cutoff", type=int, default=8, help="rows of each forest")
    parser.add_argument("--only", default="", help="part of the name of a line, or of its model")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so many")
    parser.add_argument("--again", action="store_true", help="forget what was measured of them")
    parser.add_argument("--show", action="store_true", help="print what is known")
    args = parser.parse_args()
    end = time.monotonic() + 60 * args.minutes
    results = Results.read(FILE, end, args.only if args.again else None)
    if not args.show:
        _measure(args, results)
    return int(print_measures("Tree ensembles, checking included", _summary(args, results)) > 0)


def _measure(args: argparse.Namespace, results: Results) -> None:
    def only(name: str) -> bool:
        return args.only in name

    for case in cases():
        if only(f"{shares.LINE}: {case.title}"):
            beside = {"highs": args.oracle, "treecf": args.peers, "ocean": args.peers}
            shares.measure(case, results, args.rows, beside)
    for line in questions.ASKED:
        questions.measure(line, results, args.rows, only)
    rates.measure(results, args.rows, only)
    forms.measure(results, args.rows, only)
    limits.measure(results, max(args.rows // 4, 1), only)
    checks.measure(results, max(args.rows // 4, 1), only)
    judged.measure(results, args.judged, only)
    judged.cut_off(results, args.cutoff, only)


def _summary(args: argparse.Namespace, results: Results) -> list[Measure]:
    lines = []
    for case in cases():
        if args.only in f"{shares.LINE}: {case.title}":
            lines += shares.summary(case, results)
    if not args.only:
        lines += shares.overall(results)
    for line in questions.ASKED:
        if args.only in line or args.only.startswith(line):
            lines += questions.summary(line, results)
    for part in (limits, judged, rates, checks, forms):
        if args.only in part.LINE or args.only.startswith(part.LINE):
            lines += part.summary(results)
    return lines


if __name__ == "__main__":
    sys.exit(main())
