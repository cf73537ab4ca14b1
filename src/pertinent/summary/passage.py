"""What a summary says of a document: its pieces, and the texts that the answers are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.geometry.arrays import Foreign
from pertinent.models.text import PassageClassifier

if TYPE_CHECKING:
    from pertinent.summary.asked import Answered


def passage_summary(explanations: Answered, model: Foreign, row: int) -> dict[str, Any]:
    """Return the document under its key; nothing for samples that are no documents.

    ``pieces`` are pairs of a text and the word that it is, None between words. ``enough`` is the
    text of the words that were enough, ``changed`` the document after the change, and ``added`` are
    the words that the change adds; each was put to the model's own ``predict``.
    """
    if not isinstance(model, PassageClassifier):
        return {}
    positive, negative = explanations.positive, explanations.negative
    [instead] = explanations.instead([row])
    told = positive if instead is None or instead.positive is None else instead.positive
    at = row if told is positive else 0
    words, counts = model.passage.words, model.passage.counts
    changed, added = None, list[str]()
    if negative.found[row]:
        [changed] = model.texts(negative.values[row : row + 1])
        added = model.passage.added(negative.values[row] > 0.5)
    return {
        "passage": {
            "pieces": [
                [_spaced(piece), words[place] if place >= 0 else None]
                for piece, place in model.passage.pieces
            ],
            "counts": [int(count) for count in counts],
            "enough": model.words_alone(told.kept[at]) if told.found[at] else None,
            "changed": changed,
            "added": added,
        }
    }


def _spaced(piece: str) -> str:
    """Return a piece with one space for each run of spaces, tabs and ends of lines."""
    return re.sub(r"\s+", " ", piece)


def passage_question(model: Foreign) -> dict[str, Any]:
    """Return the document of a question, and the words that may be added, under their key."""
    if not isinstance(model, PassageClassifier):
        return {}
    own = np.array(model.passage.counts) > 0
    more = [word for word, here in zip(model.passage.words, own, strict=True) if not here]
    return {"passage": {"document": model.passage.document, "add": more}}
