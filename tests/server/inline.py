"""A server without processes: the same application, which solves its requests itself."""

from __future__ import annotations

from concurrent.futures import Future
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pertinent import Constraints, Wording
from pertinent.server import Recipe, ServerSettings
from pertinent.server.solving.engine import Engine
from pertinent.server.solving.pool import Pool
from pertinent.server.solving.refusal import Refusal
from pertinent.server.web.app import create_app
from pertinent.server.web.service import Service

#: A token of a test.
TOKEN = "t" * 40
#: Names as a stranger may give them.
HOSTILE = "<script>alert(1)</script>"


@cache
def small(seed=0, rows=300):
    """A pipeline over numbers and a category; one feature and one category have hostile names."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.integers(50, 400, rows),
            "age": rng.integers(18, 70, rows),
            HOSTILE: rng.normal(0, 1, rows).round(2),
            "job": rng.choice(["fixed", "part-time", "=1+1", "\x1b[2J<b>"], rows),
        }
    )
    score = frame["income"] / 100 - frame["age"] / 40 + frame[HOSTILE] + (frame["job"] == "fixed")
    label = np.where(score + rng.normal(0, 0.3, rows) > 1.5, "yes", "no")
    columns = make_column_transformer(
        (StandardScaler(), ["income", "age", HOSTILE]), (OneHotEncoder(), ["job"])
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(frame, label)
    return SimpleNamespace(model=model, frame=frame, label=label)


def recipe(**arguments):
    given = {"constraints": Constraints(frozen=["age"]), "wording": Wording(subject="applicant")}
    return Recipe(small().model, small().frame, given | arguments)


class Inline(Pool):
    """A pool that answers at once, by itself."""

    def __init__(self, recipe):
        super().__init__(recipe, 1, 4, 30.0)
        self.engine = Engine(recipe)

    @property
    def ready(self):
        return 1

    def start(self):
        pass

    def submit(self, task, request, limit=None):
        future = Future()
        try:
            future.set_result(self.engine.answer(task, request))
        except Refusal as error:
            future.set_exception(error)
        return future

    def close(self, timeout=10.0):
        pass


@cache
def inline_pool():
    return Inline(recipe())


def application(data=None, **settings):
    """The application of the small model, and its service."""
    rows = small().frame if data is None else data
    service = Service(recipe(), rows, ServerSettings(**settings), inline_pool())
    return create_app(service), service
