"""What a notebook shows of an object: plain HTML in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pertinent.exceptions import visible


def card(title: str, rows: Iterable[Sequence[str]], note: str = "") -> str:
    """Return a title with a table below it, as a piece of HTML.

    Examples
    --------
    >>> from pertinent.tables.notebook import card
    >>> card("a < b", [], "all of them")
    '<div><strong>a &lt; b</strong><p>all of them</p></div>'
    """
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    table = f"<table><tbody>{lines}</tbody></table>" if lines else ""
    below = f"<p>{_text(note)}</p>" if note else ""
    return f"<div><strong>{_text(title)}</strong>{table}{below}</div>"


class Card:
    """What a notebook shows of an object that is one sentence: that sentence."""

    def _repr_html_(self) -> str:
        return card(str(self), [])


def _cell(words: str) -> str:
    return f'<td style="text-align: left">{_text(words)}</td>'


def _text(words: str) -> str:
    return escape(visible(words))
