"""Where all meet: the public questions, and the Explainer that asks both at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from pertinent._typing import BoolArray, FloatArray, Foreign, IntArray
from pertinent.asked import Asked
from pertinent.baselines import baseline_values, weight_values
from pertinent.batches import Progress, in_batches
from pertinent.constraints import Constraints
from pertinent.exact import (
    Effort,
    ExactQuestion,
    FewChanges,
    checked_count,
    data_ranges,
    exact,
    few_changes,
    refuse_misplaced,
    strict,
    sufficient,
)
from pertinent.exceptions import InputError
from pertinent.explanation import Explanations, Negatives, Positives, overwritten
from pertinent.features import Features, Table
from pertinent.gathering import Gathering, gather
from pertinent.models import region_function
from pertinent.negative import (
    NegativeQuestion,
    nearest_contrast,
    propose_negatives,
    target_places,
)
from pertinent.plausibility import Plausibility
from pertinent.positive import propose_positives, two_phase
from pertinent.prepared import Prepared
from pertinent.projection import Options
from pertinent.views.words import Wording

_POSITIVE_METHODS = {
    "two-phase": two_phase,
    "strict": strict,
    "exact": exact,
    "sufficient": sufficient,
}


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
    baseline : float, array, mapping, "mean" or "median"
        Value at which a feature counts as turned off; the last two are taken from ``data``.
    weights : array or mapping, optional
        Cost of one unit of each feature. Default 1; with ``data``, 1 / standard deviation.
    constraints : Constraints, optional
    plausibility : Plausibility, optional
        Keep points where data of their class lie. The positive then keeps many features: it is
        the closest plausible point that phase 1 allows, rarely a sparse one. "two-phase" only.
    margin : float, optional
        How far inside its class a point must lie (see `Cell.tighten`). Default: what the
        model's ``predict`` needs in the precision of ``X``.
    n_jobs : int, optional
        Batches in parallel, through joblib.
    between : bool
        Keep every value between the baseline and the sample's own value.
    off_tol : float
        Distance from the baseline up to which a feature counts as turned off.
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
        Seconds for each sample of "strict", "exact" and "sufficient"; what is not proved by
        then comes as "feasible" with its bound. By default the search is limited by its size.
        With ``exact=True`` seconds for each program, 30 by default.
    gap : float, optional
        Relative gap at which the closeness of "exact" counts as optimal (default 1e-6), and at
        which ``exact=True`` may stop (default 1e-4).
    min_proba : float, optional
        The probability that the model's ``predict_proba`` must give to the class of each point.
    missing : {"error", "impute"}
        Whether samples with missing values are refused, or read as the pipeline's own imputer
        fills them.

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
    _known_method(method, plausibility)
    refuse_misplaced(method, fallback, alternatives)
    effort = Effort.of(time_limit, gap)
    options = (options or Options()).proving(exact, gap, time_limit)
    if not off_tol >= 0:
        raise InputError(f"off_tol must be a number of at least 0. Got {off_tol!r} instead.")
    prepared, train = _prepare(
        model, X, weights, constraints, plausibility, margin, data, options, min_proba, missing
    )
    values = baseline_values(
        baseline, prepared.features, train, prepared.constraints.lattice(prepared.features)
    )
    question = ExactQuestion(
        values,
        between,
        off_tol,
        fallback,
        checked_count(alternatives),
        effort,
        data_ranges(train),
    )
    method_of = _POSITIVE_METHODS[method]
    table = prepared.features.read(X)

    def solve(batch: Table, rows: slice) -> Positives:
        return method_of(prepared, batch, prepared.predict(batch), question)

    return gather(in_batches(solve, table, n_jobs, batch_size, pieces=prepared.pieces), table)


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
) -> Negatives:
    """Return, for each sample, the smallest change that gives another class.

    Parameters
    ----------
    model : fitted classifier
    X : array or DataFrame of shape (n, n_features)
    target : label, sequence of n labels, or None
        The class to reach: one for all, one for each, or the nearest of all others.
    weights, constraints, plausibility, margin, n_jobs, data, batch_size, options
        As in `pertinent_positives`.
    norm : {"l1", "l0"}
        "l0": the fewest changed features, then the closest of all such changes.
    max_changes : int, optional
        How many features may change.
    alternatives : int
        How many further sets of changed features to list, each proved next best.
    exact, time_limit, gap
        As in `pertinent_positives`; the latter also for "l0", ``max_changes`` and
        ``alternatives``.
    min_proba, missing
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
    effort = Effort.of(time_limit, gap)
    options = (options or Options()).proving(exact, gap, time_limit)
    prepared, _ = _prepare(
        model, X, weights, constraints, plausibility, margin, data, options, min_proba, missing
    )
    table = prepared.features.read(X)
    places = target_places(prepared, target, len(table))
    count = checked_count(alternatives)
    asked = FewChanges(None, None, norm, max_changes, count, effort)
    method = nearest_contrast if asked.is_plain else few_changes

    def solve(batch: Table, rows: slice) -> Negatives:
        question = replace(asked, target=None if places is None else places[rows])
        return method(prepared, batch, prepared.predict(batch), question)

    return gather(in_batches(solve, table, n_jobs, batch_size, pieces=prepared.pieces), table)


