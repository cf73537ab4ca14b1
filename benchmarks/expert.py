"""The smallest change of numbers and categories as an expert would write it for HiGHS.

One linear program with whole numbers for a row, built and solved anew: a number or a category for
each column, how far it is from the row's own, and which features change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from scipy.sparse import block_array, csr_array, eye_array

from pertinent.geometry.pieces import lone_cell
from pertinent.setting.limits import negative_limits
from pertinent.setting.region_key import Not
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True)
class Expert:
    """What does not depend on the row: whole columns, groups of categories, features.

    ``most`` is how many features may change; None for any number.
    """

    setting: Setting
    whole: np.ndarray
    most: int | None

    def solve(self, table: Table, label: int) -> tuple[float, float]:
        """Return the objective of one row (NaN without an answer), and the seconds it took."""
        cell = lone_cell(self.setting.region(Not(label), 0.0))
        assert cell is not None
        (own,), (low,), (high,) = table.values, *map(np.array, negative_limits(self.setting, table))
        start = time.process_time()
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("mip_rel_gap", 1e-9)
        highs.passModel(self._program(cell, own, low, high))
        highs.run()
        found = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        value = highs.getInfo().objective_function_value if found else np.nan
        return value, time.process_time() - start

    def _program(self, cell: Any, own: np.ndarray, low: np.ndarray, high: np.ndarray) -> Any:
        """Return the program over (x, distances, changes)."""
        features = self.setting.features
        n, one = len(own), eye_array(len(own), format="csr")
        k = 0 if self.most is None else len(features)
        for group in features.groups:
            low[group], high[group] = np.maximum(low[group], 0.0), np.minimum(high[group], 1.0)
        far = np.maximum(np.maximum(high - own, own - low), 0.0)
        rows: list[tuple[list[Any], np.ndarray, np.ndarray]] = [
            ([csr_array(cell.G), None], np.full(len(cell.h), -np.inf), cell.h),
            ([one, -one], np.full(n, -np.inf), own),
            ([-one, -one], np.full(n, -np.inf), -own),
        ]
        for group in features.groups:
            chosen = csr_array((np.ones(len(group)), (np.zeros(len(group)), group)), shape=(1, n))
            rows.append(([chosen, None], np.ones(1), np.ones(1)))
        if self.most is not None:
            owner = csr_array((far, (np.arange(n), features.owner)), shape=(n, k))
            some = csr_array(np.ones((1, k)))
            rows = [([*blocks, None], least, most) for blocks, least, most in rows]
            rows.append(([None, one, -owner], np.full(n, -np.inf), np.zeros(n)))
            rows.append(([None, None, some], np.zeros(1), np.array([float(self.most)])))
        matrix = block_array([blocks for blocks, _, _ in rows], format="csr")
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 2 * n + k, matrix.shape[0]
        lp.col_cost_ = np.concatenate([np.zeros(n), self.setting.weights, np.zeros(k)])
        lp.col_lower_ = np.concatenate([low, np.zeros(n + k)])
        lp.col_upper_ = np.concatenate([high, far, np.ones(k)])
        lp.row_lower_ = np.concatenate([least for _, least, _ in rows])
        lp.row_upper_ = np.concatenate([most for _, _, most in rows])
        kinds = np.concatenate([self.whole, np.zeros(n, dtype=bool), np.ones(k, dtype=bool)])
        lp.integrality_ = [
            highspy.HighsVarType.kInteger if one else highspy.HighsVarType.kContinuous
            for one in kinds.tolist()
        ]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data
        return lp
