"""Model files, damaged one array or one number at a time: each is refused or gets an answer.

Run as a module, in a process of its own: what goes wrong here may end the process.
"""

import copy
import io
import json
import resource
import sys
import tempfile
import warnings
import zipfile
from itertools import islice
from pathlib import Path

import numpy as np
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import PertinentError
from pertinent.lvq import GMLVQ
from pertinent.models.files import load_model

X = np.random.default_rng(0).normal(size=(40, 3))
y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
MODELS = {
    "logistic": LogisticRegression(),
    "svc": SVC(kernel="linear"),
    "kd_tree": KNeighborsClassifier(1, algorithm="kd_tree", leaf_size=5),
    "ball_tree": KNeighborsClassifier(1, algorithm="ball_tree", leaf_size=5),
    "brute": KNeighborsClassifier(1, algorithm="brute"),
    "centroid": NearestCentroid(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "bayes": GaussianNB(),
    "qda": QuadraticDiscriminantAnalysis(),
    "gmlvq": GMLVQ(max_iter=2, random_state=0),
    "pipeline": make_pipeline(SimpleImputer(), StandardScaler(), PCA(2), LogisticRegression()),
    "calibrated": CalibratedClassifierCV(LogisticRegression(), ensemble=False, cv=2),
}
MODELS |= {
    "hist": HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4, min_samples_leaf=5),
    "hist_sets": HistGradientBoostingClassifier(
        max_iter=2, max_leaf_nodes=4, min_samples_leaf=5, categorical_features=[0, 2]
    ),
    "forest": RandomForestClassifier(2, max_depth=2, random_state=0),
    "one_hot": make_pipeline(OneHotEncoder(min_frequency=5, drop="first"), LogisticRegression()),
    "target": make_pipeline(TargetEncoder(cv=2), LogisticRegression()),
    "bins": make_pipeline(KBinsDiscretizer(3, strategy="uniform"), LogisticRegression()),
    "imputers": make_pipeline(KNNImputer(), IterativeImputer(max_iter=1), LogisticRegression()),
}
TWO_CLASSES = ("svc", "calibrated", "target")
#: Whole numbers, for what takes numbers as categories.
CODES = np.round(X) + 3
TABLES = dict.fromkeys(("hist_sets", "one_hot", "target"), CODES)


def fitted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name].fit(TABLES.get(name, X), y > 0 if name in TWO_CLASSES else y)


def written(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def damaged_arrays(array):
    """Yield an array with another shape, kind or value."""
    if array.ndim:
        yield from (array[:0], array[:1], np.concatenate([array, array]), array[..., None])
    if not array.size:
        return
    if array.dtype.names:
        for name in array.dtype.names:
            for value in (-1, 1_000_000):
                other = array.copy()
                other[name] = np.array(value).astype(array.dtype[name])
                yield other
    elif array.dtype.kind in "fiu":
        yield array.astype("U3")
        for value in (-1, 2**40) if array.dtype.kind != "f" else (np.nan, 1e308):
            other = array.copy().astype(np.int64 if array.dtype.kind != "f" else float)
            other.flat[0] = value
            yield other.astype(array.dtype) if array.dtype.kind == "f" else other


def numbers_in(schema):
    """Return the nodes of a schema that are plain numbers."""
    if isinstance(schema, list):
        return [node for item in schema for node in numbers_in(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if schema.get("__loader__") == "JsonNode" else []
    return own + [node for item in schema.values() for node in numbers_in(item)]


def damaged_files(path):
    """Yield the content of a skops file, by entry, with one thing wrong."""
    with zipfile.ZipFile(path) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    for name, content in whole.items():
        if name.endswith(".npy"):
            for array in damaged_arrays(np.load(io.BytesIO(content))):
                yield {**whole, name: written(array)}
    schema = json.loads(whole["schema.json"])
    for i in range(len(numbers_in(schema))):
        for value in ("-1", "1000000000", "null"):
            other = copy.deepcopy(schema)
            numbers_in(other)[i]["content"] = value
            yield {**whole, "schema.json": json.dumps(other).encode()}


def write(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def attempt(path, table):
    """Return what is wrong with how a file is taken; None if it is refused or answered."""
    try:
        model = load_model(path)
    except PertinentError as error:
        return None if path.name in str(error) else f"no name: {error}"
    except Exception as error:
        return f"load_model: {error!r}"
    try:
        pertinent.Explainer(model, data=table).explain(table[:1])
    except PertinentError:
        return None
    except Exception as error:
        return f"explain: {error!r}"
    return None


def main(every, names):
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    tried, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        whole, damaged = Path(folder, "model.skops"), Path(folder, "damaged.skops")
        for name in names:
            skops.io.dump(fitted(name), whole)
            load_model(whole)  # the honest file
            for i, content in islice(enumerate(damaged_files(whole)), 0, None, every):
                write(damaged, content)
                found = attempt(damaged, TABLES.get(name, X))
                tried += 1
                wrong += [f"{name} {i}: {found}"] if found else []
    print(json.dumps({"tried": tried, "wrong": wrong}))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
