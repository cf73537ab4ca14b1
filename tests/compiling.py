"""Compile the kernels once: test processes side by side would each do so for themselves.

``python -m tests.compiling`` leaves them in numba's cache beside the sources; a second run only
reads it.
"""

from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import pertinent


def main() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, y)
    pertinent.pertinent_negatives(forest, X[:1])
    model = LogisticRegression(max_iter=1000).fit(X, y)
    compiled = pertinent.Options(engine="compiled")
    pertinent.pertinent_negatives(model, X[:1], target=2, options=compiled)


if __name__ == "__main__":
    main()
