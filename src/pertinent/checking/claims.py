"""Everything that a stored explanation claims, one claim after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pertinent.checking.findings import (
    GIVEN,
    UNKNOWN,
    Checked,
    Finding,
    judged,
)
from pertinent.checking.negatives import asked_regions, negative_findings
from pertinent.checking.overlap import overlap_findings
from pertinent.checking.positives import positive_findings
from pertinent.checking.rebuilding import asked_target, not_known, rebuild
from pertinent.checking.shown import as_shown
from pertinent.exceptions import InputError, PertinentError
from pertinent.geometry.arrays import Foreign
from pertinent.summary.asked import Answered
from pertinent.summary.stored import VERSIONS, read_document, require_document


@runtime_checkable
class Documented(Protocol):
    """An explanation that can write itself down, such as `pertinent.Explanation`."""

    def document(self) -> dict[str, Any]:
        """Return the summary together with what is needed to check it again."""


def check(explanation: Documented | dict[str, Any] | str | Path, model: Foreign) -> Checked:
    """Return which claims of a stored explanation hold for a model.

    Points go through ``model.predict``; distances and bounds are recomputed from the model's
    decision regions and the stored certificates with plain NumPy. No solver is involved.

    Parameters
    ----------
    explanation : Explanation, dict, JSON text or path
    model : fitted classifier
        The one that was explained.

    Returns
    -------
    Checked
        ``ok`` only if every claim was checked and holds. A proof of a kind that is not known
        here, or one that repeats a solver's word, is "not re-checkable here", and so is a
        question with parts that are not known here. Names of features, where weights come from,
        and the words of a file are no claims about the model: "taken as given". Parts of the
        summary that are not known here are "not checked".

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> stored = pertinent.Explainer(model, data=X).explain(X[:1])[0].json()
    >>> pertinent.check(stored, model).ok
    True
    >>> another = LogisticRegression(max_iter=1000, C=0.01).fit(X, y)
    >>> pertinent.check(stored, another).verdict
    'refuted'
    """
    document = _document(explanation)
    try:
        rebuilt = rebuild(document, model)
        findings = _findings(rebuilt, document)
        return Checked(tuple(findings), VERSIONS[document["version"]])
    except PertinentError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"The stored explanation is malformed: {error!r}.") from error


def _document(explanation: Documented | dict[str, Any] | str | Path) -> dict[str, Any]:
    if isinstance(explanation, dict):
        return require_document(explanation)
    if isinstance(explanation, Documented):
        return explanation.document()
    return read_document(explanation)


def _findings(explanations: Answered, document: dict[str, Any]) -> list[Finding]:
    asked, question = explanations.asked, document["proof"]["question"]
    assert asked is not None
    positive, negative = explanations.positive, explanations.negative
    label = int(asked.prepared.predict(explanations.table)[0])
    target = asked_target(question, asked.prepared)
    strange = not_known(document)
    unsure = f"not known here: {', '.join(strange)}" if strange else ""
    untouched = positive.kept & explanations.avoided[:, None]
    same = label == positive.label[0] == negative.label[0]
    return [
        judged("the sample is predicted as said", same),
        *positive_findings(asked, positive, label, unsure),
        *negative_findings(asked, negative, label, target, untouched, unsure),
        *overlap_findings(explanations, asked_regions(label, target), unsure),
        *as_shown(explanations, document, unsure),
        *([Finding("all parts of the question are known here", UNKNOWN, unsure)] if unsure else []),
        Finding("names, and where typical values and weights come from", GIVEN),
    ]
