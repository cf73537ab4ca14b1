"""One self-contained HTML page about many explanations."""

from __future__ import annotations

import json
import os
import pickle
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import sklearn
from markupsafe import Markup

from pertinent.exceptions import visible, writing
from pertinent.summary.population import summarize_population
from pertinent.summary.summary import Summary, asked_of, summarize
from pertinent.summary.words import listed, percent, shown
from pertinent.views.beside import MEASURE, chances
from pertinent.views.html import own_file, templates
from pertinent.views.layout import strips
from pertinent.views.phrases import as_seen, typical
from pertinent.views.population import population_text
from pertinent.views.text import (
    also_enough,
    change,
    enough,
    other_changes,
    row_line,
    row_proof,
    with_others,
)

if TYPE_CHECKING:
    from pertinent.summary.asked import Answered, Rooms

#: Hexadecimal digits of a fingerprint that are shown.
DIGITS = 16

#: Strips drawn for each row, and features listed for each class.
MOST_STRIPS, MOST_FEATURES = 8, 15
#: Up to so many rows, what stands in for an empty positive is looked for: it takes time.
FEW_ROWS = 64


def write_report(explanations: Answered, path: str | Path, **told: Any) -> Path:
    """Write the report and return its path; see `Explanations.report` and `report_html`."""
    target = Path(path)
    page = report_html(explanations, **told)
    with writing(target):
        target.write_text(page, encoding="utf-8")
    return target


def report_html(
    explanations: Answered,
    title: str | None = None,
    max_rows: int = 1000,
    date: str | None = None,
    facts: Mapping[str, str] | None = None,
    rooms: Sequence[Rooms] | None = None,
) -> str:
    """Return the report as HTML; the same explanations and date give the same bytes.

    Of ``rooms`` it shows how far changed values may move; kept ones need none.
    """
    population = shown(summarize_population(explanations))
    rows = range(min(len(explanations), max_rows))
    instead = None if len(rows) <= FEW_ROWS else [None] * len(rows)
    summaries = shown(summarize(explanations, rows, instead=instead, rooms=rooms))
    noun = f"{population['subject']}s"
    made, marks = day(date), _marks(explanations)
    template = templates().get_template("report.html.jinja")
    return template.render(
        style=own_file(),
        report_style=own_file("report.css"),
        script=own_file("report.js"),
        data=_data(summaries),
        title=visible(title or "")
        or f"What {population['model']} decides, and what would change it",
        text=population_text(population),
        noun=noun,
        card=[
            *model_card(population),
            *([("Made on", made)] if made else []),
            ("Fingerprints", marks),
            *((visible(name), visible(fact)) for name, fact in (facts or {}).items()),
        ],
        rules=population["rules"],
        notes=_notes(population),
        population=population,
        rows=[_row(summary) for summary in summaries],
        left_out=len(explanations) - len(summaries),
        glossary=_glossary(population),
        usual=typical(as_seen(summaries[0])) if summaries else "",
        ranges=bool(summaries) and summaries[0]["features"][0]["low"] is not None,
        version=version("pertinent"),
        made=made,
        marks=marks,
        **_charts(population),
    )


def model_card(population: Summary) -> list[tuple[str, str]]:
    """Return facts about the model and the question, as pairs of words."""
    names = [feature["text"] for feature in population["features"]]
    shown = names if len(names) <= 20 else [*names[:20], f"{len(names) - 20} more"]
    classes = [f"{c['text']} ({c['count']:,} predicted)" for c in population["classes"]]
    return [
        ("Model", f"{population['library']} {population['estimator']}"),
        ("Settings", population["settings"]),
        ("Classes", listed(classes)),
        (f"{len(names)} features", ", ".join(shown)),
        ("Explained", f"{population['n']:,} {population['subject']}s"),
        (
            "Versions",
            f"pertinent {version('pertinent')}, scikit-learn {sklearn.__version__}, "
            f"Python {platform.python_version()}",
        ),
    ]


def day(date: str | None = None) -> str:
    """Return the date of a report: the one given, else the day it is made (UTC).

    ``SOURCE_DATE_EPOCH`` (seconds since 1970) takes the place of the clock, as in other tools whose
    output has to be the same again; see https://reproducible-builds.org/specs/source-date-epoch.

    Examples
    --------
    >>> from pertinent.views.report import day
    >>> day("1 May 2030"), day("")
    ('1 May 2030', '')
    """
    if date is not None:
        return visible(date)
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    return now.date().isoformat()


def _marks(explanations: Answered) -> str:
    """Return of which model and rows a report is, by their fingerprints."""
    known = fingerprints(explanations)
    model = known["model"] or "none (it cannot be written down)"
    return f"model {model}; explained rows {known['data']}"


def _notes(population: Summary) -> list[str]:
    notes = [f"The size of a change is {MEASURE[population['measure']]}."]
    if population["between"]:
        notes.append("What was enough uses values between the typical value and the own one only.")
    if population["avoid"]:
        notes.append("Changes keep off what was enough, where that is possible.")
    return notes


def _row(summary: Summary) -> Summary:
    return {
        "k": summary["classes"].index(summary["prediction"]),
        "s": summary["negative"]["status"],
        "line": row_line(summary),
        "enough": with_others(enough(summary, "report"), also_enough(summary, "report")),
        "change": with_others(change(summary, "report"), other_changes(summary, "report")),
        "chances": chances(summary),
        "proof": row_proof(summary),
    }


