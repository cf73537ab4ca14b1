"""Classifiers in ONNX files: linear ones and sums of trees, as onnxruntime computes them.

The graph must be a chain: scalers, then one ``LinearClassifier`` or ``TreeEnsembleClassifier``,
whose first output is the label. What follows for the probabilities does not matter. Numbers are
cast to single precision first, where the graph takes those, and scores are added up in it:

* linear scores: the class of the largest ``W x + b``, rounded as single precision is;
* trees: ``float32(x) <= threshold`` (or ``<``) leads to the true branch. In which order leaves are
  added up is the runtime's business: points at which that could decide belong to no class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError, UnsupportedModelError, optional
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, summation_error
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.geometry.pieces import each_cell
from pertinent.geometry.region import AffineMap, Cell, Region
from pertinent.geometry.rounding import COARSER
from pertinent.models.linear import linear_region
from pertinent.models.registry import class_index, register_model
from pertinent.models.trees.nodes import OneTree, end_to_end, last_singles

_LINEAR, _TREES = "LinearClassifier", "TreeEnsembleClassifier"
#: What may stand between the classifier's label and the output of the graph.
_CARRIES = ("Cast", "Identity", "Reshape")
_SINGLE, _DOUBLE = 1, 11


class OnnxClassifier:
    """A classifier in an ONNX file, which can be explained; onnxruntime predicts.

    Parameters
    ----------
    source : path, bytes or onnx.ModelProto

    Examples
    --------
    >>> import pertinent
    >>> from pertinent.models.trees.of_onnx import OnnxClassifier
    >>> from skl2onnx import to_onnx
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(LogisticRegression(max_iter=1000).fit(X, y), X[:1].astype("float32"))
    >>> model = OnnxClassifier(graph.SerializeToString())
    >>> found = pertinent.pertinent_negatives(model, X[:2])
    >>> bool((found.objective - found.bound < 1e-3).all())  # single precision
    True
    """

    def __init__(self, source: Any) -> None:
        onnx = optional("onnx", "onnx", "Reading an ONNX model")
        runtime = optional("onnxruntime", "onnx", "Predicting with an ONNX model")
        if isinstance(source, str | Path):
            self.graph = onnx.load(str(source)).graph
            data = Path(source).read_bytes()
        else:
            data = source if isinstance(source, bytes) else source.SerializeToString()
            self.graph = onnx.load_model_from_string(data).graph
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        self._read = _Graph.of(self.graph, onnx)
        self._data, self.classes_ = data, self._read.labels
        self.n_features_in_ = self._read.dim

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxClassifier, (self._data,)  # a session does not go to another process

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row of an array or a table."""
        values = np.asarray(X, dtype=np.float32 if self._read.single else np.float64)
        if values.ndim != 2 or values.shape[1] != self.n_features_in_:
            raise ValueError(f"Expected {self.n_features_in_} features, got {values.shape}.")
        (labels,) = self._session.run([self._read.label], {self._read.input: values})
        return np.asarray(labels).reshape(-1).astype(self.classes_.dtype)


