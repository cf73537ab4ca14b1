"""A document cut into its words and what stands between them, so that words can be taken out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from pertinent.exceptions import InputError, one_line
from pertinent.geometry.arrays import BoolArray

Analyzer = Callable[[str], Sequence[str]]

#: Runs of letters with the accents that may follow them, and runs of anything but spaces.
WORDS, RUNS = "[\\w\u0300-\u036f]+", r"\S+"


@dataclass(frozen=True)
class Passage:
    """A document in pieces; some of them are words that the model knows.

    Parameters
    ----------
    pieces : tuple of (str, int)
        They make up the document; the number is the place of the word, -1 for what is none.
    words : tuple of str
        What the model knows of the document, in the order of first occurrence; then what may be
        added to it.
    counts : tuple of int
        How often each word occurs; 0 for what may be added.
    """

    pieces: tuple[tuple[str, int], ...]
    words: tuple[str, ...]
    counts: tuple[int, ...]

    @cached_property
    def document(self) -> str:
        """The whole document."""
        return "".join(piece for piece, _ in self.pieces)

    def edited(self, present: BoolArray) -> str:
        """Return the document without the words that are not present, and with those added."""
        out, gone = "", False
        for piece, place in self.pieces:
            stays = place < 0 or bool(present[place])
            if stays:
                out += _joint(out, piece) if gone else piece
            gone = not stays
        return " ".join([*([out] if out else []), *self.added(present)])

    def words_alone(self, present: BoolArray) -> str:
        """Return the words that are present, in their order, and nothing else."""
        found = [piece for piece, place in self.pieces if place >= 0 and present[place]]
        return " ".join([*found, *self.added(present)])

    def added(self, present: BoolArray) -> list[str]:
        """Return the words that are present and do not occur in the document."""
        every = zip(self.words, self.counts, present, strict=True)
        return [word for word, count, is_there in every if is_there and not count]


def _joint(before: str, piece: str) -> str:
    """Return a piece as it follows what is left before it: no two spaces, no words made of two."""
    if piece[0].isspace() and (not before or before[-1].isspace()):
        return piece[1:]
    apart = before and _is_letter(before[-1]) and _is_letter(piece[0])
    return f" {piece}" if apart else piece


def _is_letter(character: str) -> bool:
    return re.match(WORDS, character) is not None


def cut(
    document: str, analyze: Analyzer, known: Collection[str], pattern: str | None = None
) -> Passage:
    r"""Return a document in pieces, as the vectorizer's own analyzer reads it.

    Parameters
    ----------
    document : str
    analyze : callable
        Gives the words of a text.
    known : collection of str
        The vocabulary.
    pattern : str, optional
        What the vectorizer says that a word looks like.

    Notes
    -----
    A way to cut is taken only if the words of the pieces are those of the whole document, at most
    one for each piece: then each word of the document is traced to the characters it comes from.

    Examples
    --------
    >>> passage = cut("A bad, bad film.", str.split, {"bad,", "bad"})
    >>> passage.words, passage.counts
    (('bad,', 'bad'), (1, 1))
    >>> passage.edited([False, True])
    'A bad film.'
    """
    whole = list(analyze(document))
    for form in (pattern, WORDS, RUNS):
        spans = [] if form is None else [m.span() for m in re.finditer(form, document)]
        found = [list(analyze(document[a:b])) for a, b in spans if a < b]
        if [t for one in found for t in one] == whole and all(len(one) < 2 for one in found):
            return _passage(document, [s for s in spans if s[0] < s[1]], found, known)
    raise InputError(
        "The words of this document cannot be traced to its characters: the vectorizer's analyzer "
        f"gives {one_line(whole[:5], 80)} ... of the whole and others of its parts. Texts are "
        "explained where each word comes from a run of characters of its own."
    )


def _passage(
    document: str, spans: list[tuple[int, int]], found: list[list[str]], known: Collection[str]
) -> Passage:
    places: dict[str, int] = {}
    pieces: list[tuple[str, int]] = []
    counts: list[int] = []
    end = 0
    for (start, stop), tokens in zip(spans, found, strict=True):
        if not tokens or tokens[0] not in known:
            continue
        place = places.setdefault(tokens[0], len(places))
        counts += [0] * (len(places) - len(counts))
        counts[place] += 1
        pieces += [(document[end:start], -1), (document[start:stop], place)]
        end = stop
    pieces.append((document[end:], -1))
    return Passage(tuple(piece for piece in pieces if piece[0]), tuple(places), tuple(counts))
