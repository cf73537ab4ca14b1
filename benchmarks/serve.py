"""The server: how quickly it answers an edit, pages a million rows, and what overload does to it.

Run with ``make bench NAME=serve``. Everything goes over HTTP on loopback, to a server in a process
of its own.

- **Edits.** A row is changed value by value, as somebody who edits it does; each edit is explained,
  with ``detail="live"`` and in full. The time is what the client waits.
- **Rows.** A table of 1,000,000 rows: when the first page comes, when all are scored, and how long
  a filter takes then.
- **Load.** For a minute, many clients ask at several times what the workers can answer, and one
  worker is killed in the middle. Every accepted answer is compared with the library's own;
  rejections are timed; the memory of all processes is looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.bars import Measure, print_measures
from pertinent.client import Client
from pertinent.demo import RULES, WORDING, train_credit_model
from pertinent.server import Recipe, ServerSettings, make_server

#: Edits that are timed, clients of the load, distinct rows they ask about, seconds it lasts.
EDITS, CLIENTS, DISTINCT, SECONDS = 200, 24, 40, 60.0
ROWS = 1_000_000


class Served:
    """A server in a process of its own, made by this module's ``--only NAME``."""

    def __init__(self, kind: str, **settings: Any) -> None:
        command = [sys.executable, "-m", "benchmarks.serve", "--only", kind, json.dumps(settings)]
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("http"):
            raise RuntimeError(f"the server of {kind} did not start")
        self.client = Client(line.strip(), timeout=120, retries=0)

    def wait_ready(self) -> None:
        while not self.client.ready():
            time.sleep(0.05)

    def memory(self) -> float:
        """Return the megabytes that the server and its workers hold."""
        return sum(map(_megabytes, [self.process.pid, *_children(self.process.pid)]))

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children")
    own = [int(one) for one in found.read_text().split()] if found.exists() else []
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return sorted({*own, *(int(c) for file in threads for c in file.read_text().split())})


def _megabytes(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in status.splitlines()
                 if line.startswith("VmRSS")), 0.0)  # fmt: skip


# -- the servers ------------------------------------------------------------------------------


def recipe_of(kind: str) -> tuple[Recipe, Any]:
    """Return what a server is made of, and its rows."""
    if kind == "credit":
        credit = train_credit_model()
        given = {"constraints": RULES, "wording": WORDING}
        return Recipe(credit.model, credit.train, given), credit.applicants
    rng = np.random.default_rng(0)
    if kind == "matrix":
        X = rng.normal(size=(2000, 20))
        model = LogisticRegression().fit(X, X @ rng.normal(size=20) > 0)
        return Recipe(model, X), X
    credit = train_credit_model()
    many = credit.train.sample(ROWS, replace=True, random_state=0, ignore_index=True)
    for name in ("income", "price", "amount"):
        many[name] = many[name] + rng.integers(0, 50, ROWS)
    return Recipe(credit.model, many, {"constraints": RULES, "wording": WORDING}), many


def serve_only(kind: str, settings: dict[str, Any]) -> None:
    """Serve until told to end; the first line says where."""
    recipe, rows = recipe_of(kind)
    server = make_server(recipe, rows, ServerSettings(**{"port": 0, **settings}))

    def told() -> None:
        while not server.port:
            time.sleep(0.01)
        print(server.url, flush=True)

    threading.Thread(target=told, daemon=True).start()
    server.run()


# -- what is measured -------------------------------------------------------------------------


def edits(kind: str, most_ms: float) -> list[Measure]:
    """Return the time of live explanations and predictions while a row is edited."""
    with Served(kind, workers=1) as served:
        served.wait_ready()
        client, model = served.client, served.client.model()
        names = [f["name"] for f in model["features"] if f["kind"] in ("number", "integer")]
        row = client.row(0)["values"]
        took: dict[str, list[float]] = {"live": [], "full": [], "predict": []}
        rng = np.random.default_rng(0)
        for k in range(EDITS):
            name = names[k % len(names)]
            feature = next(f for f in model["features"] if f["name"] == name)
            value = rng.uniform(feature["low"], feature["high"])
            row[name] = round(value) if feature["kind"] == "integer" else value
            for what in took:
                begun = time.perf_counter()
                if what == "predict":
                    client.predict([row])
                else:
                    client.explain([row], certificate=False, detail=what)
                took[what].append(1e3 * (time.perf_counter() - begun))
    out = []
    for what, times in took.items():
        p50, p95 = np.quantile(times, [0.5, 0.95])
        bar = most_ms if what == "live" else None
        out.append(Measure(
            f"{kind}: {what} answer to an edit", f"p50 {p50:.0f} ms, p95 {p95:.0f} ms",
            "-" if bar is None else f"p95 < {bar:g} ms", True if bar is None else bool(p95 < bar),
            f"{EDITS} edits over HTTP",
        ))  # fmt: skip
    return out


