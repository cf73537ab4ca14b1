"""What the user allows: which features may change, in which direction, within which bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pertinent._typing import FloatArray
from pertinent.exceptions import InputError
from pertinent.features import Features

Feature = str | int
Bound = tuple[float | None, float | None]


@dataclass(frozen=True)
class Constraints:
    """Rules that every returned point obeys, in the units of the data.

    Parameters
    ----------
    frozen : sequence of features
        Keep the sample's own value.
    bounds : mapping of feature to (low, high)
        None leaves a side open.
    increase_only, decrease_only : sequence of features
        May not go below, or above, the sample's own value.

    Notes
    -----
    Features are named by column name, or by position. The rules hold for negatives and for
    positives alike: a frozen feature cannot be turned off.

    Examples
    --------
    >>> import pertinent
    >>> rules = pertinent.Constraints(frozen=["age"], bounds={"income": (0, None)})
    >>> print(rules)
    age frozen; income >= 0
    """

    frozen: Sequence[Feature] = ()
    bounds: Mapping[Feature, Bound] = field(default_factory=dict)
    increase_only: Sequence[Feature] = ()
    decrease_only: Sequence[Feature] = ()

    def __post_init__(self) -> None:
        for feature, pair in self.bounds.items():
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise InputError(
                    f"The bounds of {feature!r} must be a pair (low, high), with None for an "
                    f"open side. Got {pair!r} instead."
                )
            low, high = _ends(pair)
            if np.isnan(low) or np.isnan(high) or low > high:
                raise InputError(
                    f"The bounds of {feature!r} leave no value: {pair[0]} is not below {pair[1]}."
                )

    def __str__(self) -> str:
        parts = [f"{name} frozen" for name in self.frozen]
        parts += [_range_text(name, *pair) for name, pair in self.bounds.items()]
        parts += [f"{name} may only increase" for name in self.increase_only]
        parts += [f"{name} may only decrease" for name in self.decrease_only]
        return "; ".join(parts) or "none"

    @property
    def depends_on_sample(self) -> bool:
        """Whether the allowed range differs from sample to sample."""
        return bool(len(self.frozen) or len(self.increase_only) or len(self.decrease_only))

    def limits(self, features: Features, samples: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest allowed values for each sample.

        Shape (n, n_features) where they depend on the sample, else (1, n_features).
        """
        rows = len(samples) if self.depends_on_sample else 1
        lower = np.full((rows, len(features)), -np.inf)
        upper = np.full((rows, len(features)), np.inf)
        for name, pair in self.bounds.items():
            j = features.index(name)
            lower[:, j], upper[:, j] = _ends(pair)
        keep_low = [*self.frozen, *self.increase_only]
        keep_high = [*self.frozen, *self.decrease_only]
        for j in features.indices(keep_low):
            lower[:, j] = np.maximum(lower[:, j], samples[:, j])
        for j in features.indices(keep_high):
            upper[:, j] = np.minimum(upper[:, j], samples[:, j])
        return lower, upper

    def named_limits(self, features: Features) -> dict[tuple[int, str], list[str]]:
        """Return which rules stand behind each (feature, "low" or "high") limit, in words."""
        rules: dict[tuple[int, str], list[str]] = {}
        for name, (low, high) in self.bounds.items():
            j = features.index(name)
            if low is not None:
                rules.setdefault((j, "low"), []).append(f"{features.names[j]} >= {low:g}")
            if high is not None:
                rules.setdefault((j, "high"), []).append(f"{features.names[j]} <= {high:g}")
        groups = (
            (self.frozen, ("low", "high"), "frozen"),
            (self.increase_only, ("low",), "may only increase"),
            (self.decrease_only, ("high",), "may only decrease"),
        )
        for names, sides, words in groups:
            for j in features.indices(names):
                for side in sides:
                    rules.setdefault((int(j), side), []).append(f"{features.names[j]} {words}")
        return rules


def _ends(pair: Bound) -> tuple[float, float]:
    low, high = pair
    return (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))


def _range_text(name: Feature, low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return f"{name} free"
    if high is None:
        return f"{name} >= {low:g}"
    return f"{name} <= {high:g}" if low is None else f"{low:g} <= {name} <= {high:g}"
