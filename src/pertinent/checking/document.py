"""Answers from a stored explanation, as the library's own, for a model."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pertinent.checking.unknown import known_record
from pertinent.density.hull import Hulls
from pertinent.density.mixture import Densities
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign
from pertinent.models import model_classes
from pertinent.models.combined.searched import Searched, unsearched
from pertinent.models.regressors import RangeClassifier, explained, is_regressor, read_range
from pertinent.models.steps.pipeline import features_of
from pertinent.models.steps.text import PassageClassifier, is_text_model, whole_model
from pertinent.models.trees.gaps import may_be_missing, standing
from pertinent.proofs import ALREADY, FAILED, OPTIMAL
from pertinent.proofs.records import decode
from pertinent.rules.constraints import Constraints
from pertinent.rules.wording import Wording
from pertinent.setting.answers import Certified
from pertinent.setting.claims.instead import Basis, Instead
from pertinent.setting.options import Settings
from pertinent.setting.question import Method, Missing, PositiveQuestion, kind_of
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.setting.results import (
    UNIQUE,
    UNKNOWN,
    Alternative,
    LeftAlone,
    Negatives,
    Positives,
)
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Answered, Asked, Rooms
from pertinent.summary.ranges.stored import read_rooms
from pertinent.summary.reasons import read_reason
from pertinent.summary.stored import (
    ALTERNATIVE,
    ALTERNATIVES,
    CERTIFICATES,
    INSTEAD,
    REASONS,
    WHY,
)
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_number
from pertinent.tables.reading import read_table
from pertinent.tables.table import Table, installed_backend

R = TypeVar("R", Positives, Negatives)

#: Most rules of a stored explanation.
MOST_RULES = 10_000
#: What a question about a document says of it.
OWN_WORDS = "words and their numbers are those of the document"
#: Most further sets of features of one answer.
MOST_ALTERNATIVES = 1_000


class ContradictionError(InputError):
    """A stored explanation contradicts itself: whatever the model is, it does not hold."""

    def __init__(self, why: str, claim: str = "the classes are those of the range asked for"):
        super().__init__(why)
        self.claim = claim


def rebuild(document: dict[str, Any], model: Foreign) -> Answered:
    """Return the stored answers as the library's own, for a model."""
    question, proof = document["proof"]["question"], document["proof"]
    model = _asked_about(model, question)
    settings = _settings(question, proof)
    sample = _sample(question)
    features = _features(model, question, sample, settings)
    table = read_table(features, sample)
    table = table.lacking(_missing(question, features))
    if not question.get("single_decimals"):  # older files tell numbers in single precision by all
        table = table.in_binary()  # their digits
    for name, part in (("method", "positive"), ("norm", "negative")):
        if question.get(name, proof[part][name]) != proof[part][name]:
            raise InputError(f"The question and the answer differ in their {name}.")
    setting = Setting(
        model,
        features,
        _per_column(decode(question["weights"]), table, "weights"),
        settings.constraints,
        settings.margin,
        min_proba=settings.min_proba,
        within=_within(question),
    )
    baseline = _per_column(decode(question["baseline"]), table, "baseline")
    ranges = decode(question.get("ranges"))
    how = PositiveQuestion(baseline, settings.between, settings.off_tol, ranges=ranges)
    asked = Asked(
        setting,
        how.in_precision_of(table),
        settings,
        str(question["baseline_from"]),
        str(question["measure"]),
        decode(question["middle"]),
    )
    shared = {"table": table, "classes": setting.classes, "baseline": baseline}
    shared |= {"method": settings.method, "norm": settings.norm}
    rooms = read_rooms(proof.get("ranges"), features)
    if isinstance(model, PassageClassifier) and rooms != Rooms():
        raise InputError("A word is there or not: an explanation of a text has no ranges.")
    return Answered(
        _results(Positives, proof["positive"], shared, setting),
        _results(Negatives, proof["negative"], shared, setting),
        np.array([_flag(question, "avoided")]),
        asked,
        (rooms,),
        (_instead(proof.get(INSTEAD), shared, setting),),
    )


def _missing(question: dict[str, Any], features: Features) -> list[str]:
    """Return the features of which the sample had no value; older files do not say."""
    named = question.get("missing_features", [])
    if not isinstance(named, list) or not all(name in features.names for name in named):
        raise InputError("A stored explanation lacks values of features that there are not.")
    return named


