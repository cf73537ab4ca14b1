"""Programs for SCIP: the one place that builds them and reads their answers.

SCIP is an optional extra, imported when the first program is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.exceptions import MissingExtraError
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.running import time_left
from pertinent.solvers.tolerances import NO_CURVE, NO_ENTRY


@dataclass(frozen=True)
class ScipAnswer:
    """What came back.

    Parameters
    ----------
    values : ndarray of shape (n_variables,), or None
        The best point that SCIP found.
    bound : float
        What SCIP claims that every point costs; ``inf`` where it says that there is none.
    status : str
        SCIP's own word.
    """

    values: FloatArray | None
    bound: float
    status: str


class ScipProgram:
    """A program that SCIP holds, with a cost to be made small.

    Parameters
    ----------
    purpose : str
        What SCIP is needed for, told to those who do not have it.
    gap, time_limit : float
        SCIP stops at this relative gap, or after so many seconds, or with the time of the question.
    """

    def __init__(self, purpose: str, gap: float, time_limit: float) -> None:
        try:
            import pyscipopt
        except ImportError as error:
            raise MissingExtraError("pyscipopt", "global", purpose) from error
        self.total, self._seconds = pyscipopt.quicksum, float(time_limit)
        self._model: Any = pyscipopt.Model()
        self._model.hideOutput()
        for name, value in (
            ("limits/gap", float(gap)),
            ("parallel/maxnthreads", 1),
            ("randomization/randomseedshift", 0),
        ):
            self._model.setParam(name, value)

    def variable(self, low: float = -np.inf, high: float = np.inf, kind: str = "C") -> Any:
        """Return a new variable: any number ("C"), whole ("I") or 0 and 1 ("B")."""
        return self._model.addVar(
            vtype=kind,
            lb=float(low) if np.isfinite(low) else None,
            ub=float(high) if np.isfinite(high) else None,
        )

    def binary(self) -> Any:
        """Return a new variable that is 0 or 1."""
        return self._model.addVar(vtype="B")

    def distance(self, x: Any, center: float, weight: float) -> Any:
        """Return a new variable that costs ``weight`` and is at least ``|x - center|``."""
        cost = self._model.addVar(lb=0.0, obj=float(weight))
        self.add(cost >= x - float(center))
        self.add(cost >= float(center) - x)
        return cost

    def add(self, row: Any) -> None:
        """Ask for a row."""
        self._model.addCons(row)

    def add_if(self, binary: Any, *rows: Any) -> None:
        """Ask for linear rows, of the form ``... <= number``, where the binary is 1."""
        for row in rows:
            self._model.addConsIndicator(row, binvar=binary)

    def add_quadratic(
        self,
        form: FloatArray | None,
        slope: FloatArray,
        value: float,
        size: float,
        x: Sequence[Any],
        reach: float = np.inf,
    ) -> None:
        """Ask for ``x'form x + slope'x + value <= 0``, divided by ``size``.

        The form is rotated to its eigenvectors, ``z = V'x``, where it is a sum of squares
        ``sum_k lambda_k z_k^2``: SCIP closes such programs that it cannot close in the original
        coordinates. ``reach`` bounds the L1 norm of x: ``|v'x| <= max_i |v_i| * |x|_1``.
        """
        terms = [float(g / size) * v for g, v in zip(slope, x, strict=True) if g != 0]
        values, vectors = (np.zeros(0), np.zeros((0, 0))) if form is None else np.linalg.eigh(form)
        for eigenvalue, vector in zip(values, vectors.T, strict=True):
            if abs(eigenvalue) <= NO_CURVE * np.abs(values).max():
                continue
            end = float(np.abs(vector).max()) * reach
            z = self.variable(-end, end)
            rotated = [float(a) * v for a, v in zip(vector, x, strict=True) if abs(a) > NO_ENTRY]
            self.add(self.total(rotated) == z)
            terms.append(float(eigenvalue / size) * z * z)
        self.add(self.total(terms) <= -float(value / size))

    def suggest(self, values: Iterable[tuple[Any, float]]) -> None:
        """Offer a point, as pairs of a variable and its value."""
        solution = self._model.createPartialSol()
        for variable, value in values:
            self._model.setSolVal(solution, variable, float(value))
        self._model.addSol(solution)

    def solve(self, x: Sequence[Any]) -> ScipAnswer:
        """Return the best values of some variables, and a bound.

        SCIP's own errors are bare exceptions that begin with its name. One row's numerical trouble
        must not take the other rows with it: such a row is answered by nothing, with bound 0.
        """
        self._model.setParam("limits/time", time_left(self._seconds))
        try:
            self._model.optimize()
        except Exception as error:
            if not str(error).startswith("SCIP"):
                raise
            return ScipAnswer(None, 0.0, "error in the solver")
        status = str(self._model.getStatus())
        if status == "userinterrupt":
            raise KeyboardInterrupt  # SCIP takes the signal, and stops
        if status == "infeasible":
            return ScipAnswer(None, np.inf, status)
        found = np.array([self._model.getVal(v) for v in x]) if self._model.getNSols() else None
        return ScipAnswer(found, max(float(self._model.getDualbound()), 0.0), status)
