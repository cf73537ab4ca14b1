"""Names, labels and values of strangers: nothing in them does anything where it is shown."""

import csv
import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner

import pertinent
from pertinent.api.answer_text import answer_text
from pertinent.cli.app import app
from pertinent.exceptions import InputError, visible
from pertinent.views.frame import cell

mpl.use("Agg")
NAME, CATEGORY = "age\x1b[2J\u202e\n<b>", "=cmd|' /C calc'!A1\x9b31m\u2028"
LABELS = np.array(["no\x07\u2066", "@yes\r\nError: forged"])


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {NAME: rng.normal(size=60), "kind": np.where(rng.random(60) > 0.5, CATEGORY, "b")}
    )
    y = LABELS[((X[NAME] > 0) | (X.kind == CATEGORY)).astype(int)]
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    rules = pertinent.Constraints(bounds={NAME: (-9, 9)})
    return model, X, pertinent.Explainer(model, data=X, constraints=rules).explain(X.head(6))


def hidden(text, *allowed):
    return {c for c in text if not c.isprintable() and c not in ("\n", *allowed)}


def test_texts_hold_nothing_hidden(hostile):
    _, X, found = hostile
    texts = [one.text(length) for one in found for length in ("short", "medium", "long")]
    texts += [found.text(), *map(repr, found)]
    again = pertinent.Explanation.from_json(found[0].json())
    texts += [again.text("long"), repr(again)]
    results = pertinent.pertinent_negatives(hostile[0], X.head(1), data=X)
    texts += [answer_text(results, 0, "long")]
    for text in texts:
        assert not hidden(text), text
        assert "\nError: forged" not in text
        assert "[2J\n" not in text
    assert any(r"age\x1b[2J" in text for text in texts)


def test_pages_hold_nothing_hidden(hostile, tmp_path):
    _, _, found = hostile
    page = found.report(tmp_path / "report.html", title="A\x1b[2J<i>").read_text(encoding="utf-8")
    for html in (page, found[0].html(), found._repr_html_()):
        assert not hidden(html, "\t"), hidden(html, "\t")
        assert visible(NAME) not in html
        assert visible(NAME).replace("<b>", "&lt;b&gt;") in html
    assert "<i>" not in page


def test_rules_hold_nothing_hidden():
    rules = pertinent.Constraints(frozen=[NAME], bounds={CATEGORY: (0, 1)})
    assert str(rules) == visible(str(rules))
    assert r"age\x1b[2J\u202e" in str(rules)


def test_plots_hold_nothing_hidden(hostile):
    _, _, found = hostile
    figures = [found[0].plot().figure, found.plot_summary()]
    texts = [t.get_text() for f in figures for t in f.findobj(mpl.text.Text)]
    assert not any(hidden(text) for text in texts)


def test_the_command_line_shows_nothing_hidden(hostile, tmp_path):
    model, X, _ = hostile
    skops.io.dump(model, tmp_path / "model.skops")
    X.head(3).assign(**{"ext\x1b]0;ra\x07": 1}).to_parquet(tmp_path / "rows.parquet")
    given = [str(tmp_path / "model.skops"), str(tmp_path / "rows.parquet")]
    stored = tmp_path / "stored.json"
    run = CliRunner().invoke
    shown = [
        run(app, ["explain", *given]),
        run(app, ["explain", *given, "--json"]),
        run(app, ["explain", *given, "--json", "-o", str(stored)]),
        run(app, ["report", *given, "-o", str(tmp_path / "report.html")]),
        run(app, ["report", *given, "-o", str(tmp_path / "report.html"), "--json"]),
        run(app, ["explain", *given, "--freeze", "a\x1b[2Jg\u202e"]),
        run(app, ["explain", *given, "--target", "a\x1b[2Jg\u202e"]),
        run(app, ["check", str(stored), given[0]]),
        run(app, ["check", str(stored), given[0], "--json"]),
    ]
    for one in shown:
        assert not hidden(one.output), one.output
        assert "\nError: forged" not in one.output
    line = shown[1].stdout.splitlines()[0]
    assert json.loads(line)["summary"]["features"][0]["name"] in (NAME, "kind")


def test_csv_runs_nothing_and_keeps_numbers(hostile, tmp_path):
    _, _, found = hostile
    path = found.to_csv(tmp_path / "answers.csv")
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert len(rows) == len(found)
    own = found.to_frame("pandas")
    assert len(header) == own.shape[1]
    for text in (text for row in (header, *rows) for text in row):
        assert not hidden(text)
        assert "\n" not in text
        if text.startswith(("=", "+", "-", "@", "\t")):
            float(text)
    place = header.index("negative_size")
    assert [float(row[place]) for row in rows] == own["negative_size"].tolist()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder"):
        found.to_csv(tmp_path / "folder")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("=1", "'=1"), (" =1", "' =1"), ("\t=1", "\\t=1"), ("@a", "'@a"), ("+a", "'+a"), ("-a", "'-a"),
     ("-1e5", "-1e5"), (-2, -2), (-2.5, -2.5), (True, True), (None, None), ("a=b", "a=b")],
)  # fmt: skip
def test_cells(value, expected):
    assert cell(value) == expected


def test_visible_leaves_every_script_alone():
    for text in ("Größe", "身長", "العمر", "גיל", "эж", "👍", "é", "a b", "µ × ≤"):
        assert visible(text) == text


def test_reasons_hold_nothing_hidden(hostile):
    model, X, _ = hostile
    rules = pertinent.Constraints(frozen=[NAME, "kind"])
    found = pertinent.pertinent_negatives(model, X.head(2), data=X, constraints=rules)
    assert (found.status == "infeasible").all()
    for why in found.reason:
        assert not hidden(str(why)), why
        assert visible(NAME) in str(why)


def test_stored_texts_hold_nothing_hidden_and_are_read_as_they_were(hostile):
    model, X, found = hostile
    menu = pertinent.Explainer(model, data=X).menu(X.head(1), max_features=1)
    for text in (found[0].json(), found[0].json(indent=2), menu.json()):
        assert not hidden(text), hidden(text)
    document = json.loads(found[0].json())
    assert NAME in [feature["name"] for feature in document["summary"]["features"]]
    assert pertinent.check(document, model).ok
