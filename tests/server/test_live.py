"""A server as it runs: processes, sockets, the client, its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import pertinent
from pertinent.client import Client, ServerError
from pertinent.server import ServerSettings, make_server
from pertinent.server.solving import pool as pool_of
from pertinent.server.solving.engine import Engine
from pertinent.server.solving.pool import Busy, Died, TooLong
from pertinent.server.solving.refusal import Refusal
from pertinent.server.web.problems import Problem
from pertinent.server.web.service import Service
from tests.server.hostile import sent
from tests.server.inline import TOKEN, recipe, small

ROW = small().frame.iloc[3].tolist()
REQUEST = {"rows": [ROW], "ids": [3]}
#: Seconds after which something hangs: a busy machine is slow, and not wrong.
PATIENCE = 600


@pytest.fixture(scope="module")
def servers():
    """The servers of this module: one, and one more after a test that has ended it."""
    started = []
    yield started
    for server in started:
        server.stop()
        assert not server.service.pool.processes


@pytest.fixture
def server(servers):
    if not servers or not servers[-1]._thread.is_alive():
        settings = ServerSettings(
            port=0, workers=1, queue=2, tokens=(TOKEN,), rate=0, time_limit=PATIENCE
        )
        servers.append(make_server(recipe(), small().frame, settings).start(PATIENCE))
    assert servers[-1].service.pool.wait_ready(timeout=PATIENCE)
    return servers[-1]


@pytest.fixture
def pool(server):
    return server.service.pool


@pytest.fixture
def client(server):
    return Client(server.url, TOKEN, PATIENCE)


@pytest.fixture
def handed(monkeypatch):
    """Set once the next request is in a worker's hands."""
    event, send = threading.Event(), pool_of.send
    monkeypatch.setattr(pool_of, "send", lambda *given: (send(*given), event.set()))
    return event


def hang(pool):
    """Let the worker hang, and return its process id."""
    [pid] = pool.processes
    os.kill(pid, signal.SIGSTOP)
    return pid


def test_a_worker_answers_as_the_engine_does(pool):
    told = pool.submit("explain", REQUEST).result(PATIENCE)["explanations"][0]
    own = Engine(recipe()).answer("explain", REQUEST)["explanations"][0]
    assert told | {"seconds": 0} == own | {"seconds": 0}
    with pytest.raises(Refusal, match="no class") as refused:
        pool.submit("explain", REQUEST | {"target": "maybe"}).result(PATIENCE)
    assert refused.value.field == "target"


def test_the_client_asks_for_everything(client):
    assert client.ready()
    model = client.model()
    assert model["n_rows"] == len(small().frame)
    assert client.schema()["row"]["required"] == list(small().frame.columns)
    page = client.rows([("income", "ge", 200), ("job", "eq", "fixed")], sort="age", limit=3)
    assert page["matching"] == len(small().frame.query("income >= 200 and job == 'fixed'"))
    row = client.row(3)
    assert client.predict([row["values"]])[0]["label"] == small().model.predict(
        small().frame.iloc[[3]]
    )[0]  # fmt: skip
    [one] = client.explain([row["values"]], target="yes")
    own = recipe().explainer().explain(small().frame.iloc[[3]], "yes")[0]
    assert pertinent.check(one["stored"], small().model).ok
    assert one["summary"]["negative"] == json.loads(json.dumps(own.summary()["negative"]))
    assert client.check(one["stored"])["ok"]
    assert client.menu(3)["sets"]
    assert client.alternatives(row["values"], 2)["cards"]
    assert client.cohorts("job", [("age", "lt", 40)], sample=20)["groups"]
    assert "predicts" in client.letter(3)
    assert "predicts" in client.report([3, 4])


def test_the_client_tells_what_is_wrong(client, server):
    with pytest.raises(ServerError, match="one of") as wrong:
        client.explain([client.row(3)["values"] | {"job": "none"}])
    assert (wrong.value.status, wrong.value.field) == (422, "rows[0].job")
    assert wrong.value.request_id
    with pytest.raises(ServerError, match="token") as stranger:
        Client(server.url).model()
    assert stranger.value.status == 401
    with pytest.raises(ValueError, match="http"):
        Client("file:///etc/passwd")


def test_a_full_queue_refuses_at_once_and_the_rest_is_answered(pool, server):
    pid = hang(pool)
    try:
        accepted = [pool.submit("explain", REQUEST)]
        while pool.waiting:
            time.sleep(0.01)
        accepted += [pool.submit("explain", REQUEST) for _ in range(2)]
        with pytest.raises(Busy):
            pool.submit("explain", REQUEST)
        with pytest.raises(ServerError, match="busy") as refused:  # while the worker still hangs
            Client(server.url, TOKEN, PATIENCE, retries=0).explain(ids=[3])
        assert refused.value.status == 503
    finally:
        os.kill(pid, signal.SIGCONT)
    for future in accepted:
        assert future.result(PATIENCE)["explanations"][0]["summary"]["id"] == 3


