"""DiCE in its own environment: python dice.py problem.npz answers.json [random|genetic]."""

import json
import sys
import time

import dice_ml
import numpy as np
import pandas as pd
from raiutils.exceptions import UserConfigValidationException
from sklearn.linear_model import LogisticRegression


def main() -> None:
    given = np.load(sys.argv[1])
    names = [f"x{i}" for i in range(given["train"].shape[1])]
    model = LogisticRegression()
    model.coef_, model.intercept_ = given["coef"], given["intercept"]
    model.classes_, model.n_features_in_ = np.array([0, 1]), len(names)
    model.feature_names_in_ = np.array(names, dtype=object)
    train = pd.DataFrame(given["train"], columns=names)
    train["y"] = model.predict(train)
    data = dice_ml.Data(dataframe=train, continuous_features=names, outcome_name="y")
    explainer = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), sys.argv[3])
    seed = {"random_seed": 0} if sys.argv[3] == "random" else {}
    points, seconds = [], []
    for row in given["rows"]:
        start = time.process_time()
        try:
            found = explainer.generate_counterfactuals(
                pd.DataFrame([row], columns=names), total_CFs=1, desired_class="opposite",
                verbose=False, **seed,
            )  # fmt: skip
            answer = found.cf_examples_list[0].final_cfs_df
            point = None if answer is None else answer[names].to_numpy(float)[0].tolist()
        except UserConfigValidationException:
            point = None  # "No counterfactuals found"
        seconds.append(time.process_time() - start)
        points.append(point)
    with open(sys.argv[2], "w") as file:
        json.dump({"points": points, "seconds": seconds}, file)


if __name__ == "__main__":
    main()
