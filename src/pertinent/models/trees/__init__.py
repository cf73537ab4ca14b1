"""Trees of all libraries: ensembles are read into the one form of `pertinent.geometry.ensembles`.

Each reader takes the arrays or the text that a library holds of itself, and adds up as the library
does: an exact tie is decided by the last bit of a sum. Treelite, which reads all but CatBoost, does
not keep that bit. Of 4,000 points of small models on the breast cancer data, treelite 4.8.1 gave
another sum than the library itself for 3,252 with XGBoost 3.2 (the base score in double precision)
and 2,838 with HistGradientBoosting, and sent 3,888 to other leaves with LightGBM's zero_as_missing;
with LightGBM otherwise for none. The readers here give the library's sum for all of them.

A library is consulted only if the user has imported it: readers are found by the name of a class,
and use nothing but the object they are given. Only classifiers are read.
"""

from pertinent.models.trees import (  # noqa: F401 - each registers its family
    boosting,
    forests,
    native,
    of_catboost,
    of_lightgbm,
    of_onnx,
    of_xgboost,
    one_tree,
)
