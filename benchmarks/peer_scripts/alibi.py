"""alibi's CEM in its own environment: python alibi.py problem.npz answers.json iterations steps."""

import json
import sys
import time

# This file must not stand in for the package of the same name.
sys.path.pop(0)

import numpy as np
import tensorflow as tf

tf.compat.v1.disable_v2_behavior()
from alibi.explainers import CEM  # noqa: E402


def main() -> None:
    given = np.load(sys.argv[1])
    coef, intercept = given["coef"][0], given["intercept"][0]

    def predict_proba(X):
        p = 1 / (1 + np.exp(-(X @ coef + intercept)))
        return np.c_[1 - p, p]

    d = len(coef)
    train = given["train"]
    explainer = CEM(
        predict_proba, mode="PN", shape=(1, d), kappa=0.0, beta=0.1,
        feature_range=(train.min(0)[None], train.max(0)[None]), gamma=0,
        max_iterations=int(sys.argv[3]), c_steps=int(sys.argv[4]), c_init=10.0,
        learning_rate_init=0.01, eps=(1e-2, 1e-2), no_info_val=np.zeros((1, d)),
        clip=(-1000.0, 1000.0), update_num_grad=1,
    )  # fmt: skip
    explainer.fit(train, no_info_type="mean")
    points, seconds = [], []
    for row in given["rows"]:
        start = time.process_time()
        found = explainer.explain(row[None], verbose=False)
        seconds.append(time.process_time() - start)
        points.append(None if found.PN is None else np.asarray(found.PN)[0].tolist())
    with open(sys.argv[2], "w") as file:
        json.dump({"points": points, "seconds": seconds}, file)


if __name__ == "__main__":
    main()
