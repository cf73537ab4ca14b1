"""The explainer of texts: which words were enough, and which to take out for another class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pertinent.api.explainer import Explainer
from pertinent.api.explanation import Explanation
from pertinent.exceptions import InputError, unknown_name
from pertinent.geometry.arrays import Foreign
from pertinent.models.registry import model_classes
from pertinent.models.steps.once import reading_once
from pertinent.models.steps.text import PassageClassifier, TextModel
from pertinent.rules.wording import Wording


class TextExplainer:
    """A model of texts made ready to explain documents, word by word.

    Parameters
    ----------
    model : fitted Pipeline
        CountVectorizer or TfidfVectorizer (or CountVectorizer and TfidfTransformer) over single
        words, and a model of linear scores: LogisticRegression, LinearSVC, SGDClassifier,
        RidgeClassifier, MultinomialNB, ComplementNB, BernoulliNB and the like.
    add : bool or list of str
        Words that a change may add beside taking words out; True: any of the vocabulary.
    alternatives : int
        How many other sets of words to list, as in `Explainer`.
    time_limit : float, optional
        Seconds for each document, as in `Explainer`.
    wording : Wording, optional
        What to call classes, and a document.

    Notes
    -----
    A word stays or goes with all its occurrences. What was enough are the fewest words of the
    document that already give its class, every other word that the model knows taken out. What
    would have changed it takes out (and adds, where that is allowed) the fewest occurrences of
    words: one that occurs twice counts twice, one that is added once. Each answer is a text, and
    the model's own ``predict`` put that text into the class.

    Values are exact for counts, ``binary``, ``sublinear_tf``, ``use_idf`` and ``norm`` "l1" or
    None. With ``norm="l2"`` and intercepts a class is a little less than a union of polyhedra (by
    0.3% of the intercepts); what is proved of all points of these holds of the texts among them,
    and where the difference decides, the answer is "feasible" with its bound.

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["a good film", "good fun", "a bad film", "bad and dull"]
    >>> model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, ["+", "+", "-", "-"])
    >>> [found] = pertinent.TextExplainer(model).explain(["A bad film, but good fun."])
    >>> found.prediction, found.passage["enough"], found.passage["changed"]
    ('+', 'good', 'A bad film, but fun.')
    >>> pertinent.check(found.json(), model).ok
    True
    """

    def __init__(
        self,
        model: Foreign,
        *,
        add: Any = False,
        alternatives: int = 0,
        time_limit: float | None = None,
        wording: Wording | None = None,
    ) -> None:
        self.model, self.add = model, add
        self.reading = TextModel(model)
        self.classes = model_classes(model)
        self.reading.require_linear(self.classes.tolist())  # before any work
        self._how: dict[str, Any] = {"alternatives": alternatives, "time_limit": time_limit}
        self._wording = Wording(subject="text") if wording is None else wording

    def __repr__(self) -> str:
        words, classes = len(self.reading.vocabulary), len(self.classes)
        return f"<TextExplainer of {type(self.model).__name__}: {words:,} words, {classes} classes>"

    def explain(self, documents: Iterable[str], target: Any = None) -> list[Explanation]:
        """Return the explanation of each document, in their order.

        Parameters
        ----------
        documents : list of str
        target : label, optional
            The class that a change shall reach; any other class by default.
        """
        if isinstance(documents, str):
            raise InputError("explain takes a list of documents. Write explain([text]).")
        if target is not None and target not in self.classes.tolist():
            raise unknown_name("target", target, self.classes.tolist())
        return [self._explain(document, target) for document in documents]

    @reading_once()
    def _explain(self, document: str, target: Any) -> Explanation:
        passage = PassageClassifier(self.model, document, self.add, self.reading)
        explainer = Explainer(
            passage,
            baseline=0.0,
            weights=np.maximum(passage.passage.counts, 1),
            method="strict",
            wording=self._wording,
            **self._how,
        )
        return explainer.explain(passage.sample, target=target, progress=False)[0]
