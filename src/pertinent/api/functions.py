"""The two questions: pertinent positives and pertinent negatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pertinent.api.asking import negatives_of, positives_of
from pertinent.api.batches import in_batches
from pertinent.api.gathering import gather
from pertinent.api.preparing import prepare, settings_for, to_explain, towards_range, values_in
from pertinent.density import Plausibility
from pertinent.geometry.arrays import Foreign
from pertinent.models.steps.once import reading_once
from pertinent.rules.constraints import Constraints
from pertinent.setting.nearest.negative import target_places
from pertinent.setting.options import Options
from pertinent.setting.results import Negatives, Positives
from pertinent.tables.progress import Progress
from pertinent.tables.reading import read_table
from pertinent.tables.table import Table


@reading_once()
def pertinent_positives(
    model: Foreign,
    X: Any,
    method: str = "two-phase",
    baseline: Any = 0.0,
    weights: Any = None,
    constraints: Constraints | None = None,
    plausibility: Plausibility | None = None,
    margin: float | None = None,
    n_jobs: int | None = None,
    *,
    between: bool = False,
    off_tol: float = 0.0,
    data: Any = None,
    batch_size: int | None = None,
    options: Options | None = None,
    fallback: bool = False,
    alternatives: int = 0,
    exact: bool = False,
    time_limit: float | None = None,
    gap: float | None = None,
    min_proba: float | None = None,
    missing: str = "error",
    progress: Progress | bool | None = None,
    search: bool = False,
) -> Positives:
    """Return, for each sample, the fewest features that already give its prediction.

    Parameters
    ----------
    model : fitted classifier
        See `pertinent.supported_models`.
    X : array or DataFrame of shape (n, n_features)
    method : {"two-phase", "strict", "exact", "sufficient"}
        "two-phase" is the paper's algorithm 1. "strict" (sec. III-D): kept features keep their
        exact values, and no fewer would do. "exact" (eq. 3): the fewest kept features, then the
        closest values among all sets of that many. "sufficient": the fewest features whose
        values give the prediction whatever the others do within their bounds.
    baseline : float, array, mapping, "mean", "median" or None
        Value at which a feature counts as turned off; "mean" and "median" are taken from
        ``data``. None means what it does to `Explainer`: "median" with data, else 0.
    weights : array or mapping, optional
        Cost of one unit of each feature. Default 1; with ``data``, 1 / standard deviation.
    constraints : Constraints, optional
    plausibility : Plausibility, optional
        Keep points where data of their class lie. The positive then keeps many features: it is
        the closest plausible point that phase 1 allows, rarely a sparse one. "two-phase" only.
    margin : float, optional
        How far inside its class a point must lie (see `Cell.tighten`); one that keeps less is
        never handed out. Default: what the model's ``predict`` needs in the precision of ``X``.
    n_jobs : int, optional
        Batches in parallel, through joblib.
    between : bool
        Keep every value between the baseline and the sample's own value.
    off_tol : float
        Distance from the baseline up to which a feature counts as turned off. Phase 2 may move
        such features within it at no cost (eq. 6). With "strict" and "exact" features are turned
        off by putting them at the baseline itself, or as close as the rules let them; the fewest
        are kept among such points.
    data : array or DataFrame, optional
        Training data, for "mean", "median" and the default weights; for "sufficient" also the
        range of features that the constraints leave open.
    batch_size : int, optional
    options : Options, optional
    fallback : bool
        With "strict": the two-phase answer, marked in ``fallback``, where no strict one exists.
    alternatives : int
        How many further sets of features to list ("strict" and "exact").
    exact : bool
        Ask for a proof of global optimality where the fast methods give none: curved models
        (extra ``global``). Where time ends first, the answer is "feasible" with its bound.
    time_limit : float, optional
        Seconds for each sample; what is not proved by then comes as "feasible" with its bound,
        what is not found as "failed". By default searches are limited by their size, and with
        ``exact=True`` SCIP by 30 seconds for each program.
    gap : float, optional
        Relative gap at which the closeness of "exact" counts as optimal (default 1e-6), and at
        which ``exact=True`` may stop (default 1e-4).
    min_proba : float, optional
        The probability that the model's ``predict_proba`` must give to the class of each point.
    missing : {"error", "impute", "keep", "allow"}
        Whether samples with missing values are refused, read as the pipeline's own imputer fills
        them, or left to a model that takes missing values itself (sums of trees): with "keep" they
        may stay missing or be filled in, with "allow" other values may become missing, too.
    progress : bool or callable, optional
        As in `Explainer.explain`; by itself a bar appears for alternatives only.
    search : bool
        As in `Explainer`: for any other model with a ``predict``; needs ``data``.

    Returns
    -------
    Positives

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> pp = pertinent.pertinent_positives(model, X[:3])
    >>> pp.status.tolist(), pp.kept.sum(axis=1).tolist()
    (['optimal', 'optimal', 'optimal'], [0, 0, 0])
    """
    model = to_explain(model, data, search, constraints)
    settings = settings_for(model, locals())
    setting, train = prepare(model, X, data, settings)
    question = settings.positive(setting.features, values_in(train))
    table = read_table(setting.features, X)

    def solve(batch: Table, rows: slice) -> Positives:
        return positives_of(setting, batch, setting.predict(batch), question, settings.method)

    slow = question.alternatives > 0 or setting.by_search
    how = n_jobs, batch_size, _looked_on(progress, slow), setting.pieces
    return gather(in_batches(solve, table, *how, slow=slow), table)


@reading_once()
def pertinent_negatives(
    model: Foreign,
    X: Any,
    target: Any = None,
    weights: Any = None,
    constraints: Constraints | None = None,
    plausibility: Plausibility | None = None,
    margin: float | None = None,
    n_jobs: int | None = None,
    *,
    data: Any = None,
    batch_size: int | None = None,
    options: Options | None = None,
    norm: str = "l1",
    max_changes: int | None = None,
    alternatives: int = 0,
    exact: bool = False,
    time_limit: float | None = None,
    gap: float | None = None,
    min_proba: float | None = None,
    missing: str = "error",
    progress: Progress | bool | None = None,
    search: bool = False,
) -> Negatives:
    """Return, for each sample, the smallest change that gives another class.

    Parameters
    ----------
    model : fitted classifier or regressor
    X : array or DataFrame of shape (n, n_features)
    target : label, sequence of n labels, or None
        The class to reach: one for all, one for each, or the nearest of all others. A sample that
        is predicted as its target gets the status "already", and no point. Of a regressor the
        range of predictions to reach: ``(low, high)``, either of which may be None.
    weights, constraints, plausibility, margin, n_jobs, data, batch_size, options
        As in `pertinent_positives`.
    norm : {"l1", "l0"}
        "l0": the fewest changed features, then the closest of all such changes.
    max_changes : int, optional
        How many features may change.
    alternatives : int
        How many further sets of changed features to list, each proved next best.
    exact, time_limit, gap
        As in `pertinent_positives`.
    min_proba, missing, progress, search
        As in `pertinent_positives`.

    Returns
    -------
    Negatives

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> pn = pertinent.pertinent_negatives(model, X[:2])
    >>> pn.target.tolist(), pn.changed.sum(axis=1).tolist()
    ([1, 1], [1, 1])
    >>> bool((model.predict(pn.points) == 1).all())
    True
    """
    model, target = towards_range(model, target)
    model = to_explain(model, data, search, constraints)
    settings = settings_for(model, locals())
    setting, _ = prepare(model, X, data, settings)
    table = read_table(setting.features, X)
    places = target_places(setting, target, len(table))
    asked = settings.negative()

    def solve(batch: Table, rows: slice) -> Negatives:
        question = replace(asked, target=None if places is None else places[rows])
        return negatives_of(setting, batch, setting.predict(batch), question)

    slow = asked.alternatives > 0 or setting.by_search
    how = n_jobs, batch_size, _looked_on(progress, slow), setting.pieces
    return gather(in_batches(solve, table, *how, slow=slow), table)


def _looked_on(progress: Progress | bool | None, slow: bool) -> Progress | bool | None:
    """Return who is told: a bar appears by itself only where work is slow, not to slow it."""
    return progress if slow or progress is not None else False
