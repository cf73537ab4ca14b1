"""Every question ends when its time is over, with what it has; and Ctrl-C ends it at once."""

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import pertinent
from pertinent import Constraints, pertinent_negatives, pertinent_positives
from pertinent.geometry.affine import Scores
from pertinent.geometry.ensembles import form
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import winners
from pertinent.proofs.ensembles import boxes, conditions, proof, weights
from pertinent.proofs.ensembles.boxes import Rules
from pertinent.proofs.winners import RivalProofs
from pertinent.questions.ranges import trees
from pertinent.questions.ranges.reach import Moves
from pertinent.questions.ranges.rooms import Ranging
from pertinent.setting.claims import ranges
from pertinent.solvers.ensembles import problem
from pertinent.solvers.ensembles.problem import Left, RowProblem
from pertinent.solvers.ensembles.solve import solve_ensemble
from pertinent.solvers.problem import Task, onto
from pertinent.solvers.programs.linear import LinearProgram

#: Seconds of processor time: what is asked for, and what reading model and sample may take.
LIMIT, PREPARING = 0.2, 0.1
MOST = 1.2 * LIMIT + 0.05 + PREPARING
DIM = 30
WHOLE = Constraints(decimals=dict.fromkeys(range(DIM), 0))


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        1500, DIM, n_informative=DIM, n_redundant=0, n_classes=4, n_clusters_per_class=1,
        random_state=3,
    )  # fmt: skip
    return np.round(2 * X), y


@pytest.fixture(scope="module")
def models(data):
    X, y = data
    few = KNeighborsClassifier(1).fit(X[:60], y[:60])
    return {
        "linear": LogisticRegression(max_iter=300).fit(X, y),
        "curved": QuadraticDiscriminantAnalysis(reg_param=1e-3).fit(X, y),
        "separable": GaussianNB().fit(X, y),
        "pieces": few,
        "many pieces": KNeighborsClassifier(1).fit(X[:500], y[:500]),
        "tree": DecisionTreeClassifier(random_state=0).fit(X[:500], y[:500]),
        "forest": RandomForestClassifier(30, random_state=0).fit(X[:500], y[:500]),
        "bent": make_pipeline(PowerTransformer(), LogisticRegression()).fit(X, y),
    }


def bounded(data):
    low, high = np.quantile(data[0], [0.2, 0.8], axis=0)
    return Constraints(bounds={j: (low[j], high[j]) for j in range(DIM)})


NEGATIVES = {
    "nearest": {},
    "nearest, exact": {"exact": True},
    "fewest": {"norm": "l0"},
    "few": {"max_changes": 4},
    "alternatives": {"alternatives": 50},
    "fewest, alternatives": {"norm": "l0", "alternatives": 20},
}
POSITIVES = {
    "two-phase": {},
    "strict": {"method": "strict", "alternatives": 20},
    "exact": {"method": "exact", "alternatives": 3},
    "sufficient": {"method": "sufficient"},
}
CASES = [
    *((pertinent_negatives, ask, name, rules) for ask in NEGATIVES for name, rules in (
        ("curved", "bounds"), ("curved", "whole"), ("linear", "whole"),
    )),
    *((pertinent_negatives, "fewest", name, rules) for name, rules in (
        ("separable", "whole"), ("separable", "bounds"), ("pieces", "bounds"),
    )),
    (pertinent_negatives, "alternatives", "forest", "none"),
    *((pertinent_positives, ask, "linear", "whole") for ask in POSITIVES),
    *((pertinent_positives, ask, "curved", "bounds") for ask in POSITIVES if ask != "sufficient"),
    *((pertinent_positives, "exact", name, rules) for name, rules in (
        ("separable", "bounds"), ("tree", "whole"), ("forest", "bounds"), ("pieces", "whole"),
    )),
    (pertinent_positives, "strict", "pieces", "whole"),
    (pertinent_positives, "exact", "many pieces", "none"),
    (pertinent_negatives, "fewest", "many pieces", "bounds"),
    (pertinent_positives, "sufficient", "separable", "bounds"),
    (pertinent_positives, "sufficient", "pieces", "none"),
]  # fmt: skip


def seconds(call):
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


