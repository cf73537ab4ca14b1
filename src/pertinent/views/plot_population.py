"""Many explanations in one figure, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.summary.population import STATUSES
from pertinent.summary.summary import Summary
from pertinent.summary.words import Said, counted
from pertinent.views.layout import CHANGE, ENOUGH
from pertinent.views.plot import GREY, INK, lines, pyplot

#: Shades for the outcomes, from proved to none; read with their words beside them.
SHADES: dict[str, str] = {
    Said.OPTIMAL: "#0072B2",
    Said.FEASIBLE: "#56B4E9",
    Said.INFEASIBLE: "#E69F00",
    Said.FAILED: "#999999",
    Said.ALREADY: "#009E73",
}
WORDS: dict[str, str] = {
    Said.OPTIMAL: "proved smallest",
    Said.FEASIBLE: "valid, not proved",
    Said.INFEASIBLE: "proved: none",
    Said.FAILED: "no answer",
    Said.ALREADY: "already so",
}


def plot_summary(population: Summary, most: int = 12) -> Any:
    """Return a figure: features by class, distances, contrast classes, overlap and outcomes."""
    plt = pyplot()
    from pertinent.views.figure import SummaryFigure

    classes = _largest(population, 3)
    columns = max(len(classes), 1)
    height = 3.0 + 0.28 * min(most, population["n_features"])
    size = (max(4.6 * columns, 12.6), height + 3.2)
    figure = plt.figure(FigureClass=SummaryFigure, figsize=size, layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[height, 3.4])
    frequency_axes = top.subplots(1, columns, sharey=True, squeeze=False)[0]
    order = _order(population, most)
    for ax, k in zip(frequency_axes, classes, strict=False):
        _frequencies(ax, population, k, order)
    axes = bottom.subplots(1, 4, width_ratios=[1.2, 1, 1, 1.25])
    _distances(axes[0], population)
    _contrast(axes[1], population)
    _sizes(axes[2], population)
    _outcomes(axes[3], population)
    left_out = sum(1 for c in population["classes"] if c["count"]) - len(classes)
    note = f" (largest {len(classes)} of its classes)" if left_out else ""
    figure.suptitle(
        f"{counted(population['n'], population['subject'])}, {population['model']}{note}",
        fontsize=12, color=INK,
    )  # fmt: skip
    return figure


def _largest(population: Summary, most: int) -> list[int]:
    """Return the classes with the most samples, in their own order."""
    counts = [c["count"] for c in population["classes"]]
    ranked = sorted(range(len(counts)), key=lambda k: (-counts[k], k))
    return sorted(k for k in ranked[:most] if counts[k])


def _order(population: Summary, most: int) -> list[int]:
    """Return the features that occur most often, most frequent last (at the top)."""
    total = np.sum(population["kept"], axis=0) + np.sum(population["changed"], axis=0)
    ranked = sorted(range(len(total)), key=lambda j: (-total[j], j))
    occurring = [j for j in ranked if total[j]] or ranked
    return occurring[:most][::-1]


def _frequencies(ax: Any, population: Summary, k: int, order: list[int]) -> None:
    count = population["classes"][k]["count"]
    kept = np.array([population["kept"][k][j] for j in order]) / count
    changed = np.array([population["changed"][k][j] for j in order]) / count
    names = [lines(population["features"][j]["text"], 32, 2) for j in order]
    at = np.arange(len(order))
    ax.barh(at, -kept, color=ENOUGH, height=0.7)
    ax.barh(at, changed, color=CHANGE, height=0.7)
    ax.set_yticks(at, names)
    # A bar is never thicker than a sixth of the panel.
    ax.set_ylim(len(order) - max(len(order), 6) - 0.6, len(order) - 0.4)
    ax.set_xlim(-1.05, 1.05)
    ax.set_xticks([-1, -0.5, 0, 0.5, 1], ["100%", "50%", "0", "50%", "100%"])
    ax.set_xlabel(" ", fontsize=9)  # room for the two texts below
    ax.axvline(0, color=INK, linewidth=0.8)
    name = lines(population["classes"][k]["text"], 40, 2)
    ax.set_title(f"{name} ({count:,})", fontsize=10)
    ax.text(0.02, -0.11, "◀ was enough", transform=ax.transAxes, color=ENOUGH, fontsize=9)
    ax.text(0.98, -0.11, "would change it ▶", transform=ax.transAxes, color=CHANGE, fontsize=9,
            ha="right")  # fmt: skip
    _plain_frame(ax)


def _distances(ax: Any, population: Summary) -> None:
    distance = population["distance"]
    ax.set_title("Size of the smallest change", fontsize=10)
    if distance["counts"]:
        ax.stairs(distance["counts"], distance["edges"], fill=True, color=CHANGE)
        median = dict(distance["quantiles"])[0.5]
        ax.axvline(median, color=INK, linewidth=1)
        ax.text(median, ax.get_ylim()[1], f" median {median:.3g}", va="top", fontsize=9)
    ax.set_ylabel(f"{population['subject']}s", fontsize=9)
    _whole(ax.yaxis)
    _plain_frame(ax)


def _contrast(ax: Any, population: Summary) -> None:
    table = np.array(population["contrast"])
    names = [lines(c["text"], 15) for c in population["classes"]]
    ax.set_title("From class to contrast class", fontsize=10)
    ax.imshow(table, cmap="Oranges", vmin=0, vmax=max(int(table.max(initial=0)), 1) * 1.6)
    ax.set_xticks(range(len(names)), names, rotation=0 if len(names) < 4 else 90, fontsize=8)
    ax.set_yticks(range(len(names)), names, fontsize=8)
    if len(names) <= 12:
        for i, j in np.ndindex(*table.shape):
            ax.text(j, i, f"{table[i, j]:,}" if i != j else "–", ha="center", va="center",
                    color=INK, fontsize=8)  # fmt: skip
    ax.set_ylabel("predicted", fontsize=9)
    ax.set_xlabel("contrast", fontsize=9)
    ax.tick_params(length=0)


def _sizes(ax: Any, population: Summary) -> None:
    ax.set_title("How many features", fontsize=10)
    longest = max(len(population[key]) for key in ("n_kept", "n_changed", "overlap"))
    at = np.arange(longest)
    for shift, key, colour, label in (
        (-0.27, "n_kept", ENOUGH, "kept"),
        (0.0, "n_changed", CHANGE, "changed"),
        (0.27, "overlap", GREY, "both"),
    ):
        counts = population[key]
        ax.bar(at[: len(counts)] + shift, counts, width=0.26, color=colour, label=label)
    ax.set_ylim(0, 1.18 * (ax.get_ylim()[1] or 1.0))  # room for the legend
    ax.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", handlelength=1,
              columnspacing=0.8, handletextpad=0.4)  # fmt: skip
    ax.set_xticks(at if longest < 15 else at[:: max(longest // 8, 1)])
    _whole(ax.yaxis)
    _plain_frame(ax)


def _outcomes(ax: Any, population: Summary) -> None:
    ax.set_title("Outcome", fontsize=10)
    for y, key in enumerate(("positive", "negative")):
        left = 0.0
        for status in STATUSES:
            count = population[key]["status"][status]
            ax.barh(y, count, left=left, color=SHADES[status], height=0.5)
            left += count
            # Words instead of a legend where the bar is wide enough to be read.
            if count > 0.3 * population["n"]:
                ax.text(left - count / 2, y, WORDS[status], ha="center", va="center",
                        color="white" if status == Said.OPTIMAL else INK, fontsize=8)  # fmt: skip
        rest = [f"{WORDS[s]}: {population[key]['status'][s]:,}" for s in STATUSES
                if 0 < population[key]["status"][s] <= 0.3 * population["n"]]  # fmt: skip
        ax.text(0, y + 0.33, "; ".join(rest), fontsize=8, color=GREY, va="top")
    ax.set_yticks([0, 1], ["was enough", "would\nchange it"], fontsize=9)
    ax.set_ylim(1.8, -0.5)
    _whole(ax.xaxis)
    _plain_frame(ax)
    reasons = population["negative"]["reasons"]
    if reasons:
        why = f"most often: {reasons[0]['reason']}"
        ax.set_xlabel(lines(why, 52, 4), fontsize=7, color=GREY)


def _whole(axis: Any) -> None:
    """Let an axis of counts have no fractions."""
    axis.get_major_locator().set_params(integer=True)


def _plain_frame(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=2, labelsize=8)