def _data(summaries: list[Summary]) -> Markup:
    """Return what the page's script draws, as JSON that cannot end the script early."""
    features = summaries[0]["features"] if summaries else []
    place = {feature["text"]: j for j, feature in enumerate(features)}
    data = {
        "features": [feature["text"] for feature in features],
        "rows": [_strips(summary, place) for summary in summaries],
        "orders": [_orders(summary) for summary in summaries],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)


def _orders(summary: Summary) -> list[float | None]:
    """Return by what rows are sorted: size, number of changes, probability of the prediction."""
    negative, known = summary["negative"], summary["probability"]
    size = negative["objective"] if negative["values"] else None
    return [
        None if size is None else float(f"{size:.6g}"),
        len(negative["values"]) or None,
        None if known is None or known["prediction"] is None else round(known["prediction"], 6),
    ]


def _strips(summary: Summary, place: dict[str, int]) -> list[list[Any]]:
    out = []
    usual = typical(as_seen(summary))
    for s in strips(summary, MOST_STRIPS)[0]:
        low, high = s.typical or (None, None)
        marks = (s.baseline, s.sample, s.kept, s.changed, low, high)
        texts = s.texts
        new = texts.get("changed", "")
        numbers = [-1 if m is None else round(1000 * m) for m in marks]
        base = f"{usual} {texts['baseline']}"
        strip = [place[s.name], *numbers, texts["sample"], new, base]
        if texts.get("kept", texts["sample"]) != texts["sample"]:
            strip.append(texts["kept"])
        out.append(strip)
    return out


def _charts(population: Summary) -> dict[str, Any]:
    distance = population["distance"]
    tallest = max(distance["counts"], default=0) or 1
    reasons = population["negative"]["reasons"] + population["positive"]["reasons"]
    return {
        "frequencies": _frequencies(population),
        "bars": [round(100 * count / tallest, 1) for count in distance["counts"]],
        "largest": f"{distance['edges'][-1]:.3g}" if distance["edges"] else "",
        "quantiles": [(percent(q), f"{size:.3g}") for q, size in distance["quantiles"] if q > 0],
        "outcomes": [
            ("What was enough", population["positive"]),
            ("What would change it", population["negative"]),
        ],
        "reasons": reasons[:10],
        "overlap": "; ".join(f"{k} for {n:,}" for k, n in enumerate(population["overlap"]) if n),
    }


def _frequencies(population: Summary) -> list[Summary]:
    total = np.sum(population["kept"], axis=0) + np.sum(population["changed"], axis=0)
    order = sorted(range(len(total)), key=lambda j: (-total[j], j))[:MOST_FEATURES]
    groups = []
    for k, chosen in enumerate(population["classes"]):
        if not chosen["count"]:
            continue
        features = [
            {
                "text": population["features"][j]["text"],
                "kept": round(100 * population["kept"][k][j] / chosen["count"]),
                "changed": round(100 * population["changed"][k][j] / chosen["count"]),
            }
            for j in order
            if total[j]
        ]
        count = f"{chosen['count']:,}"
        groups.append({"text": chosen["text"], "count": count, "features": features})
    return groups


def _glossary(population: Summary) -> list[str]:
    base = population["baseline"]
    usual = "given with the question" if base == "given" else f"the {base} of the data"
    return [
        "“Was enough” (the pertinent positive): with only these values, and all others at their "
        f"typical values ({usual}), the model predicts the same.",
        "“Would change it” (the pertinent negative): the smallest change after which the model "
        "predicts another class.",
        "“Proved smallest”: a certificate shows that no valid answer is smaller. It was checked "
        "without the solver that found the answer, and “pertinent check” repeats that check. It "
        "speaks of the model, the rules and the measure of size above, and of nothing else: not "
        "of causes, and not of whether the model is right or fair.",
        "Every point was given to the model itself before it was shown, rounded as it is printed.",
    ]


def fingerprints(explanations: Answered) -> dict[str, str | None]:
    """Return those of the model and of the samples; None where there is none."""
    return {
        "model": model_fingerprint(asked_of(explanations).model),
        "data": data_fingerprint(explanations),
    }


def model_fingerprint(model: Any) -> str | None:
    """Return what stands for the parameters of a model, the fitted ones included.

    None where it cannot be pickled, as a model that holds a lambda.

    Examples
    --------
    >>> from pertinent.views.report import model_fingerprint
    >>> from sklearn.linear_model import LogisticRegression
    >>> one, other = (LogisticRegression().fit([[0.0], [x]], [0, 1]) for x in (1.0, 2.0))
    >>> model_fingerprint(one) == model_fingerprint(other), len(model_fingerprint(one))
    (False, 16)
    """
    try:
        return str(joblib.hash(model, hash_name="sha1"))[:DIGITS]
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def data_fingerprint(explanations: Answered) -> str:
    """Return what stands for the names and values of the samples, as the model reads them."""
    table = explanations.table
    content = sha256("\0".join(map(str, table.features.names)).encode())
    content.update(np.ascontiguousarray(table.values, dtype="<f8").tobytes())
    content.update(np.ascontiguousarray(table.missing, dtype=bool).tobytes())
    return content.hexdigest()[:DIGITS]