@pytest.mark.parametrize(
    ("function", "ask", "name", "rules"), CASES, ids=lambda v: getattr(v, "__name__", v)
)
def test_a_question_ends_when_its_time_is_over(models, data, function, ask, name, rules):
    X, _ = data
    how = {**NEGATIVES, **POSITIVES}[ask]
    constraints = {"bounds": bounded(data), "whole": WHOLE, "none": None}[rules]
    if function is pertinent_positives:
        how = {**how, "data": X, "baseline": "mean" if rules != "whole" else None}

    def explain(limit):
        return function(models[name], X[1:2], constraints=constraints, time_limit=limit, **how)

    assert min(seconds(lambda: explain(1e-6))[0] for _ in range(5)) <= PREPARING
    spent, found = seconds(lambda: explain(LIMIT))
    assert spent <= MOST
    if found.found[0]:
        kept = models[name].predict(found.points) == models[name].predict(X[1:2])
        assert kept[0] == (function is pertinent_positives)


def test_an_explanation_may_take_the_time_of_both_questions(models, data):
    X, _ = data
    explainer = pertinent.Explainer(
        models["curved"], X, constraints=WHOLE, time_limit=LIMIT / 2, norm="l0"
    )
    spent, _ = seconds(lambda: explainer.explain(X[1:2]))
    assert spent <= MOST


@pytest.mark.parametrize(
    ("name", "rules"), [("linear", WHOLE), ("curved", WHOLE), ("forest", None), ("bent", None)]
)
def test_all_sets_of_a_menu_share_the_time_of_their_sample(models, data, name, rules):
    X, _ = data
    explainer = pertinent.Explainer(models[name], X, constraints=rules, time_limit=LIMIT / 2)
    explainer.menu(X[1:2], max_features=1)
    spent, menu = seconds(lambda: explainer.menu(X[1:2]))
    assert spent <= 1.2 * LIMIT / 2 + 0.05 + PREPARING
    assert len(menu) == DIM + DIM * (DIM - 1) // 2


@pytest.mark.parametrize("name", ["forest", "bent"])
def test_a_text_takes_the_time_of_one_question_whatever_rows_are_beside_it(models, data, name):
    X, _ = data
    explainer = pertinent.Explainer(models[name], X, time_limit=LIMIT)
    found = explainer.explain(X[1:6])
    found[0].text()  # reads what all texts need
    for row in (1, 2):
        spent, text = seconds(found[row].text)
        assert spent <= MOST
        assert text.startswith("The model predicts ")
        assert pertinent.check(found[row].json(), models[name]).ok


def test_a_model_is_asked_on_one_thread_for_texts_too(models, data, monkeypatch):
    """For one row, threads that wait for one another take longer than all sums."""
    X, _ = data
    threads, ask = [], LogisticRegression.predict_proba

    def counted(model, X):
        threads.extend(one["num_threads"] for one in threadpool_info())
        return ask(model, X)

    explanation = pertinent.Explainer(models["linear"], X).explain(X[1:2])[0]
    monkeypatch.setattr(LogisticRegression, "predict_proba", counted)
    with threadpool_limits(2):
        explanation.text()
    assert threads
    assert set(threads) == {1}


def test_a_box_that_was_looked_at_too_long_is_not_claimed(models, data, monkeypatch):
    """Whether a side could move farther would be asked when the time is over."""
    X, _ = data
    explainer = pertinent.Explainer(models["forest"], X)
    assert explainer.explain(X[1:2])[0].box
    side = ranges._Stating._side

    def slow_side(*some):
        found = side(*some)
        monkeypatch.setattr(ranges, "is_late", lambda: True)
        return found

    monkeypatch.setattr(ranges._Stating, "_side", slow_side)
    assert not explainer.explain(X[1:2])[0].box


def test_a_walk_over_cells_ends_when_its_time_is_over(models, data, monkeypatch):
    """What was seen until then is proposed, and no more."""
    X, _ = data
    region = pertinent.decision_region(models["forest"], models["forest"].predict(X[1:2])[0])
    moves = Moves(np.repeat(X[1:2], DIM, axis=0), np.arange(DIM), np.ones(DIM))
    monkeypatch.setattr(trees, "FEW_CELLS", 1)
    far = trees.ends_in_trees(region, moves, 0.0)
    monkeypatch.setattr(trees, "is_over", lambda: True)
    near = trees.ends_in_trees(region, moves, 0.0)
    cells = region.ensemble.cells_of(X[1:2])[0]
    assert (near <= far).all()
    assert (near < far).any()
    assert near.tolist() == [region.ends[j][1][cell] for j, cell in enumerate(cells)]


