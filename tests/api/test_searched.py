"""Any classifier with a predict, by search: what is found is valid, obeys, and claims nothing."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.api.answer_text import answer_text
from pertinent.exceptions import InputError, UnsupportedModelError

X, y = load_wine(return_X_y=True, as_frame=True)
X = X.iloc[:, [0, 1, 2, 6, 9, 12]]
ROWS = X.iloc[[0, 70, 140]]


class Hidden:
    """A model that can do nothing but predict."""

    def __init__(self, model):
        self.model, self.asked = model, 0

    def predict(self, table):
        self.asked += len(table)
        return self.model.predict(table)


def scaled(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 60 rounds are enough to have a boundary
        return make_pipeline(StandardScaler(), model).fit(X, y)


MODELS = {
    "network": lambda: scaled(MLPClassifier((8,), solver="lbfgs", max_iter=80, random_state=0)),
    "kernel": lambda: scaled(SVC()),
    "neighbours": lambda: scaled(KNeighborsClassifier(5)),
    "stack": lambda: scaled(
        StackingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier())], cv=2)
    ),
    "object": lambda: Hidden(scaled(LogisticRegression())),
}


@cache
def fitted(name):
    return MODELS[name]()


RULES = pertinent.Constraints(
    frozen=["ash"],
    bounds={"flavanoids": (0.5, 4)},
    increase_only=["color_intensity"],
    step={"proline": 10},
    relations=["malic_acid <= alcohol"],
    max_changes=3,
)


def require_valid(model, samples, result):
    """Every point holds in the batch, alone and among other rows; nothing is called proved."""
    for part, label in ((result.positive, "label"), (result.negative, "target")):
        assert part.found.all()
        assert set(part.status) == {"feasible"}
        assert not part.bound.any()
        assert all(one is None for one in part.unique)
        wanted = np.asarray(getattr(part, label))
        if label == "label":
            wanted = part.classes[part.label]
        assert (model.predict(part.points) == wanted).all()
        alone = [model.predict(part.points.iloc[[i]])[0] for i in range(len(samples))]
        assert (np.array(alone) == wanted).all()
    changes = result.negative.points.to_numpy() != samples.to_numpy()
    assert (changes == result.negative.changed).all()
    kept = result.positive.points.to_numpy()
    assert ((kept == samples.to_numpy()) | ~result.positive.kept).all()


@pytest.mark.parametrize("name", MODELS)
def test_points_hold_alone_and_in_batches(name):
    model = fitted(name)
    explainer = pertinent.Explainer(model, data=X, search=True)
    result = explainer.explain(ROWS)
    require_valid(model, ROWS, result)
    one = explainer.explain(ROWS.iloc[[1]])
    for part in ("positive", "negative"):
        own, same = (getattr(some, part).points.to_numpy() for some in (one, result))
        assert (own[0] == same[1]).all()


@pytest.mark.parametrize("name", ["network", "kernel"])
def test_rules_are_obeyed(name):
    model = fitted(name)
    result = pertinent.Explainer(model, data=X, constraints=RULES, search=True).explain(ROWS)
    require_valid(model, ROWS, result)
    points = result.negative.points
    assert (points["ash"].to_numpy() == ROWS["ash"].to_numpy()).all()
    assert points["flavanoids"].between(0.5, 4).all()
    assert (points["color_intensity"].to_numpy() >= ROWS["color_intensity"].to_numpy()).all()
    moved = points["proline"].to_numpy() != ROWS["proline"].to_numpy()
    assert (points["proline"].to_numpy()[moved] % 10 == 0).all()
    assert (points["malic_acid"] <= points["alcohol"]).all()
    assert (result.negative.changed.sum(axis=1) <= 3).all()


def test_target_costs_and_untouched_features():
    model = fitted("network")
    target = model.classes_[2]
    dear = pertinent.Constraints(costs={"proline": 100.0})
    explainer = pertinent.Explainer(
        model, data=X, constraints=dear, overlap="avoid", max_changes=4, search=True
    )
    result = explainer.explain(ROWS, target=target)
    there = model.predict(ROWS) == target
    assert (result.negative.status[there] == "already").all()
    assert (model.predict(result.negative.points[~there]) == target).all()
    assert not result.negative.changed[:, list(X.columns).index("proline")].any()
    assert not (result.negative.changed & result.positive.kept)[result.avoided].any()


@pytest.mark.parametrize("given", [{}, {"steps_from": None, "limits_from": None}])
def test_beside_the_optimum_of_a_hidden_linear_model(given):
    """Never below the proved optimum, and in the middle close to it."""
    flowers, kinds = load_iris(return_X_y=True)
    for data, labels in ((flowers, kinds), (X.to_numpy()[:, :5], y.to_numpy())):
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data, labels)
        rows = data[:: len(data) // 5]
        proved = pertinent.Explainer(model, data=data, **given).explain(rows).negative
        found = pertinent.Explainer(Hidden(model), data=data, search=True, **given).explain(rows)
        ratio = found.negative.objective / proved.objective
        print(f"found / optimal: median {np.median(ratio):.4f}, most {ratio.max():.4f}")
        assert set(proved.status) == {"optimal"}
        assert ratio.min() >= 1 - 1e-9
        assert np.median(ratio) < 1.01
        assert ratio.max() < 1.3


def test_beside_the_fewest_values_of_a_hidden_linear_model():
    data, rows = X.to_numpy(), X.to_numpy()[::12]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data, y)
    how = {"baseline": "median", "data": data}
    proved = pertinent.pertinent_positives(model, rows, method="strict", **how)
    found = pertinent.pertinent_positives(Hidden(model), rows, search=True, **how)
    assert found.method == "strict"
    assert (found.kept.sum(axis=1) >= proved.kept.sum(axis=1)).all()
    assert found.kept.sum() <= proved.kept.sum() + 1


def test_the_same_again_and_whatever_the_batch():
    model = fitted("kernel")
    explainer = pertinent.Explainer(model, data=X, search=True)
    whole = explainer.explain(ROWS)
    part = explainer.explain(ROWS, batch_size=2)
    assert (part.negative.points.to_numpy() == whole.negative.points.to_numpy()).all()
    assert (part.positive.points.to_numpy() == whole.positive.points.to_numpy()).all()
    again = pertinent.Explainer(model, data=X, search=True).explain(ROWS)
    assert [e.json() for e in again] == [e.json() for e in whole]


def test_categories_of_a_pipeline_and_of_steps_that_are_not_read():
    table = X.assign(soil=np.array(["clay", "loam", "sand"])[np.arange(len(X)) % 3])
    answer = np.where((table["soil"] == "clay") & (table["alcohol"] > 13), "yes", "no")
    numbers = list(X.columns)
    for step in (StandardScaler(), SplineTransformer()):
        steps = make_column_transformer((step, numbers), (OneHotEncoder(), ["soil"]))
        last = SVC() if isinstance(step, StandardScaler) else LogisticRegression(max_iter=5000)
        model = make_pipeline(steps, last).fit(table, answer)
        rules = pertinent.Constraints(transitions={"soil": {"sand": ["loam", "clay"]}})
        explainer = pertinent.Explainer(model, data=table, constraints=rules, search=True)
        rows = table.iloc[[2, 6]]
        result = explainer.explain(rows)
        points = result.negative.points
        assert result.negative.found.all()
        assert (model.predict(points) == result.negative.target).all()
        clay = rows["soil"].to_numpy() == "clay"
        assert (points["soil"].to_numpy()[clay] == "clay").all()  # no way leads away from it
        assert pertinent.check(result[0].json(), model).ok


def test_missing_values_are_left_to_a_model_that_takes_them():
    holes = X.copy()
    holes.iloc[::7, 1] = np.nan
    model = Hidden(HistGradientBoostingClassifier(max_iter=4).fit(holes, y))
    explainer = pertinent.Explainer(model, data=holes, search=True)
    rows = holes.iloc[[7, 140]]
    result = explainer.explain(rows)
    assert (model.predict(result.negative.points) == result.negative.target).all()
    stays = rows["malic_acid"].notna().to_numpy()
    assert result.negative.points["malic_acid"].notna().to_numpy()[stays].all()
    assert all(pertinent.check(e.json(), model).ok for e in result)


def test_a_probability_may_be_asked_for():
    model = fitted("network")
    found = pertinent.pertinent_negatives(model, ROWS, data=X, min_proba=0.7, search=True)
    chance = model.predict_proba(found.points).max(axis=1)
    assert found.found.all()
    assert (chance >= 0.7).all()


def test_exact_models_are_explained_as_without_search():
    model = scaled(LogisticRegression())
    plain = pertinent.Explainer(model, data=X).explain(ROWS)
    asked = pertinent.Explainer(model, data=X, search=True).explain(ROWS)
    assert set(asked.negative.status) == {"optimal"}
    assert [e.json() for e in asked] == [e.json() for e in plain]


def test_views_say_that_nothing_is_proved():
    explainer = pertinent.Explainer(fitted("network"), data=X, search=True)
    result = explainer.explain(ROWS)
    one = result[0]
    for said in (one.text(), one.text("short"), one.text("long"), one.html(), str(one)):
        assert "found, not proved" in said.lower()
        assert "Proved smallest" not in said
    assert "found, not proved" in result.text().lower()
    summary = one.document()["summary"]
    assert summary["positive"]["search"]
    assert summary["negative"]["search"]
    frame = result.to_frame()
    assert set(frame["negative_status"]) == {"feasible"}
    assert one.ranges == {}
    assert one.box == {}
    row = int(np.flatnonzero(result.positive.kept.any(axis=1))[0])
    told = answer_text(result.positive, row, length="short")
    assert "found, not proved" in told


def test_time_limits_are_kept(monkeypatch):
    now = [0.0]
    for module in ("answering.anything.asking", "geometry.running", "setting.effort"):
        monkeypatch.setattr(f"pertinent.{module}.monotonic", lambda: now[0])

    class Slow(Hidden):
        def predict(self, table):
            now[0] += 0.0005 * len(table)  # and nothing else takes time
            return super().predict(table)

    model = Slow(scaled(LogisticRegression()))
    data = X.iloc[::10]
    limit, rows = 0.15, ROWS.iloc[:2]
    explainer = pertinent.Explainer(model, data=data, time_limit=limit, search=True)
    explainer.explain(rows)  # what is typical of classes is found out once
    start = now[0]
    result = explainer.explain(rows)
    assert now[0] - start <= 2 * len(rows) * limit * 1.2 + 0.05
    assert result.negative.found.all()


def test_nothing_found_is_no_proof():
    rules = pertinent.Constraints(frozen=list(X.columns))
    model = fitted("network")
    result = pertinent.Explainer(model, data=X, constraints=rules, search=True).explain(ROWS[:1])
    assert result.negative.status.tolist() == ["failed"]
    assert "it proves nothing" in result.negative.reason[0]
    assert pertinent.check(result[0].json(), model).ok


def test_progress_is_told():
    seen = []
    explainer = pertinent.Explainer(fitted("object"), data=X, search=True)
    explainer.explain(ROWS, batch_size=2, progress=lambda done, of: seen.append((done, of)))
    assert seen == [(2, 3), (3, 3)]


def test_a_point_that_holds_in_company_only_is_not_handed_out():
    class Moody(Hidden):
        """Close to the boundary, it says otherwise of a row by itself."""

        def predict(self, table):
            found = np.asarray(table)[:, 0] > (0.1 if len(table) == 1 else 0.0)
            return found.astype(int)

    data = np.random.default_rng(0).normal(size=(60, 2))
    model = Moody(None)
    rows = np.array([[-1.0, 0.0], [-0.5, 1.0]])
    found = pertinent.pertinent_negatives(model, rows, data=data, search=True)
    for i in np.flatnonzero(found.found):
        assert model.predict(found.points[i : i + 1])[0] == found.target[i]
    assert found.found.all()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"method": "sufficient"}, "method='sufficient'"),
        ({"norm": "l0"}, "norm='l0'"),
        ({"exact": True}, "exact"),
        ({"margin": 0.1}, "margin"),
        ({"alternatives": 2}, "alternatives"),
        ({"data": None}, "pass data="),
        ({"search": "yes"}, "search must be True or False"),
    ],
)
def test_what_a_search_cannot_do_is_refused(given, match):
    with pytest.raises(InputError, match=match):
        pertinent.Explainer(fitted("kernel"), **({"data": X, "search": True} | given))


def test_menus_and_things_that_do_not_classify_are_refused():
    with pytest.raises(InputError, match="nothing can be proved"):
        pertinent.Explainer(fitted("object"), data=X, search=True).menu(ROWS.iloc[:1])
    clusters = KMeans(2, n_init=1).fit(X)
    with pytest.raises(UnsupportedModelError, match="it is a clusterer, not a classifier"):
        pertinent.Explainer(clusters, data=X, search=True)
    with pytest.raises(UnsupportedModelError, match="it has no predict"):
        pertinent.Explainer(object(), data=X, search=True)
    odd = Hidden(scaled(LogisticRegression()))
    odd.classes_ = np.array([0, 1])
    explainer = pertinent.Explainer(odd, data=X, search=True)
    with pytest.raises(InputError, match="which is none of its labels"):
        explainer.explain(ROWS)


def test_the_message_for_what_is_not_read_has_three_lines():
    with pytest.raises(UnsupportedModelError) as raised:
        pertinent.Explainer(scaled(SVC()), data=X)
    assert "SVC" in str(raised.value)
    with pytest.raises(UnsupportedModelError) as raised:
        pertinent.Explainer(fitted("network"), data=X)
    what, why, instead = str(raised.value).splitlines()
    assert what.endswith("MLPClassifier is not supported.")
    assert why.startswith("Why there is no exact answer: a network adds up units")
    assert instead.startswith("What to do: search=True finds answers")
    assert "PolynomialFeatures(2)" in instead


def test_a_frame_of_samples_without_training_names():
    model = Hidden(scaled(SVC()))
    frame = pd.DataFrame(ROWS.to_numpy(), columns=X.columns)
    found = pertinent.pertinent_negatives(model, frame, data=X, search=True)
    assert (model.predict(found.points) == found.target).all()
