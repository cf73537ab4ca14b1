"""The explainer of texts: what it takes, what it shows, and what a check says of its files."""

from __future__ import annotations

import json

import jsonschema
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import pertinent
from pertinent.exceptions import InputError
from pertinent.views.passage import passage_text

TEXTS = ["a good film", "good fun and good music", "a bad film", "bad and dull", "dull dull music"]
LABELS = ["+", "+", "-", "-", "-"]
#: Text that would do something to a page or to a terminal.
HOSTILE = "A good <script>alert('film')</script> &amp; \x1b[2J\u202e fun\nbad <b>music</b>"


@pytest.fixture(scope="module", params=["counts", "tf-idf"])
def model(request):
    if request.param == "counts":
        return make_pipeline(CountVectorizer(), MultinomialNB()).fit(TEXTS, LABELS)
    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=100)).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def explained(model):
    return pertinent.TextExplainer(model).explain(["A good film, with fun and music."])[0]


def test_answers_are_texts(model, explained):
    passage = explained.passage
    assert set(explained.kept.values()) == {True}
    assert all(values == (True, False) for values in explained.changed.values())
    assert passage["enough"].lower().split() == [w for w in explained.kept]
    assert model.predict([passage["enough"], passage["changed"]]).tolist() == [
        explained.prediction, explained.target,
    ]  # fmt: skip


def test_passages_show_their_words(explained):
    said, page = explained.text(), explained.html()
    kept, gone = next(iter(explained.kept)), next(iter(explained.changed))
    assert f"“{kept}”" in said
    assert "Proved smallest" in said
    assert f"*{kept}*" in said
    assert "~~" in said
    assert f"<mark>{kept}</mark>" in page
    assert "<del>" in page
    assert gone in page
    assert "Certificate" in explained.text("long")
    assert len(explained.text("short")) < len(said) < len(explained.text("long"))


def test_nothing_in_a_text_does_anything(model):
    [found] = pertinent.TextExplainer(model).explain([HOSTILE])
    page, said = found.html(), found.text("long")
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page
    for shown in (page, said, found.json()):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "\\x1b[2J" in said
    assert model.predict([found.passage["changed"]])[0] == found.target


def test_answers_are_the_same_every_time_and_in_any_company(model):
    explainer = pertinent.TextExplainer(model)
    alone = [explainer.explain([text])[0].json() for text in TEXTS]
    assert [found.json() for found in explainer.explain(TEXTS)] == alone


def test_stored_explanations_hold_and_follow_the_schema(model, explained):
    stored = explained.json()
    jsonschema.validate(json.loads(stored), pertinent.json_schema())
    checked = pertinent.check(stored, model)
    assert checked.ok, checked
    read = pertinent.Explanation.from_json(stored)
    assert read == explained
    assert read.text("long") == explained.text("long")
    assert read.html() == explained.html()


def forged(stored, change):
    document = json.loads(stored)
    change(document["summary"], document["proof"])
    return document


def _another_text(summary, proof):
    summary["passage"]["changed"] += " good"


def _another_piece(summary, proof):
    summary["passage"]["pieces"][0][0] = "Not a "


def _another_document(summary, proof):
    proof["question"]["passage"]["document"] += " bad"


def _more_occurrences(summary, proof):
    proof["question"]["passage"]["document"] += " good good"


def _cheaper_words(summary, proof):
    proof["question"]["weights"]["values"][0] = 0.5


def _larger_bound(summary, proof):
    for part in (summary["negative"], summary["positive"]):
        part["bound"] += 1
    for part in (proof["negative"], proof["positive"]):
        part["bound"]["values"][0] += 1


@pytest.mark.parametrize(
    "change",
    [
        _another_text, _another_piece, _another_document, _more_occurrences, _cheaper_words,
        _larger_bound,
    ],
)  # fmt: skip
def test_forged_files_are_refuted(model, explained, change):
    assert pertinent.check(forged(explained.json(), change), model).verdict == "refuted"


def _another_sample(summary, proof):
    proof["question"]["sample"][0] = 1 - proof["question"]["sample"][0]


def _another_word(summary, proof):
    proof["question"]["features"][0] += "s"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_another_word, "the document has other words"),
        (_another_sample, "the sample has other words than the document"),
        (_cheaper_words, "a word counts otherwise than by its occurrences"),
    ],
)
def test_each_check_of_a_document_says_what_is_wrong(model, explained, change, words):
    assert words in str(pertinent.check(forged(explained.json(), change), model))


def test_what_is_not_said_of_texts_is_refused(model, explained):
    def with_ranges(summary, proof):
        ends = {"type": "array", "of": "float", "shape": [2], "values": [0.0, 1.0]}
        none = {"spans": [], "box": [], "choices": []}
        some = none | {"spans": [{"column": 0, "ends": ends, "cuts": []}]}
        proof["ranges"] = {"positive": none, "negative": some}

    def with_another_method(summary, proof):
        proof["question"]["method"] = proof["positive"]["method"] = "sufficient"

    for change, words in (
        (with_ranges, "has no ranges"),
        (with_another_method, "'strict'"),
    ):
        with pytest.raises(InputError, match=words):
            pertinent.check(forged(explained.json(), change), model)


def test_files_of_texts_and_of_tables_are_not_mixed_up(model, explained):
    table = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="about texts"):
        pertinent.check(explained.json(), table)
    other = pertinent.Explainer(table).explain([[0.0]])[0].json()
    with pytest.raises(InputError, match="about texts"):
        pertinent.check(other, model)


@pytest.mark.parametrize("document", ["", "   \n", "no word known here"])
def test_documents_without_known_words(model, document):
    with pytest.raises(InputError, match="has no word that the model knows"):
        pertinent.TextExplainer(model).explain([document])
    [found] = pertinent.TextExplainer(model, add=["good", "bad"]).explain([document])
    assert found.passage["enough"] == ""
    assert model.predict([found.passage["changed"]])[0] == found.target
    assert pertinent.check(found.json(), model).ok


def test_where_no_word_changes_the_class_that_is_proved(model):
    [found] = pertinent.TextExplainer(model).explain(["bad bad dull"])
    assert found.summary()["negative"]["status"] in ("infeasible", "optimal")
    if found.summary()["negative"]["status"] == "infeasible":
        assert "Proved: whichever of the words are taken out" in found.text()
        assert pertinent.check(found.json(), model).ok


def test_the_target_is_asked_for(model):
    explainer = pertinent.TextExplainer(model)
    [found] = explainer.explain(["a good film"], target="+")
    assert "nothing has to" in found.text()
    with pytest.raises(InputError, match="target"):
        explainer.explain(["a good film"], target="?")


def test_input_errors_say_what_to_do(model):
    explainer = pertinent.TextExplainer(model)
    with pytest.raises(InputError, match=r"explain\(\[text\]\)"):
        explainer.explain("a good film")
    with pytest.raises(InputError, match="must be a text"):
        explainer.explain([3])
    with pytest.raises(InputError, match="knows no word 'zebra'"):
        pertinent.TextExplainer(model, add=["zebra"]).explain(["a good film"])
    with pytest.raises(InputError, match="True or a list"):
        pertinent.TextExplainer(model, add="good").explain(["a good film"])
    assert "TextExplainer of Pipeline" in repr(explainer)


def test_what_is_not_proved_is_not_said_to_be(explained):
    summary = explained.document()["summary"] | {}
    summary["negative"] = summary["negative"] | {"status": "feasible", "bound": 0.0}
    assert "not proved smallest." in passage_text(summary)
    summary["negative"]["bound"] = 0.5
    assert "fewer than 0.5 words are too few." in passage_text(summary)
