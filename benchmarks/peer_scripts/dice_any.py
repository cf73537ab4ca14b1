"""DiCE in its own environment, any model: dice_any.py problem.joblib answers.json METHOD."""

import json
import sys
import time
import warnings

import dice_ml
import joblib
import numpy as np
import pandas as pd
from raiutils.exceptions import UserConfigValidationException


def main() -> None:
    warnings.filterwarnings("ignore")
    given, method = joblib.load(sys.argv[1]), sys.argv[3]
    model = given["model"]
    train, rows = (pd.DataFrame(given[name]) for name in ("train", "rows"))
    names, numbers = list(train.columns), given["numbers"]
    known = train.assign(outcome=model.predict(train))
    data = dice_ml.Data(dataframe=known, continuous_features=numbers, outcome_name="outcome")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)
    seed = {"random_seed": 0} if method == "random" else {}
    points, seconds = [], []
    for i in range(len(rows)):
        np.random.seed(0)  # noqa: NPY002 - what DiCE draws from
        start = time.process_time()
        try:
            found = explainer.generate_counterfactuals(
                rows.iloc[i : i + 1], total_CFs=1, desired_class="opposite", verbose=False, **seed
            )
            answer = found.cf_examples_list[0].final_cfs_df
            point = None if answer is None or not len(answer) else answer[names].iloc[0]
        except UserConfigValidationException:
            point = None  # "No counterfactuals found"
        seconds.append(time.process_time() - start)
        points.append(None if point is None else [_plain(value) for value in point])
    with open(sys.argv[2], "w") as file:
        json.dump({"points": points, "seconds": seconds}, file)


def _plain(value):
    return value if isinstance(value, str) else float(value)


if __name__ == "__main__":
    main()
