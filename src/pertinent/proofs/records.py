"""Proofs as plain values and back, so that a certificate can be stored and checked elsewhere.

Every kind of proof is a frozen dataclass of numbers. `record_as` gives a kind its name in files;
nothing else is needed, and nothing but the kinds named here is ever built from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.region import Cell
from pertinent.proofs.core import Proofs

#: Most numbers in one stored array.
LARGEST = 50_000_000

_KINDS: dict[str, type] = {}
_NAMES: dict[type, str] = {}
_SCALARS = {"f": "float", "i": "int", "u": "int", "b": "bool"}
_DTYPES: dict[str, Any] = {"float": np.float64, "int": np.int64, "bool": np.bool_}
_UNBOUNDED = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}

C = TypeVar("C", bound=type)


def record_as(name: str) -> Callable[[C], C]:
    """Return a decorator that lets a dataclass of plain values be stored under a name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from pertinent.proofs.records import decode, encode, record_as
    >>> @record_as("example-interval")
    ... @dataclass(frozen=True)
    ... class Interval:
    ...     low: float
    ...     high: float
    >>> encode(Interval(0.0, 2.0))
    {'type': 'example-interval', 'low': 0.0, 'high': 2.0}
    >>> decode(encode(Interval(0.0, 2.0)))
    Interval(low=0.0, high=2.0)
    """

    def add(cls: C) -> C:
        _KINDS[name] = cls
        _NAMES[cls] = name
        return cls

    return add


#: The kinds of this package, imported when one is met.
_OWN = {
    "certificate": "core.Certificate",
    "block": "core.Block",
    "nothing": "core.NoProofs",
    "linear": "linear.LinearProofs",
    "single-row": "linear.SingleRowProofs",
    "several": "several.SeveralProofs",
    "solver-bounds": "several.SolverBounds",
    "tangent": "tangent.TangentProofs",
    "lagrange": "lagrange.LagrangeProofs",
    "copositive": "copositive.replay.CopositiveProofs",
    "simplices": "copositive.simplices.Simplices",
    "separable": "cases.separable.SeparableProofs",
    "branch": "cases.branch.BranchProofs",
    "branch-tree": "cases.branch.Tree",
    "curved-branch": "cases.curved.CurvedBranchProofs",
    "strict": "supports.cardinality.StrictProofs",
    "fewest": "supports.fewest.FewestProofs",
    "argument": "supports.fewest.Argument",
    "sufficient": "supports.sufficient.SufficientProofs",
    "rival-sets": "supports.sufficient.RivalSetProofs",
    "halving": "cases.halving.HalvingProofs",
    "rivals": "winners.RivalProofs",
    "cuts": "cuts.CutProofs",
    "sweep": "sweep.SweepProofs",
    "hull": "hull.HullProofs",
}
_OWN_NAMES = {f"{__package__}.{path}": name for name, path in _OWN.items()}


def _name_of(cls: type) -> str | None:
    return _NAMES.get(cls) or _OWN_NAMES.get(f"{cls.__module__}.{cls.__qualname__}")


def _kind_of(name: str) -> type | None:
    if name in _OWN:
        module, cls = _OWN[name].rsplit(".", 1)
        found: type = getattr(import_module(f"{__package__}.{module}"), cls)
        return found
    return _KINDS.get(name)


@dataclass(frozen=True, eq=False)
class UnknownProofs(Proofs):
    """A proof of a kind that is not known here: it proves nothing, and says so."""

    kind: str
    n: int = 1

    def __len__(self) -> int:
        return self.n

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(centers))

    def take(self, rows: IntArray) -> UnknownProofs:
        """Return as many of the same."""
        return UnknownProofs(self.kind, len(rows))

    def trusted(self) -> BoolArray:
        """Return that none is."""
        return np.zeros(self.n, dtype=bool)


def encode(value: Any) -> Any:
    """Return plain values that `decode` turns back into the same, to the last bit."""
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return {"type": "float", "value": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, UnknownProofs):
        return {"type": value.kind}
    if is_dataclass(value):
        return _encode_dataclass(value)
    if isinstance(value, Mapping):
        pairs = [[encode(k), encode(v)] for k, v in value.items()]
        return {"type": "mapping", "pairs": pairs}
    if isinstance(value, Sequence):
        return [encode(item) for item in value]
    return {"type": f"{type(value).__module__}.{type(value).__qualname__}"}


def decode(record: Any) -> Any:
    """Return what `encode` was given; lists come back as tuples.

    An unknown type comes back as `UnknownProofs`; anything malformed is refused.
    """
    if isinstance(record, list):
        return tuple(decode(item) for item in record)
    if not isinstance(record, dict):
        return record
    kind = record.get("type")
    if kind == "array":
        return _decode_array(record)
    if kind == "float" and record.get("value") in _UNBOUNDED:
        return _UNBOUNDED[record["value"]]
    if kind == "mapping" and isinstance(record.get("pairs"), list):
        return {decode(key): decode(value) for key, value in record["pairs"]}
    if not isinstance(kind, str):
        raise InputError(f"A stored value lacks its type: {str(record)[:80]}.")
    cls = _kind_of(kind)
    if cls is None:
        return UnknownProofs(kind)
    return _decode_dataclass(cls, record)


def unknown_kinds(value: Any) -> set[str]:
    """Return the kinds of proofs in a decoded value that are not known here."""
    if isinstance(value, UnknownProofs):
        return {value.kind}
    if isinstance(value, tuple | list):
        return set().union(*(unknown_kinds(item) for item in value))
    if is_dataclass(value):
        return set().union(*(unknown_kinds(getattr(value, f.name)) for f in fields(value)))
    return set()


def _encode_dataclass(value: Any) -> dict[str, Any]:
    name = _name_of(type(value))
    if name in ("branch", "curved-branch"):
        value = _own_branches(value)
    if name is None:
        return {"type": f"{type(value).__module__}.{type(value).__qualname__}"}
    # The domain is left out: a checker takes it from the question, not from the proof.
    return {"type": name} | {
        f.name: None if f.name == "domain" else encode(getattr(value, f.name))
        for f in fields(value)
    }


def _decode_dataclass(cls: type, record: dict[str, Any]) -> Any:
    names = {f.name for f in fields(cls)}
    given = {key: decode(value) for key, value in record.items() if key != "type"}
    if not set(given) <= names:
        raise InputError(f"A stored {record['type']!r} has unknown parts {set(given) - names}.")
    try:
        made = cls(**given)
    except TypeError as error:
        raise InputError(f"A stored {record['type']!r} is incomplete: {error}.") from error
    if record["type"] == "branch-tree":
        _require_downward(made)
    return made


def _own_branches(proofs: Any) -> Any:
    """Return the proofs with the cases of their own rows only, numbered from the roots down."""
    tree, order = proofs.tree, list(dict.fromkeys(proofs.roots.tolist()))
    for node in order:  # grows while it is read
        if tree.kind[node] != 0:
            order += [int(tree.left[node]), int(tree.right[node])]
    nodes = np.array(order, dtype=np.int64)
    place = np.full(len(tree.kind), -1)
    place[nodes] = np.arange(len(nodes))
    leaf = tree.kind[nodes] == 0
    used, proof = np.unique(tree.proof[nodes], return_inverse=True)
    first = int(used[0] < 0)  # -1 where there is no row of multipliers
    own = replace(
        tree,
        kind=tree.kind[nodes],
        place=tree.place[nodes],
        low=tree.low[nodes],
        high=tree.high[nodes],
        left=np.where(leaf, -1, place[tree.left[nodes]]),
        right=np.where(leaf, -1, place[tree.right[nodes]]),
        proof=proof.reshape(-1) - first,
    )
    used, roots = used[first:], place[proofs.roots]
    if hasattr(proofs, "leaves_by"):
        leaves = tuple(proofs.leaves_by[int(k)] for k in used)
        return replace(proofs, domain=None, roots=roots, tree=own, leaves_by=leaves)
    return replace(
        proofs, domain=None, roots=roots, tree=own,
        multipliers=proofs.multipliers[used], ray=proofs.ray[used],
    )  # fmt: skip


def _require_downward(tree: Any) -> None:
    """Refuse a tree that does not end: children must come after their parents."""
    here = np.arange(len(tree.kind))
    inner = tree.kind != 0
    for child in (tree.left, tree.right):
        if not ((child[inner] > here[inner]) & (child[inner] < len(here))).all():
            raise InputError("A stored tree of cases is not a tree.")


#: Fields that hold further proofs.
_NESTED = {"blocks", "proofs", "parts", "inner", "leaves_by", "arguments", "excluded"}


def with_domain(value: Any, domain: Any) -> Any:
    """Return decoded proofs that speak of the given domain."""
    if isinstance(value, tuple):
        return tuple(with_domain(item, domain) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = {f.name for f in fields(value)}
    new = {n: with_domain(getattr(value, n), domain) for n in names & _NESTED}
    if "domain" in names:
        new["domain"] = domain
    return replace(value, **new) if new else value


def _encode_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype.kind == "U" or array.dtype == object:
        return {"type": "array", "of": "object", "shape": list(array.shape),
                "values": [encode(item) for item in array.ravel().tolist()]}  # fmt: skip
    flat = array.ravel()
    out: dict[str, Any] = {
        "type": "array", "of": _SCALARS[array.dtype.kind], "shape": list(array.shape),
    }  # fmt: skip
    at = np.flatnonzero(flat)
    if len(flat) > 8 and 2 * len(at) < len(flat):
        out["at"], flat = at.tolist(), flat[at]
    out["values"] = [_scalar(item) for item in flat.tolist()]
    return out


def _scalar(item: Any) -> Any:
    return str(item) if isinstance(item, float) and not np.isfinite(item) else item


def _decode_array(record: dict[str, Any]) -> Any:
    shape, values, of = record.get("shape"), record.get("values"), record.get("of")
    if not (
        isinstance(shape, list)
        and all(isinstance(n, int) and n >= 0 for n in shape)
        and isinstance(values, list)
        and of in (*_DTYPES, "object")
        and np.prod(shape, dtype=float) <= LARGEST
    ):
        raise InputError(f"A stored array is malformed: {str(record)[:80]}.")
    size = int(np.prod(shape, dtype=np.int64))
    at = record.get("at", range(size))
    if len(at) != len(values) or not all(isinstance(i, int) and 0 <= i < size for i in at):
        raise InputError("A stored array has values at places that it does not have.")
    flat = np.full(size, None) if of == "object" else np.zeros(size, dtype=_DTYPES[of])
    for i, item in zip(at, values, strict=True):
        flat[i] = decode(item) if of == "object" else _number(item)
    return flat.reshape(shape)


def _number(item: Any) -> Any:
    if isinstance(item, str):
        if item not in _UNBOUNDED:
            raise InputError(f"A stored array holds {item!r} where a number is expected.")
        return _UNBOUNDED[item]
    if not isinstance(item, bool | int | float):
        raise InputError("A stored array holds something else than numbers.")
    return item