def test_a_forest_that_takes_longer_than_what_is_left_is_not_begun(models, data, monkeypatch):
    """Laying out a million conditions of leaves takes longer than many a limit."""
    X, _ = data
    made = RowProblem.of
    begun = []
    monkeypatch.setattr(RowProblem, "of", lambda left: begun.append(left) or made(left))
    monkeypatch.setattr(problem, "CONDITIONS_A_SECOND", 1)
    assert pertinent_negatives(models["forest"], X[1:2]).status[0] == "optimal"
    assert begun
    begun.clear()
    late = pertinent_negatives(models["forest"], X[1:2], time_limit=5)
    assert not begun
    assert late.status[0] == "failed"
    assert late.reason[0].startswith("the time limit of 5 s ended the search: ")


def test_a_forest_is_not_looked_at_where_even_that_takes_longer(models, data, monkeypatch):
    """To see which of a million conditions are left for a row takes longer than what is left."""
    X, _ = data
    of, seen = Left.of, []
    monkeypatch.setattr(Left, "of", lambda *some: seen.append(some) or of(*some))
    monkeypatch.setattr(problem, "SEEN_A_SECOND", 1)
    assert pertinent_negatives(models["forest"], X[1:2]).status[0] == "optimal"
    assert seen
    seen.clear()
    late = pertinent_negatives(models["forest"], X[1:2], time_limit=5)
    assert not seen
    assert late.reason[0].startswith("the time limit of 5 s ended the search: ")


def test_cells_are_not_made_for_proofs_that_are_too_late(models, data, monkeypatch):
    """A union may have thousands: what is claimed of it is looked up in one of each form."""
    X, _ = data
    made, cell = [], WinnerRegion._cell
    late = lambda: pertinent_negatives(models["many pieces"], X[1:2], norm="l0", time_limit=1e-9)  # noqa: E731
    late()
    monkeypatch.setattr(WinnerRegion, "_cell", lambda *some: made.append(1) or cell(*some))
    assert late().found[0]
    assert len(made) <= 20


def test_a_late_search_for_few_values_asks_no_other_solver(models, data, monkeypatch):
    """It leaves out value by value what is not needed, in one pass."""
    X, _ = data
    asked, solve = [], LinearProgram.solve
    monkeypatch.setattr(LinearProgram, "solve", lambda *some: asked.append(1) or solve(*some))
    ask = {"method": "strict", "data": X, "baseline": "mean", "time_limit": 1e-9}
    found = pertinent_positives(models["many pieces"], X[1:2], **ask)
    assert not asked
    assert found.found[0]
    assert found.objective[0] <= DIM / 2


def test_rounding_of_a_forest_is_worked_out_once(models, data, monkeypatch):
    """It adds up all leaves, and each question looked it up for each class anew."""
    X, _ = data
    asked, error = [], form.summation_error
    pertinent_negatives(models["forest"], X[1:2])
    monkeypatch.setattr(form, "summation_error", lambda *some: asked.append(1) or error(*some))
    assert pertinent_negatives(models["forest"], X[1:2]).status[0] == "optimal"
    assert not asked


@pytest.mark.parametrize("states_weights", [False, True])
def test_the_check_of_forests_takes_row_by_row_until_the_time_is_over(
    models, data, monkeypatch, states_weights
):
    X, _ = data
    found = pertinent_negatives(models["forest"], X[1:4])
    region = pertinent.decision_region(models["forest"], found.target[0])
    task = Task.of(region, X[1:4], np.ones(DIM))
    proofs = solve_ensemble(onto(task, region, np.full(3, np.inf))).proofs
    if not states_weights:
        proofs = replace(proofs, weights=None)
    known, reached, sizes = proofs.bounds(task), Rules.reached, []

    def counted(rules, boxes):
        sizes.append(len(boxes))
        return reached(rules, boxes)

    monkeypatch.setattr(proof, "AT_ONCE", 1)
    monkeypatch.setattr(Rules, "reached", counted)
    assert (proofs.bounds(task) == known).all()
    assert set(sizes) == {1}
    assert len(sizes) >= 3
    sizes.clear()
    monkeypatch.setattr(proof, "is_over", lambda: bool(sizes))
    late = proofs.bounds(task)
    assert len(sizes) == 1
    assert late[0] <= known[0]
    assert (late[1:] == 0).all()


