"""Worker processes, each with the model loaded once, and a short queue in front of them.

One thread stands for each process: it takes the next request, hands it over and waits for the
answer. A process that does not answer in time is ended; one that died is replaced, and its request
goes to the new one, once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from pertinent.server.solving.recipe import Recipe
from pertinent.server.solving.wire import receive, send, send_bytes
from pertinent.server.solving.worker import ANSWER, BROKEN, READY, REFUSED

#: Seconds that a worker may take to load the model, and between two attempts that fail.
START_LIMIT, PAUSE = 120.0, 1.0
#: How often a request is given to a worker that dies over it.
ATTEMPTS = 2
#: Seconds after which one looks whether a worker with nothing to do still lives.
LOOK = 0.5


class Busy(Exception):
    """The queue is full: ask again later."""


class TooLong(Exception):
    """The request took longer than its time limit."""


class Died(Exception):
    """The worker died over the request, and so did the one that was given it again."""


class Broken(Exception):
    """The worker could not answer, for a reason that is not the request's fault."""

    def __init__(self, kind: str, where: str) -> None:
        super().__init__(where)
        self.kind = kind


@dataclass(eq=False)
class Job:
    """One request on its way."""

    task: str
    request: Any
    limit: float
    future: Future[Any] = field(default_factory=Future)
    since: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left of its time limit."""
        return self.since + self.limit - time.monotonic()


class Pool:
    """Worker processes and their queue.

    Parameters
    ----------
    recipe : Recipe
        What every worker makes its Explainer from.
    workers : int
    queue : int
        Requests that may wait; one more is refused at once.
    limit : float
        Seconds that a request may take, waiting included.
    """

    def __init__(self, recipe: Recipe, workers: int = 2, queue: int = 16, limit: float = 30.0):
        self.size, self.queue, self.limit = workers, queue, limit
        self.counts: Counter[str] = Counter()
        self._recipe: bytes = cloudpickle.dumps(recipe)
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._slots = [_Slot(self, k) for k in range(workers)]
        self._closing = False

    def start(self) -> None:
        """Start all workers; returns before they are ready."""
        for slot in self._slots:
            slot.thread.start()

    @property
    def ready(self) -> int:
        """How many workers have loaded the model."""
        return sum(slot.ready for slot in self._slots)

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers that run."""
        return [slot.process.pid for slot in self._slots if slot.process is not None]

    def wait_ready(self, count: int | None = None, timeout: float = START_LIMIT) -> bool:
        """Return whether so many workers are ready within some seconds."""
        end = time.monotonic() + timeout
        while self.ready < (self.size if count is None else count):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def submit(self, task: str, request: Any, limit: float | None = None) -> Future[Any]:
        """Return the answer to come; `Busy` at once where too many wait."""
        job = Job(task, request, min(limit or self.limit, self.limit))
        with self._changed:
            if self._closing or len(self._waiting) >= self.queue:
                self.counts["rejected"] += 1
                raise Busy
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def take(self, patience: float) -> Job | None:
        """Return the next request for a worker; None if none comes in time, or the pool closes."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing, patience)
            return self._waiting.popleft() if self._waiting else None

    def close(self, timeout: float = 10.0) -> None:
        """Answer what is waiting, then end all workers; what takes longer is given up."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        end = time.monotonic() + timeout
        for slot in self._slots:
            if slot.thread.is_alive():
                slot.thread.join(max(0.0, end - time.monotonic()))
        while self._waiting:
            future = self._waiting.popleft().future
            if future.set_running_or_notify_cancel():
                future.set_exception(Busy())
        for slot in self._slots:
            slot.kill()

    @property
    def closing(self) -> bool:
        """Whether no more requests are taken."""
        return self._closing

    def recipe_bytes(self) -> bytes:
        """Return what a worker is sent first."""
        return self._recipe


class _Slot:
    """One worker process with the thread that stands for it."""

    def __init__(self, pool: Pool, number: int) -> None:
        self.pool, self.ready = pool, False
        self.process: subprocess.Popen[bytes] | None = None
        self.thread = threading.Thread(target=self._run, name=f"worker-{number}", daemon=True)

    def _run(self) -> None:
        self._ensure()
        while (job := self.pool.take(LOOK)) is not None or not self.pool.closing:
            if job is not None:
                self._answer(job)
            if not self._alive():
                self._ensure()
        self.kill()

    def _alive(self) -> bool:
        return self.ready and self.process is not None and self.process.poll() is None

    def _ensure(self) -> bool:
        """Start a process and wait until it is ready; try again while the pool is open."""
        while not self.pool.closing:
            self.kill()
            try:
                self.process = _spawn()
                with _watched(self.process, START_LIMIT):
                    send_bytes(_stdin(self.process), self.pool.recipe_bytes())
                    kind, _ = receive(_stdout(self.process))
                self.ready = kind == READY
                return True
            except (EOFError, OSError):
                self.pool.counts["failed starts"] += 1
                time.sleep(PAUSE)
        return False

    def _answer(self, job: Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            return  # nobody waits any more
        for attempt in range(ATTEMPTS):
            if not self._alive() and not self._ensure():
                job.future.set_exception(Busy())
                return
            if job.left <= 0:
                self.pool.counts["too long"] += 1
                job.future.set_exception(TooLong())
                return
            try:
                self._settle(job, *self._ask(job))
                return
            except (EOFError, OSError):
                self.ready = False
                if job.left <= 0:
                    self.pool.counts["too long"] += 1
                    job.future.set_exception(TooLong())
                    return
                self.pool.counts["died"] += 1
                if attempt + 1 == ATTEMPTS:
                    job.future.set_exception(Died())

    def _ask(self, job: Job) -> tuple[str, Any]:
        process = self.process
        assert process is not None
        with _watched(process, max(job.left, 0.0)):
            send(_stdin(process), (job.task, job.request, max(job.left, 0.0)))
            kind, content = receive(_stdout(process))
        return kind, content

    def _settle(self, job: Job, kind: str, content: Any) -> None:
        self.pool.counts[kind] += 1
        if kind == ANSWER:
            job.future.set_result(content)
        elif kind == REFUSED:
            job.future.set_exception(content)
        else:
            assert kind == BROKEN
            job.future.set_exception(Broken(*content))

    def kill(self) -> None:
        """End the process, if there is one."""
        self.ready = False
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()


@contextmanager
def _watched(process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    """Kill a process that is not done within some seconds."""
    watch = threading.Timer(seconds, process.kill)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _spawn() -> subprocess.Popen[bytes]:
    """Return a new worker process, which computes on one thread."""
    path = os.pathsep.join(place for place in sys.path if place)
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, "PYTHONPATH": path, **dict.fromkeys(threads, "1")}
    command = [sys.executable, "-m", "pertinent.server.solving.worker"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def _stdin(process: subprocess.Popen[bytes]) -> Any:
    return process.stdin


def _stdout(process: subprocess.Popen[bytes]) -> Any:
    return process.stdout
