"""What stands before every request: hosts, origins, tokens, rates, sizes, paths, logs."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from pertinent.exceptions import InputError
from pertinent.server import ServerSettings, read_tokens
from pertinent.server.web.guard import Body, Rates, parsed
from pertinent.server.web.problems import Problem
from tests.server.inline import TOKEN, application, small

AT = "http://127.0.0.1"
JSON = {"Content-Type": "application/json"}
PREDICT = "/api/v1/predict"


@pytest.fixture(scope="module")
def local():
    app, _ = application(body_bytes=20_000)
    with TestClient(app, AT) as client:
        yield client


@pytest.fixture(scope="module")
def guarded():
    """An application whose rates never fill again, however slow the machine is."""
    settings = {"tokens": (TOKEN,), "rate": 1e-9, "burst": 5, "hosts": ("explain.example",)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pertinent.server.web.guard.GUESSES", (1e-9, 20.0))
        app, _ = application(**settings)
        with TestClient(app, AT) as client:
            yield client


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "", "[::2]", "10.0.0.1", "[::1", "127.0.0.1:1@evil"],
)
def test_other_hosts_are_not_answered(local, host):
    answer = local.get("/api/v1/model", headers={"Host": host})
    assert (answer.status_code, answer.json()["field"]) == (421, "Host")


@pytest.mark.parametrize(
    "host", ["localhost:8765", "127.0.0.1", "[::1]:80", "LOCALHOST", "127.0.0.1."]
)
def test_own_hosts_are(local, host):
    assert local.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, "Sec-Fetch-Site"),
        ({"Sec-Fetch-Site": "same-site"}, "Sec-Fetch-Site"),
        ({"Origin": "http://evil.example"}, "Origin"),
        ({"Origin": "null"}, "Origin"),
        ({"Origin": "http://127.0.0.1:1"}, "Origin"),
    ],
)
def test_another_site_cannot_make_a_browser_ask(local, headers, field):
    for answer in (
        local.post(PREDICT, json={"rows": []}, headers=headers),
        local.get("/api/v1/rows", headers=headers),
    ):
        assert (answer.status_code, answer.json()["field"]) == (403, field)
        assert "access-control-allow-origin" not in answer.headers


def test_a_link_to_the_page_works_and_its_own_requests_do(local):
    assert local.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    own = {"Sec-Fetch-Site": "same-origin", "Origin": AT}
    assert local.get("/api/v1/model", headers=own).status_code == 200


def test_every_answer_has_its_headers(local):
    for path in ("/", "/api/v1/model", "/nothing", "/healthz"):
        headers = local.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert len(headers["x-request-id"]) == 32
    assert local.get("/healthz", headers={"X-Request-ID": "a-1"}).headers["x-request-id"] == "a-1"
    forged = local.get("/healthz", headers={"X-Request-ID": "a\tb" + "x" * 99})
    assert len(forged.headers["x-request-id"]) == 32
    assert local.get("/api/v1/model", headers={"Accept-Encoding": "gzip"}).headers[
        "content-encoding"
    ] == "gzip"  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["/static/../serving.py", "/static/%2e%2e/serving.py", "/static//etc/passwd", "/static/",
     "/static/..%5cserving.py", "/api/v1/rows/../../x", "/etc/passwd", "/static/index.html%00"],
)  # fmt: skip
def test_no_path_reaches_the_file_system(local, path):
    answer = local.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"x" * 20_001, JSON, 413),
        (b"[" * 5000, JSON, 400),
        (b'{"rows": ' + b"[" * 41 + b"]" * 41 + b"}", JSON, 400),
        (b'{"rows": [NaN]}', JSON, 400),
        (b'{"rows": [{"income": 1e999}]}', JSON, 400),
        (b'{"rows": [{"income": Infinity}]}', JSON, 400),
        (b"\xff\xfe", JSON, 400),
        (b'{"\\ud800": 1}', JSON, 400),
        (b'{"\\u001b[2J": 1}', JSON, 422),
        (b"", JSON, 422),
        (b"null", JSON, 422),
        (b"{", JSON, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {}, 415),
        (b"{}", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_odd_bodies_are_refused(local, content, headers, status):
    answer = local.post(PREDICT, content=content, headers=headers)
    assert answer.status_code == status
    assert answer.json()["status"] == status


def test_a_body_without_length_is_counted_as_it_comes(local):
    def parts():
        for _ in range(30):
            yield b" " * 1000

    assert local.post(PREDICT, content=parts(), headers=JSON).status_code == 413


def test_a_body_that_does_not_come_is_given_up():
    async def silence():
        await asyncio.sleep(600)

    body = Body(silence, ServerSettings(body_seconds=0.01))
    # In a thread of its own: Playwright's loop may run in this one after a test of the pages.
    with ThreadPoolExecutor(1) as thread, pytest.raises(Problem, match="in time"):
        thread.submit(asyncio.run, body()).result()


@pytest.mark.parametrize(
    "wrong", [None, "", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x"]
)
def test_without_a_token_nothing_is_told(guarded, wrong):
    headers = {} if wrong is None else {"Authorization": wrong}
    for path in ("/api/v1/model", "/metrics", "/openapi.json", "/api/v1/rows/0"):
        answer = guarded.get(path, headers=headers)
        assert answer.status_code in (401, 429)
        assert "income" not in answer.text
    assert guarded.get("/healthz").status_code == 200


def test_every_token_is_compared_in_constant_time(monkeypatch):
    compared = []

    def counted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return one == other

    monkeypatch.setattr("pertinent.server.web.guard.hmac.compare_digest", counted)
    other = TOKEN[::-1]
    app, _ = application(tokens=(TOKEN, other))
    with TestClient(app, AT) as client:
        for given, code in ((TOKEN, 200), (other, 200), ("x", 401)):
            compared.clear()
            headers = {"Authorization": f"Bearer {given}"}
            assert client.get("/api/v1/model", headers=headers).status_code == code
            assert compared == [(32, 32)] * 2  # digests: how long a guess is does not show, either


def test_guesses_are_limited_and_a_token_has_a_rate(guarded):
    wrong = [guarded.get("/api/v1/model").status_code for _ in range(40)]
    assert wrong[-20:] == [429] * 20
    assert set(wrong) <= {401, 429}
    right = {"Authorization": f"Bearer {TOKEN}", "Host": "explain.example"}
    codes = [guarded.get("/api/v1/rows/0", headers=right).status_code for _ in range(12)]
    assert codes == [200] * 5 + [429] * 7
    assert guarded.get("/api/v1/rows/0", headers=right).headers["retry-after"] == "1"


def test_rates_fill_again(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("pertinent.server.web.guard.time.monotonic", lambda: now[0])
    rates = Rates(2.0, 3.0)
    assert [rates.take("a") for _ in range(4)] == [True, True, True, False]
    assert rates.take("b")
    now[0] = 0.5
    assert [rates.take("a") for _ in range(2)] == [True, False]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "explain.example"])
def test_any_other_address_needs_a_token(host):
    with pytest.raises(InputError, match="needs a token"):
        ServerSettings(host=host)
    assert ServerSettings(host=host, tokens=(TOKEN,)).tokens
    assert TOKEN not in repr(ServerSettings(host=host, tokens=(TOKEN,)))


def test_tokens_come_from_a_file_or_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "tokens"
    file.write_text(f"# who may ask\n{TOKEN}\n\n{TOKEN}2\n")
    assert read_tokens(file) == (TOKEN, f"{TOKEN}2")
    monkeypatch.setenv("PERTINENT_TOKENS", f"{TOKEN}3,{TOKEN}4")
    assert read_tokens(None) == (f"{TOKEN}3", f"{TOKEN}4")
    with pytest.raises(InputError, match="at least 32 characters"):
        ServerSettings(tokens=("short",))


def test_logs_hold_no_values(local, caplog):
    row = json.loads(small().frame.iloc[0].to_json()) | {"income": 31415926}
    with caplog.at_level(logging.DEBUG, "pertinent.server"):
        local.post(PREDICT, json={"rows": [row]})
        local.post(PREDICT, json={"rows": [row | {"job": "Jane Doe"}]})
        local.get("/api/v1/rows", params={"filter": "income:eq:31415926"})
        local.get("/Jane Doe")
    assert len(caplog.records) >= 4
    assert "31415926" not in caplog.text
    assert "Jane" not in caplog.text


def test_deep_and_plain_json():
    assert parsed(b'{"a": "[[[[[[[["}', 2) == {"a": "[[[[[[[["}
    with pytest.raises(Problem, match="deeper than 3"):
        parsed(b"[[[[1]]]]", 3)
