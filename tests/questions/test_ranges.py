"""Ranges and boxes judged by ``predict``: every value inside keeps the class, one step outside not.

No code of the library is asked whether a range is right: points are drawn inside, and one step
outside each side that is said to end with the class.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.lvq import GLVQ
from pertinent.setting.claims.ranges import state_rooms
from pertinent.setting.ranges import Room, Span
from pertinent.summary.ranges.shown import changed_values

MODELS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "centroid": NearestCentroid,
    "1-nn": lambda: KNeighborsClassifier(1),
    "scaled 1-nn": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    "glvq": lambda: GLVQ(prototypes_per_class=3, random_state=0),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "scaled tree": lambda: make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
    "forest": lambda: RandomForestClassifier(7, max_depth=3, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=5),
    "scaled boosting": lambda: make_pipeline(
        StandardScaler(), GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0)
    ),
    "naive bayes": GaussianNB,
    "qda": lambda: QuadraticDiscriminantAnalysis(reg_param=0.1),
}
#: Sums of trees: few rows, each of which takes a search of its own.
SUMS = ("forest", "boosting", "scaled boosting")
TABLES = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}
#: Sampled values do not go farther out than this many ranges of the data.
OUT = 2.0
DRAWN = 60
#: No rule is read off the data.
FREE = {"limits_from": None, "steps_from": None}


class Judge:
    """Draws values inside of ranges, and one step outside, and asks the model."""

    def __init__(self, model, X, steps=None):
        self.model, self.X, self.steps = model, X, steps or {}
        self.span = np.ptp(X, axis=0).astype(float)
        self.low, self.high = X.min(axis=0) - OUT * self.span, X.max(axis=0) + OUT * self.span
        self.rng = np.random.default_rng(0)
        self.ranges = self.boxes = self.ends = self.sides = 0

    def keeps(self, points, label):
        return (self.model.predict(points.astype(self.X.dtype)) == label).all()

    def drawn(self, j, entry, own, n=DRAWN):
        low, high = entry["exact_low"], entry["exact_high"]
        low = min(self.low[j], own) if low is None else max(low, min(self.low[j], own))
        high = max(self.high[j], own) if high is None else min(high, max(self.high[j], own))
        return np.concatenate([self.rng.uniform(low, high, n), [low, high]])

    def judge(self, part, label, names, *, steps=True):
        """Judge every range of one part of a summary, and its box."""
        point = np.array(part["point"], dtype=float)
        sides = []
        for value in part["values"]:
            j = names.index(value["feature"])
            if value["range"] is not None:
                self.ranges += 1
                values = self.drawn(j, value["range"], point[j])
                points = np.repeat(point[None], len(values), axis=0)
                points[:, j] = values
                assert self.keeps(points, label), (value, label)
                if steps:
                    self.steps_outside(j, value["range"], point, label)
            if value["box"] is not None:
                sides.append((j, value["box"]))
        if sides:
            self.boxes += 1
            points = np.repeat(point[None], DRAWN + 2, axis=0)
            for j, entry in sides:
                values = self.drawn(j, entry, point[j])
                points[:, j] = np.where(  # corners as well as what lies between
                    self.rng.random(len(values)) < 0.3,
                    self.rng.choice(values[-2:], len(values)),
                    values,
                )
            assert self.keeps(points, label), (sides, label)
            for j, _ in sides if steps else ():
                self.steps_outside_box(j, sides, point, label)

    def steps_outside_box(self, j, sides, point, label):
        """Ask beyond a side of a box, at corners and between them: the class must end somewhere."""
        points = np.repeat(point[None], 8 * DRAWN, axis=0)
        for other, entry in sides:
            values = self.drawn(other, entry, point[other])
            points[:, other] = self.rng.choice(values, len(points))
            corners = self.rng.random(len(points)) < 0.7
            points[corners, other] = self.rng.choice(values[-2:], corners.sum())
        entry = dict(sides)[j]
        for name, sign in (("low", -1.0), ("high", 1.0)):
            if entry[f"{name}_end"]["kind"] == "class":
                self.sides += 1
                step = self.steps.get(j, 1e-6 * self.span[j])
                points[:, j] = entry[f"exact_{name}"] + sign * step
                assert not self.keeps(points, label), (sides, j, name)

    def steps_outside(self, j, entry, point, label):
        for name, sign in (("low", -1.0), ("high", 1.0)):
            end, why = entry[f"exact_{name}"], entry[f"{name}_end"]["kind"]
            assert why in ("class", "open", "far", "rule"), entry
            assert (end is None) == (why == "open")
            if why == "class":
                self.ends += 1
                beyond = point.copy()
                beyond[j] = end + sign * self.steps.get(j, 1e-6 * self.span[j])
                assert not self.keeps(beyond[None], label), (entry, beyond[j])


@pytest.mark.matrix(2)
@pytest.mark.matrix(2)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", MODELS)
def test_values_inside_keep_the_class_and_one_step_outside_does_not(name, table):
    X, y = TABLES[table](return_X_y=True)
    # Of a large table every twelfth sample is a prototype of its own; few rows are asked about.
    many = "1-nn" in name and len(X) > 160
    model = MODELS[name]().fit(X[:: 12 if many else 1], y[:: 12 if many else 1])
    count = 3 if many or name in SUMS else 7
    rows = np.random.default_rng(1).choice(len(X), count, replace=False)
    explainer = pertinent.Explainer(model, data=X, **FREE)
    names = list(explainer.setting.features.names)
    judge = Judge(model, X)
    changed = 0
    for explanation in explainer.explain(X[rows]):
        summary = explanation.summary()
        judge.judge(summary["negative"], summary["negative"]["target"], names)
        changed += len(summary["negative"]["values"])
        positive = summary["positive"]
        if positive["point"] is not None:
            judge.judge(positive, summary["prediction"], names, steps=False)
    assert judge.ranges >= changed
    assert judge.ends > 0
    assert judge.sides > 0
    assert judge.boxes >= count - 1


@pytest.mark.parametrize("name", ["logistic", "tree", "centroid"])
def test_on_the_grid_of_the_data_one_step_of_it_outside_does_not(name):
    X, y = load_wine(return_X_y=True)
    model = MODELS[name]().fit(X, y)
    explainer = pertinent.Explainer(model, data=X)
    names = list(explainer.setting.features.names)
    steps = {
        names.index(rule.feature): rule.numbers[0]
        for rule in explainer.inferred
        if rule.kind == "step"
    }
    assert len(steps) > 10
    judge = Judge(model, X, steps)
    for explanation in explainer.explain(X[::12]):
        summary = explanation.summary()
        for value in summary["negative"]["values"]:
            place = names.index(value["feature"])
            for end in ("exact_low", "exact_high") if place in steps else ():
                count = value["range"][end] / steps[place]
                assert abs(count - round(count)) < 1e-6
        judge.judge(summary["negative"], summary["negative"]["target"], names)
    assert judge.ranges >= 10
    assert judge.ends > 0


@pytest.mark.parametrize("scale", [1e-6, 1e9])
@pytest.mark.parametrize("name", ["logistic", "tree", "centroid", "naive bayes"])
def test_odd_units(name, scale):
    X, y = load_iris(return_X_y=True)
    X = X * scale
    model = MODELS[name]().fit(X, y)
    explainer = pertinent.Explainer(model, data=X, **FREE)
    judge = Judge(model, X)
    for explanation in explainer.explain(X[::15]):
        summary = explanation.summary()
        judge.judge(summary["negative"], summary["negative"]["target"], [f"x{j}" for j in range(4)])
    assert judge.ranges >= 10
    assert judge.boxes == 10


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", MODELS)
def test_single_precision(name):
    """Sums in single precision round more than a step: only what is inside is judged."""
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    model = MODELS[name]().fit(X, y)
    judge = Judge(model, X)
    for explanation in pertinent.Explainer(model, data=X, **FREE).explain(X[::10]):
        summary = explanation.summary()
        for value in summary["negative"]["values"]:
            ends = (
                [value["range"][k] for k in ("exact_low", "exact_high")] if value["range"] else []
            )
            assert all(end is None or np.float32(end) == end for end in ends)
        judge.judge(
            summary["negative"],
            summary["negative"]["target"],
            [f"x{j}" for j in range(4)],
            steps=False,
        )
    assert judge.ranges >= (0 if name == "scaled 1-nn" else 12)


def applicants():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "income": rng.integers(10, 90, 300) * 100.0,
            "debt": rng.integers(0, 40, 300) * 100.0,
            "children": rng.integers(0, 5, 300),
            "job": rng.choice(["clerk", "nurse", "smith"], 300),
        }
    )
    score = (
        frame["income"]
        - 1.5 * frame["debt"]
        - 300 * frame["children"]
        + 900 * (frame["job"] == "nurse")
    )
    return frame, np.where(score > 1500, "yes", "no")


def mixed_model(frame, y):
    columns = make_column_transformer(
        (OneHotEncoder(), ["job"]), (StandardScaler(), ["income", "debt", "children"])
    )
    return make_pipeline(columns, LogisticRegression(C=100.0)).fit(frame, y)


def test_rules_end_ranges_and_say_so():
    frame, y = applicants()
    model = mixed_model(frame, y)
    rules = pertinent.Constraints(
        integer=["children"], bounds={"income": (None, 12000), "debt": (0, None)},
        relations=["debt <= 0.9 * income"], decrease_only=["children"],
    )  # fmt: skip
    explainer = pertinent.Explainer(model, data=frame, constraints=rules)
    refused = frame[model.predict(frame) == "no"].head(25)
    rng, seen = np.random.default_rng(0), set()
    for (_, own), explanation in zip(refused.iterrows(), explainer.explain(refused), strict=True):
        point = dict(zip(frame.columns, explanation.summary()["negative"]["point"], strict=True))
        for value in explanation.summary()["negative"]["values"]:
            name, entry = value["feature"], value["range"]
            if "values" in entry:
                for job in frame["job"].unique():
                    one = pd.DataFrame([point | {"job": job}])
                    assert (model.predict(one)[0] == "yes") == (job in entry["values"])
                continue
            low = -20000.0 if entry["exact_low"] is None else entry["exact_low"]
            high = 20000.0 if entry["exact_high"] is None else entry["exact_high"]
            values = rng.uniform(low, high, 30)
            if name == "children":
                values = np.arange(low, high + 1)
                assert low == round(low)
                assert high == round(high)
                assert high <= own["children"]
            many = pd.DataFrame([point | {name: v} for v in values])
            assert (model.predict(many) == "yes").all()
            assert (many["debt"] <= 0.9 * many["income"] + 1e-3).all()
            assert many["income"].max() <= 12000
            assert many["debt"].min() >= 0
            seen |= {entry[f"{side}_end"]["rule"] for side in ("low", "high")}
    assert "income is at most 12000" in seen


def test_ranges_are_read_off_an_explanation():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explanation = pertinent.Explainer(model, data=X, **FREE).explain(X[:1])[0]
    ((name, (low, high)),) = explanation.ranges.items()
    assert explanation.box == explanation.ranges
    assert low <= explanation.changed[name][1] <= high
    ((kept, (least, most)),) = explanation.kept_ranges.items()
    assert least == -np.inf
    assert most >= explanation.kept[kept]


def test_a_plausible_answer_moves_within_the_density():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    density = pertinent.Plausibility(X, y, n_components=1, random_state=0)
    explainer = pertinent.Explainer(model, data=X, plausibility=density)
    result = explainer.explain(X[::25])
    within, found = explainer.setting.within, 0
    for i, explanation in enumerate(result):
        place = int(result.negative.target_place[i])
        for name, (low, high) in explanation.ranges.items():
            j = explainer.setting.features.index(name)
            points = np.repeat(result.negative.values[[i]], 20, axis=0)
            points[:, j] = np.linspace(low, high, 20)
            assert (within.log_density(place, points) >= within.mixtures[place].threshold).all()
            found += 1
    assert found >= 6


def test_explaining_does_not_look_for_ranges(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    monkeypatch.setattr("pertinent.setting.claims.rooms.rooms_of", lambda *_, **__: 1 / 0)
    pertinent.Explainer(model, data=X).explain(X)


def test_ends_on_a_grid_are_printed_with_all_their_digits():
    """Of a spread of 200 whole numbers would be shown, and 100.5 be hidden behind 101."""
    a = 0.5 * np.arange(800.0)
    X, y = a[:, None], (a > 100) & (a < 200)
    model = MODELS["tree"]().fit(X, y)
    explainer = pertinent.Explainer(model, data=X)
    for explanation in explainer.explain(X[[0, 799]]):
        [value] = explanation.summary()["negative"]["values"]
        for shown in (value["range"], value["box"]):
            assert (shown["low"], shown["high"]) == (100.5, 199.5)
    assert "100.5 to 199.5" in explanation.text()


def test_a_number_that_steps_before_trees_may_round_across_a_cut_has_a_range():
    """All values are even, so that trees cut at odd numbers, which are numbers of the grid."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": 2.0 * rng.integers(0, 40, 300), "b": rng.integers(0, 9, 300)})
    X.loc[0, "a"] = 81.0  # so that the grid is that of whole numbers
    y = (X["a"] + 4 * X["b"] > 60).astype(int)
    trees = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4, min_samples_leaf=5)
    model = make_pipeline(StandardScaler(), trees).fit(X, y)
    rows = X.iloc[1:25].assign(b=[3] * 24)
    rules = pertinent.Constraints(frozen=["b"])
    on_cuts = 0
    for explanation in pertinent.Explainer(model, data=X, constraints=rules).explain(rows):
        [value] = explanation.summary()["negative"]["values"]
        on_cuts += value["value"] % 2 == 1
        low, high = explanation.ranges["a"]
        assert low <= value["value"] <= high
        assert explanation.box == explanation.ranges
        held = pd.DataFrame({"a": np.arange(low, high + 1), "b": 3})
        label = explanation.summary()["negative"]["target"]
        assert (model.predict(held) == label).all()
        for beyond in (low - 1, high + 1):
            outside = held.iloc[:1].assign(a=beyond)
            assert not 0 <= beyond <= 81 or (model.predict(outside) != label).all()
        assert pertinent.check(explanation.json(), model).verdict == "holds"
    assert on_cuts >= 3


