"""The supported classifiers by family, what is proved for each, and why others are not supported.

What is said of a family is what holds for its plain questions; the table in docs/models.md is made
by asking all of them (`benchmarks/models_table.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Classifiers of one kind.

    Parameters
    ----------
    title : str
    proved : str
        What is proved of their answers.
    names : tuple of str
        Names of classes without their modules, or beginnings of modules that end with a dot.
    """

    title: str
    proved: str
    names: tuple[str, ...]

    def holds(self, name: str) -> bool:
        """Return whether a class, by its full name, belongs to the family."""
        short = name.rpartition(".")[2]
        return any(name.startswith(n) if n.endswith(".") else n == short for n in self.names)


_SMALLEST = "smallest change and fewest kept features: optimal, with multipliers as proof"

REGRESSORS = Family(
    "regressors",
    "smallest change into a range of predictions: as the classifier of the same kind",
    ("pertinent.models.regressors.",),
)

#: The first that holds a class counts.
FAMILIES = (
    Family(
        "linear",
        _SMALLEST,
        (
            "sklearn.linear_model.", "LinearSVC", "LinearDiscriminantAnalysis", "MultinomialNB",
            "ComplementNB", "OneVsRestClassifier", "OutputCodeClassifier",
        ),
    ),
    Family(
        "truth values and categories",
        "smallest change over all bins and categories: optimal, with a tree of cases as proof",
        ("BernoulliNB", "CategoricalNB"),
    ),
    Family(
        "votes and calibration",
        "over linear members a union of polyhedra: optimal, each piece with multipliers; over "
        "trees as a sum of trees",
        ("OneVsOneClassifier", "VotingClassifier", "CalibratedClassifierCV"),
    ),
    Family(
        "support vectors",
        "linear kernel: optimal, with multipliers; polynomials of degree 2: as quadratic",
        ("SVC", "NuSVC"),
    ),
    Family(
        "quadratic",
        "smallest change within 1e-4, by a proof that is replayed; else a point with its bound",
        ("QuadraticDiscriminantAnalysis", "GaussianNB"),
    ),
    Family(
        "prototypes and neighbours",
        "a union of polyhedra (or of quadratic cells): optimal, each piece with its proof",
        (
            "NearestCentroid", "KNeighborsClassifier", "pertinent.lvq.", "sklvq.", "sklearn_lvq.",
            "prosemble.",
        ),
    ),
    Family(
        "trees and sums of trees",
        "smallest change to the last bit of the library's own sums: optimal, with a tree of cases",
        (
            "sklearn.tree.", "RandomForestClassifier", "ExtraTreesClassifier", "BaggingClassifier",
            "AdaBoostClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier",
            "xgboost.", "lightgbm.", "catboost.", "pertinent.models.trees.",
        ),
    ),
    Family(
        "texts, with TextExplainer",
        "behind CountVectorizer or TfidfVectorizer, what is linear: the fewest words that were "
        "enough, and to take out or to add; optimal, with a tree of cases as proof",
        ("pertinent.models.steps.text.",),
    ),
    Family(
        "pipelines and wrappers",
        "as the model inside, in raw units",
        ("sklearn.pipeline.", "imblearn.", "sklearn.model_selection.", "FrozenEstimator"),
    ),
    Family("constant", "that there is no other class: proved", ("DummyClassifier",)),
    REGRESSORS,
)  # fmt: skip
OWN = Family("registered by you", "what your region and its proofs show", ())


def families(classifiers: Iterable[str], regressors: Iterable[str]) -> dict[Family, list[str]]:
    """Return classes by family, in the order of the families.

    Parameters
    ----------
    classifiers, regressors : iterable of str
        Full names of classes; one that is in both counts as a classifier.

    Examples
    --------
    >>> from pertinent.models.families import families
    >>> found = families(["sklearn.naive_bayes.GaussianNB"], ["sklearn.linear_model.Ridge"])
    >>> [family.title for family in found]
    ['quadratic', 'regressors']
    """
    found: dict[Family, list[str]] = {family: [] for family in (*FAMILIES, OWN)}
    models = list(classifiers)
    for name in models:
        found[family_of(name)].append(name)
    found[REGRESSORS] += sorted(set(regressors) - set(models))
    return {family: names for family, names in found.items() if names}


def family_of(name: str) -> Family:
    """Return the family of a class by its full name."""
    return next((family for family in FAMILIES if family.holds(name)), OWN)


#: By module or class: why there is no exact answer, and the closest model that has one.
_REASONS = (
    (
        ("sklearn.neural_network.", "skorch.", "torch.", "keras.", "tensorflow."),
        "a network adds up units that are bent at planes (or everywhere): its regions have more "
        "pieces than can be listed, and no proof over them is built in",
        "LogisticRegression behind PolynomialFeatures(2), or HistGradientBoostingClassifier",
    ),
    (
        (
            "sklearn.gaussian_process.", "sklearn.kernel_approximation.", "SVR", "NuSVR",
            "KernelRidge",
        ),
        "its scores are sums of kernels of all training points, whose level sets are neither "
        "planes nor quadratic",
        "QuadraticDiscriminantAnalysis, or SVC(kernel='poly', degree=2)",
    ),
    (
        ("RadiusNeighborsClassifier",),
        "it counts votes of all points within a radius: balls that overlap in too many ways",
        "KNeighborsClassifier(n_neighbors=1)",
    ),
    (
        ("StackingClassifier",),
        "its last model sees what the others say, as a rule probabilities: functions of several "
        "scores, whose level sets are neither planes nor quadratic; where they are scores that add "
        "up, that is not read either",
        "VotingClassifier(voting='hard') over the same members",
    ),
    (
        ("StackingRegressor", "VotingRegressor", "BaggingRegressor", "AdaBoostRegressor"),
        "it joins the predictions of other models, and no region is built in of what comes out",
        "",
    ),
    (
        ("sklearn.semi_supervised.",),
        "it spreads labels over all training points by a kernel",
        "the classifier inside it, fitted on the labels that it gives",
    ),
    (
        ("ClassifierChain", "MultiOutputClassifier"),
        "it predicts several labels at once, and an explanation is about one class",
        "one classifier for each of the labels",
    ),
)  # fmt: skip
_UNKNOWN = (
    "of its predict nothing is known but its answers: which points it puts into a class cannot be "
    "written down, so nothing can be proved of them"
)


def why_not(names: Iterable[str]) -> tuple[str, str]:
    """Return why a model has no exact answers, and what could be explained in its place.

    Parameters
    ----------
    names : iterable of str
        Full names of its class and of the classes above it.

    Examples
    --------
    >>> why_not(["sklearn.ensemble.StackingClassifier"])[1]
    "VotingClassifier(voting='hard') over the same members"
    """
    for full in names:
        for kinds, why, instead in _REASONS:
            if Family("", "", kinds).holds(full):
                return why, instead
    return _UNKNOWN, "HistGradientBoostingClassifier or LogisticRegression"


def why_no_range(names: Iterable[str]) -> tuple[str, str]:
    """Return why a regressor has no exact answers, and what could be explained in its place."""
    return why_not(names)[0], "HistGradientBoostingRegressor or Ridge"