def _known_method(method: str, plausibility: Plausibility | None) -> None:
    """Refuse methods that do not exist, or do not go with plausibility."""
    if method not in _POSITIVE_METHODS:
        raise InputError(f"method must be one of {sorted(_POSITIVE_METHODS)}. Got {method!r}.")
    if plausibility is not None and method != "two-phase":
        raise InputError(
            f"plausibility works with method='two-phase' only. Got {method!r}: an exact set of "
            "features and a density cannot be asked for together."
        )


def _prepare(
    model: Foreign,
    X: Any,
    weights: Any,
    constraints: Constraints | None,
    plausibility: Plausibility | None,
    margin: float | None,
    data: Any,
    options: Options | None,
    min_proba: float | None = None,
    missing: str = "error",
) -> tuple[Prepared, FloatArray | None]:
    """Return the model made ready and the training data as an array."""
    region_function(model)  # an unsupported or unfitted model is named here, before any work
    number = isinstance(margin, int | float | np.number)
    if margin is not None and not (number and margin >= 0 and np.isfinite(margin)):
        raise InputError(f"margin must be a number of at least 0. Got {margin!r} instead.")
    features = Features.of(model, X if data is None else data, missing)
    train = None if data is None else features.read(data).values
    rules = constraints or Constraints()
    rules.validate(features)  # an unknown feature is named here, before any work
    prepared = Prepared(
        model,
        features,
        weight_values(weights, features, train, rules.costs),
        rules,
        margin,
        options or Options(),
        min_proba,
    )
    if plausibility is not None:
        prepared = replace(prepared, within=plausibility.bind(features, prepared.classes))
    return prepared, train


