"""A letter to whom a decision is about: what it was, and what would have changed it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, StrictUndefined

from pertinent.summary.words import shown
from pertinent.views.beside import CAUTION, chances, rule_words
from pertinent.views.text import opening, what_was_enough, what_would_change

STYLE = (
    "body{font:16px/1.5 Georgia,serif;max-width:42rem;margin:3rem auto;padding:0 1.5rem;"
    "color:#111;background:#fff}h1{font-size:1.35rem}h2{font-size:1.05rem;margin-top:1.6rem}"
    "small{color:#444}@media print{body{margin:0;max-width:none}}"
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>{{ style }}</style>
</head>
<body>
<p>{{ date }}</p>
<h1>{{ title }}</h1>
<p>{{ opening }}</p>
<h2>What would have changed the decision</h2>
<p>{{ change }}</p>
{% if chances %}<p>{{ chances }}</p>
{% endif %}
<h2>What was enough for it</h2>
<p>{{ enough }}</p>
{% if rules %}<h2>What we did not ask you to change</h2>
<p>{{ rules }}</p>
{% endif %}
<p><small>{{ caution }}</small></p>
</body>
</html>
"""


def style_hash() -> str:
    """Return the source expression of a Content-Security-Policy that allows the letter's style."""
    digest = hashlib.sha256(STYLE.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _template() -> Any:
    how = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return how.from_string(PAGE)


def _begun(words: str) -> str:
    """Return a sentence that stands by itself; a name such as x0 stays as it is written."""
    return words[:1].upper() + words[1:] if re.match(r"[a-z]{2,}(?![\w-])", words) else words


def letter_html(
    summary: Mapping[str, Any], title: str | None = None, date: str | None = None
) -> str:
    """Return the letter as one HTML page, ready to be printed; every name in it is escaped.

    Parameters
    ----------
    summary : dict
        That of an explanation.
    title : str, optional
    date : str, optional
        Today by default (UTC).
    """
    seen = shown(dict(summary))
    return str(
        _template().render(
            title=shown(title) if title else "About your decision",
            style=STYLE,
            date=f"{datetime.now(UTC):%d %B %Y}" if date is None else date,
            opening=opening(seen),
            change=_begun(what_would_change(seen)),
            chances=chances(seen),
            enough=_begun(what_was_enough(seen)),
            rules=rule_words(seen),
            caution=CAUTION,
        )
    )
