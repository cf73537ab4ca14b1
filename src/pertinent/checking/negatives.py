"""The claims of a pertinent negative: what would have changed the prediction."""

from __future__ import annotations

from pertinent.checking.about import about_the_question
from pertinent.checking.details import negative_details
from pertinent.checking.evidence import Evidence, claimed_bounds, proved, unit_of
from pertinent.checking.findings import CHANGE, Finding, judged
from pertinent.checking.points import valid
from pertinent.checking.reasons import reason
from pertinent.checking.unique import as_good, is_only_one, unique
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, Limits
from pertinent.geometry.task import distance
from pertinent.proofs import FAILED
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import negative_limits
from pertinent.setting.recheck import recheck_negatives
from pertinent.setting.region_key import Is, Kind, Not, RegionKey
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked


def negative_findings(
    asked: Asked,
    negative: Negatives,
    label: int,
    target: int | None,
    untouched: BoolArray,
    unsure: str,
) -> list[Finding]:
    """Judge everything that is said of a negative.

    Parameters
    ----------
    asked : Asked
    negative : Negatives
        Of one sample.
    label : int
        Place of the class that the model predicts for the sample.
    target : int or None
        Place of the class asked for; None for any but the sample's own.
    untouched : ndarray of bool, shape (1, n_features)
        Features that the change must keep off.
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    if negative.norm != "l1":
        raise InputError(f"The stored norm {negative.norm!r} is not known.")
    prepared, table = asked.prepared, negative.table
    keys = asked_regions(label, target)
    negative, foreign = about_the_question(
        CHANGE, asked, negative, keys, {"certificates": "distance"}
    )
    limits = negative_limits(prepared, table, untouched)
    return [
        *valid(CHANGE, prepared, negative, keys[0], int(negative.target_place[0]), limits),
        _target(negative, label, target),
        *foreign,
        *_proofs(prepared, negative, untouched, unsure),
        *_unique(prepared, negative, limits),
        *reason(CHANGE, asked, negative, table.values, limits, unsure),
    ]


def asked_regions(label: int, target: int | None) -> list[RegionKey]:
    """Return what certificates may speak of: the target's region, or all but the label's."""
    return [Not(label) if target is None else Is(target)]


def _target(negative: Negatives, label: int, target: int | None) -> Finding:
    """Judge the class that is reached: the one asked for, or any but the sample's own."""
    place = int(negative.target_place[0])
    if target is not None:
        right = place == target != label
    elif negative.found[0]:
        right = place not in (-1, label)
    else:
        right = place == -1 or negative.status_code[0] == FAILED
    return judged(f"{CHANGE} is of the class asked for", right)


def _proofs(
    prepared: Setting, negative: Negatives, untouched: BoolArray, unsure: str
) -> list[Finding]:
    bound = recheck_negatives(prepared, negative, untouched)[0]
    evidence = Evidence(negative.certificates, bound, unsure)
    claims = (negative.bound[0], negative.closeness_bound[0])
    return [
        proved(CHANGE, prepared, negative, evidence, negative.values, negative.table.values),
        negative_details(prepared, negative),
        *claimed_bounds(CHANGE, [(claimed, evidence) for claimed in claims]),
    ]


def _unique(prepared: Setting, negative: Negatives, limits: Limits) -> list[Finding]:
    table, parts, samples = negative.table, negative.certificates, negative.table.values

    def only() -> bool:
        lattice = prepared.domain_of(table, changes=True) is not None
        unit = unit_of(negative)
        return is_only_one(prepared, parts, samples, negative.values, limits, lattice, unit)

    def equally_good(other: FloatArray) -> bool:
        # Where any other class will do, the other one may be of a third.
        untargeted = parts[0].key.kind is Kind.NOT if parts else False
        kind = Kind.NOT if untargeted else Kind.IS
        labels = negative.label if untargeted else negative.target_place
        good = judge_points(prepared, table, other, kind, labels, limits, changes=True).valid[0]
        size = distance(other, samples, prepared.weights)[0]
        return bool(good) and as_good(size, negative.objective[0])

    return unique(CHANGE, negative, only, equally_good)