def test_between_two_right_ends_on_a_grid_everything_must_be_right():
    """The model is asked about ends, and the numbers between them are not taken on trust."""
    X = np.arange(21.0)[:, None]
    y = (X[:, 0] >= 5) & (X[:, 0] != 12) & (X[:, 0] < 18)
    model = DecisionTreeClassifier().fit(X, y)
    found = pertinent.Explainer(model, data=X).explain(X[:1])
    answer = changed_values(found, found.asked, np.array([0]))

    def holds(low, high):
        [room] = state_rooms(found.asked.setting, answer, [Room((Span(0, low, high),))])
        return bool(room.spans)

    assert holds(5.0, 11.0)
    assert holds(5.0, 6.0)
    assert not holds(5.0, 13.0)
    assert not holds(5.0, 12.0)
    assert not holds(4.0, 11.0)
    assert not holds(5.0, 10.5)


def test_a_range_goes_on_through_bins_of_the_same_class():
    """Numbers are cut into bins before the model: a range ends where the class does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    bins = KBinsDiscretizer(6, encode="onehot-dense", strategy="uniform")
    model = make_pipeline(bins, LogisticRegression()).fit(X, X.sum(axis=1) > 0)
    ends = {"class": 0, "rule": 0, "shown": 0}
    for row, one in zip(X[:15], pertinent.Explainer(model, data=X).explain(X[:15]), strict=True):
        negative = one.summary()["negative"]
        there = row.copy()
        for value in negative["values"]:
            there[int(value["feature"][1:])] = value["exact"]
        for value in negative["values"]:
            j, found = int(value["feature"][1:]), value["range"]
            low, high = found["exact_low"], found["exact_high"]
            drawn = np.repeat(there[None], 60, axis=0)
            drawn[:, j] = np.linspace(low, high, 60)
            assert (model.predict(drawn) == negative["target"]).all()
            for side, end in (("low_end", low - 1e-5), ("high_end", high + 1e-5)):
                ends[found[side]["kind"]] += 1
                if found[side]["kind"] == "class":
                    drawn[0, j] = end
                    assert model.predict(drawn[:1]) != negative["target"]
    assert ends["class"] >= 15
    assert ends["rule"] >= 15
    assert not ends["shown"]


def test_training_points_of_two_classes_that_coincide_bound_a_range():
    """Which of them is met first differs from place to place: no range runs over such a point."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 400), rng.integers(0, 3, 400)]).astype(float)
    y = np.where(rng.random(400) < 0.7, "no", "yes")
    model = KNeighborsClassifier(1, algorithm="kd_tree", leaf_size=5).fit(X, y)
    result = pertinent.Explainer(model, data=X).explain(X[:40])
    told = 0
    for one in result:
        negative = one.summary()["negative"]
        for value in negative["values"]:
            span = value["range"]
            if span is None:
                continue
            numbers = np.arange(span["low"], span["high"] + 1)
            points = np.repeat([negative["point"]], len(numbers), axis=0)
            points[:, ["x0", "x1"].index(value["feature"])] = numbers
            assert (model.predict(points) == negative["target"]).all()
            told += len(numbers)
    assert told > 20
