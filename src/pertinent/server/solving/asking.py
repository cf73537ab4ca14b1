"""From a request to an Explainer: its rules and options, and the line that writes them down."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any

from pertinent.api.explainer import Explainer
from pertinent.density import Plausibility
from pertinent.exceptions import InputError
from pertinent.models.registry import predicted_labels
from pertinent.rules.constraints import Constraints
from pertinent.rules.form import RuleFields
from pertinent.server.solving.blame import blamed
from pertinent.server.solving.recipe import Recipe, evenly
from pertinent.server.solving.refusal import Refusal

#: Explainers kept ready, one for each set of rules and options that was asked with lately.
MOST_READY = 32
#: Rows, evenly spread, that densities are fitted to.
MOST_FITTED = 5_000
#: Arguments of `Explainer`, and what they are called in a request.
OPTIONS = {
    "method": "method", "norm": "norm", "min_proba": "min_probability",
    "alternatives": "alternatives", "time_limit": "time_limit",
}  # fmt: skip
FIELD_OF = {**OPTIONS, "alternatives": "count", "constraints": "rules", "plausibility": "plausible"}
FIELDS = tuple(f.name for f in fields(RuleFields))

Request = Mapping[str, Any]


class Ready:
    """Explainers for the rules of requests; those of late requests are kept.

    Parameters
    ----------
    recipe : Recipe
    base : Explainer
        The one of the recipe itself: it answers requests that ask for nothing else.
    """

    def __init__(self, recipe: Recipe, base: Explainer) -> None:
        self._recipe, self._base = recipe, base
        self._known: OrderedDict[str, Explainer] = OrderedDict()
        self._plausibility: Plausibility | None = None

    def explainer(self, request: Request) -> Explainer:
        """Return what answers a request."""
        other = self._other(request)
        if not other:
            return self._base
        key = json.dumps({n: request.get(n) for n in _ASKED}, sort_keys=True, default=str)
        known = self._known.pop(key, None)
        if known is None:
            known = self._make(request, other)
        self._known[key] = known
        while len(self._known) > MOST_READY:
            self._known.popitem(last=False)
        return known

    def fit(self) -> None:
        """Fit the densities of plausible answers now, if the data allow any."""
        with suppress(InputError):  # whoever asks for plausible answers is told
            self._recipe.explainer(plausibility=self._plausible())

    def _other(self, request: Request) -> dict[str, Any]:
        """Return the arguments of `Explainer` that a request gives."""
        found = {ours: request[name] for ours, name in OPTIONS.items() if request.get(name)}
        if request.get("rules") is not None:
            found["constraints"] = self._rules(request["rules"])
        if request.get("plausible"):
            found["plausibility"] = True
        elif request.get("plausible") is False and self._recipe.arguments.get("plausibility"):
            found["plausibility"] = None
        return found

    def _rules(self, rules: Mapping[str, Any]) -> Constraints:
        base: Constraints = self._recipe.arguments.get("constraints") or Constraints()
        kept = {name: rule for name, rule in base.transitions.items() if callable(rule)}

        def made(some: Mapping[str, Any]) -> Constraints:
            moves = {**kept, **(some.get("transitions") or {})}
            rules = rules_of({**some, "transitions": moves})
            rules.validate(self._base.setting.features)
            return rules

        try:
            return made(rules)
        except InputError as error:
            raise blamed(rules, made) or Refusal(str(error), "rules") from error

    def _make(self, request: Request, other: dict[str, Any]) -> Explainer:
        if other.get("plausibility") is True:
            other["plausibility"] = self._plausible()
        try:
            return self._recipe.explainer(**other)
        except InputError as error:
            raise Refusal(str(error), self._blamed(other)) from error

    def _blamed(self, other: Mapping[str, Any]) -> str | None:
        """Return the field with which, beside those before it, no Explainer can be made."""
        some: dict[str, Any] = {}
        for name in other:
            some[name] = other[name]
            try:
                self._recipe.explainer(**some)
            except InputError:
                return FIELD_OF[name]
        return None

    def _plausible(self) -> Plausibility:
        given = self._recipe.arguments.get("plausibility")
        if given is not None:
            return given  # type: ignore[no-any-return]
        if self._recipe.data is None:
            raise Refusal("plausible needs training data, and the server has none.", "plausible")
        if self._plausibility is None:
            data = evenly(self._recipe.data, MOST_FITTED)
            self._plausibility = Plausibility(data, predicted_labels(self._recipe.model, data))
        return self._plausibility


_ASKED = (
    "rules", "method", "norm", "min_probability", "alternatives", "time_limit", "plausible",
)  # fmt: skip


def rules_of(given: Mapping[str, Any]) -> Constraints:
    """Return the rules of a request: keyword arguments of `Constraints` in JSON.

    Examples
    --------
    >>> from pertinent.server.solving.asking import rules_of
    >>> print(rules_of({"frozen": ["age"], "bounds": {"income": [0, None]}}))
    age frozen; income >= 0
    """
    known = {name: value for name, value in given.items() if value is not None}
    bounds = {name: tuple(pair) for name, pair in known.get("bounds", {}).items()}
    steps = {
        name: tuple(step) if isinstance(step, list) else step
        for name, step in known.get("step", {}).items()
    }
    return Constraints(**{**known, "bounds": bounds, "step": steps})


def rules_in_json(rules: Constraints) -> dict[str, Any]:
    """Return rules as a request has them; transitions by a function are left out."""
    out: dict[str, Any] = {}
    for name in FIELDS:
        value = getattr(rules, name)
        if name == "max_changes":
            if value is not None:
                out[name] = int(value)
        elif name == "transitions":
            plain = {str(k): {str(a): list(b) for a, b in v.items()} for k, v in value.items()
                     if not callable(v)}  # fmt: skip
            if plain:
                out[name] = plain
        elif len(value):
            out[name] = _plain(value)
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(own) for own in value]
    return value.item() if hasattr(value, "item") else value


def constraints_line(rules: Constraints) -> str:
    """Return the line of Python that makes the rules.

    Examples
    --------
    >>> import pertinent
    >>> from pertinent.server.solving.asking import constraints_line
    >>> constraints_line(pertinent.Constraints(frozen=["age"], bounds={"income": (0, None)}))
    "Constraints(frozen=['age'], bounds={'income': (0, None)})"
    """
    said = []
    for name in FIELDS:
        value = getattr(rules, name)
        if value is None or (name != "max_changes" and not len(value)):
            continue
        if name == "transitions":
            value = {k: ("..." if callable(v) else v) for k, v in value.items()}
        if name == "bounds":
            value = {k: tuple(v) for k, v in value.items()}
        said.append(f"{name}={_native(value)!r}")
    return f"Constraints({', '.join(said)})"


def _native(value: Any) -> Any:
    """Return containers and numbers as Python's own, which print as they are written."""
    if isinstance(value, Mapping):
        return {_native(key): _native(own) for key, own in value.items()}
    if isinstance(value, tuple):
        return tuple(_native(own) for own in value)
    if isinstance(value, list | set | frozenset):
        return [_native(own) for own in value]
    return value.item() if hasattr(value, "item") else value