def _asked_about(model: Foreign, question: dict[str, Any]) -> Foreign:
    """Return the model that the question is about: a regressor with the range that was asked for.

    The range is part of what was asked: nothing but the question says it, and all that is claimed
    is judged by it.
    """
    if "passage" in question or is_text_model(model):
        return _passage(model, question)
    model = unsearched(model)
    if question.get("range") is not None:
        model = _ranged(explained(model), question)
    elif isinstance(model, RangeClassifier) or is_regressor(model):
        raise InputError("The explanation does not say which range of predictions it is about.")
    if "search" not in question:
        return model
    if question["search"] is not True:
        raise InputError("The stored 'search' is not true.")
    return _searched(model, question)


def _ranged(model: Foreign, question: dict[str, Any]) -> RangeClassifier:
    """Return a regressor with the range that the question says."""
    stored, told = question["range"], np.asarray(decode(question["classes"])).tolist()
    ends = read_range(stored)
    try:
        ranged = RangeClassifier(model, *ends)
    except InputError as error:
        raise InputError(f"The explanation is about a range of predictions, and {error}") from None
    if told != ranged.classes_.tolist():
        raise ContradictionError(
            f"the range {stored} has the classes {ranged.classes_.tolist()}, not {told!r:.200}"
        )
    return ranged


def _searched(model: Foreign, question: dict[str, Any]) -> Foreign:
    """Return the model as one of which nothing is known but its predict: nothing is proved of it.

    Its labels are the model's own where it has some.
    """
    names, gaps = question["features"], question.get("missing_at", ())
    told = np.asarray(decode(question["classes"]))
    known = told if getattr(model, "classes_", None) is None else model_classes(model)
    levels = question.get("categories")
    if levels is not None:
        if not isinstance(levels, list) or len(levels) not in (0, len(names)):
            raise InputError("The stored categories are not those of each feature.")
        levels = tuple(None if own is None else tuple(own) for own in levels)
    own = names if question["frame"] else None
    return Searched(model, known, levels, tuple(names.index(name) for name in gaps), own)


def _passage(model: Foreign, question: dict[str, Any]) -> PassageClassifier:
    """Return the model and the document that the question is about.

    Of texts nothing is said but which words were enough and which change the class.
    """
    told = question.get("passage")
    if not isinstance(told, dict) or set(told) != {"document", "add"}:
        told = None
    if told is None or not is_text_model(whole_model(model)):
        raise InputError("The explanation and the model: one of them is about texts, not both.")
    found = PassageClassifier(whole_model(model), told["document"], told["add"])
    if question.get("method", Method.STRICT) != Method.STRICT:
        raise InputError("An explanation of a text counts words: its method must be 'strict'.")
    if found.passage.words != tuple(question["features"]):
        raise ContradictionError("the document has other words", OWN_WORDS)
    if question["sample"] != found.sample[0].tolist():
        raise ContradictionError("the sample has other words than the document", OWN_WORDS)
    counts = np.maximum(found.passage.counts, 1)
    if not np.array_equal(decode(question["weights"]), counts):
        raise ContradictionError("a word counts otherwise than by its occurrences", OWN_WORDS)
    return found


def _instead(record: Any, shared: dict[str, Any], setting: Setting) -> Instead | None:
    """Return what stands in for an empty positive; files of before say nothing of it."""
    if record is None:
        return None
    basis = kind_of(Basis, "basis", record["basis"])
    if "positive" not in record:
        return Instead(basis)
    baseline = _per_column(decode(record["baseline"]), shared["table"], "baseline")
    method = kind_of(Method, "method", record["positive"]["method"])
    own = shared | {"baseline": baseline, "method": method}
    place, classes = -1, setting.classes.tolist()
    if record["class"] is not None:
        place = classes.index(record["class"])
    return Instead(basis, _results(Positives, record["positive"], own, setting), place)


def asked_target(question: dict[str, Any], setting: Setting) -> int | None:
    """Return the place of the class that the negative was asked to reach; None for any other."""
    if "target" not in question:
        raise InputError(
            "This explanation does not say which class was asked for: it cannot be checked. "
            "Write it again with this version."
        )
    label, classes = question["target"], setting.classes.tolist()
    if label is None:
        return None
    if label not in classes:
        raise InputError(f"The explanation asks for class {label!r}, which the model lacks.")
    return int(classes.index(label))


def _settings(question: dict[str, Any], proof: dict[str, Any]) -> Settings:
    """Return what was chosen, as far as it is stored."""
    wording = known_record(question, "wording")
    return Settings(
        constraints=_constraints(question),
        margin=float(question["margin"]),
        min_proba=question["min_proba"],
        missing=question["missing"],
        method=proof["positive"]["method"],
        between=_flag(question, "between"),
        off_tol=float(question["off_tol"]),
        norm=proof["negative"]["norm"],
        max_changes=question.get("max_changes"),
        overlap=question["overlap"],
        wording=wording if isinstance(wording, Wording) else Wording(),
    )


