"""Categories that say the value is not known: nobody can be asked to become one of these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pertinent.tables.numbers import is_missing

#: Words that mean a value is not known. "Other", "none" and "not applicable" are known values, and
#: so may be "refused" (a loan), "unsure" (an opinion) and "dk" (Denmark).
WORDS = frozenset(
    (
        "unknown", "unk", "unkn", "uknown", "unknow", "unkown", "not known", "not yet known",
        "dont know", "do not know", "doesnt know", "ignore",
        "missing", "missing value", "missing data", "no data", "no info", "no information",
        "not available", "unavailable", "not recorded", "unrecorded",
        "unspecified", "not specified", "undefined", "not defined", "undetermined",
        "not determined", "to be determined", "tbd", "not ascertained",
        "not stated", "unstated", "not given", "not provided", "not reported", "unreported",
        "not disclosed", "undisclosed", "withheld", "prefer not to say", "prefer not to answer",
        "rather not say", "no answer", "not answered", "unanswered", "no response",
        "non response", "nonresponse", "not asked", "blank", "left blank", "not filled in",
        "n a", "na", "nan", "nat", "null", "xna",
        # German, French, Spanish, Portuguese, Italian, Dutch
        "unbekannt", "keine angabe", "keine angaben", "k a", "inconnu", "inconnue",
        "non renseigné", "non spécifié", "desconocido", "desconocida", "no sabe", "sin datos",
        "desconhecido", "desconhecida", "ignorado", "ignorada", "sconosciuto", "sconosciuta",
        "onbekend",
    )
)  # fmt: skip
#: Signs that fill a field which has nothing to say.
SIGNS = frozenset("?-._–—*#/ ")


def are_unknown(levels: Sequence[Any]) -> list[bool]:
    """Return which categories mean that the value is not known.

    Small and capital letters, spaces, brackets, points and the like make no difference. A single
    "-" is a value where another category is "+".

    Examples
    --------
    >>> from pertinent.rules.unknown import are_unknown
    >>> are_unknown(["rent", "Not_Known", "(unknown)", "N/A", "n.a.", "??", "Unknown/Invalid"])
    [False, True, True, True, True, True, True]
    >>> are_unknown(["+", "-"]), are_unknown(["other", "none", ""])
    ([False, False], [False, False, True])
    """
    signs = _is_a_pair_of_signs(levels)
    gone = is_missing(levels).tolist()
    return [no or _is_unknown(str(one), signs) for one, no in zip(levels, gone, strict=True)]


def _is_unknown(text: str, signs: bool) -> bool:
    words = re.sub(r"[\W_]+", " ", re.sub("['’`]", "", text)).strip().casefold()
    if not words:
        return not (signs and text.strip() == "-") and set(text) <= SIGNS
    return words in WORDS or words.split()[0] == "unknown"


def _is_a_pair_of_signs(levels: Iterable[Any]) -> bool:
    return any(str(one).strip() == "+" for one in levels)
