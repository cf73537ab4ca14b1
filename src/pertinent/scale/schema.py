"""The columns of an output batch and their types, known before any row is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pertinent.exceptions import InputError, optional
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_missing

if TYPE_CHECKING:
    import pyarrow as pa

    from pertinent.api.explainer import Explainer

#: The column that lists other changes, where they were asked for.
ALTERNATIVES = "alternatives"


def arrow() -> Any:
    """Return pyarrow, or say which extra brings it."""
    return optional("pyarrow", "arrow", "Explaining Arrow batches")


def output_schema(explainer: Explainer, keep: pa.Schema | None = None) -> pa.Schema:
    """Return the schema of the batches that `explain_batches` yields.

    Parameters
    ----------
    explainer : Explainer
    keep : pyarrow.Schema, optional
        Columns of the input that are handed through, such as a key; they come first.

    Notes
    -----
    The columns are those of `Explanations.to_frame`, but for probabilities: these ask the model
    once more for every row. Every column may hold nulls: a row that
    could not be explained has its status and reason, and nulls where there is no answer. With
    ``Explainer(alternatives=)`` there is a column ``alternatives``: a list of structures, the next
    smallest first, with the columns of `Explanations.alternatives_frame`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> import pertinent
    >>> from pertinent.scale import output_schema
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X.to_numpy(), y)
    >>> schema = output_schema(pertinent.Explainer(model))
    >>> schema.names[:3], str(schema.field("negative.x0").type)
    (['prediction', 'target', 'positive_status'], 'double')
    """
    pa = arrow()
    label = label_type(explainer.setting.classes.tolist())
    text, number, truth = pa.string(), pa.float64(), pa.bool_()
    answers = {
        "prediction": label,
        "target": label,
        "positive_status": text,
        "positive_size": number,
        "positive_bound": number,
        "positive_unique": truth,
        "positive_reason": text,
        "trivial": truth,
        "closeness": number,
        "kept": text,
        "negative_status": text,
        "negative_size": number,
        "negative_bound": number,
        "negative_unique": truth,
        "negative_reason": text,
        "changed": text,
        "overlap": pa.int64(),
    }
    features = explainer.setting.features
    if explainer.settings.alternatives:
        answers[ALTERNATIVES] = alternatives_type(label, features)
    points = {
        f"{kind}.{name}": feature_type(features, j)
        for kind in ("positive", "negative")
        for j, name in enumerate(features.names)
    }
    schema = pa.schema([pa.field(name, kind) for name, kind in (answers | points).items()])
    return schema if keep is None else _with_kept(schema, keep)


def _with_kept(schema: pa.Schema, keep: pa.Schema) -> pa.Schema:
    twice = [name for name in keep.names if name in schema.names]
    if twice:
        raise InputError(
            f"The kept columns {twice} have the names of output columns. Rename them first."
        )
    return arrow().schema([*keep, *schema])


def alternatives_type(label: pa.DataType, features: Features) -> pa.DataType:
    """Return the type of all alternatives of one sample, with their whole points by feature."""
    pa = arrow()
    values = [(name, feature_type(features, j)) for j, name in enumerate(features.names)]
    text, number, truth = pa.string(), pa.float64(), pa.bool_()
    one = {"part": text, "rank": pa.int64(), "target": label, "features": text}
    more = {"size": number, "proved": truth, "values": pa.struct(values)}
    return pa.list_(pa.struct(list((one | more).items())))


def label_type(values: list[Any]) -> pa.DataType:
    """Return the narrowest type that holds all values; text if nothing else does.

    Examples
    --------
    >>> from pertinent.scale.schema import label_type
    >>> label_type([0, 1]), label_type(["no", "yes"]), label_type([1, "a"])
    (DataType(int64), DataType(string), DataType(string))
    """
    pa = arrow()
    try:
        found = pa.array(values).type
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.string()
    return pa.string() if pa.types.is_null(found) else found


def feature_type(features: Features, j: int) -> pa.DataType:
    """Return the type of a feature's points: numbers, or the type of its categories."""
    if not features.is_category(j):
        return arrow().float64()
    return label_type([v for v in features.levels[j] or () if not is_missing([v])[0]])
