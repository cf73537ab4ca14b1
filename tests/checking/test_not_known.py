"""Whatever a later version adds to a file, wherever it does: it is not known here, never held."""

import copy
import json
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pertinent

pytestmark = pytest.mark.matrix(2)

X, Y = load_iris(return_X_y=True)
MODELS = {
    "linear": LogisticRegression(max_iter=1000).fit(X, Y),
    "forest": RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y),
}
ASKED = {
    "plain": {},
    "rules": {"constraints": pertinent.Constraints(bounds={0: (4, 8)}, relations=["x0 >= x1"])},
    "exact": {"method": "exact"},
    "fewest": {"norm": "l0"},
    "others": {"alternatives": 2},
}
NOT_KNOWN = "not re-checkable here"


def _stored(model, asked):
    explainer = pertinent.Explainer(MODELS[model], data=X, **ASKED[asked])
    return json.loads(explainer.explain(X[60:61])[0].json())


def _records(value, path=()):
    """Yield the path of every mapping; of long lists the first items stand for all."""
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from _records(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value[:2]):
            yield from _records(item, (*path, i))


def _changed(document, path, **parts):
    other = copy.deepcopy(document)
    record = other
    for key in path:
        record = record[key]
    record.update(parts)
    return other


@pytest.mark.parametrize(
    ("model", "asked"),
    [("linear", "plain"), ("linear", "rules"), ("linear", "exact"), ("linear", "fewest"),
     ("forest", "plain")],
)  # fmt: skip
def test_every_part_of_a_question_and_its_proofs(model, asked):
    document = _stored(model, asked)
    assert pertinent.check(document, MODELS[model]).ok
    tried = 0
    for path in _records(document["proof"], ("proof",)):
        found = pertinent.check(_changed(document, path, later=1), MODELS[model])
        assert found.verdict == NOT_KNOWN, path
        tried += 1
    assert tried > 40


@pytest.mark.matrix(1)
@pytest.mark.parametrize("model", MODELS)
def test_every_kind_of_value(model):
    document = _stored(model, "plain")
    tried = 0
    for path in _records(document["proof"], ("proof",)):
        record = document
        for key in path:
            record = record[key]
        if "type" in record:
            found = pertinent.check(_changed(document, path, type="later"), MODELS[model])
            assert found.verdict == NOT_KNOWN, path
            tried += 1
    assert tried > 20


def test_what_is_malformed_is_still_refused():
    document = _stored("linear", "plain")
    del document["proof"]["question"]["weights"]["values"]
    with pytest.raises(pertinent.exceptions.InputError, match="array is malformed"):
        pertinent.check(document, MODELS["linear"])


#: What a stranger may put in the place of anything.
STRANGE = [None, [], {}, [1], "x", -1, 1e308, True, [[]], {"type": [1]}, {"type": None},
           {"type": {}}, {"type": "array"}, {"type": "mapping", "pairs": [[1]]}]  # fmt: skip


def _places(value, path=()):
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, item in inner:
        if isinstance(item, dict | list):
            yield from _places(item, (*path, key))
        else:
            yield (*path, key)


@pytest.mark.parametrize("odd", [0, True, "x", [1.5], [True, None], {"a": 1}])
def test_sets_of_features_that_are_no_lists_are_refused(odd):
    document = _stored("linear", "others")
    document["proof"]["negative"]["alternatives"] = odd
    with pytest.raises(pertinent.exceptions.InputError, match="malformed"):
        pertinent.check(document, MODELS["linear"])


def test_anything_anywhere_is_answered_or_refused_in_words():
    """A file with alternatives has all that a plain one has."""
    document, refused = _stored("linear", "others"), 0
    for i, path in enumerate(islice(_places(document["proof"], ("proof",)), 0, None, 3)):
        *above, last = path
        other = copy.deepcopy(document)
        record = other
        for key in above:
            record = record[key]
        record[last] = STRANGE[i % len(STRANGE)]
        try:
            pertinent.check(other, MODELS["linear"])
        except pertinent.exceptions.InputError:
            refused += 1
    assert refused > 50


@pytest.mark.parametrize("key", ["within", "wording", "constraints"])
@pytest.mark.parametrize("strange", ["later", [1], [[]]])
def test_a_rule_in_another_form_is_not_known(key, strange):
    document = _stored("linear", "plain")
    document["proof"]["question"][key] = strange
    try:
        assert pertinent.check(document, MODELS["linear"]).verdict == NOT_KNOWN
    except pertinent.exceptions.InputError:
        assert key == "constraints"  # nothing can be made of it


@pytest.mark.parametrize("key", ["between", "avoided"])
def test_what_is_neither_true_nor_false_is_refused(key):
    document = _stored("linear", "plain")
    document["proof"]["question"][key] = "x"
    with pytest.raises(pertinent.exceptions.InputError, match="neither true nor false"):
        pertinent.check(document, MODELS["linear"])


def test_every_part_of_alternatives():
    """Their values, and the proofs of their order: nothing beside what is known is passed over."""
    document, within = _stored("linear", "others"), ("proof", "negative", "alternatives")
    paths = list(_records(document["proof"]["negative"]["alternatives"], within))
    assert len(paths) > 20
    for path in paths:
        found = pertinent.check(_changed(document, path, later=1), MODELS["linear"])
        assert found.verdict == NOT_KNOWN, path


def _mixed(gone=None, **rules):
    """Return a stored explanation of a number, which may be missing, and a category; its model."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"income": rng.normal(size=60) * 9, "home": rng.choice(["rent", "own", "other"], 60)}
    )
    columns = make_column_transformer((OneHotEncoder(), ["home"]), (SimpleImputer(), ["income"]))
    model = make_pipeline(columns, LogisticRegression())
    model.fit(frame, frame["income"] + 9 * (frame["home"] == "own") > 3)
    row = pd.DataFrame({"income": [-2.0], "home": ["own"]})
    if gone is not None:
        row[gone] = np.nan
    rules = pertinent.Constraints(**rules)
    explainer = pertinent.Explainer(model, data=frame, missing="impute", constraints=rules)
    return json.loads(explainer.explain(row)[0].json()), model


def test_every_part_of_categories_that_keep_the_class():
    document, model = _mixed(frozen=["income"])
    items = [
        ("proof", "ranges", part, "choices", i)
        for part in ("positive", "negative")
        for i in range(len(document["proof"]["ranges"][part]["choices"]))
    ]
    assert items
    for path in items:
        assert pertinent.check(_changed(document, path, later=1), model).verdict == NOT_KNOWN


@pytest.mark.parametrize("named", ["zzz", ["zzz"], {}])
def test_values_missing_of_features_that_there_are_not_are_refused(named):
    document, model = _mixed("income")
    document["proof"]["question"]["missing_features"] = named
    with pytest.raises(pertinent.exceptions.InputError, match="features that there are not"):
        pertinent.check(document, model)


def test_a_value_shown_as_missing_was_missing():
    document, model = _mixed("income")
    document["proof"]["question"]["missing_features"] = []
    found = pertinent.check(document, model)
    assert found.verdict == "refuted"
    assert any(
        one.detail.endswith(".missing") for one in found.findings if one.verdict == "refuted"
    )
