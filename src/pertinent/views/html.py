"""Explanations as HTML: self-contained, for light and dark pages, escaped by Jinja."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pertinent.summary.summary import Summary
from pertinent.views.beside import chances, moves, proof_words, rule_words
from pertinent.views.layout import Strip, strips
from pertinent.views.phrases import Heading, as_seen, typical
from pertinent.views.population import population_text
from pertinent.views.text import (
    also_enough,
    change,
    enough,
    opening,
    other_changes,
    with_others,
)


@cache
def templates() -> Environment:
    """Return the templates; everything put into them is escaped."""
    return Environment(
        loader=PackageLoader("pertinent.views", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def own_file(name: str = "style.css") -> Markup:
    """Return one of our own files, which is put into the page as it is."""
    source, _, _ = templates().loader.get_source(templates(), name)  # type: ignore[union-attr]
    return Markup(source)


def html(summary: Summary) -> str:
    """Return one explanation as a piece of HTML; see `Explanation.html`."""
    shown, more = strips(summary)
    return (
        templates()
        .get_template("single.html.jinja")
        .render(
            style=own_file(),
            opening=opening(summary),
            strips=[strip_marks(strip) for strip in shown],
            more=more,
            usual=typical(as_seen(summary)),
            ranges=summary["features"][0]["low"] is not None,
            enough=with_others(enough(summary), also_enough(summary)),
            change=with_others(change(summary), other_changes(summary)),
            chances=chances(summary),
            moves=moves(summary),
            certificate=Heading.PROOF,
            proof=proof_words(summary),
            rules=rule_words(summary),
        )
    )


def strip_marks(strip: Strip) -> dict[str, Any]:
    """Return a strip with its marks in percent, as the templates place them."""
    texts = {"sample": "", "baseline": "", "kept": "", "changed": ""} | strip.texts
    moved = strip.changed is not None
    return {
        "name": strip.name,
        "baseline": _percent(strip.baseline),
        "sample": _percent(strip.sample),
        "range": _span(*strip.typical) if strip.typical else None,
        "kept": None if strip.kept is None else _span(strip.baseline, strip.kept),
        "changed": _span(strip.sample, strip.changed) if strip.changed is not None else None,
        "left": moved and (strip.changed or 0.0) < strip.sample,
        "texts": texts,
    }


def _span(one: float, other: float) -> tuple[str, str]:
    """Return where a bar starts and how wide it is."""
    return _percent(min(one, other)), _percent(abs(one - other))


def _percent(place: float) -> str:
    return f"{100 * place:.1f}".removesuffix(".0")


def population_html(population: Summary) -> str:
    """Return the summary of many explanations as a piece of HTML."""
    template = templates().get_template("population.html.jinja")
    return template.render(
        style=own_file(), population=population, text=population_text(population)
    )
