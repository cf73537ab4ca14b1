"""Linear programs by HiGHS: the one place that builds them and reads their answers.

    min  cost'v    s.t.   row_lower <= rows v <= row_upper,    lower <= v <= upper

Costs must be bounded below, as all costs of this package are: then "unbounded or infeasible" means
infeasible. One thread solves each program, so that its answer does not depend on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import highspy
import numpy as np

from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.geometry.running import time_left
from pertinent.solvers.problem import Outcome
from pertinent.solvers.tolerances import HIGHS

Options = dict[str, bool | int | float | str]

#: What each of HiGHS' answers means; any other is TROUBLE.
STATUS = {
    highspy.HighsModelStatus.kOptimal: Outcome.SOLVED,
    highspy.HighsModelStatus.kInfeasible: Outcome.EMPTY,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Outcome.EMPTY,
}
#: Simplex steps on the program as it is (only an unreduced program has dual rays), to nine digits.
SIMPLEX: Options = {
    "presolve": "off",
    "solver": "simplex",
    "primal_feasibility_tolerance": HIGHS,
    "dual_feasibility_tolerance": HIGHS,
}


@dataclass(frozen=True, eq=False)
class LinearAnswer:
    """What came back.

    Parameters
    ----------
    outcome : Outcome
    pivots : int
    _solution : HighsSolution
        Its numbers become arrays when they are asked for.
    """

    outcome: Outcome
    pivots: int
    _solution: Foreign

    @cached_property
    def v(self) -> FloatArray:
        """HiGHS' last point, the optimum if SOLVED; empty if it has none."""
        return np.array(self._solution.col_value)

    @cached_property
    def prices(self) -> FloatArray:
        """How much the least cost rises with each row's right-hand side; empty if unknown."""
        return np.array(self._solution.row_dual)


class LinearProgram:
    """A program that HiGHS holds; limits and rows may change from one solve to the next.

    Parameters
    ----------
    cost : ndarray of shape (n_columns,)
    rows : ndarray of shape (n_rows, n_columns)
    row_lower, row_upper : float or ndarray of shape (n_rows,)
    lower, upper : float or ndarray of shape (n_columns,)
    options : dict, optional
        Options of HiGHS by name.

    Examples
    --------
    >>> import numpy as np
    >>> program = LinearProgram(np.ones(2), np.array([[1.0, 2.0]]), row_lower=4.0, upper=1.5)
    >>> program.solve().v
    array([1. , 1.5])
    """

    def __init__(
        self,
        cost: FloatArray,
        rows: FloatArray,
        *,
        row_lower: float | FloatArray = -np.inf,
        row_upper: float | FloatArray = np.inf,
        lower: float | FloatArray = 0.0,
        upper: float | FloatArray = np.inf,
        options: Options | None = None,
    ) -> None:
        m, n = rows.shape
        self._highs: Foreign = highspy.Highs()  # type: ignore[no-untyped-call]
        self.set_options(output_flag=False, threads=1, **(options or {}))
        format_, sense = highspy.MatrixFormat.kRowwise, highspy.ObjSense.kMinimize
        starts, columns = n * np.arange(m, dtype=np.int32), np.arange(n, dtype=np.int32)
        self._highs.passModel(
            n, m, rows.size, int(format_), int(sense), 0.0,
            cost, np.full(n, lower), np.full(n, upper),
            np.full(m, row_lower), np.full(m, row_upper),
            starts, np.tile(columns, m), rows.ravel(),
            np.zeros(n, dtype=np.int32),  # no column asks for whole numbers yet
        )  # fmt: skip

    def set_options(self, **options: bool | int | float | str) -> None:
        """Set options of HiGHS from here on."""
        for name, value in options.items():
            self._highs.setOptionValue(name, value)

    def set_limits(self, row_lower: FloatArray, upper: FloatArray) -> None:
        """Ask for ``rows v >= row_lower`` and ``0 <= v <= upper``, as if nothing was solved yet.

        A warm start would let an answer depend on the one before.
        """
        m, n = len(row_lower), len(upper)
        self._highs.clearSolver()
        ends = np.full(m, np.inf)
        self._highs.changeRowsBounds(m, np.arange(m, dtype=np.int32), row_lower, ends)
        every = np.arange(n, dtype=np.int32)
        self._highs.changeColsBounds(n, every, np.zeros(n), upper)

    def add_rows(self, starts: IntArray, columns: IntArray, values: FloatArray) -> None:
        """Add rows ``sum_j values_j v_columns_j >= 0``; row k begins at ``starts[k]``."""
        m = len(starts)
        self._highs.addRows(
            m, np.zeros(m), np.full(m, np.inf), len(values), starts.astype(np.int32),
            columns.astype(np.int32), values,
        )  # fmt: skip

    def ask_for_whole_numbers(self) -> None:
        """Allow whole numbers only, in every column."""
        n = self._highs.getNumCol()
        kinds = np.full(n, highspy.HighsVarType.kInteger)
        self._highs.changeColsIntegrality(n, np.arange(n, dtype=np.int32), kinds)

    def solve(self, seconds: float = np.inf) -> LinearAnswer:
        """Return the optimum, from the last one on if there was one, within so many seconds."""
        limit = time_left(seconds)
        if limit < np.inf:
            # HiGHS' clock counts all that it solved before.
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + limit)
        self._highs.run()
        return LinearAnswer(
            STATUS.get(self._highs.getModelStatus(), Outcome.TROUBLE),
            max(0, self._highs.getInfo().simplex_iteration_count),
            self._highs.getSolution(),
        )

    def ray(self) -> FloatArray | None:
        """Return HiGHS' proof that the last program has no point, up to its sign, if it has one."""
        _, exists, ray = self._highs.getDualRay()
        return np.asarray(ray) if exists else None
