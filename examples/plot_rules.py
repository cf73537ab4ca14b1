"""
A refused applicant, with rules
===============================

A pipeline of a scaler, a one-hot encoder and a logistic regression refuses a loan. What is the
smallest change that gets it approved, if age stays, the term is in whole months, the job can only
become a permanent or a freelance one, and the debt must stay below two fifths of the income?
"""

# %%
# The model, on the embedded credit data
# --------------------------------------
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.datasets import load_credit

credit = load_credit(drop_missing=True)
X, y = credit.frame, credit.target
columns = make_column_transformer(
    (StandardScaler(), credit.numeric_names), (OneHotEncoder(), credit.categorical_names)
)
model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)

# %%
# The rules, in raw units
# -----------------------
rules = pertinent.Constraints(
    frozen=["age", "marital", "records", "price"],
    bounds={"time": (6, 72), "amount": (0, None), "income": (0, None), "debt": (0, None)},
    integer=["time", "seniority"],
    decimals={"amount": 0, "income": 0, "expenses": 0, "assets": 0, "debt": 0},
    transitions={"job": {"part-time": ["fixed", "freelance"], "other": ["fixed", "freelance"]}},
    relations=["debt <= 0.4 * income * 12"],
    max_changes=2,
)
print(rules)

# %%
# One refused applicant
# ---------------------
# The answer is a row of the same table: whole months, a category, types as before. The bound that
# comes with it says that no allowed change is smaller.
refused = X[model.predict(X) == "bad"].iloc[[3]]
found = pertinent.pertinent_negatives(model, refused, data=X, constraints=rules)
now, then = refused.iloc[0].rename("now"), found.points.iloc[0].rename("then")
print(now.to_frame().assign(then=then))
print(found.status[0], found.objective[0], found.bound[0])

# %%
# In a picture
# ------------
explainer = pertinent.Explainer(model, data=X, constraints=rules)
explainer.explain(refused)[0].plot()

# %%
# With more confidence
# --------------------
sure = pertinent.pertinent_negatives(model, refused, data=X, constraints=rules, min_proba=0.8)
print(sure.points.T, sure.status[0])
if sure.found[0]:
    print(model.predict_proba(sure.points))