def test_the_check_of_a_large_forest_looks_at_the_time_between_few_trees(models, data, monkeypatch):
    """All conditions of a forest took a second at once, whatever was left; and as much memory."""
    X, _ = data
    found = pertinent_negatives(models["forest"], X[1:2])
    region = pertinent.decision_region(models["forest"], found.target[0])
    task = Task.of(region, X[1:2], np.ones(DIM))
    proofs = solve_ensemble(onto(task, region, np.full(1, np.inf))).proofs
    known = proofs.bounds(task)
    assert known[0] == pytest.approx(found.objective[0])
    monkeypatch.setattr(conditions, "AT_ONCE", 1)  # one tree, whatever it asks
    assert proofs.bounds(task) == known
    for looks in (boxes, weights):
        trees = []
        late = lambda seen=trees: seen.append(1) or len(seen) > 3  # noqa: E731
        with monkeypatch.context() as patch:
            patch.setattr(looks, "is_late", late)
            assert proofs.bounds(task) == 0
        assert len(trees) <= 8  # four, and one for each lower claim that is tried


def test_the_check_of_nearest_prototypes_looks_at_the_time_between_few_of_them(monkeypatch):
    """Those of all sets of a menu took as long as its limit once more."""
    own, rivals = Scores(np.eye(3), np.zeros(3)), Scores(np.zeros((1, 3)), np.ones(1))
    task = Task.of(WinnerRegion(own, rivals), np.zeros((2, 3)), np.ones(3))
    proofs = RivalProofs(np.zeros((2, 3), dtype=np.int32))
    assert proofs.piece_bounds(task).round(9).tolist() == [[1, 1, 1], [1, 1, 1]]
    looks = []
    monkeypatch.setattr(winners, "AT_ONCE", 3)  # one pair
    monkeypatch.setattr(winners, "is_late", lambda: looks.append(1) or len(looks) > 1)
    assert proofs.piece_bounds(task).round(9).tolist() == [[1, 1, 0], [0, 0, 0]]


def test_time_does_not_change_what_takes_little(models, data):
    X, _ = data
    free = pertinent_negatives(models["linear"], X[:5])
    limited = pertinent_negatives(models["linear"], X[:5], time_limit=60.0)
    assert free.points.tobytes() == limited.points.tobytes()
    assert free.status.tolist() == limited.status.tolist() == ["optimal"] * 5


SETUP = """
import signal, sys, time
import numpy as np
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
import pertinent
X, y = make_classification(1500, 30, n_informative=30, n_redundant=0, n_classes=4,
                           n_clusters_per_class=1, random_state=3)
X = np.round(2 * X)
whole = pertinent.Constraints(decimals=dict.fromkeys(range(30), 0))
linear = LogisticRegression(max_iter=300).fit(X, y)
curved = QuadraticDiscriminantAnalysis(reg_param=1e-3).fit(X, y)
"""
LONG = {
    "SCIP": "curved, X[:50], constraints=whole, exact=True, time_limit=600.0",
    "sets of features": 'curved, X[:50], constraints=whole, norm="l0"',
    "alternatives": "linear, X[:50], constraints=whole, alternatives=5000",
}
ASK = """
print("ready", time.process_time(), flush=True)
try:
    while True:
        pertinent.pertinent_negatives({})
except KeyboardInterrupt:
    print("stopped", time.process_time(), flush=True)
    easy = pertinent.pertinent_negatives(linear, X[:3])
    fresh = pertinent.pertinent_negatives(LogisticRegression(max_iter=300).fit(X, y), X[:3])
    assert easy.points.tobytes() == fresh.points.tobytes()
    assert (easy.status == "optimal").all()
    print("sound", flush=True)
"""


@pytest.mark.parametrize("path", LONG)
def test_an_interrupt_ends_a_call_and_leaves_nothing_half_done(path):
    code = SETUP + ASK.format(LONG[path])
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        watchdog = threading.Timer(600.0, run.kill)
        watchdog.start()
        assert run.stdout is not None
        ready, before = run.stdout.readline().split()
        time.sleep(1.0)
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        stopped, after = run.stdout.readline().split()
        assert (ready, stopped) == ("ready", "stopped")
        assert float(after) - float(before) < 30  # of its own time: one call takes minutes
        assert run.stdout.readline() == "sound\n"
        assert run.wait() == 0
        watchdog.cancel()


def test_ranges_end_when_their_time_is_over(models, data, monkeypatch):
    X, _ = data
    asked, boxes = [], Ranging.boxes
    monkeypatch.setattr(Ranging, "boxes", lambda *some: asked.append(1) or boxes(*some))
    free, limited = (
        pertinent.Explainer(models["linear"], X, time_limit=limit) for limit in (None, 1e-9)
    )
    assert not limited.explain(X[1:2])[0].box
    assert not asked
    assert free.explain(X[1:2])[0].box
    assert asked