def _flag(question: dict[str, Any], name: str) -> bool:
    value = question[name]
    if not isinstance(value, bool):
        raise InputError(f"The stored {name!r} is neither true nor false.")
    return value


def _features(
    model: Foreign, question: dict[str, Any], sample: Any, settings: Settings
) -> Features:
    names = tuple(str(name) for name in question["features"])
    features = features_of(model, sample, settings.missing is Missing.IMPUTE)
    if settings.missing.is_value:
        may_lose = settings.missing is Missing.ALLOW
        features = may_be_missing(model, features, may_lose=may_lose)
        features = _standing(features, question.get("missing_at"))
    if features.named and features.names != names:
        raise InputError(
            f"The explanation is about the features {list(names)[:10]}, and the model knows "
            f"{list(features.names)[:10]}."
        )
    if len(features) != len(names):
        raise InputError(
            f"The explanation has {len(names)} features, and the model {len(features)}."
        )
    return features


def _standing(features: Features, stored: Any) -> Features:
    """Return the features with the stored numbers at which missing ones stand."""
    names = [features.names[j] for j in features.absent]
    known = isinstance(stored, dict) and set(stored) == set(names)
    if not (known and all(is_number(one) and np.isfinite(one) for one in stored.values())):
        raise InputError("The explanation does not say where missing values of the model stand.")
    return standing(features, {j: stored[features.names[j]] for j in features.absent})


def _sample(question: dict[str, Any]) -> Any:
    """Return the sample as the kind of table it came in."""
    values, names = question["sample"], question["features"]
    number = np.float32 if question["single_precision"] else np.float64
    # Older files do not say which features are in single precision: they take all to be.
    single = set(question.get("single_features", names) if question["single_precision"] else ())
    if question.get("truth_values"):  # older files lack it
        if any(value not in (0, 1) for value in values):
            raise InputError("The stored sample is said to hold truth values, and does not.")
        return np.array([values], dtype=bool)
    if not question["frame"]:
        words = any(isinstance(value, str) for value in values)
        return np.array([values], dtype=object if words else number)
    gaps = question.get("missing_at", ())
    columns = {
        name: np.array([value], dtype=_number(name in single, value, name in gaps))
        for name, value in zip(names, values, strict=True)
    }
    return nw.from_dict(columns, backend=installed_backend()).to_native()


def _number(single: bool, value: Any, may_be_missing: bool) -> Any:
    """Return the type of a column that holds a value; None leaves it to the value."""
    if value is None and may_be_missing:
        return np.float32 if single else np.float64
    if single and isinstance(value, int | float):
        return np.float32
    return np.float64 if isinstance(value, float) else None


def _constraints(question: dict[str, Any]) -> Constraints:
    if _holds_foreign(question["constraints"]):
        raise InputError(
            "The rules of this explanation hold a Python function, which a file cannot hold: it "
            "cannot be checked here."
        )
    written = question["constraints"]
    count = sum(len(rule.get("pairs", ()) if isinstance(rule, dict) else rule)
                for rule in written.values() if isinstance(rule, dict | list))  # fmt: skip
    if count > MOST_RULES:
        raise InputError(f"This explanation has {count:,} rules; at most {MOST_RULES:,} are read.")
    constraints = known_record(question, "constraints")
    return constraints if isinstance(constraints, Constraints) else Constraints()


def _holds_foreign(record: Any) -> bool:
    """Return whether a record names a type that is not ours, such as a function."""
    if isinstance(record, list):
        return any(_holds_foreign(item) for item in record)
    if not isinstance(record, dict):
        return False
    kind = record.get("type")
    foreign = isinstance(kind, str) and "." in kind
    return foreign or any(_holds_foreign(item) for item in record.values())


def _within(question: dict[str, Any]) -> Densities | Hulls | None:
    """Return where points are plausible; None, too, if that is of a kind not known here."""
    within = known_record(question, "within")
    return within if isinstance(within, Densities | Hulls) else None


def _per_column(values: Any, table: Table, name: str) -> FloatArray:
    array = np.asarray(values, dtype=float)
    columns = table.values.shape[1]
    odd = name == "weights" and (array < 0).any()
    if array.shape != (columns,) or not np.isfinite(array).all() or odd:
        raise InputError(f"The stored {name} are not one number for each of {columns} columns.")
    return array


