"""What routes ask: the model, its rows and the pool of workers behind one object."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import floor, isfinite, log2
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.running import until
from pertinent.models.registry import predicted_labels
from pertinent.models.regressors import is_regressor
from pertinent.server.solving.engine import LIVE, class_named
from pertinent.server.solving.form import RowForm
from pertinent.server.solving.pool import Broken, Busy, Died, Pool, TooLong
from pertinent.server.solving.recipe import REHEARSED, Recipe, evenly
from pertinent.server.solving.refusal import Refusal
from pertinent.server.table.describing import describe
from pertinent.server.table.rows import Filter, Rows
from pertinent.server.table.scores import chances_of, places_of
from pertinent.server.web.at_once import AtOnce, Crowded
from pertinent.server.web.problems import Problem
from pertinent.server.web.settings import ServerSettings

Body = Mapping[str, Any]
#: Seconds after its limit that a request, waiting for a worker that starts, is given up.
GRACE = 1.0
#: Seconds for each row of a plausible question without a limit of its own, and while it is edited.
PLAUSIBLE_SECONDS, PLAUSIBLE_LIVE = 2.0, 0.5


class Service:
    """A model, its rows and its workers.

    Parameters
    ----------
    recipe : Recipe
    data : DataFrame or array, optional
        The rows that are served.
    settings : ServerSettings
    pool : Pool, optional
        Who solves; by default processes of its own.
    """

    def __init__(
        self, recipe: Recipe, data: Any, settings: ServerSettings, pool: Pool | None = None
    ) -> None:
        if is_regressor(recipe.model):
            raise InputError(
                f"{type(recipe.model).__name__} predicts a number, and the server answers about "
                "classes. Ask the library: Explainer(model).explain(X, target=(low, high))."
            )
        self.settings, self.recipe = settings, recipe
        self.explainer = recipe.explainer()
        self.classes = self.explainer.setting.classes.tolist()
        self.form = RowForm.of(self.explainer.setting, recipe.data if data is None else data)
        self.rows = Rows(recipe.model, data, self.form.names, self.classes)
        limits = settings.workers, settings.queue, settings.time_limit
        self.pool = Pool(recipe, *limits) if pool is None else pool
        self.threads = AtOnce(settings.time_limit)
        self.model = describe(self.explainer, self.form, self.rows.columns, len(self.rows))

    def start(self) -> None:
        """Start the workers, and the scores of all rows."""
        self.pool.start()
        self.rows.scores.start()

    def close(self) -> None:
        """End the workers; requests that are being answered get their answers first."""
        self.rows.scores.stop()
        self.pool.close(self.settings.time_limit)

    def rehearse(self) -> None:
        """Explain one row: what no worker could ever answer is refused before anybody asks."""
        if self.recipe.data is not None:
            with until(time.monotonic() + REHEARSED):
                self.explainer.explain(evenly(self.recipe.data, 1))

    # -- at once ---------------------------------------------------------------------------

    async def at_once(self, call: Callable[..., Any], *given: Any) -> Any:
        """Return the answer of a thread of the server; problems where there is none in time."""
        try:
            return await self.threads.answer(call, *given)
        except Crowded:
            raise busy() from None
        except TimeoutError:
            raise self._too_long() from None

    def listed(
        self, filters: Sequence[str], sort: str, descending: bool, offset: int, limit: int,
        random: bool,
    ) -> dict[str, Any]:  # fmt: skip
        """Return a page of the rows, or one row at random."""
        chosen = [Filter.read(text, f"filter[{i}]") for i, text in enumerate(filters)]
        if random:
            places = self.rows.at_random(chosen)
            mask = self.rows.matching(chosen)
            matching = len(self.rows) if mask is None else int(mask.sum())
        else:
            matching, places = self.rows.page(chosen, sort, descending, offset, limit)
        return {
            "total": len(self.rows),
            "matching": matching,
            "offset": 0 if random else offset,
            "scored": self.rows.scores.progress,
            "rows": [self.rows.row(int(place)) for place in places],
        }

    def row(self, place: int) -> dict[str, Any]:
        """Return one row."""
        if not 0 <= place < len(self.rows):
            raise Problem(404, f"There is no row {place}: the table has {len(self.rows):,} rows.")
        return self.rows.row(place)

    def predict(self, body: Body) -> dict[str, Any]:
        """Return classes and probabilities of rows."""
        self._require_few(len(body["rows"]), "rows")
        table = self.form.table(self.form.read(body["rows"]))
        model = self.recipe.model
        try:
            places = places_of(predicted_labels(model, table), self.classes)
            chances = chances_of(model, table)
        except (ValueError, TypeError, OverflowError) as error:
            raise Refusal("The model cannot read these rows.", "rows") from error
        return {
            "predictions": [
                {
                    "label": self.classes[place],
                    "probabilities": None if chances is None else {
                        str(label): float(chance)
                        for label, chance in zip(self.classes, chances[i], strict=True)
                    },
                }
                for i, place in enumerate(places)
            ]
        }  # fmt: skip

    # -- by a worker -----------------------------------------------------------------------

    def question(self, body: Body, *, one: bool = False) -> dict[str, Any]:
        """Return a request for a worker: the rows in order, whatever way they were named."""
        ids = body.get("ids")
        given = body["rows"] if ids is None else ids
        self._require_few(len(given), "rows" if ids is None else "ids")
        if one and len(given) != 1:
            raise Refusal(f"This is about one row. Got {len(given)}.", "rows")
        rows = given if ids is None else self.rows.values(ids)
        class_named(self.classes, body.get("target"))
        values = self.form.read(rows, "rows" if ids is None else "ids")
        ids = list(range(len(rows))) if ids is None else list(ids)
        return {**self._in_time(body, len(rows)), "rows": values, "ids": ids}

    def _in_time(self, body: Body, count: int) -> Body:
        """Return the question of so many rows with the time that each may take, if it needs one.

        Plausible answers are quick to find and may take minutes to prove. With a time limit they
        come with the bound so far. Each row may take it thrice: for the positive, for the
        negative, and for ranges; as much again is left for all else.
        """
        asked = body.get("plausible")
        given = self.recipe.arguments.get("plausibility") is not None
        plausible = given if asked is None else asked
        if not plausible or body.get("time_limit") is not None:
            return body
        wanted = PLAUSIBLE_LIVE if body.get("detail") == LIVE else PLAUSIBLE_SECONDS
        share = self.pool.limit / (4 * max(1, count)) / wanted
        if share < 1:  # halved until it fits: Explainers are kept by their limit
            wanted *= 2.0 ** floor(log2(share))
        return {**body, "time_limit": wanted}

    def cohort_question(self, body: Body) -> tuple[dict[str, Any], int]:
        """Return a request for a worker, and how many rows match."""
        filters = [Filter.read(text, f"filters[{i}]") for i, text in enumerate(body["filters"])]
        mask = self.rows.matching(filters)
        groups = self.rows.groups(body["by"])
        class_named(self.classes, body.get("target"))
        matching = len(self.rows) if mask is None else int(mask.sum())
        within = [own if mask is None else own & mask for _, _, own in groups]
        share = min(1.0, body["sample"] / max(1, sum(int(own.sum()) for own in within)))
        ids: list[int] = []
        values: list[list[Any]] = []
        told = []
        for (words, own, _), chosen in zip(groups, within, strict=True):
            places = np.flatnonzero(chosen)
            count = max(min(len(places), 5), round(share * len(places)))
            some = self._readable(places[np.arange(count) * len(places) // max(count, 1)].tolist())
            if not some:
                continue
            start = len(ids)
            ids += some
            values += some.values()
            told.append({
                "words": words, "filters": [*body["filters"], *own],
                "places": list(range(start, start + len(some))),
            })  # fmt: skip
        if not ids:
            raise Refusal("No row that the model can read matches the filters.", "filters")
        timed = self._in_time(body, len(ids))
        return {**timed, "rows": values, "ids": ids, "groups": told}, matching

    def _readable(self, ids: list[int]) -> dict[int, list[Any]]:
        """Return the values of the rows among some that the model can read: nobody named these."""
        found = {}
        for place, row in zip(ids, self.rows.values(ids), strict=True):
            with suppress(Refusal):
                [found[place]] = self.form.read([row])
        return found

    async def solve(self, task: str, request: Body) -> Any:
        """Return the answer of a worker; problems where there is none."""
        try:
            future = self.pool.submit(task, dict(request))
        except Busy:
            raise busy() from None
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.pool.limit + GRACE)
        except Busy:
            raise busy() from None
        except (TooLong, TimeoutError):
            raise self._too_long() from None
        except Died:
            raise Problem(500, "The worker died over this request, twice.") from None
        except Broken as error:
            raise Problem(500, f"The worker failed: {error.kind}.") from error

    def _too_long(self) -> Problem:
        return Problem(
            504, f"The request took longer than {self.settings.time_limit:g} seconds. Ask for "
            "fewer rows or features, or give time_limit.",
        )  # fmt: skip

    def _require_few(self, count: int, where: str) -> None:
        if count > self.settings.rows:
            raise Problem(
                413, f"A request has at most {self.settings.rows} rows. Got {count}.", where
            )


def busy() -> Problem:
    """Return the problem that all workers are busy and the queue is full."""
    return Problem(503, "All workers are busy. Ask again.", headers={"Retry-After": "1"})


def as_problem(error: InputError) -> Problem:
    """Return a refusal as a problem."""
    return Problem(422, str(error), getattr(error, "field", None))


def to_json(content: Any) -> bytes:
    """Return an answer as JSON; what is no number, as a probability of it, is null."""
    try:
        return _dumped(content)
    except ValueError:
        return _dumped(_finite(content))


def _dumped(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content
