"""How to solve; none of it changes what is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace


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
    unique : bool
        Decide whether the optimum is unique.
    """

    engine: str = "numpy"
    exact: bool = False
    gap: float = 1e-4
    time_limit: float = 30.0
    unique: bool = True

    def proving(self, exact: bool, gap: float | None, time_limit: float | None) -> Options:
        """Return the options with a proof of global optimality asked for, if ``exact``."""
        if not exact:
            return self
        return replace(
            self,
            exact=True,
            gap=self.gap if gap is None else gap,
            time_limit=self.time_limit if time_limit is None else time_limit,
        )