def _results(kind: type[R], record: dict[str, Any], shared: dict[str, Any], setting: Setting) -> R:
    values: dict[str, Any] = {}
    for f in fields(kind):
        if f.name in shared:
            values[f.name] = shared[f.name]
        elif f.name.endswith(CERTIFICATES):
            # Older files lack those that there need not be any of.
            parts = record[f.name] if f.default is MISSING else record.get(f.name, ())
            values[f.name] = tuple(_certified(part) for part in parts)
        elif f.name == REASONS:
            values[f.name] = _reasons(record["reason"])
        elif f.name == ALTERNATIVES:
            values[f.name] = (_alternatives(record[f.name], setting, shared["table"]),)
        elif f.name == "second":
            second = decode(record[f.name])
            values[f.name] = {} if second is None else {0: second}
        else:
            values[f.name] = decode(record[f.name])
            _require_one_row(f.name, values[f.name], setting, shared["table"])
            if f.name.endswith("_code"):
                _require_code(f.name, values[f.name], kind)
                values[f.name] = values[f.name].astype(np.int8)
    return kind(**values)


def _alternatives(record: Any, setting: Setting, table: Table) -> tuple[Alternative, ...]:
    """Return the further sets of features, of kinds that are known here."""
    [listed] = record
    if len(listed) > MOST_ALTERNATIVES:
        most = f"at most {MOST_ALTERNATIVES:,} are read"
        raise InputError(f"This explanation has {len(listed):,} alternatives; {most}.")
    known = [one for one in listed if one.get("type") == ALTERNATIVE]
    return tuple(_one_alternative(one, setting, table) for one in known)


def _one_alternative(record: dict[str, Any], setting: Setting, table: Table) -> Alternative:
    features, values = decode(record["features"]), decode(record["values"])
    _require_set(features, setting)
    if np.shape(values) != table.values.shape[1:] or not np.isfinite(values).all():
        raise InputError("A stored alternative is no point of this model.")
    if not 0 <= int(record["label"]) < len(setting.classes):
        raise InputError(f"A stored alternative has the class {record['label']} of the model's.")
    sizes = float(decode(record["objective"])), float(decode(record["closeness"]))
    why = tuple(
        LeftAlone(_require_set(decode(part["untouched"]), setting), _certified(part))
        for part in record[WHY]
    )
    return Alternative(features, values, *sizes, bool(record["proved"]), int(record["label"]), why)


def _require_set(features: Any, setting: Setting) -> BoolArray:
    if np.shape(features) != (len(setting.features),) or features.dtype != bool:
        raise InputError("A stored alternative is no set of the model's features.")
    return np.asarray(features)


def _reasons(record: Any) -> NDArray[np.object_]:
    """Return the one reason; files of format 1 have an array of words."""
    if isinstance(record, dict) and record.get("type") == "array":
        words = decode(record)
        if np.shape(words) != (1,) or not isinstance(words[0], str | None):
            raise InputError("The stored reason is not one of one sample.")
        record = words[0]
    return np.array([read_reason(record), None], dtype=object)[:1]


def _require_one_row(name: str, value: Any, setting: Setting, table: Table) -> None:
    """Refuse arrays that are not about one sample of this model."""
    wide = {
        "values": table.values.shape[1],
        "sparse_values": table.values.shape[1],
        "kept": len(setting.features),
        "changed": len(setting.features),
    }
    shape = (1, wide[name]) if name in wide else (1,)
    if (name in wide or isinstance(value, np.ndarray)) and np.shape(value) != shape:
        raise InputError(
            f"The stored {name!r} has the shape {np.shape(value)}, and {shape} is expected."
        )
    places = {"label": (0, len(setting.classes)), "target_place": (-1, len(setting.classes))}
    if name in places and not places[name][0] <= value[0] < places[name][1]:
        raise InputError(f"The stored {name!r} is {value[0]}, and the model has no such class.")


def _require_code(name: str, value: Any, kind: type[Positives | Negatives]) -> None:
    """Refuse statuses and words on uniqueness that there are not; a positive is never "already"."""
    most = FAILED if kind is Positives else ALREADY
    least, most = (OPTIMAL, most) if name == "status_code" else (UNKNOWN, UNIQUE)
    if not isinstance(value, np.ndarray) or not least <= value[0] <= most:
        raise InputError(f"The stored {name!r} is {value}, and {least} to {most} is expected.")


def _certified(part: dict[str, Any]) -> Certified:
    kind, place = part["region"]
    if kind not in list(Kind):
        raise InputError(f"A stored certificate is about a region of unknown kind, {kind!r}.")
    key, certificate = RegionKey(Kind(kind), int(place)), decode(part["certificate"])
    for block in certificate.blocks:
        about_it = certificate.n == 1 and not block.rows.any()
        if not about_it or len(block.proofs) != len(block.rows):
            raise InputError("A stored certificate is not about one sample.")
    return Certified(key, np.array([0]), certificate)
