"""One explanation as a picture, with matplotlib."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from pertinent.exceptions import InputError, optional
from pertinent.summary.summary import Summary
from pertinent.summary.words import FOUND, Said, counted
from pertinent.views.layout import CHANGE, ENOUGH, Strip, strips
from pertinent.views.phrases import (
    allowed,
    as_seen,
    prediction_words,
    proved_smallest,
    reason,
    target_words,
    typical,
)

GREY, INK = "#6b6b6b", "#1a1a1a"
#: What is removed from an image, beside what is added; of the same palette.
REMOVE = "#56B4E9"


#: Characters of a line: names of features at the side of a picture, and its title.
NAME, TITLE = 24, 72
#: A character of a value, as a share of a strip.
CHARACTER = 0.014


def lines(words: str, width: int, most: int = 3) -> str:
    """Return words in lines of so many characters; what does not fit is left out, with a sign.

    Examples
    --------
    >>> from pertinent.views.plot import lines
    >>> print(lines("income of the household after taxes", 16, 2))
    income of the
    household after…
    """
    return "\n".join(textwrap.wrap(words, width, max_lines=most, placeholder="…"))


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say which extra brings it."""
    return optional("matplotlib.pyplot", "plot", "A plot")


def plot(summary: Summary, ax: Any = None) -> Any:
    """Return axes with one strip for each feature that matters; see `Explanation.plot`."""
    summary = as_seen(summary)
    shown, more = strips(summary)
    if ax is None:
        size = (8.4, 1.9 + 0.72 * max(len(shown), 1))
        _, ax = pyplot().subplots(figsize=size, layout="constrained")
    for y, strip in enumerate(shown):
        _draw(ax, strip, y)
    _dress(ax, summary, shown, more)
    return ax


def _draw(ax: Any, strip: Strip, y: float) -> None:
    ax.plot([0, 1], [y, y], color="#d9d9d9", linewidth=1, zorder=1)
    if strip.typical:
        ax.plot(strip.typical, [y, y], color="#bdbdbd", linewidth=4, zorder=1,
                solid_capstyle="butt")  # fmt: skip
    if strip.kept is not None:
        ax.plot([strip.baseline, strip.kept], [y, y], color=ENOUGH, linewidth=7, zorder=2,
                solid_capstyle="butt")  # fmt: skip
    if strip.room:  # where the changed value may lie
        ax.plot(strip.room, [y + 0.12, y + 0.12], color=CHANGE, linewidth=2, alpha=0.45, zorder=2,
                solid_capstyle="butt")  # fmt: skip
    if strip.changed is not None:
        ax.annotate("", (strip.changed, y), (strip.sample, y), zorder=3,
                    arrowprops={"arrowstyle": "-|>,head_width=.35,head_length=.7", "color": CHANGE,
                                "linewidth": 2.4, "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    ax.plot(strip.baseline, y, marker="|", color=GREY, markersize=15, markeredgewidth=2, zorder=4)
    ax.plot(strip.sample, y, marker="o", color=INK, markersize=7, zorder=5)
    _label(ax, strip, y)


def _label(ax: Any, strip: Strip, y: float) -> None:
    """Write values beside their marks, turned away from each other."""
    side = "center"
    if strip.changed is not None:
        right = strip.changed >= strip.sample
        side = "right" if right else "left"
        room = CHARACTER * (len(strip.texts["changed"]) + len(strip.texts["sample"]))
        far = abs(strip.changed - strip.sample) > max(0.3, room / 2 + CHARACTER)
        ax.text(strip.changed, y - 0.24, strip.texts["changed"], color=CHANGE, fontsize=9,
                fontweight="bold", va="bottom",
                ha="center" if far else "left" if right else "right")  # fmt: skip
        side = "center" if far else side
    ax.text(strip.sample, y - 0.24, strip.texts["sample"], color=INK, fontsize=9, va="bottom",
            ha=side)  # fmt: skip
    ax.text(strip.baseline, y + 0.24, strip.texts["baseline"], color=GREY, fontsize=8, va="top",
            ha="center")  # fmt: skip
    if strip.kept is not None and strip.kept != strip.sample:
        beside = "left" if strip.kept > strip.baseline else "right"
        ax.plot(strip.kept, y, marker="D", color=ENOUGH, markersize=7, zorder=4)
        ax.text(strip.kept, y + 0.24, strip.texts["kept"], color=ENOUGH, fontsize=9, va="top",
                ha=beside)  # fmt: skip


def _dress(ax: Any, summary: Summary, shown: list[Strip], more: int) -> None:
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.75)
    ax.set_xlim(-0.06, 1.06)
    ax.set_yticks(range(len(shown)), [lines(strip.name, NAME) for strip in shown])
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    title = f"Predicted {prediction_words(summary)}"
    if summary["negative"]["values"]:
        negative = summary["negative"]
        proved = f", {proved_smallest(negative)}" if negative["status"] == Said.OPTIMAL else ""
        proved = f", {FOUND}" if negative.get("search") else proved
        title += f"; in orange the change to {target_words(summary)}{proved}"
    elif summary["negative"]["status"] == Said.INFEASIBLE:
        title += f"; proved: nothing{allowed(summary)} would change it"
    elif summary["negative"]["status"] == Said.ALREADY:
        title += ", as was asked for"
    ax.set_title(lines(title, TITLE, 4), loc="left", fontsize=11, color=INK)
    if more:
        ax.text(0, max(len(shown), 1) - 0.42, f"and {more} more features", color=GREY, fontsize=8)
    if not shown:
        ax.text(0.5, 0, _nothing(summary), ha="center", va="center", color=GREY, wrap=True)
        return
    _legend(ax, summary)


def _nothing(summary: Summary) -> str:
    if summary["negative"]["reason"] is None:
        return "nothing in particular was needed"
    return reason(summary, "negative")


def _legend(ax: Any, summary: Summary) -> None:
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], marker="o", color=INK, linestyle="", label="own value"),
        Line2D([], [], marker="|", color=GREY, linestyle="", markersize=12, markeredgewidth=2,
               label=f"{typical(summary)} value"),
        Line2D([], [], color="#bdbdbd", linewidth=4, solid_capstyle="butt",
               label="90% of the data"),
        Line2D([], [], color=ENOUGH, linewidth=7, solid_capstyle="butt", label="was enough"),
        Line2D([], [], marker=">", color=CHANGE, linewidth=2.4, label="would change it"),
    ]  # fmt: skip
    # Only what is drawn.
    if not summary["negative"]["values"]:
        del entries[4]
    if not summary["positive"]["values"]:
        del entries[3]
    if summary["features"][0]["low"] is None:
        del entries[2]
    long = len("".join(str(entry.get_label()) for entry in entries)) > TITLE
    ax.legend(handles=entries, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False,
              ncols=2 if long else 5, fontsize=9, columnspacing=1.2, handlelength=1.6,
              handletextpad=0.5)  # fmt: skip


