"""treecf in its own environment: python treecf.py rows.pickle, a line of JSON for each row.

Its exact search (``refine``, the default), with a limit of 14 s by the clock on the wall, of two
classes only: class 1 is above 0.5 (forests) or 0 (boosting).
"""

import json
import pickle
import sys
import time
from pathlib import Path

# This file's own name must not hide the package.
sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]

import numpy as np  # noqa: E402
from treecf import Explainer, Target  # noqa: E402


def main() -> None:
    model, rows, targets = pickle.loads(Path(sys.argv[1]).read_bytes())
    explainer = Explainer(model, background=rows, normalizers=np.ones(rows.shape[1]))
    is_forest = "Forest" in type(model).__name__
    low, edge, high = (-1.0, 0.5, 2.0) if is_forest else (-1e6, 0.0, 1e6)
    names = explainer.ir.feature_names
    for x, target in zip(rows, targets, strict=True):
        first = target == model.classes_[0]
        reach = Target.raw(range=(low, edge) if first else (edge + 1e-8, high))
        start = time.process_time()
        found = explainer.explain(
            x, target=reach, backend="exact", seed=0, time_budget_s=14.0, node_budget=10**9
        )
        seconds = time.process_time() - start
        answer = {"seconds": seconds, "proved": str(getattr(found, "proof", "")) == "optimal"}
        changes = getattr(found, "changes", None)
        if changes is not None:
            point = x.copy()
            for name, change in changes.items():
                point[names.index(name)] = change[1]
            answer["point"] = point.tolist()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