def test_a_worker_that_dies_is_replaced_and_its_request_answered(pool, client, handed):
    pid, told, died = hang(pool), [], pool.counts["died"]
    asking = threading.Thread(target=lambda: told.extend(client.explain(ids=[3])))
    asking.start()
    assert handed.wait(PATIENCE)
    os.kill(pid, signal.SIGKILL)
    asking.join(PATIENCE)
    assert told[0]["summary"]["id"] == 3
    assert pool.processes != [pid]
    assert pool.counts["died"] == died + 1


#: A worker that is ready at once, and never answers.
IDLE = """
import pickle, struct, sys, time
ready = pickle.dumps(("ready", None))
sys.stdout.buffer.write(struct.pack("<Q", len(ready)) + ready)
sys.stdout.flush()
time.sleep(60)
"""


def test_a_worker_that_dies_with_nothing_to_do_is_replaced_before_somebody_asks(monkeypatch):
    monkeypatch.setattr(pool_of, "_spawn", lambda: subprocess.Popen(
        [sys.executable, "-S", "-c", IDLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ))  # fmt: skip
    pool = pool_of.Pool(None, workers=1)
    pool.start()
    assert pool.wait_ready(timeout=PATIENCE)
    [pid] = pool.processes
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while pool.processes in ([], [pid]) and time.monotonic() < end:
        time.sleep(0.02)
    assert pool.wait_ready(timeout=PATIENCE)
    assert pool.processes != [pid]
    pool.close()
    assert not pool.processes


def test_a_process_that_cannot_be_started_is_tried_again(monkeypatch):
    tried, idle = [], [sys.executable, "-S", "-c", IDLE]

    def spawn():
        tried.append(1)
        if len(tried) == 1:
            raise BlockingIOError("no more processes")
        return subprocess.Popen(idle, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    monkeypatch.setattr(pool_of, "_spawn", spawn)
    monkeypatch.setattr(pool_of, "PAUSE", 0.01)
    pool = pool_of.Pool(None, workers=1)
    pool.start()
    assert pool.wait_ready(timeout=PATIENCE)
    assert pool.counts["failed starts"] == 1
    pool.close()


def test_a_request_that_nobody_waits_for_is_left_out(pool, handed):
    pid = hang(pool)
    first = pool.submit("explain", REQUEST)
    assert handed.wait(PATIENCE)
    left, last = (pool.submit("explain", REQUEST) for _ in range(2))
    assert left.cancel()
    os.kill(pid, signal.SIGCONT)
    assert first.result(PATIENCE)
    assert last.result(PATIENCE)


def test_a_request_is_not_kept_waiting_for_a_worker_that_starts(monkeypatch):
    monkeypatch.setattr("pertinent.server.web.service.GRACE", 0.01)
    service = Service(recipe(), None, ServerSettings(time_limit=0.01, workers=1))  # never started
    with ThreadPoolExecutor(1) as thread, pytest.raises(Problem, match="took longer") as late:
        thread.submit(asyncio.run, service.solve("explain", REQUEST)).result(PATIENCE)
    assert late.value.status_code == 504
    service.pool.close()


def test_a_request_that_takes_too_long_is_ended(pool):
    hang(pool)  # it would never answer
    with pytest.raises(TooLong):
        pool.submit("explain", REQUEST, limit=0.3).result(PATIENCE)
    assert pool.submit("explain", REQUEST).result(PATIENCE)


@pytest.mark.slow
def test_a_request_that_workers_die_over_fails_clearly(pool, monkeypatch, handed):
    monkeypatch.setattr("pertinent.server.solving.pool.ATTEMPTS", 1)
    pid = hang(pool)
    future = pool.submit("explain", REQUEST)
    assert handed.wait(PATIENCE)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(Died):
        future.result(PATIENCE)
    assert pool.submit("explain", REQUEST).result(PATIENCE)


def test_slow_and_broken_clients_are_given_up(server, monkeypatch):
    monkeypatch.setattr("pertinent.server.web.patience.HEAD_SECONDS", 0.3)
    for start in (b"", b"GET /healthz HTT", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "):
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
            line.sendall(start)
            assert line.recv(1000) == b""  # closed, without an answer
    monkeypatch.undo()  # these say something, however late
    for broken in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET / HTTP/9\r\n\r\n", b"\r\n" * 9 + b"?"):
        assert b" 200 " not in sent(server, broken)
    long = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"a" * 100_000
    assert b" 200 " not in sent(server, long)
    assert Client(server.url, timeout=PATIENCE).ready()


def test_stopping_answers_what_was_accepted(server, client, pool, handed):
    [pid] = pool.processes
    os.kill(pid, signal.SIGSTOP)
    told = []
    asking = threading.Thread(target=lambda: told.extend(client.explain(ids=[3])))
    asking.start()
    assert handed.wait(PATIENCE)
    ending = threading.Thread(target=server.stop)
    ending.start()
    while not server._server.should_exit:
        time.sleep(0.01)
    os.kill(pid, signal.SIGCONT)
    ending.join(PATIENCE)
    asking.join(PATIENCE)
    assert told[0]["summary"]["id"] == 3
    assert not pool.processes
    assert not server._thread.is_alive()
