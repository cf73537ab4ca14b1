"""The bar plot of feature relevances."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pertinent.geometry.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 20


def plot_relevances(
    relevances: FloatArray, names: list[str], local: FloatArray | None, ax: Axes | None
) -> Axes:
    """Draw the most relevant features as bars, and local relevances as dots on them."""
    order = np.argsort(-relevances, kind="stable")[:MOST_BARS]
    axes = ax if ax is not None else _new_axes(len(order))
    places = np.arange(len(order))
    axes.barh(places, relevances[order], color="#4c72b0", height=0.7)
    if local is not None:
        lines = axes.plot(local[:, order].T, places, "o", color="#333333", markersize=3, alpha=0.6)
        axes.legend(lines[:1], ["single metrics"], loc="lower right")
    axes.set_yticks(places, [names[i] for i in order])
    axes.margins(y=0.02)
    axes.invert_yaxis()  # the most relevant feature on top
    axes.set_xlim(left=0.0)
    axes.set_xlabel("relevance (all features sum to 1)")
    if len(order) < len(relevances):
        axes.set_title(f"{len(order)} most relevant of {len(relevances)} features", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def _new_axes(n_bars: int) -> Axes:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot_relevances needs matplotlib, which is not installed. "
            "Install it with the extra 'plot': pip install 'pertinent[plot]'."
        ) from error
    _, axes = plt.subplots(figsize=(5.0, 0.9 + 0.28 * n_bars), layout="constrained")
    return axes