class Explainer:
    """A model made ready to explain many samples, with positives and negatives joined.

    Parameters
    ----------
    model : fitted classifier
    data : array or DataFrame, optional
        Training data: gives names, base values and the scale of each feature.
    baseline : float, array, mapping, "mean" or "median", optional
        Default "median" with data, else 0.
    weights, constraints, plausibility, margin, options
        As in `pertinent_positives`.
    between : bool
        Keep every value of a positive between the baseline and the sample's own value. Without
        it the same feature suffices for every sample of a class, which says little about one.
    overlap : {"allow", "avoid"}
        "avoid": the negative keeps off the positive's features where that is possible;
        ``Explanations.avoided`` says where it was.
    wording : Wording, optional
        What texts, plots and reports call features, units and classes.
    exact, time_limit, gap, min_proba, missing, method
        As in `pertinent_positives`; the method is that of the positives.

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression(max_iter=10000).fit(X, y)
    >>> explainer = pertinent.Explainer(model, data=X)
    >>> result = explainer.explain(X.head(5))
    >>> result.positive.status.tolist()
    ['optimal', 'optimal', 'optimal', 'optimal', 'optimal']
    """

    def __init__(
        self,
        model: Foreign,
        data: Any = None,
        baseline: Any = None,
        weights: Any = None,
        constraints: Constraints | None = None,
        plausibility: Plausibility | None = None,
        margin: float | None = None,
        *,
        between: bool = True,
        overlap: str = "allow",
        off_tol: float = 0.0,
        options: Options | None = None,
        wording: Wording | None = None,
        exact: bool = False,
        time_limit: float | None = None,
        gap: float | None = None,
        min_proba: float | None = None,
        missing: str = "error",
        method: str = "two-phase",
    ) -> None:
        _known_method(method, plausibility)
        if overlap not in ("allow", "avoid"):
            raise InputError(f"overlap must be 'allow' or 'avoid'. Got {overlap!r} instead.")
        effort = Effort.of(time_limit, gap)  # odd limits are refused here, before any work
        options = (options or Options()).proving(exact, gap, time_limit)
        shared = (weights, constraints, plausibility, margin, data, options, min_proba, missing)
        self.prepared, train = _prepare(model, data, *shared)
        if baseline is None:
            baseline = 0.0 if data is None else "median"
        values = baseline_values(
            baseline,
            self.prepared.features,
            train,
            self.prepared.constraints.lattice(self.prepared.features),
        )
        ranges = data_ranges(train)
        self.question = ExactQuestion(values, between, off_tol, effort=effort, ranges=ranges)
        self.method = method
        self.overlap = overlap
        given = "given" if weights is not None else "units" if data is None else "spread"
        self.asked = Asked(
            self.prepared,
            self.question,
            overlap,
            baseline if isinstance(baseline, str) else "given",
            given,
            None if train is None else np.quantile(train, [0.05, 0.95], axis=0),
            wording or Wording(),
        )

    @property
    def model(self) -> Foreign:
        """The model that is explained."""
        return self.prepared.model

    def explain(
        self,
        X: Any,
        target: Any = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: Progress | None = None,
    ) -> Explanations:
        """Return positives and negatives of the samples.

        Parameters
        ----------
        X : array or DataFrame of shape (n, n_features)
        target : label, sequence of labels, or None
            As in `pertinent_negatives`.
        n_jobs, batch_size : int, optional
            Batches in parallel, through joblib, and the rows of each; neither changes a bit of
            the answer.
        progress : callable, optional
            Called with the number of rows done and of all rows, after each batch.
        """
        table = self.prepared.features.read(X)
        positives: Gathering[Positives] = Gathering(table)
        negatives: Gathering[Negatives] = Gathering(table)
        avoided: list[BoolArray] = []
        for positive, negative, avoid in self._parts(table, target, n_jobs, batch_size, progress):
            positives.add(positive)
            negatives.add(negative)
            avoided.append(avoid)
        return Explanations(
            positives.whole(), negatives.whole(), np.concatenate(avoided), self.asked
        )

    def explain_iter(
        self,
        X: Any,
        target: Any = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Explanations]:
        """Yield the explanations batch by batch, in order; nothing else is held.

        Parameters
        ----------
        X, target, n_jobs, batch_size, progress
            As in `explain`.
        """
        table = self.prepared.features.read(X)
        for part in self._parts(table, target, n_jobs, batch_size, progress):
            yield Explanations(*part, self.asked)

    def _parts(
        self,
        table: Table,
        target: Any,
        n_jobs: int | None,
        batch_size: int | None,
        progress: Progress | None,
    ) -> Iterator[tuple[Positives, Negatives, BoolArray]]:
        places = target_places(self.prepared, target, len(table))

        def solve(batch: Table, rows: slice) -> tuple[Positives, Negatives, BoolArray]:
            return self._explain_batch(batch, None if places is None else places[rows])

        return in_batches(solve, table, n_jobs, batch_size, progress, self.prepared.pieces)

    def _explain_batch(
        self, table: Table, target: IntArray | None
    ) -> tuple[Positives, Negatives, BoolArray]:
        labels = self.prepared.predict(table)
        if self.method != "two-phase":
            positive = _POSITIVE_METHODS[self.method](self.prepared, table, labels, self.question)
            return (positive, *self._contrast(table, labels, target, positive))
        proposed = propose_positives(self.prepared, table, labels, self.question)
        if self.overlap == "allow":
            contrasts = propose_negatives(self.prepared, table, labels, NegativeQuestion(target))
            # Few rows cost the model's calls more than anything else: it judges all at once.
            together = [proposed.first, proposed.second, contrasts.found]
            sparse, close, found = self.prepared.judge(together)
            none = np.zeros(len(table), dtype=bool)
            return proposed.judged(sparse, close), contrasts.judged(found), none
        positive = proposed.judged(*self.prepared.judge([proposed.first, proposed.second]))
        return (positive, *self._contrast(table, labels, target, positive))

    def _contrast(
        self, table: Table, labels: IntArray, target: IntArray | None, positive: Positives
    ) -> tuple[Negatives, BoolArray]:
        """Return negatives, and where they keep off the positive's features as asked for."""
        if self.overlap == "allow":
            free = NegativeQuestion(target)
            none = np.zeros(len(table), dtype=bool)
            return nearest_contrast(self.prepared, table, labels, free), none
        question = NegativeQuestion(target, positive.kept)
        negative = nearest_contrast(self.prepared, table, labels, question)
        # Where nothing is left without the positive's features, they are allowed after all.
        avoided = negative.found
        rows = np.flatnonzero(~avoided)
        if len(rows):
            free = NegativeQuestion(None if target is None else target[rows])
            again = nearest_contrast(self.prepared, table.take(rows), labels[rows], free)
            negative = overwritten(negative, rows, again)
        return negative, avoided
