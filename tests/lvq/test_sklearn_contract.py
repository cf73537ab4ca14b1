"""The estimators obey scikit-learn's own contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        GLVQ(),
        GLVQ(prototypes_per_class=2),
        GMLVQ(),
        GMLVQ(prototypes_per_class=2, init="mean"),
        LGMLVQ(),
        LGMLVQ(prototypes_per_class=2, localization="class"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
