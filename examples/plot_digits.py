"""
Pixels that were enough
=======================

For image-like data the features are shown as pixels: what was enough for the digit, and which
pixels would turn it into another one.
"""

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import pertinent

X, y = load_digits(return_X_y=True)
X = X / 16
model = LogisticRegression(max_iter=2000).fit(X, y)
ink = pertinent.Constraints(bounds={pixel: (0, 1) for pixel in range(64)})
explainer = pertinent.Explainer(model, data=X, baseline=0.0, weights=[1.0] * 64, constraints=ink)
result = explainer.explain(X[:50])

# %%
# A three
# -------
result[3].plot(image_shape=(8, 8))

# %%
# Which digits are close to which
# -------------------------------
result.plot_summary()
