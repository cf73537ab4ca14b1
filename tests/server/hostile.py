"""What strangers send, and what becomes of it: ``python -m tests.server.hostile`` prints the table.

Everything goes over a socket to a running server, byte by byte as it is written here.
"""

from __future__ import annotations

import json
import socket
from contextlib import contextmanager, suppress

from pertinent.server import ServerSettings
from pertinent.server.serving import Server
from pertinent.server.web import patience
from tests.server.inline import HOSTILE, TOKEN, inline_pool, recipe, small

ROW = json.loads(small().frame.iloc[0].to_json())
#: Seconds that slow clients are waited for, here, and those that only the machine makes slow.
HASTE, PATIENCE = 0.1, 600.0


@contextmanager
def running(head=PATIENCE, body=PATIENCE):
    """A server that solves by itself, and waits so many seconds for heads and bodies."""
    known, patience.HEAD_SECONDS = patience.HEAD_SECONDS, head
    made = ServerSettings(port=0, tokens=(TOKEN,), body_seconds=body, rate=0)
    try:
        with Server(recipe(), small().frame, made, inline_pool()) as server:
            server.service.rows.scores.wait(600)
            yield server
    finally:
        patience.HEAD_SECONDS = known


def sent(server, content):
    """Send bytes, and return all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        with suppress(BrokenPipeError, ConnectionResetError):  # the server has seen enough
            line.sendall(content)
        back = b""
        with suppress(ConnectionResetError):
            while part := line.recv(65536):
                back += part
        return back


def request(method, path, body=None, *, host="127.0.0.1", token=TOKEN, **headers):
    """Return a request as bytes; names of headers are written with underscores."""
    content = (
        b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    )
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    if body is not None:
        headers.setdefault("Content_Type", "application/json")
        headers.setdefault("Content_Length", len(content))
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + content


def predict(row):
    return request("POST", "/api/v1/predict", {"rows": [row]})


def explain(**body):
    return request("POST", "/api/v1/explain", body)


BIG = b'{"rows": "' + b"x" * 10_000_000 + b'"}'
SLOW = request("POST", "/api/v1/predict", b"", Content_Length=1000)
ENDLESS = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
LETTER = request("POST", "/api/v1/letter", {"ids": [2], "title": HOSTILE})
#: What is sent, in words, and as bytes.
CASES = [
    ("a feature named `<script>…`, in a letter", LETTER),
    ("a category with an escape code and `<b>`, in a row", request("GET", "/api/v1/rows/3")),
    ("a category `=1+1`, as a filter",
     request("GET", "/api/v1/rows?limit=1&filter=job:eq:%3D1%2B1")),
    ("a value `<script>…` for a category", predict(ROW | {"job": HOSTILE})),
    ("a body of 10 MB", request("POST", "/api/v1/predict", BIG)),
    ("JSON nested 100,000 deep", request("POST", "/api/v1/predict", b"[" * 100_000)),
    ("a number of 400 digits", predict(ROW | {"income": 10**400})),
    ("`NaN` as a number", request("POST", "/api/v1/predict", b'{"rows": [{"income": NaN}]}')),
    ("201 rows, one more than allowed", explain(ids=list(range(201)))),
    ("a body that never comes", SLOW),
    ("a head that never ends", ENDLESS),
    ("a connection that says nothing", b""),
    ("a head of 1 MB", request("GET", "/healthz", X_Long="a" * 1_000_000)),
    ("another host", request("GET", "/api/v1/model", host="evil.example")),
    ("no host", b"GET /healthz HTTP/1.1\r\n\r\n"),
    ("a page of another origin asks", request("GET", "/api/v1/model", Origin="http://evil.example")),
    ("a form of another site posts", request("POST", "/api/v1/explain", {"ids": [0]},
                                             Sec_Fetch_Site="cross-site")),
    ("a form's content type", request("POST", "/api/v1/explain", b"ids=0",
                                      Content_Type="application/x-www-form-urlencoded")),
    ("no token", request("GET", "/api/v1/model", token=None)),
    ("a wrong token", request("GET", "/api/v1/model", token="x" * 40)),
    ("the token in the address", request("GET", f"/api/v1/model?token={TOKEN}", token=None)),
    ("`/static/../serving.py`", request("GET", "/static/../serving.py")),
    ("`/static/%2e%2e/%2e%2e/etc/passwd`", request("GET", "/static/%2e%2e/%2e%2e/etc/passwd")),
    ("`/static/index.html%00`", request("GET", "/static/index.html%00")),
    ("a model to load (`PUT /api/v1/model`)", request("PUT", "/api/v1/model", {"path": "/x"})),
    ("an end of line in a header of ours", request("GET", "/healthz", X_Request_ID="a%0d%0aX: b")),
    ("two lengths (request smuggling)", request(
        "POST", "/api/v1/predict", b"{}", Content_Length="2\r\nContent-Length: 9")),
    ("TLS to a port without it", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    ("an explanation with a forged class", "forged"),
    ("rules about a feature that is not there", explain(ids=[0], rules={"frozen": ["shoe"]})),
    ("a relation that is code", explain(ids=[0], rules={"relations": ["__import__('os') <= 1"]})),
]  # fmt: skip


def forged(server):
    """A stored explanation that claims another class."""
    answer = sent(server, explain(ids=[0], certificate=True))
    stored = json.loads(answer.partition(b"\r\n\r\n")[2])["explanations"][0]["stored"]
    stored["summary"]["prediction"] = {"yes": "no", "no": "yes"}[stored["summary"]["prediction"]]
    return request("POST", "/api/v1/check", {"explanation": stored})


def outcome(back):
    """Return what came back, in words."""
    if not back:
        return "closed without an answer"
    head, _, body = back.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    if status != 200:
        try:
            found = json.loads(body)
        except ValueError:
            return f"{status}, closed"
        where = f" (`{found['field']}`)" if found.get("field") else ""
        return f"{status}{where}"
    raw = any(bad in body for bad in (b"<script>alert", b"\x1b"))
    if b"text/html" in head:
        return "200, runs" if raw else "200, escaped"
    if b'"verdict"' in body:
        return f"200, {json.loads(body)['verdict']}"
    return "200, as data" if json.loads(body) and b"\x1b" not in body else "200, raw"


def table():
    """Return the rows of the table: what was sent, and what became of it."""
    late = {SLOW: {"body": HASTE}, ENDLESS: {"head": HASTE}, b"": {"head": HASTE}}
    told = {}
    for waits in ({}, {"body": HASTE}, {"head": HASTE}):
        with running(**waits) as server:
            for what, content in CASES:
                if late.get(content, {}) == waits:
                    sending = forged(server) if content == "forged" else content
                    told[what] = outcome(sent(server, sending))
    return [(what, told[what]) for what, _ in CASES]


def markdown(rows):
    lines = ["| sent | outcome |", "|---|---|", *(f"| {what} | {told} |" for what, told in rows)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(table()))
