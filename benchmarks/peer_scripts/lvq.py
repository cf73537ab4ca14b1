"""GMLVQ of the packages sklvq and sklearn-lvq, cross-validated; runs where they are installed.

Reads the folds that the caller wrote, so that both sides train and test on the same rows.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
import sklearn.datasets
from sklearn.preprocessing import StandardScaler


def models() -> dict:
    from sklearn_lvq import GmlvqModel
    from sklvq import GMLVQ

    return {
        "sklvq GMLVQ": lambda: GMLVQ(random_state=0),
        "sklearn-lvq GmlvqModel": lambda: GmlvqModel(random_state=0),
    }


def cross_validate(models: dict, folds_of: dict) -> dict:
    """Return mean accuracy and processor seconds of one fit, by model and data set."""
    found: dict = {}
    for name, make in models.items():
        for data, folds in folds_of.items():
            X, y = getattr(sklearn.datasets, f"load_{data}")(return_X_y=True)
            scores, start = [], time.process_time()
            for train, test in folds:
                scaler = StandardScaler().fit(X[train])
                model = make().fit(scaler.transform(X[train]), y[train])
                scores.append(np.mean(model.predict(scaler.transform(X[test])) == y[test]))
            seconds = (time.process_time() - start) / len(folds)
            found.setdefault(name, {})[data] = [float(np.mean(scores)), seconds]
    return found


def main(folds_file: str, answer_file: str) -> None:
    warnings.simplefilter("ignore")
    with open(folds_file) as file:
        asked = json.load(file)
    answers = cross_validate(models(), asked)
    with open(answer_file, "w") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