class _Graph:
    """What the graph of a classifier holds: its input, the scaling, the classifier, the labels."""

    #: Offset and scale of each scaler.
    steps: Sequence[tuple[FloatArray, FloatArray]] = ()

    def __init__(
        self, input_: str, dim: int, single: bool, label: str, scale: AffineMap, node: Foreign,
        attributes: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.input, self.dim, self.single, self.label = input_, dim, single, label
        self.scale, self.kind, self.attributes = scale, node.op_type, attributes
        texts = attributes.get("classlabels_strings") or []
        texts = [t.decode() if isinstance(t, bytes) else t for t in texts]
        numbers = attributes.get("classlabels_int64s") or attributes.get("classlabels_ints")
        self.labels: NDArray[Any] = np.array(texts if texts else numbers)
        if not self.labels.size:
            raise UnsupportedModelError("This ONNX classifier has no labels.")

    @classmethod
    def of(cls, graph: Foreign, onnx: Foreign) -> _Graph:
        """Return what a graph holds, or say what it holds instead."""
        made = {name: node for node in graph.node for name in node.output}
        read = onnx.helper.get_attribute_value
        known = {id(n): {a.name: read(a) for a in n.attribute} for n in graph.node}
        ends = [n for n in graph.node if n.op_type in (_LINEAR, _TREES)]
        if len(ends) != 1 or len(graph.input) != 1:
            raise _unsupported(graph)
        (node,) = ends
        label = next((o.name for o in graph.output if _leads(o.name, node, made)), None)
        if label is None:
            raise _unsupported(graph)
        tensor = graph.input[0].type.tensor_type
        dim = int(tensor.shape.dim[-1].dim_value)
        if tensor.elem_type not in (_SINGLE, _DOUBLE) or dim < 1:
            raise InputError(
                "An ONNX classifier must take one array of numbers, its number of columns given."
            )
        scale, name = AffineMap.identity(dim), node.input[0]
        steps: list[tuple[FloatArray, FloatArray]] = []
        while name != graph.input[0].name:
            step = made.get(name)
            if step is None or step.op_type not in ("Scaler", "Cast", "Identity"):
                raise _unsupported(graph)
            if step.op_type == "Cast" and known[id(step)].get("to") not in (_SINGLE, _DOUBLE):
                raise _unsupported(graph)
            if step.op_type == "Scaler":
                steps.append(_scaler(known[id(step)], dim))
                offset, factor = steps[-1]
                scale = scale.after(AffineMap(factor, -offset * factor))
            name = step.input[0]
        single = tensor.elem_type == _SINGLE
        read = cls(graph.input[0].name, dim, single, label, scale, node, known[id(node)])
        read.steps = steps
        return read


def _leads(name: str, node: Foreign, made: Mapping[str, Foreign]) -> bool:
    """Return whether an output is the label of a classifier, cast or reshaped at most."""
    while name in made and name != node.output[0]:
        step = made[name]
        if step.op_type not in _CARRIES:
            return False
        name = step.input[0]
    return bool(name == node.output[0])


def _scaler(attributes: Mapping[str, Any], dim: int) -> tuple[FloatArray, FloatArray]:
    """Return offset and scale of ``(x - offset) scale``; both may be one number for all columns."""
    scale = np.broadcast_to(np.asarray(attributes.get("scale", [1.0]), dtype=float), (dim,))
    offset = np.broadcast_to(np.asarray(attributes.get("offset", [0.0]), dtype=float), (dim,))
    return offset.copy(), scale.copy()


def _unsupported(graph: Foreign) -> UnsupportedModelError:
    kinds = ", ".join(dict.fromkeys(node.op_type for node in graph.node))
    return UnsupportedModelError(
        f"This ONNX graph is not supported: it holds {kinds}.\n"
        "Why there is no exact answer: only scalers before one LinearClassifier or "
        "TreeEnsembleClassifier, whose label is an output, are read as regions.\n"
        "What to do: explain the model that it was made from, or convert a linear model, a forest "
        "or gradient boosting with skl2onnx."
    )


@register_model("pertinent.models.trees.of_onnx.OnnxClassifier")
def onnx_region(model: OnnxClassifier, label: Any, margin: float) -> Region:
    """Return where a classifier from an ONNX file predicts a label."""
    read = model._read
    if read.kind == _TREES:
        trees = EnsembleRegion.of(_trees(read), class_index(model, label), margin)
        return trees if _is_identity(read.scale) else _behind_scaler(trees, read)
    region = _linear(model, label, margin)
    return region if _is_identity(read.scale) else region.pull_back(read.scale)


def _behind_scaler(region: EnsembleRegion, read: _Graph) -> Region:
    """Return the region in raw columns: cuts are folded as single precision scales them."""
    if len(read.steps) != 1 or not read.single:
        raise UnsupportedModelError(
            "ONNX trees are supported behind one Scaler, which takes single precision."
        )
    d, (offset, scale) = read.dim, (part.astype(np.float32) for part in read.steps[0])

    def last_of(j: int, most: FloatArray) -> FloatArray:
        sign = np.float32(1.0 if scale[j] > 0 else -1.0)

        def scaled(z: FloatArray) -> FloatArray:
            return np.asarray(sign * ((z.astype(np.float32) - offset[j]) * scale[j]), dtype=float)

        return last_at_most(scaled, most)

    # The scaled columns come after the raw ones, of which they are functions.
    after = AffineMap(np.hstack([np.zeros((d, d)), np.eye(d)]), np.zeros(d))
    bends = [(j, partial(last_of, j), 1.0 if scale[j] > 0 else -1.0) for j in range(d)]
    return region.pull_back(after).behind(bends, d)


def _is_identity(scale: AffineMap) -> bool:
    return bool((scale.matrix == 1.0).all() and not scale.shift.any())


def _linear(model: OnnxClassifier, label: Any, margin: float) -> Region:
    """Return where a linear score is the largest; all of them are rounded in single precision."""
    read, count = model._read, len(model.classes_)
    W = np.asarray(read.attributes["coefficients"], dtype=float).reshape(-1, read.dim)
    b = np.asarray(read.attributes.get("intercepts") or [0.0] * len(W), dtype=float)
    if len(W) == 1 and count == 2 and read.attributes.get("post_transform", b"NONE") != b"NONE":
        raise UnsupportedModelError(
            "This ONNX LinearClassifier has one score for two classes behind a transform of it; "
            "supported is one score for each class, as skl2onnx writes it."
        )

    def coarse(cell: Cell) -> Cell:
        return replace(cell, magnitudes=2 * COARSER * cell.terms)

    return each_cell(linear_region(W, b, model, label, margin), coarse, "ONNX")


def _trees(read: _Graph) -> Ensemble:
    """Return the trees of a TreeEnsembleClassifier, and how they are added up."""
    get = read.attributes
    if get.get("post_transform", b"NONE") == b"PROBIT":
        raise UnsupportedModelError("ONNX trees behind a probit are not supported.")
    ids = np.asarray(get["class_ids"], dtype=np.int64)
    weights = np.asarray(get["class_weights"], dtype=float)
    one_output = len(read.labels) == 2 and len(np.unique(ids)) == 1
    outputs = 1 if one_output else len(read.labels)
    base = np.asarray(get.get("base_values") or [0.0] * outputs, dtype=float)
    if len(base) != outputs:
        raise UnsupportedModelError("ONNX trees with base values of another number than outputs.")
    owner = np.asarray(get["nodes_treeids"], dtype=np.int64)
    trees = [
        _one_tree(get, np.flatnonzero(owner == t), np.zeros_like(ids) if one_output else ids,
                  weights, t, outputs, read.single)
        for t in np.unique(owner).tolist()
    ]  # fmt: skip
    # One output of two classes: a share above 1/2 where all are shares, else a score above 0.
    threshold = None if not one_output else 0.5 if (weights >= 0).all() else 0.0
    tally = Tally(base, dtype="float32", threshold=threshold)
    nodes = end_to_end(trees)
    leaves = Ensemble(nodes, read.dim, tally).leaves
    doubt = 2 * summation_error(leaves.value, leaves.tree, tally)
    return Ensemble(nodes, read.dim, replace(tally, doubt=doubt))


def _one_tree(
    get: Mapping[str, Any],
    places: NDArray[Any],
    ids: NDArray[Any],
    weights: FloatArray,
    tree: int,
    outputs: int,
    single: bool,
) -> OneTree:
    numbers = {int(n): i for i, n in enumerate(np.asarray(get["nodes_nodeids"])[places])}
    modes = [get["nodes_modes"][i] for i in places.tolist()]
    modes = [m.decode() if isinstance(m, bytes) else m for m in modes]
    odd = set(modes) - {"LEAF", "BRANCH_LEQ", "BRANCH_LT"}
    if odd or 0 not in numbers or numbers[0] != 0:
        raise UnsupportedModelError(f"ONNX trees with nodes {sorted(odd)} are not supported.")
    leaf = np.array([m == "LEAF" for m in modes])
    cut = np.asarray(get["nodes_values"], dtype=np.float32)[places]
    below = np.nextafter(cut, np.float32(-np.inf))
    last = np.where([m == "BRANCH_LT" for m in modes], below, cut).astype(float)
    if not single and "BRANCH_LT" in modes:
        raise UnsupportedModelError("ONNX trees that ask for less than, of doubles.")
    true, false = (
        np.array(
            [
                0 if is_leaf else numbers[int(n)]
                for n, is_leaf in zip(np.asarray(get[name])[places], leaf, strict=True)
            ]
        )
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    )
    value = np.zeros((len(places), outputs))
    own = np.flatnonzero(np.asarray(get["class_treeids"]) == tree)
    for i in own.tolist():
        value[numbers[int(get["class_nodeids"][i])], ids[i]] += weights[i]
    tracks = get.get("nodes_missing_value_tracks_true") or [0] * len(get["nodes_modes"])
    return OneTree(
        np.where(leaf, -1, np.asarray(get["nodes_featureids"])[places]).astype(np.int64),
        last_singles(last) if single else last,
        true,
        false,
        value,
        np.asarray(tracks)[places].astype(bool),
    )
