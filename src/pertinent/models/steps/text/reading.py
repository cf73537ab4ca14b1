"""A pipeline that reads texts, in its three parts: counting words, weighing them, deciding.

What a word contributes does not depend on the others, but for the norm that TF-IDF divides by. So a
word that stays or goes with all its occurrences has two values, and a linear model is linear in
whether it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.cell import Cell
from pertinent.geometry.pieces import cells_of
from pertinent.models.registry import decision_region, lineage, require_fitted
from pertinent.models.steps.pipeline import as_pipeline, is_pipeline, unwrap
from pertinent.models.steps.text.passage import Analyzer, Passage, cut
from pertinent.models.steps.walk import Columns, Walk, register_symbolic

COUNTS = "sklearn.feature_extraction.text.CountVectorizer"
TFIDF_VECTORIZER = "sklearn.feature_extraction.text.TfidfVectorizer"
TFIDF = "sklearn.feature_extraction.text.TfidfTransformer"
HASHING = "sklearn.feature_extraction.text.HashingVectorizer"
BERNOULLI = "sklearn.naive_bayes.BernoulliNB"


class Norm(StrEnum):
    """What TF-IDF divides the values of a text by."""

    L1 = "l1"
    L2 = "l2"


@dataclass(frozen=True, eq=False)
class Values:
    """What a model sees of the words of a document.

    Parameters
    ----------
    places : ndarray of int, shape (n_words,)
        Their places in the vocabulary.
    present : ndarray of shape (n_words,)
        What stands there if a word is present, with all its occurrences.
    absent : float
        What stands there, and at all other places of the vocabulary, if a word is not.
    norm : Norm or None
        The norm of the whole that it is divided by.
    """

    places: Any
    present: FloatArray
    absent: float = 0.0
    norm: Norm | None = None


class TextModel:
    """The parts of a fitted pipeline that reads texts.

    Parameters
    ----------
    model : fitted Pipeline, or a search over it
        CountVectorizer or TfidfVectorizer over single words, a TfidfTransformer perhaps, and a
        model of linear scores, other steps before it included.
    """

    def __init__(self, model: Foreign) -> None:
        inner = unwrap(model)
        if not is_text_model(inner):
            raise UnsupportedModelError(_not_text(inner))
        steps = [step for _, step in inner.steps if step is not None and step != "passthrough"]
        self.vectorizer, rest = steps[0], steps[1:]
        _require_words(self.vectorizer)
        require_fitted(inner)
        self.weigh: Foreign = getattr(self.vectorizer, "_tfidf", None)
        if rest and _is(rest[0], TFIDF):
            if self.weigh is not None:
                raise _unread(
                    "TfidfTransformer behind TfidfVectorizer",
                    "it weighs the words of a text again, after they were divided by its norm",
                    "leave one of them out",
                )
            self.weigh, rest = rest[0], rest[1:]
        if getattr(self.vectorizer, "dtype", None) == np.float32:
            raise _unread(
                f"{type(self.vectorizer).__name__}(dtype=float32)",
                "it gives numbers in single precision, whose rounding is larger than what is "
                "proved",
                "fit it with dtype=float64, as by default",
            )
        self.threshold, self.rest = _without_threshold(rest)
        self.analyze: Analyzer = self.vectorizer.build_analyzer()
        self.vocabulary: dict[str, int] = self.vectorizer.vocabulary_
        if self.threshold and self.norm is not None:
            raise _unread(
                "BernoulliNB(binarize=...) behind TF-IDF",
                "it compares what was divided by the norm of the whole text: which words count "
                "then depends on all others",
                "fit it with binarize=0.0, as by default, or norm=None",
            )

    @property
    def norm(self) -> Norm | None:
        """The norm that TF-IDF divides by."""
        found = getattr(self.weigh, "norm", None)
        return None if found is None else Norm(found)

    def passage(self, document: str, add: Any = ()) -> Passage:
        """Return a document in pieces, with the words that may be added to it."""
        by_pattern = self.vectorizer.analyzer == "word" and self.vectorizer.tokenizer is None
        pattern = self.vectorizer.token_pattern if by_pattern else None
        if pattern is not None and self.vectorizer.lowercase:
            pattern = f"(?i:{pattern.removeprefix('(?u)')})"
        found = cut(document, self.analyze, self.vocabulary, pattern)
        own = set(found.words)
        more = tuple(word for word in dict.fromkeys(add) if word not in own)
        counts = found.counts + (0,) * len(more)
        return replace(found, words=found.words + more, counts=counts)

    def values(self, passage: Passage) -> Values:
        """Return what the model sees of the words; those that may be added occur once then."""
        places = np.array([self.vocabulary[word] for word in passage.words], dtype=np.int64)
        counts = np.maximum(passage.counts, 1).astype(float)
        if self.vectorizer.binary:
            counts = np.ones(len(counts))
        shape = 1, len(self.vocabulary)
        row = sparse.csr_matrix((counts, (np.zeros_like(places), places)), shape=shape)
        if self.weigh is not None:
            weigh = copy(self.weigh)
            weigh.norm = None
            row = weigh.transform(row)
        present = np.asarray(row[0, places].todense(), dtype=float).ravel()
        if self.threshold is None:
            return Values(places, present, norm=self.norm)
        # A value above the threshold is 1, any other 0; dividing by a norm keeps what is above 0.
        return Values(
            places, (present > self.threshold).astype(np.float64), float(self.threshold < 0)
        )

    def require_linear(self, labels: Sequence[Any]) -> None:
        """Refuse a model whose classes are no planes in the values of words."""
        for label in labels:
            self.rest_cells(label)

    def rest_cells(self, label: Any) -> Sequence[Cell]:
        """Return where the rest of the pipeline predicts a label: rows over the vocabulary."""
        name = type(unwrap(self.rest)).__name__
        refused = _unread(
            f"{name} behind a vectorizer",
            "its regions are no planes in the values of words, and texts are explained for models "
            "of linear scores",
            "fit LogisticRegression, LinearSVC or MultinomialNB behind the vectorizer",
        )
        try:
            region = decision_region(self.rest, label)
        except UnsupportedModelError as error:
            raise refused from error
        cells = cells_of(region) or ()
        plain = all(cell.is_linear and not cell.has_bounds and cell.sums is None for cell in cells)
        if not plain or not len(cells) or region.dim != len(self.vocabulary):
            raise refused
        return cells


def is_text_model(model: Foreign) -> bool:
    """Return whether a model, or the one in a search, is a pipeline that reads texts."""
    inner = unwrap(model)
    return is_pipeline(inner) and _is(inner.steps[0][1], COUNTS, HASHING)


def _is(step: Foreign, *names: str) -> bool:
    return any(name in names for _, name in lineage(type(step)))


def _not_text(model: Foreign) -> str:
    return (
        "TextExplainer explains pipelines that begin with CountVectorizer or TfidfVectorizer, e.g. "
        "make_pipeline(TfidfVectorizer(), LogisticRegression()). Got "
        f"{type(model).__name__}; of a model of tables, use Explainer."
    )


def _unread(what: str, why: str, instead: str) -> UnsupportedModelError:
    """Return three lines: what is not explained word by word, why, and what to do."""
    return UnsupportedModelError(
        f"{what} is not supported: texts are explained word by word.\n"
        f"Why there is no exact answer: {why}.\n"
        f"What to do: {instead}."
    )


def _require_words(vectorizer: Foreign) -> None:
    """Refuse vectorizers whose columns are no single words, with the reason."""
    name = type(vectorizer).__name__
    if _is(vectorizer, HASHING):
        raise _unread(
            name,
            "it puts several words into one column and does not remember which, so that what a "
            "column says cannot be traced to words",
            "fit CountVectorizer or TfidfVectorizer in its place",
        )
    if vectorizer.analyzer in ("char", "char_wb"):
        raise _unread(
            f"{name}(analyzer={vectorizer.analyzer!r})",
            "it counts runs of characters, and those of a word overlap with those of its "
            "neighbours: words cannot be taken out one by one",
            "fit it with analyzer='word'",
        )
    if not callable(vectorizer.analyzer) and tuple(vectorizer.ngram_range) != (1, 1):
        # Neighbours u v at places p < q: sum over such p, q of z_p z_q prod_{p < r < q} (1 - z_r).
        raise _unread(
            f"{name}(ngram_range={tuple(vectorizer.ngram_range)})",
            "it counts neighbours together, and to take out a word makes new neighbours of those "
            "around it: their number is a product over all words in between, no sum over words",
            "fit it with ngram_range=(1, 1)",
        )


def _without_threshold(steps: list[Foreign]) -> tuple[float | None, Foreign]:
    """Return the threshold of BernoulliNB, and the linear rest without it."""
    if len(steps) == 1 and _is(steps[0], BERNOULLI):
        *compare, scores = (step for _, step in as_pipeline(steps[0]).steps)
        return (float(compare[0].threshold) if compare else None), scores
    if len(steps) == 1:
        return None, steps[0]
    return None, Pipeline([(str(i), step) for i, step in enumerate(steps)])


@register_symbolic(COUNTS, TFIDF_VECTORIZER, HASHING, refused=True)
def texts(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Refuse texts as a column of a table."""
    raise UnsupportedModelError(
        f"A model that begins with {type(step).__name__} reads texts, which are no table.\n"
        "Why there is no exact answer: a text has no columns before it is cut into words.\n"
        "What to do: explain it word by word with pertinent.TextExplainer(model), or with "
        "`pertinent explain model.skops texts.txt`."
    )