# -- Images ----------------------------------------------------------------------------------


def plot_image(summary: Summary, shape: tuple[int, ...]) -> Any:
    """Return three axes: the sample, what was enough, and what would change it."""
    summary = as_seen(summary)
    features = summary["features"]
    if len(shape) not in (2, 3) or int(np.prod(shape)) != len(features):
        raise InputError(
            f"image_shape {shape} has {int(np.prod(shape))} values, and there are "
            f"{len(features)} features."
        )
    _, axes = pyplot().subplots(1, 3, figsize=(9.6, 3.7), layout="constrained")
    sample = _pixels([feature["sample"] for feature in features], shape)
    axes[0].imshow(sample, cmap="gray_r")
    axes[0].set_title(lines(f"Predicted {prediction_words(summary)}", 36), fontsize=10)
    axes[1].imshow(_tinted(sample, {ENOUGH: _mask(summary, "positive", shape)}))
    enough = counted(len(summary["positive"]["values"]), "pixel")
    axes[1].set_title(f"was enough: {enough}", fontsize=10, color=ENOUGH)
    _change_image(axes[2], summary, sample, shape)
    for ax in axes:
        ax.set_xticks([])
        ax.set_yticks([])
    return axes


def _pixels(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Return values as one grey image."""
    image = np.array(values, dtype=float).reshape(shape)
    return image if image.ndim == 2 else image.mean(axis=2)


def _mask(summary: Summary, part: str, shape: tuple[int, ...]) -> Any:
    names = {value["feature"] for value in summary[part]["values"]}
    flat = np.array([feature["name"] in names for feature in summary["features"]])
    mask = flat.reshape(shape)
    return mask if mask.ndim == 2 else mask.any(axis=2)


def _change_image(ax: Any, summary: Summary, sample: Any, shape: tuple[int, ...]) -> None:
    point = summary["negative"]["point"]
    changed = _mask(summary, "negative", shape)
    if point is None:
        ax.imshow(_tinted(sample, {}))
        titles = {
            Said.INFEASIBLE: "proved: nothing would change it",
            Said.ALREADY: "nothing has to change",
        }
        title = titles.get(summary["negative"]["status"], "would change it: no answer")
        ax.set_title(title, fontsize=10)
        return
    up = _pixels(point, shape) > sample
    ax.imshow(_tinted(sample, {CHANGE: changed & up, REMOVE: changed & ~up}))
    count = len(summary["negative"]["values"])
    title = f"to {target_words(summary)}: {counted(count, 'pixel')}"
    ax.set_title(lines(title, 36), fontsize=10, color=CHANGE)
    ax.set_xlabel("orange: higher value, light blue: lower", fontsize=8, color=GREY)


def _tinted(image: Any, tints: dict[str, Any]) -> Any:
    """Return a faded grey image as RGB, with masks in full colour."""
    low, high = float(image.min()), float(image.max())
    grey = (image - low) / ((high - low) or 1.0)
    rgb = np.repeat((0.35 + 0.65 * (1 - grey))[..., None], 3, axis=2)
    for colour, mask in tints.items():
        rgb[mask] = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return rgb
