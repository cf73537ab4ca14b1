"""Learning vector quantization: classifiers that explain themselves by prototypes.

Three scikit-learn estimators: `GLVQ` (Euclidean metric), `GMLVQ` (one learnt metric) and `LGMLVQ`
(a learnt metric for each prototype or class).

They are here because the packages that used to provide them, sklvq 0.1.2 and sklearn-lvq 1.1.1, no
longer fit on scikit-learn 1.9. Training is L-BFGS on the GLVQ cost with analytic gradients and
needs NumPy, SciPy and scikit-learn only.

Examples
--------
>>> from sklearn.datasets import load_wine
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from pertinent.lvq import GMLVQ
>>> X, y = load_wine(return_X_y=True)
>>> model = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
>>> bool(model.score(X, y) > 0.95)
True
"""

from pertinent.lvq._estimators import GLVQ, GMLVQ, LGMLVQ

__all__ = ["GLVQ", "GMLVQ", "LGMLVQ"]
