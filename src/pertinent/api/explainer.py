"""The Explainer: a model made ready, that answers both questions at once."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.api.asking import both_of, negatives_of, positives_of
from pertinent.api.batches import in_batches
from pertinent.api.explanation import Explanations
from pertinent.api.gathering import Gathering
from pertinent.api.preparing import (
    TypicalByClass,
    be_ready,
    middle_of,
    plausible,
    prepare,
    settings_for,
    to_explain,
    usual_missing,
    values_in,
)
from pertinent.density import Plausibility
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, Foreign, IntArray
from pertinent.models.combined.searched import Searched, unsearched
from pertinent.models.regressors import RangeClassifier, as_classifier, read_range
from pertinent.models.steps.once import reading_once
from pertinent.proofs import ALREADY, INFEASIBLE
from pertinent.rules.constraints import Constraints
from pertinent.rules.inferred import STEP, Inferred
from pertinent.rules.wording import Wording
from pertinent.setting.claims.alternatives import with_order
from pertinent.setting.claims.negatives import in_proved_order
from pertinent.setting.nearest.negative import target_places
from pertinent.setting.options import Options
from pertinent.setting.question import Method, NegativeQuestion, Overlap
from pertinent.setting.results import Negatives, Positives
from pertinent.summary.asked import Asked
from pertinent.summary.summary import model_name, rule_count, rule_lines
from pertinent.tables.baselines import or_default
from pertinent.tables.notebook import card
from pertinent.tables.progress import Progress
from pertinent.tables.reading import read_table
from pertinent.tables.table import Table
from pertinent.tables.words import counted

if TYPE_CHECKING:
    from pertinent.api.menu import Menu
    from pertinent.server import Server


class Explainer:
    """A model made ready to explain many samples, with positives and negatives joined.

    Parameters
    ----------
    model : fitted classifier or regressor
    data : array or DataFrame, optional
        Training data: gives names, typical values and the scale of each feature.
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
    exact, time_limit, gap, min_proba, method
        As in `pertinent_positives`; the method is that of the positives.
    missing : {"error", "impute", "keep", "allow"}, optional
        As in `pertinent_positives`. By default, with data, missing values are read as the model's
        own imputer fills them, kept by trees that take them where the data have some, and refused
        elsewhere.
    norm : {"l1", "l0"}
        As in `pertinent_negatives`: "l0" changes the fewest features.
    max_changes : int, optional
        As in `pertinent_negatives`: how many features a negative may change.
    alternatives : int
        How many other sets of features that work to list for each negative, the next smallest
        change first; for each positive, too, where the method is "strict" or "exact".
    limits_from : {"data", None} or float
        Values stay in the range of the data; a number widens it by that share, None lifts it.
        Counts are never negative and truth values stay 0 or 1 whatever is said here.
    steps_from : {"data", None}
        Values are written as in the data: whole numbers, one or two decimals, multiples of 10 or
        0.5. Beside such columns or categories, a number with more digits that changes does so by
        a thousandth of its standard deviation at least: it is not there to make up for what the
        others jump. Without data, columns of whole numbers by type stay whole. None: any number
        will do.
    rare : int
        Categories of fewer rows, and those that mean "unknown", are not suggested; 0 allows all.
    search : bool
        For any other model with a ``predict``, with data: look for answers by asking it. They
        are valid and obey the rules, and are never called smallest: the status is "feasible", with
        the bound 0. Positives are those of ``method="strict"``. A model whose answers can be
        proved is explained as without it.

    Notes
    -----
    What the data suggest is listed in ``inferred`` and in every view. A sample's own value is
    always allowed. What ``constraints`` say of a feature takes the place of what the data do:
    ``bounds={"age": (None, None)}``, ``step={"age": None}``, ``categories={"job": None}`` switch
    one rule off.

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

    @reading_once()
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
        missing: str | None = None,
        method: str = "two-phase",
        norm: str = "l1",
        max_changes: int | None = None,
        alternatives: int = 0,
        limits_from: Any = "data",
        steps_from: str | None = "data",
        rare: int = 5,
        search: bool = False,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        self._given: dict[str, Any] | None = given
        model = to_explain(as_classifier(model), data, search, constraints)
        missing = usual_missing(model, data, plausibility) if missing is None else missing
        settings = settings_for(model, locals())
        setting, table = prepare(model, data, data, settings)
        settings = replace(settings, constraints=settings.inferred(table))
        train, self.has_data = values_in(table), table is not None
        rules, how = settings.constraints, setting.options
        if options is None and any(rule.kind == STEP for rule in rules.inferred):
            how = replace(how, round_steps=True)  # the user asked for no long search over steps
        self.setting = replace(setting, constraints=rules, options=how)
        lists = settings if settings.lists_positives else replace(settings, alternatives=0)
        self.question = lists.positive(self.setting.features, train)
        self.contrast = replace(settings.negative(), with_proofs=True)
        self.settings = settings.without_data()
        self.rounds = options is None
        self._by_types: dict[Any, Explainer] = {}
        self._by_range: dict[Any, Explainer] = {}
        # Which data are plausible for a range is known when it is asked for.
        self._plausibility = plausibility if isinstance(model, RangeClassifier) else None
        baseline = or_default(baseline, train)
        measure = "given" if weights is not None else "units" if data is None else "spread"
        self.asked = Asked(
            self.setting,
            self.question,
            self.settings,
            baseline if isinstance(baseline, str) else "given",
            measure,
            None if table is None else middle_of(table),
            None if table is None else TypicalByClass(self.setting, table, _usual(baseline)),
        )

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_given": None}  # copies for other processes hold no training data

    def __repr__(self) -> str:
        features, rules = self.setting.features, rule_count(self.asked)
        told = counted(rules, "rule") if rules else "no rules"
        if self._awaits_range:
            told = f"a number, {told}"
        else:
            told = f"{len(self.setting.classes)} classes, {told}"
        return f"<Explainer of {type(self.model).__name__}: {len(features)} features, {told}>"

    def _repr_html_(self) -> str:
        wording, given = self.settings.wording, self.asked.baseline
        names = [wording.feature(name) for name in self.setting.features.names]
        labels = [wording.label(label) for label in self.setting.classes.tolist()]
        facts = [
            ("model", model_name(self.model)),
            ("features", ", ".join(names)),
            ("classes", ", ".join(labels)),
            ("typical values", "given" if given == "given" else f"the {given} of the data"),
            *(("rules", rules) for rules in rule_lines(self.asked)),
        ]
        return card(repr(self).strip("<>"), facts)

    @property
    def inferred(self) -> tuple[Inferred, ...]:
        """The rules that the data suggest; see ``limits_from``, ``steps_from`` and ``rare``."""
        return tuple(self.setting.constraints.inferred)

    @property
    def model(self) -> Foreign:
        """The model that is explained."""
        return self.asked.model

    @property
    def _awaits_range(self) -> bool:
        """Whether the model is a regressor of which no range is asked for yet."""
        model = unsearched(self.setting.model)
        return isinstance(model, RangeClassifier) and model.is_open

    def towards(self, target: Any) -> tuple[Explainer, Any]:
        """Return what explains towards a target, and the label of the target.

        For a classifier these are the explainer itself and the target as it is. A regressor is
        asked for a range ``(low, high)``: its predictions below, within and above it are classes.

        Examples
        --------
        >>> import pertinent
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> explainer = pertinent.Explainer(LinearRegression().fit(X, y), data=X)
        >>> explainer.towards((None, 100))
        (<Explainer of LinearRegression: 10 features, 2 classes, 10 rules>, '100 or less')
        """
        if not self._awaits_range:
            return self, target
        if target is None:
            raise InputError(
                f"{type(self.model).__name__} predicts a number: say which range of numbers to "
                "reach, target=(low, high), where either end may be None."
            )
        ends = read_range(target)
        if ends not in self._by_range:  # the last one is kept
            self._by_range = {ends: self._within(self.setting.model.within(*ends))}
        ready = self._by_range[ends]
        return ready, ready.setting.model.target

    def _within(self, model: RangeClassifier | Searched) -> Explainer:
        """Return the same for the classes of a range."""
        setting = replace(self.setting, model=model)
        if self._plausibility is not None:
            setting = plausible(setting, self._plausibility)
        wording, typical = self.settings.wording, self.asked.typical
        called = {label: label for label in model.classes_.tolist()} | dict(wording.labels)
        ready = copy(self)
        ready._by_types, ready._by_range, ready.setting = {}, {}, setting
        ready.settings = replace(self.settings, wording=replace(wording, labels=called))
        ready.asked = replace(
            self.asked,
            setting=setting,
            settings=ready.settings,
            typical=typical.under(setting) if isinstance(typical, TypicalByClass) else None,
        )
        return ready

    def explain(
        self,
        X: Any,
        target: Any = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: Progress | bool | None = None,
    ) -> Explanations:
        """Return positives and negatives of the samples.

        Parameters
        ----------
        X : array or DataFrame of shape (n, n_features)
        target : label, sequence of labels, or None
            As in `pertinent_negatives`. Rows that are predicted so get the status "already". Of a
            regressor a range of predictions, ``(low, high)`` with either end None: negatives bring
            the prediction into it, positives keep it on the side of the range where it is, within
            it if it lies there.
        n_jobs, batch_size : int, optional
            Batches in parallel, through joblib, and the rows of each; neither changes a bit of
            the answer.
        progress : bool or callable, optional
            True for a bar (extra ``cli``), False for none; a function is called with the number of
            rows done and of all rows, after each batch. By default a bar appears in a terminal or
            a notebook where the work takes longer than two seconds.
        """
        explainer, target = self.towards(target)
        table = read_table(self.setting.features, X)
        ready = explainer._ready_for(table)
        positives: Gathering[Positives] = Gathering(table)
        negatives: Gathering[Negatives] = Gathering(table)
        avoided: list[BoolArray] = []
        for positive, negative, avoid in ready._parts(table, target, n_jobs, batch_size, progress):
            positives.add(positive)
            negatives.add(negative)
            avoided.append(avoid)
        return Explanations(
            positives.whole(), negatives.whole(), np.concatenate(avoided), ready.asked
        )

    @reading_once()
    def menu(self, x: Any, max_features: int = 2, target: Any = None) -> Menu:
        """Return, for every set of few features, whether changing only these can work.

        Parameters
        ----------
        x : array or DataFrame of shape (1, n_features)
            One sample.
        max_features : int
            Sets of at most so many features; features that the rules fix are left out.
        target : label, optional
            The class to reach; any other class by default. Of a regressor a range, as in `explain`.

        Returns
        -------
        Menu
            For each set the smallest change of these features alone, or that it is proved that
            there is none.

        Examples
        --------
        >>> import pertinent
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> model = LogisticRegression(max_iter=1000).fit(X, y)
        >>> limits = pertinent.Constraints(bounds={j: (0, 8) for j in range(4)})
        >>> menu = pertinent.Explainer(model, data=X, constraints=limits).menu(X[:1])
        >>> menu
        <Menu: 10 sets of features, 9 work, 1 proved not to>
        >>> menu[0].features, menu[-1].features, menu[-1].status
        (('x2',), ('x0',), 'infeasible')
        """
        from pertinent.api.menu import menu_of

        if self.setting.by_search:
            raise InputError(
                f"A menu says which changes cannot work, and of {type(self.model).__name__} "
                "nothing can be proved: explain(..., search=True) finds one change."
            )
        ready, target = self.towards(target)
        return menu_of(ready.asked, read_table(self.setting.features, x), target, max_features)

    def serve(self, rows: Any = None, *, wait: bool = False, **settings: Any) -> Server:
        """Serve a page to explore the model, and an API, on this machine; extra ``serve``.

        Parameters
        ----------
        rows : array or DataFrame, optional
            The rows to explore; the training data by default.
        wait : bool
            Serve until it is interrupted. By default the server runs in a thread, and what comes
            back has its address (``url``) and ends it (``stop()``).
        **settings
            Of `pertinent.server.ServerSettings`: ``port``, ``workers``, ``time_limit`` and others.

        Returns
        -------
        Server
        """
        server = import_module("pertinent.server")
        if self._given is None:
            raise InputError("This copy of an Explainer has no training data. Serve the original.")
        given = dict(self._given)
        recipe = server.Recipe(given.pop("model"), given.pop("data"), given)
        made: Server = server.make_server(recipe, rows, server.ServerSettings(**settings))
        if wait:
            made.run()
            return made
        return made.start()

    def explain_iter(
        self,
        X: Any,
        target: Any = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: Progress | bool | None = None,
    ) -> Iterator[Explanations]:
        """Yield the explanations batch by batch, in order; nothing else is held.

        Parameters
        ----------
        X, target, n_jobs, batch_size, progress
            As in `explain`.
        """
        explainer, target = self.towards(target)
        table = read_table(self.setting.features, X)
        ready = explainer._ready_for(table)
        for part in ready._parts(table, target, n_jobs, batch_size, progress):
            yield Explanations(*part, ready.asked)

    def _ready_for(self, table: Table) -> Explainer:
        """Return what explains these samples: without data, the types of their columns count."""
        whole = tuple(table.whole_features().items())
        if self.has_data or not whole or self.settings.steps_from is None:
            return self
        if whole not in self._by_types:
            rules = self.settings.inferred(None, table)
            ready = copy(self)
            ready.settings = replace(self.settings, constraints=rules)
            how = replace(self.setting.options, round_steps=self.rounds)
            ready.setting = replace(self.setting, constraints=rules, options=how)
            ready.asked = replace(self.asked, setting=ready.setting, settings=ready.settings)
            self._by_types[whole] = ready
        return self._by_types[whole]

    def _parts(
        self,
        table: Table,
        target: Any,
        n_jobs: int | None,
        batch_size: int | None,
        progress: Progress | bool | None,
    ) -> Iterator[tuple[Positives, Negatives, BoolArray]]:
        places = target_places(self.setting, target, len(table))

        def solve(batch: Table, rows: slice) -> tuple[Positives, Negatives, BoolArray]:
            return self._explain_batch(batch, None if places is None else places[rows])

        how = n_jobs, batch_size, progress, self.setting.pieces
        slow = self.contrast.alternatives > 0 or self.setting.by_search
        return in_batches(solve, table, *how, slow=slow)

    @reading_once()
    def _explain_batch(
        self, table: Table, target: IntArray | None
    ) -> tuple[Positives, Negatives, BoolArray]:
        be_ready(self.setting)
        with self.contrast.effort.limiting(2 * len(table)):  # a positive and a negative of each
            return self._explained(table, target)

    def _explained(
        self, table: Table, target: IntArray | None
    ) -> tuple[Positives, Negatives, BoolArray]:
        method, overlap = self.settings.method, self.settings.overlap
        plain = method is Method.TWO_PHASE and overlap is Overlap.ALLOW
        at_once = plain and self.contrast.is_plain
        if at_once:
            contrast = self.contrast if target is None else replace(self.contrast, target=target)
            both = both_of(self.setting, table, self.question, contrast)
            return *both, np.zeros(len(table), dtype=bool)
        labels = self.setting.predict(table)
        positive = positives_of(self.setting, table, labels, self.question, method)
        found = self._contrast(table, labels, target, positive)
        return (with_order(positive, [None] * len(table)), *found)  # no proof of theirs is kept

    def _negatives(self, table: Table, labels: IntArray, question: NegativeQuestion) -> Negatives:
        found = negatives_of(self.setting, table, labels, question)
        return in_proved_order(self.setting, question, found)

    def _contrast(
        self, table: Table, labels: IntArray, target: IntArray | None, positive: Positives
    ) -> tuple[Negatives, BoolArray]:
        """Return negatives, and where they keep off the positive's features as asked for."""
        if self.settings.overlap is Overlap.ALLOW:
            free = replace(self.contrast, target=target)
            negative = self._negatives(table, labels, free)
            return negative, np.zeros(len(table), dtype=bool)
        question = replace(self.contrast, target=target, untouched=positive.kept)
        negative = self._negatives(table, labels, question)
        # Where nothing is left without the positive's features, they are allowed after all.
        avoided = negative.found | (negative.status_code == ALREADY)
        rows = np.flatnonzero(~avoided)
        if len(rows):
            free = replace(self.contrast, target=None if target is None else target[rows])
            again = self._negatives(table.take(rows), labels[rows], free)
            none = np.flatnonzero(negative.status_code == INFEASIBLE)
            why = tuple(part.among(none, len(table)) for part in negative.certificates)
            negative = replace(negative.overwritten(rows, again), avoiding_certificates=why)
        return negative, avoided


def _usual(baseline: Any) -> str:
    """Return how typical values are read off data: as the baseline, where that is."""
    return baseline if isinstance(baseline, str) else "median"
