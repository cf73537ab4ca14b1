"""Explanations with all their views: of one sample, and of many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from pertinent.exceptions import InputError, one_line
from pertinent.geometry.running import one_thread
from pertinent.setting.claims.instead import Basis, Instead
from pertinent.setting.ranges import Room
from pertinent.summary.asked import Answered, Rooms
from pertinent.summary.instead import as_told
from pertinent.summary.summary import Summary, asked_of, summarize
from pertinent.summary.words import shown
from pertinent.tables.numbers import is_whole
from pertinent.tables.progress import Progress, told
from pertinent.tables.raw import Raw

#: Summaries are made for this many neighbouring rows at a time.
SUMMARIES_AT_ONCE = 64


#: Lowest and highest value, or the categories.
Range = tuple[float, float] | list[Raw]


def _ranges(values: list[Summary], key: str) -> dict[str, Range]:
    """Return the exact ranges that a summary tells; files of before have none."""
    out: dict[str, Range] = {}
    for value in values:
        found = value.get(key)
        if found is not None and "values" in found:
            out[value["feature"]] = list(found["values"])
        elif found is not None:
            low, high = found["exact_low"], found["exact_high"]
            out[value["feature"]] = (
                -math.inf if low is None else low, math.inf if high is None else high,
            )  # fmt: skip
    return out


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """One sample's contrastive explanation.

    Parameters
    ----------
    explanations : Explanations or None
        The result it is a row of; None if it was read from a file.
    row : int
    stored : dict, optional
        What a file said; see `Explanation.from_json`.
    name : str or int, optional
        What the sample is called, in place of what its table calls it.

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> explanation = pertinent.Explainer(model, data=X).explain(X[:1])[0]
    >>> explanation
    <Explanation: predicted 0; 1 of 4 values are enough (proved smallest); ... 1 (proved smallest)>
    >>> print(explanation.text("short"))
    The model predicts 0 for this case. Enough for it: x2 ... (proved smallest change).
    """

    explanations: Explanations | None
    row: int
    stored: dict[str, Any] | None = field(default=None)
    name: Any = None

    @property
    def prediction(self) -> Any:
        """The model's prediction for the sample."""
        return self.summary()["prediction"]

    @property
    def target(self) -> Any:
        """The class that the negative reaches or was asked to reach; None if there is none."""
        return self.summary()["negative"]["target"]

    @property
    def kept(self) -> dict[str, Raw]:
        """Features that suffice for the prediction, with their values; see ``basis``."""
        return {v["feature"]: v["exact"] for v in as_told(self.summary()["positive"])["values"]}

    @property
    def basis(self) -> str | None:
        """What "enough" means for this sample; None where no answer was found.

        "typical": with the other values typical (at the baseline). Where the typical values have
        the class already, which says nothing about this sample: "sufficient", whatever the other
        values are; "contrast", with the others typical of the class that the change leads to;
        "negative", nothing: see what would have changed the prediction.
        """
        positive = self.summary()["positive"]
        if positive["point"] is None:
            return None
        instead = positive.get("instead")  # files of before lack it
        if instead is not None:
            return str(instead["basis"])
        own = positive["method"] == Basis.SUFFICIENT
        return str(Basis.SUFFICIENT if own else Basis.TYPICAL)

    @property
    def passage(self) -> dict[str, Any] | None:
        """Of a document: the text that was "enough", the one "changed"; see `TextExplainer`.

        Also its "pieces", each with the word that it is, how often each word occurs ("counts"), and
        the words that the change adds ("added"). None for samples that are no documents.
        """
        found: dict[str, Any] | None = self.summary().get("passage")
        return found

    @property
    def changed(self) -> dict[str, tuple[Raw, Raw]]:
        """Features to change for the contrast class: the sample's value and the new one."""
        summary = self.summary()
        own = {feature["name"]: feature["sample"] for feature in summary["features"]}
        values = summary["negative"]["values"]
        return {v["feature"]: (own[v["feature"]], v["exact"]) for v in values}

    @property
    def alternatives(self) -> list[dict[str, tuple[Raw, Raw]]]:
        """Other changes that work, each as in ``changed``, where they were asked for.

        See ``Explainer(alternatives=)``; `Explanation.summary` has their sizes and classes, and
        whether they are proved the next smallest.
        """
        summary = self.summary()
        own = {feature["name"]: feature["sample"] for feature in summary["features"]}
        return [
            {v["feature"]: (own[v["feature"]], v["exact"]) for v in one["values"]}
            for one in summary["negative"].get("alternatives", ())  # format 1 lacks them
        ]

    @property
    def kept_alternatives(self) -> list[dict[str, Raw]]:
        """Other sets of values that were enough, each as in ``kept``, where they were asked for."""
        listed = self.summary()["positive"].get("alternatives", ())
        return [{v["feature"]: v["exact"] for v in one["values"]} for one in listed]

    @property
    def ranges(self) -> dict[str, Range]:
        """How far each changed value may move by itself: every value in between keeps the target.

        ``(low, high)`` for numbers, infinite where there is no end; a list for categories. Features
        of which nothing is shown are left out. See `Explanation.summary` for why a side ends.
        """
        return _ranges(self.summary()["negative"]["values"], "range")

    @property
    def probability(self) -> tuple[float | None, float | None]:
        """The model's probability of the contrast class: at the sample, and after the change.

        That of ``predict_proba``; of a model without it, the score of ``decision_function``
        (``summary()["probability"]["kind"]`` says which). None where there is no such number.
        """
        chances = self.summary().get("probability")
        return (None, None) if chances is None else (chances["before"], chances["after"])

    @property
    def box(self) -> dict[str, Range]:
        """How far the changed numbers may move together: every point keeps the target.

        There is no unique largest box. Sides grow one after the other: first those away from the
        sample, then those towards it, and among them first that of the feature whose change costs
        most. No side can be moved farther by itself; among nearest prototypes a box keeps to the
        points that are nearest to one of them.
        """
        return _ranges(self.summary()["negative"]["values"], "box")

    @property
    def kept_ranges(self) -> dict[str, Range]:
        """How far each value that was enough may move by itself: the prediction stays."""
        return _ranges(as_told(self.summary()["positive"])["values"], "range")

    def summary(self) -> Summary:
        """Return the plain dictionary that all views share; see the published schema."""
        if self.explanations is None:
            assert self.stored is not None
            summary: Summary = self.stored["summary"]
            return summary
        found = self.explanations.summaries(self.row)
        return found if self.name is None else found | {"id": self.name}

    def text(self, length: str = "medium") -> str:
        """Return the explanation in words.

        Parameters
        ----------
        length : {"short", "medium", "long"}
        """
        summary = shown(self.summary())
        if "passage" in summary:
            from pertinent.views.passage import passage_text

            return passage_text(summary, length)
        from pertinent.views.text import text

        return text(summary, length)

    def plot(self, ax: Any = None, *, image_shape: tuple[int, ...] | None = None) -> Any:
        """Return matplotlib axes with what was enough and what would have changed it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default. Not with ``image_shape``, which needs three.
        image_shape : tuple of int, optional
            Show the features as the pixels of an image of this shape.

        Returns
        -------
        Axes, or array of three Axes with ``image_shape``
        """
        from pertinent.views.plot import plot, plot_image

        if image_shape is not None:
            return plot_image(shown(self.summary()), image_shape)
        return plot(shown(self.summary()), ax)

    def html(self) -> str:
        """Return a self-contained piece of HTML, for light and dark pages."""
        summary = shown(self.summary())
        if "passage" in summary:
            from pertinent.views.passage import passage_html

            return passage_html(summary)
        from pertinent.views.html import html

        return html(summary)

    def _repr_html_(self) -> str:
        return self.html()

    def document(self) -> dict[str, Any]:
        """Return the summary together with what is needed to check it again."""
        if self.explanations is None:
            assert self.stored is not None
            return self.stored
        return self._document

    @cached_property
    def _document(self) -> dict[str, Any]:
        from pertinent.summary.stored import document

        assert self.explanations is not None
        return document(self.explanations, self.row, self.summary())

    def json(self, *, indent: int | None = None) -> str:
        """Return the explanation and its certificate as JSON; see `pertinent.json_schema`."""
        from pertinent.summary.stored import to_json

        return to_json(self.document(), indent)

    @classmethod
    def from_json(cls, text: str | bytes | Path) -> Explanation:
        """Return an explanation written by `json`, from its text or from a file.

        It has all views. Whether it is true of a model says `pertinent.check`.
        """
        from pertinent.summary.stored import read_document

        document = read_document(text)
        try:
            found = cls(None, int(document["summary"]["row"]), document)
            found.text("long"), found.html()
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            why = f"{type(error).__name__}: {one_line(error)}"
            raise InputError(f"The stored explanation is malformed: {why}.") from error
        return found

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same, with the same proofs: one may come from a file."""
        if not isinstance(other, Explanation):
            return NotImplemented
        return self is other or self.json() == other.json()

    def __hash__(self) -> int:
        return hash(self.json())

    def __repr__(self) -> str:
        from pertinent.views.text import headline

        return f"<Explanation: {headline(shown(self.summary()))}>"


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Answered):
    """Positives and negatives of the same samples, with all their views.

    Attributes
    ----------
    positive : Positives
    negative : Negatives
    avoided : ndarray of bool, shape (n,)
        With ``overlap="avoid"``: whether the negative keeps off the positive's features. False
        where that was asked for but not possible.
    asked : Asked
        With what they were asked for; views and checks need it.
    """

    @overload
    def __getitem__(self, row: int) -> Explanation: ...

    @overload
    def __getitem__(self, row: slice) -> Explanations: ...

    def __getitem__(self, row: int | slice) -> Explanation | Explanations:
        """Return the explanation of one sample, or those of some: ``result[0:2]``."""
        if isinstance(row, slice):
            rows = np.arange(len(self))[row]
            parts = self.positive.take(rows), self.negative.take(rows), self.avoided[rows]
            return Explanations(*parts, self.asked)
        if not is_whole(row):
            raise TypeError(f"Ask for result[3] or result[0:2]. Got result[{row!r}].")
        if not -len(self) <= row < len(self):
            raise IndexError(f"There are {len(self)} explanations; got index {row}.")
        return Explanation(self, row % len(self))

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<Explanations: {len(self)} samples\n  {self.positive!r}\n  {self.negative!r}>"

    @cached_property
    def _rooms(self) -> dict[tuple[int, str], Room]:
        return {}

    def _rooms_of(self, rows: list[int], part: str) -> list[Room]:
        """Return how far values of one answer may move, by its name; searched for once."""
        from pertinent.api.rooms import rooms_of

        new = [row for row in rows if (row, part) not in self._rooms]
        if new:
            found = rooms_of(self, asked_of(self), new, part)
            self._rooms.update({(row, part): room for row, room in zip(new, found, strict=True)})
        return [self._rooms[row, part] for row in rows]

    def rooms(self, rows: list[int], parts: tuple[str, ...] = Rooms._fields) -> list[Rooms]:
        """Return how far values of the named answers may move; searched for once."""
        found = [self._rooms_of(rows, part) for part in parts]
        return [Rooms(**dict(zip(parts, one, strict=True))) for one in zip(*found, strict=True)]

    @cached_property
    def _instead(self) -> dict[int, Instead | None]:
        from pertinent.api.instead import empty_rows

        rows = np.flatnonzero(~empty_rows(self, asked_of(self)))
        return dict.fromkeys(rows.tolist())

    def instead(self, rows: list[int]) -> list[Instead | None]:
        """Return what stands in for the empty positives of some rows; searched for once."""
        self._look_instead(rows, alone=True)
        return [self._instead[row] for row in rows]

    def _look_instead(self, rows: list[int], *, alone: bool) -> None:
        from pertinent.api.instead import instead_of

        new = [row for row in rows if row not in self._instead]
        self._instead.update(instead_of(self, asked_of(self), new, alone=alone))

    @cached_property
    def _summaries(self) -> dict[int, dict[str, Any]]:
        return {}

    def summaries(self, row: int) -> dict[str, Any]:
        """Return the summary of one row; neighbours are made together and remembered.

        What stands in for an empty positive may take long to find: then it is left for when the
        row is looked at. All that is looked for then takes the time limit of one question.
        """
        if row not in self._looked_at:
            with one_thread, asked_of(self).question.effort.limiting(1):
                self._look_at(row)
            self._looked_at.add(row)
        return self._summaries[row]

    def _look_at(self, row: int) -> None:
        rows = self._neighbours(row)
        if len(rows) == 1:
            self._summaries[row] = summarize(self, rows)[0]
            return
        if row not in self._summaries:
            rooms = self.rooms(rows, ("positive", "negative"))
            self._look_instead(rows, alone=False)
            known = [self._instead.get(other) for other in rows]
            made = summarize(self, rows, instead=known, rooms=rooms)
            self._summaries.update(zip(rows, made, strict=True))
        if self.instead([row])[0] is not None:
            chances = self._summaries[row]["probability"]  # their last digits are those of the rows
            self._summaries[row] = summarize(self, [row])[0] | {"probability": chances}

    def _neighbours(self, row: int) -> list[int]:
        """Return the rows that are looked at together: under a time limit, each by itself."""
        if asked_of(self).question.effort.time_limit is not None:
            return [row]
        start = row - row % SUMMARIES_AT_ONCE
        return list(range(start, min(len(self), start + SUMMARIES_AT_ONCE)))

    @cached_property
    def _looked_at(self) -> set[int]:
        """Rows of which it is known how far what stands in may move, or that nothing does."""
        return set()

    def summary(self) -> dict[str, Any]:
        """Return counts, shares and distributions over all samples, as plain values."""
        from pertinent.summary.population import summarize_population

        return summarize_population(self)

    def text(self) -> str:
        """Return what holds over all samples, in words."""
        from pertinent.views.population import population_text

        return population_text(shown(self.summary()))

    def plot_summary(self) -> Any:
        """Return a matplotlib figure of what holds over all samples."""
        from pertinent.views.plot_population import plot_summary

        return plot_summary(shown(self.summary()))

    def to_frame(
        self, backend: str | None = None, *, ranges: bool = False, instead: bool = False
    ) -> Any:
        """Return one row for each sample: predictions, status, distances, probabilities and points.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the kind of table the samples came in, else the first that is installed.
        ranges : bool
            Also how far each changed number may move, by itself and in the box: columns
            ``negative.NAME.low``, ``.high``, ``.box_low`` and ``.box_high``. They are searched for.
        instead : bool
            Also what is told where the typical values have the class and ``kept`` is empty: columns
            ``basis`` (see `Explanation.basis`) and ``enough``, the features that it
            names. It is searched for, for about a second a row.
        """
        from pertinent.views.frame import to_frame

        return to_frame(self, backend, ranges, instead)

    def alternatives_frame(self, backend: str | None = None) -> Any:
        """Return one row for each alternative of each sample: see ``Explainer(alternatives=)``.

        Columns: ``row`` and ``id`` of the sample; ``part``, whether it is another "negative" or
        another "positive"; ``rank`` from 1 on; ``target``, its class; ``features`` that are
        changed or kept; ``size``; ``proved``, whether it is proved the next smallest; and the whole
        point, ``value.NAME``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            As in `to_frame`.
        """
        from pertinent.views.frame import alternatives_frame

        return alternatives_frame(self, backend)

    def to_arrow(self, *, ranges: bool = False, instead: bool = False) -> Any:
        """Return `to_frame` as a pyarrow Table."""
        return self.to_frame("pyarrow", ranges=ranges, instead=instead)

    def to_csv(self, path: str | Path) -> Path:
        """Write the columns of `to_frame` as CSV, and return its path.

        Text that a spreadsheet would run as a formula (it starts with ``=``, ``+``, ``-``, ``@``)
        gets an apostrophe in front; numbers stay as they are.
        """
        from pertinent.views.frame import write_csv

        return write_csv(self, path)

    def report(
        self,
        path: str | Path,
        title: str | None = None,
        max_rows: int = 1000,
        progress: Progress | bool | None = None,
        *,
        date: str | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> Path:
        """Write one self-contained HTML page about all samples, and return its path.

        Where the typical values have the class already, what is told instead (`Explanation.basis`)
        is looked for in reports of up to 64 rows.

        Parameters
        ----------
        path : str or Path
        title : str, optional
        max_rows : int
            Rows listed one by one; the summary is about all of them.
        progress : bool or callable, optional
            As in `Explainer.explain`.
        date : str, optional
            Written on the page as it is; "" leaves it out. By default the day it is made (UTC), or
            that of the environment variable ``SOURCE_DATE_EPOCH``: with it, or with a date given,
            the same explanations give the same bytes on any day.
        facts : mapping of str to str, optional
            More lines for the facts about the model, such as who approved it.

        Notes
        -----
        The page names fingerprints of the model (of its parameters, the fitted ones included) and
        of the rows explained (of their names and values): another content has another one.
        """
        from pertinent.views.report import FEW_ROWS, write_report

        rows = list(range(min(len(self), max_rows)))
        with told(progress, "Reporting") as tell:
            for start in range(0, len(rows), SUMMARIES_AT_ONCE):
                some = rows[start : start + SUMMARIES_AT_ONCE]
                self._rooms_of(some, "negative")  # these two are nearly all of the work
                if len(rows) <= FEW_ROWS:
                    self.instead(some)
                if tell is not None:
                    tell(start + len(some), len(rows))
        rooms = self.rooms(rows, ("negative",))
        return write_report(
            self, path, title=title, max_rows=max_rows, date=date, facts=facts, rooms=rooms
        )

    def _repr_html_(self) -> str:
        from pertinent.views.html import population_html

        return population_html(shown(self.summary()))