def million() -> list[Measure]:
    """Return how long the first page of a million rows takes, and a filter when all are scored."""
    with Served("million", workers=1) as served:
        begun = time.perf_counter()
        first = served.client.rows(limit=50)
        page = time.perf_counter() - begun
        while served.client.rows(limit=1)["scored"] < 1:
            time.sleep(0.5)
        scored = time.perf_counter() - begun
        steps = [
            [("income", "ge", 150)],
            [("income", "ge", 150), ("job", "eq", "fixed")],
            [("income", "ge", 150), ("job", "eq", "fixed"), ("@class", "eq", "refused")],
            [("@score", "lt", 0.6)],
            [("age", "lt", 30), ("@score", "ge", 0.9)],
        ]
        times = []
        for filters in steps:
            for sort in ("@id", "income", "@score"):
                begun = time.perf_counter()
                served.client.rows(filters, sort=sort, limit=50)
                times.append(time.perf_counter() - begun)
        assert first["total"] == ROWS
    return [
        Measure("1,000,000 rows: first page", f"{page:.2f} s", "< 2 s", page < 2),
        Measure("1,000,000 rows: all scored", f"{scored:.0f} s", "-", True, "behind the page"),
        Measure("1,000,000 rows: a filter step, sorted", f"worst {max(times):.2f} s", "< 0.3 s",
                max(times) < 0.3, f"median {np.median(times):.2f} s of {len(times)}"),
    ]  # fmt: skip


class Load:
    """Clients that ask as fast as they are answered, and what came back."""

    def __init__(self, served: Served, expected: list[str]) -> None:
        self.served, self.expected = served, expected
        self.codes: Counter[int] = Counter()
        self.wrong, self.rejected, self.accepted = 0, list[float](), list[float]()
        self.where: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._end = time.perf_counter() + SECONDS

    def run(self) -> None:
        threads = [threading.Thread(target=self._ask, args=(k,)) for k in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        while time.perf_counter() < self._end:
            row = int(rng.integers(DISTINCT))
            body = json.dumps({"ids": [row]}).encode()
            headers = {"Content-Type": "application/json"}
            request = Request(f"{self.served.client.url}/api/v1/explain", body, headers)
            begun = time.perf_counter()
            try:
                with urlopen(request, timeout=120) as answer:
                    code, content = answer.status, answer.read()
            except HTTPError as error:
                with error:
                    code, content = error.code, b""
            took = time.perf_counter() - begun
            with self._lock:
                self.codes[code] += 1
                (self.accepted if code == 200 else self.rejected).append(took)
            if code == 200:
                told = json.loads(content)["explanations"][0]["summary"]
                told["id"] = told["row"] = 0
                if json.dumps(told, sort_keys=True) != self.expected[row]:
                    self.wrong += 1
                    self.where.update(_differences(told, json.loads(self.expected[row])))
            elif code == 503:
                time.sleep(0.05)  # a client that does not wait as long as it is told to


def _differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Return where two summaries differ."""
    if isinstance(one, dict) and isinstance(other, dict) and set(one) == set(other):
        return [p for key in one for p in _differences(one[key], other[key], f"{path}.{key}")]
    return [] if one == other else [path]


def library_answers() -> list[str]:
    """Return the summaries of the rows that clients ask about, by the library itself."""
    recipe, rows = recipe_of("credit")
    explainer, out = recipe.explainer(), []
    for k in range(DISTINCT):
        summary = json.loads(json.dumps(explainer.explain(rows.iloc[[k]])[0].summary()))
        summary["id"] = summary["row"] = 0
        out.append(json.dumps(summary, sort_keys=True))
    return out


def load() -> list[Measure]:
    """Return what a minute of overload does, with a worker killed in the middle."""
    expected = library_answers()
    with Served("credit", workers=2, queue=4) as served:
        served.wait_ready()
        before = served.memory()
        work = Load(served, expected)
        middle = threading.Timer(SECONDS / 2, lambda: os.kill(
            _children(served.process.pid)[0], signal.SIGKILL))  # fmt: skip
        middle.start()
        levels: list[float] = []
        watching = threading.Event()

        def watch() -> None:
            while not watching.wait(1.0):
                levels.append(served.memory())

        threading.Thread(target=watch, daemon=True).start()
        work.run()
        watching.set()
        alive = served.client.ready()
        answered = len(work.accepted)
    half = levels[len(levels) // 4 : len(levels) // 2 - 2], levels[-10:]
    grown = float(np.median(half[1]) - np.median(half[0])) if levels else 0.0
    rejections = float(np.quantile(work.rejected, 0.99)) if work.rejected else 0.0
    bad = {c: n for c, n in work.codes.items() if c not in (200, 503)}
    offered = sum(work.codes.values()) / max(answered, 1)
    return [
        Measure("load: requests", f"{sum(work.codes.values())} asked, {answered} answered",
                "several times", offered > 2, f"{offered:.1f} times what was answered"),
        Measure("load: wrong answers, crashes, other statuses",
                f"{work.wrong} wrong, {bad or 'no'} others", "none", not work.wrong and not bad
                and alive, f"one worker killed in the middle {dict(work.where) or ''}"),
        Measure("load: rejections", f"p99 {1e3 * rejections:.0f} ms", "< 250 ms",
                rejections < 0.25, f"{len(work.rejected)} of them"),
        Measure("load: memory of all processes", f"{grown:+.0f} MB over its second half",
                "< +50 MB", grown < 50, f"{before:.0f} MB at the start"),
    ]  # fmt: skip


PARTS = {
    "edits": lambda: [*edits("credit", 100), *edits("matrix", 20)],
    "million": million,
    "load": load,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all by default")
    parser.add_argument("--only", nargs=2, metavar=("KIND", "SETTINGS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        serve_only(given.only[0], json.loads(given.only[1]))
        return 0
    found = [one for part in given.parts or PARTS for one in PARTS[part]()]
    return print_measures("The server, over HTTP on loopback", found)


if __name__ == "__main__":
    sys.exit(main())
