"""What a user chooses beside the model and the samples: what is asked, and how it is solved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from pertinent.density import Plausibility
from pertinent.density.spec import PlausibilityMethod
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.rules.constraints import Constraints
from pertinent.rules.inferring import HANDFUL, infer, infer_types, require_sources
from pertinent.rules.wording import Wording
from pertinent.setting.effort import Effort
from pertinent.setting.question import (
    Method,
    Missing,
    NegativeQuestion,
    Norm,
    Overlap,
    PositiveQuestion,
    data_ranges,
    kind_of,
)
from pertinent.tables.baselines import baseline_values, or_default
from pertinent.tables.features import Features
from pertinent.tables.numbers import require_number, require_whole
from pertinent.tables.table import Table


@dataclass(frozen=True)
class Options:
    """How to solve; none of it changes what is asked.

    Parameters
    ----------
    engine : {"numpy", "compiled", "highs"}
        Who solves polyhedral cells: the lock-step dual simplex in NumPy, the same compiled by
        numba (extra ``fast``), or HiGHS row by row.
    exact : bool
        Ask for a proof of global optimality where the fast methods give none.
    gap : float
        Relative gap at which ``exact`` may stop.
    time_limit : float
        Seconds that SCIP may take for each program, with ``exact``.
    unique : bool, optional
        Whether to decide if the answer is the only one of its size. None: where it takes next to no
        time, as it does for linear rows. True: for curved rows and densities as well, which may
        take longer than the answer itself.
    round_steps : bool
        Numbers in steps under curved rows: round the nearest point of all, look for a smaller
        one in few cases, and say how far that may be from the smallest, rather than search on.
    """

    engine: str = "numpy"
    exact: bool = False
    gap: float = 1e-4
    time_limit: float = 30.0
    unique: bool | None = None
    round_steps: bool = False

    @property
    def decides_unique(self) -> bool:
        """Whether solvers say if an answer is the only one, where they see it."""
        return self.unique is not False


@dataclass(frozen=True, eq=False)
class Settings:
    """The arguments of the functions, of `Explainer` and of a stored question, checked once.

    `pertinent_positives`, `pertinent_negatives` and `Explainer` say what each of them means.
    """

    baseline: Any = None
    weights: Any = None
    constraints: Constraints = field(default_factory=Constraints)
    plausibility: Plausibility | None = None
    margin: float | None = None
    min_proba: float | None = None
    missing: Missing = Missing.ERROR
    method: Method = Method.TWO_PHASE
    between: bool = False
    off_tol: float = 0.0
    fallback: bool = False
    alternatives: int = 0
    norm: Norm = Norm.L1
    max_changes: int | None = None
    overlap: Overlap = Overlap.ALLOW
    options: Options = field(default_factory=Options)
    exact: bool = False
    time_limit: float | None = None
    gap: float | None = None
    wording: Wording = field(default_factory=Wording)
    limits_from: Any = "data"
    steps_from: Any = "data"
    rare: int = HANDFUL
    search: bool = False

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Settings:
        """Return the settings among the arguments of a function; None and words are allowed."""
        return cls(**{name: arguments[name] for name in NAMES if name in arguments})

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            object.__setattr__(self, name, kind_of(kind, name, getattr(self, name)))
        for name, own in OWN.items():
            given = getattr(self, name)
            if given is None and own is not Plausibility:
                object.__setattr__(self, name, own())
            elif given is not None and not isinstance(given, own):
                raise InputError(
                    f"{name} must be a pertinent.{own.__name__}. Got {given!r:.60} instead."
                )
        require_number("off_tol", self.off_tol)
        require_whole("alternatives", self.alternatives, 0)
        if self.margin is not None:
            require_number("margin", self.margin)
        if self.max_changes is not None:
            require_whole("max_changes", self.max_changes, 1)
        _ = self.effort  # refuses odd limits
        require_sources(self.limits_from, self.steps_from, self.rare)
        self._refuse_misplaced()

    def _refuse_misplaced(self) -> None:
        """Say what a choice goes with, rather than ignore it."""
        method = str(self.method)
        if self.plausibility is not None and self.method is not Method.TWO_PHASE:
            raise InputError(
                f"plausibility works with method='two-phase' only. Got {method!r}: an exact set of "
                "features and a density cannot be asked for together."
            )
        if self.fallback and self.method is not Method.STRICT:
            raise InputError(f'fallback=True belongs to method="strict". Got method={method!r}.')
        if self.norm is Norm.L0 and self.overlap is Overlap.AVOID:
            raise InputError(
                "norm='l0' goes with overlap='allow' only: the fewest changes may need a feature "
                "that the positive keeps. Leave overlap out, or ask for norm='l1'; with "
                "max_changes=, if few features are to change."
            )

    @property
    def lists_positives(self) -> bool:
        """Whether the method of the positives knows further sets of features."""
        return self.method in (Method.STRICT, Method.EXACT)

    @property
    def effort(self) -> Effort:
        """How far an exact search goes."""
        return Effort(time_limit=self.time_limit, gap=Effort.gap if self.gap is None else self.gap)

    @property
    def solving(self) -> Options:
        """The options, with a proof of global optimality asked for if ``exact``."""
        given = {"gap": self.gap, "time_limit": self.time_limit}
        limits: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self.options, exact=True, **limits) if self.exact else self.options

    def inferred(self, data: Table | None, samples: Table | None = None) -> Constraints:
        """Return the rules with those that the data suggest, or else the types of samples."""
        if data is not None:
            # Blends of training points are on no steps, and within the range of the data.
            like = self.plausibility
            blends = like is not None and like.method == PlausibilityMethod.HULL
            steps_from = None if blends else self.steps_from
            sources = self.baseline, self.limits_from, steps_from, self.rare
            return replace(self.constraints, inferred=infer(data, self.constraints, *sources))
        if samples is not None and self.steps_from == "data":
            return replace(self.constraints, inferred=infer_types(samples, self.constraints))
        return self.constraints

    def searched(self) -> Settings:
        """Return the settings for a model that is searched; what needs its regions is refused.

        Positives keep values of the sample: `Method.TWO_PHASE`, the default, is read as strict.
        """
        odd = {
            "plausibility": self.plausibility is not None,
            "margin": bool(self.margin),
            "exact": self.exact,
            "fallback": self.fallback,
            "alternatives": self.alternatives > 0,
            f"norm={str(self.norm)!r}": self.norm is not Norm.L1,
            f"method={str(self.method)!r}": self.method in (Method.EXACT, Method.SUFFICIENT),
            "options": self.options.unique is True,
        }
        named = [name for name, given in odd.items() if given]
        if named:
            raise InputError(
                f"search=True asks the model's predict and proves nothing: {', '.join(named)} "
                "cannot be asked of it. Leave that out; max_changes= limits the changes, "
                "Constraints say what is allowed."
            )
        return replace(self, method=Method.STRICT)

    def without_data(self) -> Settings:
        """Return the settings without what holds training data, for results to keep."""
        return replace(self, plausibility=None)

    def positive(self, features: Features, train: FloatArray | None) -> PositiveQuestion:
        """Return how positives are asked for, with base values from the training data if asked."""
        if self.alternatives and not self.lists_positives:
            raise InputError(
                'alternatives belong to method="strict" and "exact". '
                f"Got method={str(self.method)!r}."
            )
        baseline, lattice = or_default(self.baseline, train), self.constraints.lattice(features)
        values = baseline_values(baseline, features, train, lattice)
        how = (self.between, self.off_tol, self.fallback, self.alternatives, self.effort)
        return PositiveQuestion(values, *how, data_ranges(train))

    def negative(self) -> NegativeQuestion:
        """Return how negatives are asked for."""
        how = (self.norm, self.max_changes, self.alternatives, self.effort)
        return NegativeQuestion(None, None, *how)


NAMES = tuple(f.name for f in fields(Settings))
#: What the words of some settings stand for, and the classes that others are objects of.
KINDS = {"method": Method, "norm": Norm, "overlap": Overlap, "missing": Missing}
OWN: dict[str, type] = {
    "constraints": Constraints,
    "plausibility": Plausibility,
    "options": Options,
    "wording": Wording,
}
