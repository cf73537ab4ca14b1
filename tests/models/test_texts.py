"""Texts: each answer is a text that predict puts into its class, and as small as brute force."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.models.steps.text import PassageClassifier, TextModel
from pertinent.models.steps.text.passage import cut
from tests.texts import corpus, fitted, subsets

MODELS = {
    "counts, NB": (CountVectorizer(), MultinomialNB()),
    "counts, CNB": (CountVectorizer(), ComplementNB()),
    "counts, BernoulliNB": (CountVectorizer(), BernoulliNB()),
    "counts, BernoulliNB(1)": (CountVectorizer(), BernoulliNB(binarize=1.0)),
    "binary, LR": (CountVectorizer(binary=True, strip_accents="unicode"), LogisticRegression()),
    "counts, scaled, SVC": (CountVectorizer(min_df=2), MaxAbsScaler(), LinearSVC()),
    "no norm, ridge": (
        CountVectorizer(stop_words="english"), TfidfTransformer(norm=None), RidgeClassifier(),
    ),
    "l1, LR": (TfidfVectorizer(norm="l1"), LogisticRegression(C=100)),
    "l2, LR": (TfidfVectorizer(), LogisticRegression(C=10)),
    "l2, SVC": (TfidfVectorizer(sublinear_tf=True), LinearSVC()),
    "l2, SVC without intercept": (TfidfVectorizer(), LinearSVC(fit_intercept=False)),
    "l2, SGD": (
        CountVectorizer(), TfidfTransformer(use_idf=False), SGDClassifier(random_state=0),
    ),
    "l2, NB": (TfidfVectorizer(), MultinomialNB()),
    "l2, CNB": (TfidfVectorizer(), ComplementNB()),
    "l2, BernoulliNB": (TfidfVectorizer(), BernoulliNB()),
}  # fmt: skip


def short_documents(model, count):
    texts, _ = corpus()
    reading = TextModel(model)
    few = [t for t in texts if 3 <= len(reading.passage(t).words) <= 8]
    step = max(1, len(few) // count)
    return few[::step][:count]


def smallest(model, document):
    """Return the fewest words that are enough, and to take out, over all texts of the words."""
    passage = PassageClassifier(model, document)
    rows = np.array(list(subsets(passage.n_features_in_)))
    same = passage.predict(rows) == model.predict([document])[0]
    counts = np.array(passage.passage.counts)
    enough = rows.sum(axis=1)[same].min()
    removed = ((~rows) @ counts)[~same]
    return enough, removed.min() if len(removed) else None


@pytest.mark.matrix(4)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_answers_are_texts_and_as_small_as_brute_force(name, classes):
    model = fitted(*MODELS[name], classes=classes)
    documents = short_documents(model, 2)
    texts, wanted = [], []
    for found in pertinent.TextExplainer(model).explain(documents):
        summary, passage = found.summary(), found.passage
        document = documents[len(wanted) // 2]
        enough, removed = smallest(model, document)
        assert summary["positive"]["status"] == "optimal"
        assert summary["positive"]["objective"] == enough
        assert model.predict([passage["enough"]])[0] == found.prediction
        if removed is None:
            assert summary["negative"]["status"] == "infeasible"
        else:
            assert summary["negative"]["status"] in ("optimal", "feasible")
            assert summary["negative"]["bound"] <= removed + 1e-9
            assert summary["negative"]["objective"] == removed
            assert model.predict([passage["changed"]])[0] == found.target != found.prediction
        texts += [passage["enough"], passage["changed"] or document]
        wanted += [found.prediction, found.target if removed is not None else found.prediction]
        assert pertinent.check(found.json(), model).ok
    assert model.predict(texts).tolist() == wanted


def test_regions_hold_every_text_of_their_class():
    for name in ("l2, LR", "l2, SGD", "l2, CNB", "l1, LR", "counts, BernoulliNB"):
        model = fitted(*MODELS[name])
        passage = PassageClassifier(model, short_documents(model, 1)[0])
        rows = np.array(list(subsets(passage.n_features_in_)))
        labels = passage.predict(rows)
        held = {
            label: pertinent.decision_region(passage, label).contains(rows.astype(float))
            for label in model.classes_
        }
        for label in model.classes_:
            assert held[label][labels == label].all(), name
        assert sum(held.values()).sum() <= 1.02 * len(rows), name  # and hardly any other


def test_words_are_added_where_that_is_allowed():
    model = fitted(CountVectorizer(), MultinomialNB())
    [document] = short_documents(model, 1)
    [without] = pertinent.TextExplainer(model).explain([document])
    explainer = pertinent.TextExplainer(model, add=["array", "socket", "decimal"])
    [found] = explainer.explain([document])
    sizes = [one.summary()["negative"]["objective"] for one in (found, without)]
    assert sizes[1] is None or sizes[0] <= sizes[1]
    assert found.passage["added"]
    assert found.passage["changed"].endswith(found.passage["added"][-1])
    assert model.predict([found.passage["changed"]])[0] == found.target
    assert pertinent.check(found.json(), model).ok
    assert "added" in found.text()
    assert "<ins>" in found.html()


def test_the_whole_vocabulary_may_be_added():
    model = fitted(TfidfVectorizer(max_features=100), LogisticRegression(), classes=2)
    [document] = short_documents(model, 1)
    [found] = pertinent.TextExplainer(model, add=True).explain([document])
    assert len(found.summary()["features"]) >= len(model[0].vocabulary_) - 1
    assert model.predict([found.passage["changed"]])[0] == found.target


def test_bounds_of_long_texts_are_whole_words():
    """A bound of 28.8 words is one of 29: nothing is left open between two whole numbers."""
    texts, origins = corpus(60)
    labels = np.array(origins) == "numpy"
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=10)).fit(texts, labels)
    for found in pertinent.TextExplainer(model).explain(texts[72:96:12]):
        negative = found.summary()["negative"]
        assert negative["status"] == "optimal"
        assert negative["bound"] > negative["objective"] - 0.01
        assert pertinent.check(found.json(), model).verdict == "holds"


def test_a_search_over_a_pipeline_is_read():
    pipeline = fitted(CountVectorizer(), MultinomialNB(), classes=2)
    texts, labels = corpus()
    search = GridSearchCV(pipeline, {"multinomialnb__alpha": [0.5]}, cv=2).fit(texts, labels)
    [found] = pertinent.TextExplainer(search).explain(texts[:1])
    assert search.predict([found.passage["enough"]])[0] == found.prediction


def test_words_are_taken_out_of_the_text_itself():
    vectorizer = CountVectorizer().fit(["good bad film"])
    text = "Bad,\n\tbad  film -- GOOD\u2026 bad!"
    passage = cut(text, vectorizer.build_analyzer(), {"good", "bad", "film"})
    assert passage.document == text
    assert passage.words == ("bad", "film", "good")
    assert passage.counts == (3, 1, 1)
    assert passage.edited([False, True, True]) == ",\n\t film -- GOOD\u2026 !"
    assert passage.words_alone([True, False, True]) == "Bad bad GOOD bad"
    assert passage.edited([True, True, True]) == text


@pytest.mark.parametrize(
    ("vectorizer", "text"),
    [
        (CountVectorizer(strip_accents="unicode"), "Caf\u00e9 cafe\u0301 \u0130stanbul two2words"),
        (CountVectorizer(token_pattern=r"(?u)[a-z]+"), "two2words and-more UP"),
        (CountVectorizer(token_pattern=r"(?u)\b(\w+)ly\b"), "quickly and slowly"),
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "it's so-so, it's"),
        (CountVectorizer(analyzer=lambda t: re.findall(r"\w+", t.upper())), "any callable, any"),
        (CountVectorizer(preprocessor=str.upper, lowercase=False), "other cases, other"),
    ],
)
def test_words_are_those_of_the_vectorizers_own_analyzer(vectorizer, text):
    vectorizer.fit([text])
    model = make_pipeline(vectorizer, MultinomialNB()).fit([text, "else"], [0, 1])
    passage = PassageClassifier(model, text)
    counts = model[0].transform([text]).toarray()[0]
    places = [model[0].vocabulary_[word] for word in passage.passage.words]
    assert np.array_equal(counts[places], passage.passage.counts)
    assert counts.sum() == sum(passage.passage.counts)
    for row in subsets(passage.n_features_in_):
        [edited] = passage.texts([row])
        seen = model[0].transform([edited]).toarray()[0]
        assert np.array_equal(seen[places], np.where(row, passage.passage.counts, 0))


def test_words_that_cannot_be_traced_are_refused():
    twice = CountVectorizer(analyzer=lambda text: [w + "!" for w in text.split()[:-1]])
    model = make_pipeline(twice, MultinomialNB()).fit(["a b c", "d e f"], [0, 1])
    with pytest.raises(InputError, match="cannot be traced to its characters"):
        pertinent.TextExplainer(model).explain(["a b c"])


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ((HashingVectorizer(n_features=16), LogisticRegression()), "several words into one column"),
        ((CountVectorizer(ngram_range=(1, 2)), MultinomialNB()), "counts neighbours together"),
        ((CountVectorizer(analyzer="char"), MultinomialNB()), "counts runs of characters"),
        ((TfidfVectorizer(dtype=np.float32), LogisticRegression()), "in single precision"),
        (
            (TfidfVectorizer(), TfidfTransformer(), LogisticRegression()),
            "weighs the words of a text again",
        ),
        ((TfidfVectorizer(), BernoulliNB(binarize=0.1)), "compares what was divided"),
        ((CountVectorizer(), RandomForestClassifier(2, random_state=0)), "models of linear scores"),
        ((CountVectorizer(), SVC(kernel="poly")), "models of linear scores"),
    ],
)
def test_refused_with_the_reason(steps, why):
    with pytest.raises(UnsupportedModelError, match=why) as refused:
        pertinent.TextExplainer(fitted(*steps, classes=2))
    what, reason, instead = str(refused.value).splitlines()
    assert "is not supported" in what
    assert reason.startswith("Why there is no exact answer: ")
    assert instead.startswith("What to do: ")


def test_tables_and_texts_are_told_apart():
    with pytest.raises(UnsupportedModelError, match=r"use Explainer"):
        pertinent.TextExplainer(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(UnsupportedModelError, match=r"pertinent\.TextExplainer"):
        pertinent.Explainer(fitted(CountVectorizer(), MultinomialNB(), classes=2))
    unfitted = make_pipeline(CountVectorizer(), MultinomialNB())
    with pytest.raises(InputError, match="not fitted"):
        pertinent.TextExplainer(unfitted)
