"""
A refused loan
==============

A logistic regression on numbers and categories, explained in raw units under rules: what cannot be
changed stays, and money is counted in whole thousands.
"""

import pertinent
from pertinent.demo import RULES, WORDING, refused_applicant, train_credit_model

credit = train_credit_model()
explainer = pertinent.Explainer(credit.model, data=credit.train, constraints=RULES, wording=WORDING)
result = explainer.explain(credit.applicants[:200])
row = refused_applicant(result)

# %%
# In words
# --------
print(result[row].text())

# %%
# In a picture
# ------------
# Each feature has its own scale; grey is where 90% of the data lie.
result[row].plot()

# %%
# All applicants
# --------------
print(result.text())
result.plot_summary()

# %%
# Checked again, without a solver
# -------------------------------
print(pertinent.check(result[row].json(), credit.model))
