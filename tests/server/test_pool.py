"""Worker processes: their queue, their time, their death."""

from __future__ import annotations

import os
import signal
import time

import pytest

from pertinent.server.solving.engine import Engine
from pertinent.server.solving.pool import Busy, Died, Pool, TooLong
from pertinent.server.solving.refusal import Refusal
from tests.server.inline import recipe, small

ROW = small().frame.iloc[3].tolist()
REQUEST = {"rows": [ROW], "ids": [3]}


@pytest.fixture(scope="module")
def pool():
    pool = Pool(recipe(), workers=1, queue=2, limit=60.0)
    pool.start()
    assert pool.wait_ready()
    yield pool
    pool.close(1.0)
    assert not pool.processes


def stop(pool):
    """Let the worker hang, and return its process id."""
    [pid] = pool.processes
    os.kill(pid, signal.SIGSTOP)
    return pid


def test_a_worker_answers_as_the_engine_does(pool):
    told = pool.submit("explain", REQUEST).result(60)["explanations"][0]
    own = Engine(recipe()).answer("explain", REQUEST)["explanations"][0]
    assert told | {"seconds": 0} == own | {"seconds": 0}
    with pytest.raises(Refusal, match="no class") as refused:
        pool.submit("explain", REQUEST | {"target": "maybe"}).result(60)
    assert refused.value.field == "target"


def test_a_full_queue_refuses_at_once_and_the_rest_is_answered(pool):
    pid = stop(pool)
    try:
        accepted = [pool.submit("explain", REQUEST)]
        while pool.waiting:
            time.sleep(0.01)
        accepted += [pool.submit("explain", REQUEST) for _ in range(2)]
        begun = time.perf_counter()
        with pytest.raises(Busy):
            pool.submit("explain", REQUEST)
        assert time.perf_counter() - begun < 0.25
    finally:
        os.kill(pid, signal.SIGCONT)
    for future in accepted:
        assert future.result(60)["explanations"][0]["summary"]["id"] == 3


def test_a_worker_that_dies_is_replaced_and_its_request_answered(pool):
    pid = stop(pool)
    future = pool.submit("explain", REQUEST)
    time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    assert future.result(60)["explanations"][0]["summary"]["id"] == 3
    assert pool.processes != [pid]
    assert pool.counts["died"] == 1


def test_a_request_that_takes_too_long_is_ended(pool):
    pid = stop(pool)
    begun = time.perf_counter()
    with pytest.raises(TooLong):
        pool.submit("explain", REQUEST, limit=0.3).result(60)
    assert time.perf_counter() - begun < 5
    assert pool.submit("explain", REQUEST).result(60)
    assert pool.processes != [pid]


def test_a_request_that_workers_die_over_fails_clearly(pool, monkeypatch):
    monkeypatch.setattr("pertinent.server.solving.pool.ATTEMPTS", 1)
    pid = stop(pool)
    future = pool.submit("explain", REQUEST)
    time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(Died):
        future.result(60)
    assert pool.submit("explain", REQUEST).result(60)


def test_closing_answers_what_was_accepted(pool):
    future = pool.submit("explain", REQUEST)
    pool.close(30.0)
    assert future.result(0)["explanations"]
    with pytest.raises(Busy):
        pool.submit("explain", REQUEST)
