"""Why there is no answer, as data: which kind of reason, about which question, by which rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from pertinent.density.hull import Blend
from pertinent.exceptions import visible
from pertinent.geometry.arrays import FloatArray
from pertinent.proofs import Certificate
from pertinent.rules.reference import PLAUSIBLE, RuleKind, RuleRef, relaxing
from pertinent.rules.words import TERSE, Speech
from pertinent.setting.region_key import Kind, RegionKey

#: Rules named in one sentence about plausibility.
MOST = 8


class Why(Enum):
    """The kinds of reasons, by their names in files."""

    #: Proved: there is no such point.
    NEVER = "never"
    RULES = "rules"
    MODEL = "model"
    DENSITY_CLASS = "density-class"
    DENSITY_RULES = "density-rules"
    DENSITY_CLASS_RULES = "density-class-rules"
    OWN_VALUES = "own-values"
    NEITHER_VALUE = "neither-value"
    TOO_CLOSE = "too-close"
    #: Not proved: nothing was found, or what was found was refused.
    NO_PROOF = "no-proof"
    NO_RIVAL = "no-rival"
    NOT_FOUND = "not-found"
    STOPPED = "stopped"
    PREDICT = "predict"
    DENSITY = "density"
    RULE_BROKEN = "rule-broken"
    MISPLACED = "misplaced"
    REGION = "region"
    WORST_CASE = "worst-case"
    #: Nothing has to be found.
    ALREADY = "already"
    #: In words only, by a file of format 1.
    SAID = "said"
    #: By a file of a later version.
    UNKNOWN = "unknown"

    @property
    def claims_none(self) -> bool:
        """Whether a reason of this kind says that there is no answer: that needs a proof."""
        return self in _PROVED


_PROVED = frozenset(
    {
        Why.NEVER,
        Why.RULES,
        Why.MODEL,
        Why.DENSITY_CLASS,
        Why.DENSITY_RULES,
        Why.DENSITY_CLASS_RULES,
        Why.OWN_VALUES,
        Why.NEITHER_VALUE,
        Why.TOO_CLOSE,
    }
)


#: ``{asked}`` is what was asked for, ``{label}`` the class, ``{rules}`` the rules after "obeys",
#: ``{named}`` the rules alone, ``{plausible}`` what plausibility asks for, ``{number}`` a margin.
_SENTENCES = {
    Why.NEVER: "no point {asked}: the model never predicts it",
    Why.RULES: "no point {asked} and{rules}",
    Why.MODEL: "no point {asked}: its conditions contradict each other for this model",
    Why.DENSITY_CLASS: "density and class conflict: no point that {asked} is {plausible}",
    Why.DENSITY_RULES: "density and constraints conflict: no point that is {plausible}{rules}",
    Why.DENSITY_CLASS_RULES: (
        "density, class and constraints conflict: no point {asked}, is {plausible} and{rules}"
    ),
    Why.OWN_VALUES: (
        "no set of the sample's own values, the rest at the baseline, {asked} and obeys the rules "
        "and the margin"
    ),
    Why.NEITHER_VALUE: (
        "the rules allow neither the sample's value nor the baseline for: {features}"
    ),
    Why.TOO_CLOSE: "the sample lies closer to another class than the margin",
    Why.NO_PROOF: "the solvers gave neither a point nor a proof that none exists",
    Why.NO_RIVAL: "the solvers found neither a rival nor a proof that there is none",
    Why.NOT_FOUND: (
        "the search found nothing that {asked} and obeys the rules; it proves nothing, there may "
        "be something"
    ),
    Why.STOPPED: "the search reached its limit before it found a set of features that will do",
    Why.PREDICT: (
        "the point found does not pass the model's predict, or not by more than the model rounds, "
        "even with a margin of {number:g}"
    ),
    Why.DENSITY: (
        "the point found does not pass the density asked for, even with a margin of {number:g}"
    ),
    Why.RULE_BROKEN: "the point found breaks a rule: {named}",
    Why.MISPLACED: "the model's regions and its predict disagree on this very sample",
    Why.REGION: "the model's predict disagrees with its own region at this point",
    Why.WORST_CASE: "the model's predict disagrees at a worst case of the others",
    Why.ALREADY: "the sample {asked} already",
    Why.SAID: "{said}",
    Why.UNKNOWN: "for a reason that is not known here ({said})",
}


#: The same where the time was over, whose limit is the number.
_TIME_OVER = (
    "the time limit of {number:g} s ended the search: it gave neither a point nor a proof that "
    "none exists"
)


@dataclass(frozen=True)
class Reason:
    """Why one sample has no answer.

    Two reasons are equal if they say the same of model and rules, whatever the words for it.

    Parameters
    ----------
    kind : Why
    asked : RegionKey, optional
        The question: ``Is(k)`` for class k, ``Not(k)`` for every class but k.
    rules : tuple of RuleRef
        The rules in the way, in the order in which they are named.
    features : tuple of str
        Features that the reason itself speaks of.
    number : float, optional
        The margin that was tried; the time limit in seconds where that ended the search.
    plausible : str
        What plausibility asks for, in its own words.
    said : str
        The whole reason, for files that hold nothing else.
    proof : Certificate, optional
        About the rules that are named alone, or that already some of density, class and rules
        cannot be had together, where the kind says so; the proof of the answer is about all.
    without : ndarray of shape (n_rules, n_columns), optional
        For each rule that is named, in their order, a point that is what was asked for and obeys
        all the others: each of them is needed.
    blends : tuple of Blend or None
        Of which training points these points are made, where plausible points are blends.

    Examples
    --------
    >>> from pertinent.rules.reference import RuleKind, RuleRef, relaxing
    >>> from pertinent.setting.reasons.reason import Reason, Why
    >>> from pertinent.setting.region_key import Is
    >>> rules = (RuleRef(RuleKind.FROZEN, ("age",)), RuleRef(RuleKind.AT_MOST, ("debt",), 3.0))
    >>> Reason(Why.RULES, Is(1), rules).words(["no", "yes"])
    "no point is predicted as 'yes' and obeys: age frozen; debt <= 3"
    """

    kind: Why
    asked: RegionKey | None = None
    rules: tuple[RuleRef, ...] = ()
    features: tuple[str, ...] = ()
    number: float | None = field(default=None, compare=False)
    plausible: str = field(default="", compare=False)
    said: str = field(default="", compare=False)
    proof: Certificate | None = field(default=None, compare=False, repr=False)
    without: FloatArray | None = field(default=None, compare=False, repr=False)
    blends: tuple[Blend | None, ...] = field(default=(), compare=False, repr=False)

    def words(self, classes: Any, speech: Speech = TERSE) -> str:
        """Return the reason in words, in which every character of a name is visible.

        Parameters
        ----------
        classes : sequence of labels
        speech : Speech
            How features and classes are called; as in the data by default.
        """
        named = "; ".join(self._named(speech))
        line = relaxing(self.rules)
        is_time_over = self.kind is Why.NO_PROOF and self.number is not None
        sentence = _TIME_OVER if is_time_over else _SENTENCES[self.kind]
        return visible(
            sentence.format(
                asked=self._asked(classes, speech),
                rules=f" obeys: {named}" if named else " obeys the rules",
                named=named,
                features=", ".join(speech.feature(name) for name in self.features),
                plausible=self.plausible,
                number=self.number,
                said=self.said,
            )
            + self._needed()
            + (f"; to allow more: {line}" if line and self.kind.claims_none else "")
        )

    def _needed(self) -> str:
        """Return that no rule could be left out, where points show it."""
        if self.without is None or not len(self.without):
            return ""
        if self.rules == (PLAUSIBLE,):
            return " (without plausibility there is one)"
        if len(self.rules) == 1:  # others, not named, may be in the way as well
            return " (this rule is enough for that; with no rules there is one)"
        every = "each of them" if len(self.without) == len(self.rules) else "each of the rules"
        also = ", plausibility included," if PLAUSIBLE in self.rules else ""
        return f" ({every}{also} is needed: without it, the others leave one)"

    def _asked(self, classes: Any, speech: Speech) -> str:
        if self.asked is None:
            return ""
        label = speech.label(np.asarray(classes).tolist()[self.asked.place])
        other = "" if self.asked.kind is Kind.IS else "any class other than "
        return f"is predicted as {other}{label}"

    def _named(self, speech: Speech) -> list[str]:
        """Return the rules in words; in full, frozen features share one sentence."""
        rules = [rule for rule in self.rules if rule != PLAUSIBLE]  # it has its own words
        most = len(rules) if not self.plausible else MOST
        shown, rest = rules[:most], len(rules[most:])
        more = [f"and {rest} more rules"] if rest else []
        if not speech.in_full:
            return [*(rule.words(speech) for rule in shown), *more]
        frozen = [rule.features[0] for rule in shown if rule.kind is RuleKind.FROZEN]
        others = [rule.words(speech) for rule in shown if rule.kind is not RuleKind.FROZEN]
        return [*speech.shared(frozen, "stays as it is", "stay as they are"), *others, *more]
