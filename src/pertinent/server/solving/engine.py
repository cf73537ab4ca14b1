"""What a worker does: it answers requests with a model that it has loaded once.

A request is the plain dictionary of its body, its rows already in the order of the features; the
answer is plain as well, ready to be written as JSON.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from pertinent.api.explainer import Explainer
from pertinent.api.explanation import Explanation, Explanations
from pertinent.checking import check
from pertinent.checking.findings import HOLDS, REFUTED
from pertinent.exceptions import InputError, MissingExtraError, UnsupportedModelError
from pertinent.geometry.running import until
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.words import Speech
from pertinent.server.solving.asking import Ready, constraints_line
from pertinent.server.solving.cohorts import cohort_answer
from pertinent.server.solving.form import RowForm
from pertinent.server.solving.letter import letter_html
from pertinent.server.solving.recipe import REHEARSED, Recipe, evenly
from pertinent.server.solving.refusal import Refusal
from pertinent.setting.results import Results
from pertinent.summary.asked import Rooms
from pertinent.summary.summary import summarize
from pertinent.summary.words import label_text, shown
from pertinent.views import beside, phrases
from pertinent.views import text as views
from pertinent.views.report import report_html

Answer = dict[str, Any]

#: The detail of answers while somebody edits: how far values may move is left for later.
LIVE = "live"
#: What the library raises where a question, or one of this model, cannot be answered here.
CANNOT = (InputError, UnsupportedModelError, MissingExtraError)
#: Options that a model may not be asked with, alone or together, in the order they are tried.
BLAMED = ("rules", "method", "norm", "min_probability", "plausible", "target")
#: With more features, densities are fitted when somebody asks for them.
MOST_REHEARSED = 30
#: What stands above sentences, by the part of an answer's words; they do not begin with it.
HEADINGS: dict[str, str] = {
    "enough": phrases.Heading.ENOUGH,
    "change": phrases.Heading.CHANGE,
    "proof": phrases.Heading.PROOF,
}
#: Kinds of rules that nobody gave: they come from the data.
FROM_DATA = frozenset(kind for kind in RuleKind if kind.value.startswith("data-"))


class Engine:
    """A model made ready, and all that can be asked of it.

    Parameters
    ----------
    recipe : Recipe
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.base = recipe.explainer()
        self.form = RowForm.of(self.base.setting, recipe.data)
        self.ready = Ready(recipe, self.base)
        self.tasks: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "explain": self.explain,
            "alternatives": self.alternatives,
            "menu": self.menu,
            "cohorts": self.cohorts,
            "check": self.check,
            "report": self.report,
            "letter": self.letter,
        }

    def answer(self, task: str, request: Mapping[str, Any]) -> Any:
        """Return the answer to a request; what is wrong with it is told by a `Refusal`."""
        try:
            return self.tasks[task](request)
        except Refusal:
            raise
        except CANNOT as error:
            raise Refusal(str(error), self._blamed(request)) from error

    def _blamed(self, request: Mapping[str, Any]) -> str | None:
        """Return the option with which, beside those before it, a row cannot be explained."""
        some = {name: request[name][:1] for name in ("rows", "ids") if name in request}
        for name in BLAMED if some else ():
            if request.get(name) is None:
                continue
            some[name] = request[name]
            try:
                self._explained(some)
            except CANNOT:
                return name
        return None

    def rehearse(self) -> None:
        """Explain one row of the data, so that the first request finds everything loaded."""
        if self.recipe.data is None or not len(self.recipe.data):
            return
        with until(time.monotonic() + REHEARSED):
            result = self.base.explain(evenly(self.recipe.data, 1))
            self._all_told(self.base, result, {})

    def rehearse_plausible(self) -> None:
        """Fit the densities of plausible answers, unless that takes long."""
        if len(self.base.setting.features) <= MOST_REHEARSED:
            self.ready.fit()

    # -- the tasks -------------------------------------------------------------------------

    def explain(self, request: Mapping[str, Any]) -> Answer:
        """Return the explanations of the rows."""
        begun = time.perf_counter()
        explainer, result = self._explained(request)
        told = self._all_told(explainer, result, request)
        spent = (time.perf_counter() - begun) / max(len(told), 1)
        return {"explanations": [one | {"seconds": spent} for one in told]}

    def alternatives(self, request: Mapping[str, Any]) -> Answer:
        """Return the explanation of one row, and the next smallest changes as cards."""
        begun = time.perf_counter()
        wanted = {**request, "alternatives": request.get("count") or 3}
        explainer, result = self._explained(wanted)
        [told] = self._all_told(explainer, result, request)
        told |= {"seconds": time.perf_counter() - begun}
        return {"explanation": told, "cards": self._cards(told["summary"])}

    def menu(self, request: Mapping[str, Any]) -> Answer:
        """Return, for every small set of features, whether changing only these can work."""
        explainer = self.ready.explainer(request)
        target, most = self._target(request), request.get("max_features") or 2
        try:
            menu = explainer.menu(self._table(request), most, target)
        except InputError as error:
            raise Refusal(str(error), "max_features") from error
        sets = [
            {
                "features": list(one.features),
                "status": one.status,
                "works": one.works,
                "needs_all": one.needs_all,
                "values": {name: list(pair) for name, pair in one.values.items()},
                "objective": one.objective,
                "bound": one.bound,
                "target": one.target,
                "words": str(one),
                "reason": one.reason,
            }
            for one in menu
        ]
        return {"sets": sets, "frozen": list(menu.frozen), "words": menu.text()}

    def cohorts(self, request: Mapping[str, Any]) -> Answer:
        """Return shares and costs of groups of rows."""
        _, result = self._explained(request)
        names = self.form.names
        return cohort_answer(result.negative, names, request["ids"], request["groups"])

    def check(self, request: Mapping[str, Any]) -> Answer:
        """Return what the independent check says of a stored explanation."""
        begun = time.perf_counter()
        try:
            found = check(dict(request["explanation"]), self.recipe.model)
        except InputError as error:
            raise Refusal(str(error), "explanation") from error
        return {
            "verdict": str(found.verdict) if found.verdict in (HOLDS, REFUTED) else "unknown",
            "ok": found.ok,
            "findings": [
                {"claim": f.claim, "verdict": str(f.verdict), "words": f.detail}
                for f in found.findings
            ],
            "words": str(found),
            "format": found.format,
            "seconds": time.perf_counter() - begun,
        }

    def report(self, request: Mapping[str, Any]) -> str:
        """Return the one-file report of the rows, as HTML."""
        _, result = self._explained(request)
        rooms = result.rooms(list(range(len(result))))
        return report_html(result, title=request.get("title"), rooms=rooms)

    def letter(self, request: Mapping[str, Any]) -> str:
        """Return a letter to whom the decision is about, as HTML."""
        _, result = self._explained(request)
        return letter_html(result[0].summary(), title=request.get("title"))

    # -- parts -----------------------------------------------------------------------------

    def _explained(self, request: Mapping[str, Any]) -> tuple[Explainer, Explanations]:
        explainer = self.ready.explainer(request)
        return explainer, explainer.explain(self._table(request), self._target(request))

    def _table(self, request: Mapping[str, Any]) -> Any:
        return self.form.table(request["rows"], request.get("ids"))

    def _target(self, request: Mapping[str, Any]) -> Any:
        return class_named(self.base.setting.classes.tolist(), request.get("target"))

    def _all_told(
        self, explainer: Explainer, result: Explanations, request: Mapping[str, Any]
    ) -> list[Answer]:
        """Return all explanations: at once without ranges, or in full, or as they are stored."""
        if request.get("detail") == LIVE and not request.get("certificate"):
            rows = list(range(len(result)))
            rooms = [Rooms()] * len(rows)
            summaries = summarize(result, rows, rooms=rooms, at_once=True)
            return [self._told(explainer, one, s) for one, s in zip(result, summaries, strict=True)]
        told = [self._told(explainer, one, one.summary()) for one in result]
        if request.get("certificate"):
            for answer, one in zip(told, result, strict=True):
                answer["stored"] = one.document()
        return told

    def _told(self, explainer: Explainer, one: Explanation, summary: Answer) -> Answer:
        """Return one explanation, with the sentences that tell its summary."""
        seen = shown(summary)
        chances = summary.get("probability") or {}
        rules = explainer.settings.constraints
        assert one.explanations is not None
        return {
            "words": {
                "opening": views.opening(seen),
                "enough": views.what_was_enough(seen),
                "change": views.what_would_change(seen),
                "chances": beside.chances(seen),
                "moves": beside.moves(seen),
                "proof": beside.proof_words(seen),
                "rules": beside.rule_words(seen),
            },
            "headings": HEADINGS,
            "text": views.text(seen),
            "short": views.text(seen, "short"),
            "summary": summary,
            "probability": {
                "before": chances.get("before"),
                "after": chances.get("after"),
                "of": summary["negative"]["target"],
                "kind": chances.get("kind"),
            },
            "reason": self._reason(explainer, one.explanations.negative, one.row),
            "constraints_line": constraints_line(rules),
        }

    def _reason(self, explainer: Explainer, results: Results, row: int) -> Answer | None:
        why = results.reasons[row]
        if why is None:
            return None
        names = self.base.setting.features.names
        speech: Speech = explainer.settings.wording.speech(names)
        return {
            "kind": why.kind.value,
            "proved": why.kind.claims_none,
            "minimal": why.without is not None and len(why.without) > 0,
            "words": why.words(results.classes, speech),
            "rules": [_rule(rule, speech) for rule in why.rules],
        }

    def _cards(self, summary: Mapping[str, Any]) -> list[Answer]:
        own = {feature["name"]: feature for feature in summary["features"]}
        return [
            {
                "values": [
                    {"feature": v["feature"], "old": own[v["feature"]]["sample"],
                     "value": v["value"]}
                    for v in card["values"]
                ],
                "objective": card["objective"],
                "proved": card["proved"],
                "target": card["target"],
                "words": "; ".join(
                    f"{own[v['feature']]['text']} {phrases.new_value(own[v['feature']], v)} "
                    f"instead of {phrases.own_value(own[v['feature']])}"
                    for v in card["values"]
                ),
                "probability": None,
            }
            for card in summary["negative"]["alternatives"]
        ]  # fmt: skip


def _rule(rule: RuleRef, speech: Speech) -> Answer:
    return {
        "kind": rule.kind.value,
        "features": list(rule.features),
        "number": rule.number,
        "place": rule.place,
        "words": rule.words(speech),
        "inferred": rule.kind in FROM_DATA,
    }


def class_named(classes: list[Any], wanted: Any, where: str = "target") -> Any:
    """Return the class that a request names; text stands for a class that is written so.

    Examples
    --------
    >>> from pertinent.server.solving.engine import class_named
    >>> class_named([0, 1], "1"), class_named(["no", "yes"], None)
    (1, None)
    """
    if wanted is None:
        return None
    for label in classes:
        if label == wanted and isinstance(label, bool) == isinstance(wanted, bool):
            return label
    for label in classes:
        if isinstance(wanted, str) and str(label) == wanted:
            return label
    known = ", ".join(label_text(label) for label in classes[:12])
    raise Refusal(f"There is no class {str(wanted)[:60]!r}; the model knows {known}.", where)
