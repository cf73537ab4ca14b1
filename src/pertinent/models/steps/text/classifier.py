"""One document as a table of its words: each is there or not, and the text is judged as a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from pertinent.exceptions import InputError, one_line
from pertinent.geometry.arrays import BoolArray, Foreign
from pertinent.geometry.region import Region
from pertinent.models.registry import model_classes, predicted_labels, register_model
from pertinent.models.steps.text.reading import Norm, TextModel
from pertinent.models.steps.text.regions import region_of_words

M = TypeVar("M", bound=Callable[..., Any])

PASSAGE = "pertinent.models.steps.text.classifier.PassageClassifier"


def _where_known(name: str) -> Callable[[M], M]:
    """Return a decorator for what the model can do, or cannot."""
    decorate: Callable[[M], M] = available_if(lambda self: hasattr(self.model, name))
    return decorate


class PassageClassifier:
    """A model of texts and one document, as a classifier of which words of it are present.

    A row has a truth value for each word that the model knows: first those of the document, then
    those that may be added. ``predict`` takes the absent words out of the document, with all their
    occurrences, writes the added ones after it, and asks the model about that text.

    Parameters
    ----------
    model : fitted pipeline
        See `TextModel`.
    document : str
    add : iterable of str, or True
        Words of the vocabulary that may be added; True: all of them.
    reading : TextModel, optional
        The model, read before.

    Notes
    -----
    Regions may be a little more than the texts of a class (see the module ``regions``): of answers,
    that none is smaller and that there is none is proved of texts as well; how far values may move
    is not said of texts, and what is enough whatever the others are only where ``may_suffice``.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(CountVectorizer(), MultinomialNB())
    >>> model = model.fit(["good film", "a bad film", "bad"], ["yes", "no", "no"])
    >>> passage = PassageClassifier(model, "Not a bad film, a good one", add=["good"])
    >>> passage.feature_names_in_.tolist()
    ['bad', 'film', 'good']
    >>> passage.texts([[True, True, False]])
    ['Not a bad film, a one']
    """

    def __init__(
        self, model: Foreign, document: str, add: Any = (), reading: TextModel | None = None
    ):
        self.model = model
        self.reading = TextModel(model) if reading is None else reading
        if not isinstance(document, str):
            raise InputError(f"A document must be a text. Got {type(document).__name__}.")
        self.passage = self.reading.passage(document, _words_to_add(self.reading, add))
        if not self.passage.words:
            raise InputError(
                f"The document {one_line(document, 60)!r} has no word that the model knows: nothing"
                " can be taken out. Say what may be added with add=True, or add=[words]."
            )
        self.values = self.reading.values(self.passage)
        self.classes_ = model_classes(model)
        self.n_features_in_ = len(self.passage.words)
        self.feature_names_in_ = np.array(self.passage.words, dtype=object)

    def __repr__(self) -> str:
        return f"<PassageClassifier of {self.n_features_in_} words>"

    @property
    def may_suffice(self) -> bool:
        """Whether words may be said to be enough whatever the others are.

        Not with an l2 norm: regions may hold texts of other classes then. And not where words may
        be added: it would speak of words that the document lacks.
        """
        return self.values.norm is not Norm.L2 and all(self.passage.counts)

    @cached_property
    def label_of_none(self) -> Any:
        """The class of the document without all its words."""
        return self.predict(np.zeros((1, self.n_features_in_))).tolist()[0]

    @property
    def sample(self) -> BoolArray:
        """The document itself: which words occur in it; shape (1, n_words)."""
        return np.array([self.passage.counts]) > 0

    def texts(self, table: Any) -> list[str]:
        """Return the text of each row."""
        return [self.passage.edited(row) for row in np.asarray(table, dtype=float) > 0.5]

    def predict(self, table: Any) -> NDArray[Any]:
        """Return what the model predicts for the text of each row."""
        return predicted_labels(self.model, self.texts(table))

    @_where_known("predict_proba")
    def predict_proba(self, table: Any) -> NDArray[Any]:
        """Return the model's probabilities for the text of each row."""
        return np.asarray(self.model.predict_proba(self.texts(table)))

    @_where_known("decision_function")
    def decision_function(self, table: Any) -> NDArray[Any]:
        """Return the model's scores for the text of each row."""
        return np.asarray(self.model.decision_function(self.texts(table)))

    def told(self, enough: Any, changed: Any) -> dict[str, Any]:
        """Return the document and the texts that two answers are, as plain values.

        Parameters
        ----------
        enough, changed : ndarray of shape (n_words,), or None
            Which words were enough, and which are left or added by the change.

        Returns
        -------
        dict
            ``pieces``: pairs of a text, with one space for each run of spaces, and the word that it
            is, None between words. ``counts``: how often each word occurs. ``enough``: the text of
            the words that were enough, ``changed``: the document after the change, ``added``: the
            words that the change adds.
        """
        words, pieces = self.passage.words, self.passage.pieces
        return {
            "pieces": [
                [re.sub(r"\s+", " ", piece), words[place] if place >= 0 else None]
                for piece, place in pieces
            ],
            "counts": list(self.passage.counts),
            "enough": None if enough is None else self.words_alone(enough),
            "changed": None if changed is None else self.texts([changed])[0],
            "added": [] if changed is None else self.passage.added(changed > 0.5),
        }

    def words_alone(self, row: Any) -> str:
        """Return the words of a row and nothing else, where the model says the same of them.

        Else the whole text of the row: an analyzer may read a word by its neighbours.
        """
        present = np.asarray(row, dtype=float) > 0.5
        both = [self.passage.words_alone(present), self.passage.edited(present)]
        alone, edited = (predicted_labels(self.model, [text])[0] for text in both)
        return both[0] if alone == edited else both[1]


def _words_to_add(reading: TextModel, add: Any) -> list[str]:
    """Return the words that may be added: each must be read as itself when it is written down."""
    if isinstance(add, bool | None):
        every = sorted(reading.vocabulary) if add else []
        return [word for word in every if list(reading.analyze(word)) == [word]]
    if isinstance(add, str) or not isinstance(add, Iterable):
        raise InputError(f"add must be True or a list of words. Got {add!r:.60}.")
    words = list(add)
    for word in words:
        if word not in reading.vocabulary or list(reading.analyze(word)) != [word]:
            raise InputError(f"The model knows no word {one_line(word, 60)!r} that could be added.")
    return words


@register_model(PASSAGE)
def passage_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where texts made of a document have a class."""
    rest, empty = model.reading.rest_cells(label), model.label_of_none == label
    return region_of_words(rest, model.values, empty=empty).tighten(margin)


def whole_model(model: Foreign) -> Foreign:
    """Return the model as its user knows it: of a document and a model, the model."""
    return model.model if isinstance(model, PassageClassifier) else model
