"""
A boosted model and a forest, with proofs
=========================================

Gradient boosting and a random forest learn the same credit data, with one-hot encoded categories in
front. The smallest changes are exact, and each comes with a proof that is checked without a solver.
"""

# %%
# Two models
# ----------
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pertinent
from pertinent.datasets import load_credit
from pertinent.demo import RULES, WORDING

credit = load_credit(drop_missing=True)
X, y = credit.frame, credit.target
columns = make_column_transformer(
    (OneHotEncoder(sparse_output=False), credit.categorical_names), remainder="passthrough"
)
models = {
    "boosting": HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=15, random_state=0),
    "forest": RandomForestClassifier(50, max_depth=6, random_state=0),
}
for name, model in models.items():
    models[name] = make_pipeline(columns, model).fit(X[:3000], y[:3000])

# %%
# The same applicant
# ------------------
# Amounts are whole, a category is one choice, and what an applicant cannot change stays.
refused = X[3000:]
for model in models.values():
    refused = refused[model.predict(refused) == "bad"]
found = {}
for name, model in models.items():
    explainer = pertinent.Explainer(model, data=X[:3000], constraints=RULES, wording=WORDING)
    found[name] = explainer.explain(refused[:20])
    print(f"{name}\n{found[name][0].text()}\n")

# %%
# Checked again
# -------------
# The proof lists where boxes were halved, and how the trees share what a point costs. The check
# adds up the leaves itself.
for name, model in models.items():
    print(name, pertinent.check(found[name][0].json(), model).verdict)

# %%
# In a picture
# ------------
found["boosting"][0].plot()

# %%
# Twenty applicants
# -----------------
found["boosting"].plot_summary()
