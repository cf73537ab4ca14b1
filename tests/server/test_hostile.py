"""What strangers send: the table of the documentation is what happens."""

from __future__ import annotations

from pathlib import Path

from tests.server.hostile import markdown, outcome, table

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


def test_the_table_of_the_documentation_is_what_happens():
    rows = table()
    assert not [row for row in rows if row[1].startswith("5") or row[1].endswith(("runs", "raw"))]
    assert markdown(rows) in PAGE.read_text(encoding="utf-8")


def test_an_outcome_that_is_harm_is_called_so():
    page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<script>alert(1)</script>"
    assert outcome(page) == "200, runs"
    assert outcome(page.replace(b"<script>", b"&lt;script&gt;")) == "200, escaped"
    assert outcome(b"") == "closed without an answer"
