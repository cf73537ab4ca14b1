"""Texts on the command line: `pertinent explain` of a model that reads them."""

import json

import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from pertinent.cli.app import app

skops = pytest.importorskip("skops.io")
run = CliRunner().invoke

TEXTS = ["A good film, with fun.", "", "A dull, bad film.", "Good fun; dull music"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    train = ["a good film", "good fun and good music", "a bad film", "bad and dull", "dull music"]
    labels = ["+", "+", "-", "-", "-"]
    for name, model in (
        ("counts", make_pipeline(CountVectorizer(), MultinomialNB())),
        ("weighed", make_pipeline(TfidfVectorizer(), LogisticRegression(C=100))),
        ("pairs", make_pipeline(CountVectorizer(ngram_range=(1, 2)), MultinomialNB())),
    ):
        skops.dump(model.fit(train, labels), folder / f"{name}.skops")
    (folder / "texts.txt").write_text("\n".join(TEXTS))
    quoted = "\n".join(f'{i},"{text or "film"}"' for i, text in enumerate(TEXTS))
    (folder / "texts.csv").write_text(f"key,review\n{quoted}\n")
    return folder


def asked(folder, model, file, *options):
    return run(app, ["explain", str(folder / model), str(folder / file), *options])


@pytest.mark.parametrize("model", ["counts.skops", "weighed.skops"])
def test_lines_are_explained_and_checked(folder, model, tmp_path):
    told = asked(folder, model, "texts.txt", "--rows", "0,2")
    assert told.exit_code == 0, told.output
    assert told.output.startswith("Text 0\n")
    assert "\nText 2\n" in told.output
    assert "The text (*enough*, ~~taken out~~)" in told.output
    stored = tmp_path / "stored.json"
    done = asked(folder, model, "texts.txt", "--json", "-o", str(stored))
    assert done.exit_code == 0, done.output
    checked = run(app, ["check", str(stored), str(folder / model), "--json"])
    assert checked.exit_code == 0, checked.output
    found = json.loads(checked.stdout)["explanations"]
    assert [(one["id"], one["verdict"]) for one in found] == [(i, "holds") for i in range(3)]
    shown = run(app, ["check", str(stored), str(folder / model)])
    assert "Text 2: holds" in shown.output


def test_a_column_of_a_table_is_the_texts(folder):
    one = asked(folder, "counts.skops", "texts.csv", "--rows", "3")
    assert one.exit_code == 0, one.output
    named = asked(folder, "counts.skops", "texts.csv", "--rows", "3", "--column", "review")
    assert named.output == one.output
    line = asked(folder, "counts.skops", "texts.txt", "--rows", "2")
    assert line.output.removeprefix("Text 2") == one.output.removeprefix("Text 3")


def test_a_change_may_add_words(folder):
    told = asked(folder, "counts.skops", "texts.txt", "--rows", "0", "--add", "dull", "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["proof"]["question"]["passage"]["add"] == ["dull"]
    every = asked(folder, "counts.skops", "texts.txt", "--rows", "0", "--add-any", "--json")
    assert len(json.loads(every.stdout)["proof"]["question"]["passage"]["add"]) > 1


@pytest.mark.parametrize(
    ("model", "file", "options", "words"),
    [
        ("counts.skops", "texts.txt", ["--freeze", "film"], "--freeze is for tables"),
        ("counts.skops", "texts.csv", ["--column", "text"], "no column 'text'"),
        ("counts.skops", "texts.csv", ["--column", "key"], "no text in row 0"),
        ("counts.skops", "texts.txt", ["--target", "good"], "no class 'good'"),
        ("counts.skops", "texts.txt", ["--rows", "7"], "There is no row 7"),
        ("counts.skops", "texts.txt", ["--add", "wild"], "knows no word 'wild'"),
        ("pairs.skops", "texts.txt", [], "makes new neighbours"),
    ],
)
def test_what_cannot_be_asked_is_refused(folder, model, file, options, words):
    refused = asked(folder, model, file, *options)
    assert refused.exit_code == 3
    assert words in " ".join(refused.output.split())


def test_other_commands_name_the_one_for_texts(folder):
    refused = run(app, ["report", str(folder / "counts.skops"), str(folder / "texts.csv")])
    assert refused.exit_code == 3
    assert "pertinent explain" in " ".join(refused.output.split())


def test_damaged_vocabularies_are_refused(folder, tmp_path):
    model = skops.load(folder / "counts.skops", trusted=[])
    words = model[0].vocabulary_
    words[next(iter(words))] = len(words)
    skops.dump(model, tmp_path / "damaged.skops")
    refused = run(app, ["explain", str(tmp_path / "damaged.skops"), str(folder / "texts.txt")])
    assert refused.exit_code == 3
    assert "damaged: a vocabulary" in " ".join(refused.output.split())
