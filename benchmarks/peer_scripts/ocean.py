"""OCEAN in its own environment (Python 3.12): python ocean.py rows.pickle, JSON for each row.

Its CP-SAT explainer with two workers, and 20 s of processor time for a row.
"""

import json
import pickle
import sys
import threading
import time
from pathlib import Path

# This file's own name must not hide the package.
sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from ocean import ConstraintProgrammingExplainer  # noqa: E402
from ocean.feature import parse_features  # noqa: E402

LIMIT = 20.0


def main() -> None:
    model, rows, targets = pickle.loads(Path(sys.argv[1]).read_bytes())
    frame = pd.DataFrame(rows, columns=[f"f{j}" for j in range(rows.shape[1])])
    _, mapper = parse_features(frame, scale=False, drop_constant=False)
    explainer = ConstraintProgrammingExplainer(model, mapper=mapper)
    for x, target in zip(rows, targets, strict=True):
        k = int(np.flatnonzero(model.classes_ == target)[0])
        start, done = time.process_time(), threading.Event()

        def watch(start: float = start, done: threading.Event = done) -> None:
            while not done.wait(0.05):
                if time.process_time() - start > LIMIT:
                    explainer.solver.stop_search()
                    return

        watching = threading.Thread(target=watch)
        watching.start()
        found = explainer.explain(x, y=k, norm=1, max_time=60, num_workers=2)
        done.set()
        watching.join()
        seconds = time.process_time() - start
        proved = explainer.get_solving_status() == "OPTIMAL"
        answer = {"seconds": seconds, "proved": proved}
        if found is not None:
            answer["point"] = np.asarray(found.x, float).tolist()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
