"""What an Explainer is made of, so that another one can be made with other rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pertinent.api.explainer import Explainer
from pertinent.geometry.arrays import Foreign

#: The server reads ranges, steps and typical values off at most so many rows, evenly spread.
MOST_TRAINING_ROWS = 20_000
#: Seconds that explaining a row before anybody asks may take.
REHEARSED = 10.0


@dataclass(frozen=True, eq=False)
class Recipe:
    """A model, its training data and the arguments of `Explainer`.

    Parameters
    ----------
    model : fitted classifier
    data : array or DataFrame, optional
        Training data.
    arguments : mapping of str to value
        The other arguments of `Explainer`.
    """

    model: Foreign
    data: Any = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def explainer(self, **other: Any) -> Explainer:
        """Return the Explainer; ``other`` arguments take the place of its own."""
        return Explainer(self.model, self.data, **{**self.arguments, **other})


def evenly(data: Any, most: int = MOST_TRAINING_ROWS) -> Any:
    """Return at most so many rows of a table, evenly spread over it.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.server.solving.recipe import evenly
    >>> evenly(np.arange(10).reshape(5, 2), 2).tolist()
    [[0, 1], [4, 5]]
    """
    if data is None or len(data) <= most:
        return data
    places = np.arange(most) * len(data) // most
    return data.iloc[places] if hasattr(data, "iloc") else data[places]
