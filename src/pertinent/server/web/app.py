"""The application: pages, the API, probes and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, FastAPI, Path, Query
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pertinent import __version__
from pertinent.exceptions import InputError
from pertinent.server.web import answers, bodies
from pertinent.server.web.assets import Assets
from pertinent.server.web.document import describe_api, responses, schema_of, told
from pertinent.server.web.guard import Guard, json_route, request_id_of
from pertinent.server.web.measuring import Measures
from pertinent.server.web.problems import Problem, field_of
from pertinent.server.web.service import Service, as_problem, to_json

Filters = Annotated[list[Annotated[str, Query(max_length=2000)]], Query(max_length=50)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Sort = Annotated[str, Query(max_length=500)]
Order = Literal["asc", "desc"]


def plain(content: Any) -> Response:
    """Return an answer as JSON."""
    return Response(to_json(content), media_type="application/json")


def create_app(service: Service) -> FastAPI:
    """Return the application of a service; starting it starts the workers."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        service.close()

    app = FastAPI(
        title="pertinent",
        version=__version__,
        description="What was enough for a model's decision, and what would have changed it.",
        docs_url=None,
        redoc_url=None,
        lifespan=living,
    )
    measures = Measures(service.pool, service.rows.scores)
    assets = Assets()
    app.include_router(_api(service))
    app.include_router(_probes(service, measures))
    app.include_router(_pages(assets))
    _handle(app)
    describe_api(app, service)
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(Guard, settings=service.settings, measures=measures)
    return app


def _handle(app: FastAPI) -> None:
    @app.exception_handler(InputError)
    async def refused(request: Request, error: InputError) -> Response:
        return as_problem(error).response(request_id_of(request))

    @app.exception_handler(HTTPException)
    async def failed(request: Request, error: HTTPException) -> Response:
        problem = (
            error
            if isinstance(error, Problem)
            else Problem(error.status_code, str(error.detail), headers=error.headers)
        )
        return problem.response(request_id_of(request))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        words = f"{str(first['msg']).rstrip('.')}."
        if first["type"] == "json_invalid":
            return Problem(400, "The body is not JSON.").response(request_id_of(request))
        return Problem(
            422, words, field_of(first["loc"], error.body, first["type"] == "missing")
        ).response(request_id_of(request))


def _api(service: Service) -> APIRouter:
    api = APIRouter(
        prefix="/api/v1", tags=["api"], route_class=json_route(service.settings),
        responses=responses(),
    )  # fmt: skip

    @api.get("/model", summary="The model, its features and rules", responses=told(answers.Model))
    async def model() -> Response:
        return plain(service.model)

    @api.get(
        "/schema",
        summary="JSON schemas of rows, rules and stored explanations",
        responses=told(answers.Schemas),
    )
    async def schema() -> Response:
        return plain(schema_of(service))

    @api.get("/rows", summary="A page of the rows", responses=told(answers.Page))
    async def rows(
        filter: Filters = [],  # noqa: B006 - the name that the address has
        sort: Sort = "@id",
        order: Order = "asc",
        offset: Offset = 0,
        limit: Limit = 50,
        random: bool = False,
    ) -> Response:
        asked = filter, sort, order == "desc", offset, limit, random
        return plain(await service.at_once(service.listed, *asked))

    @api.get("/rows/{id}", summary="One row", responses=told(answers.TableRow))
    async def row(id: Annotated[int, Path(ge=0, le=10**12)]) -> Response:
        return plain(await service.at_once(service.row, id))

    @api.post(
        "/predict", summary="Class and probabilities of rows", responses=told(answers.Predictions)
    )
    async def predict(body: bodies.Predict) -> Response:
        return plain(await service.at_once(service.predict, body.model_dump()))

    @api.post(
        "/explain",
        summary="What was enough, and what would change it",
        responses=told(answers.Explanations),
    )
    async def explain(body: bodies.Explain) -> Response:
        return plain(await service.solve("explain", service.question(body.model_dump())))

    @api.post(
        "/alternatives",
        summary="Other changes that work",
        responses=told(answers.AlternativesFound),
    )
    async def alternatives(body: bodies.Alternatives) -> Response:
        request = service.question(body.model_dump(), one=True)
        return plain(await service.solve("alternatives", request))

    @api.post(
        "/menu",
        summary="Which features alone, or in pairs, can or provably cannot",
        responses=told(answers.MenuFound),
    )
    async def menu(body: bodies.Menu) -> Response:
        return plain(await service.solve("menu", service.question(body.model_dump(), one=True)))

    @api.post("/cohorts", summary="Groups of rows compared", responses=told(answers.CohortsFound))
    async def cohorts(body: bodies.Cohorts) -> Response:
        request, matching = await service.at_once(service.cohort_question, body.model_dump())
        found = await service.solve("cohorts", request)
        return plain({"by": body.by, "total": matching, **found})

    @api.post(
        "/check",
        summary="The independent check of a stored explanation",
        responses=told(answers.Verdict),
    )
    async def check(body: bodies.Check) -> Response:
        return plain(await service.solve("check", body.model_dump()))

    @api.post("/report", summary="A report of rows in one HTML file", response_class=HTMLResponse)
    async def report(body: bodies.Document) -> Response:
        return HTMLResponse(await service.solve("report", service.question(body.model_dump())))

    @api.post("/letter", summary="A letter about one row", response_class=HTMLResponse)
    async def letter(body: bodies.Document) -> Response:
        request = service.question(body.model_dump(), one=True)
        return HTMLResponse(await service.solve("letter", request))

    return api


def _probes(service: Service, measures: Measures) -> APIRouter:
    probes = APIRouter(tags=["probes"])

    @probes.get("/healthz", summary="Whether the process lives")
    async def healthz() -> Response:
        return plain({"status": "alive"})

    @probes.get("/readyz", summary="Whether requests will be answered")
    async def readyz() -> Response:
        ready = service.pool.ready
        if service.pool.closing or not ready:
            raise Problem(503, "No worker is ready.", headers={"Retry-After": "1"})
        return plain({"status": "ready", "workers": ready, "scored": service.rows.scores.progress})

    @probes.get("/metrics", summary="Metrics as Prometheus reads them")
    def metrics() -> Response:
        return Response(measures.text(), media_type=measures.media_type)

    return probes


def _pages(assets: Assets) -> APIRouter:
    pages = APIRouter(include_in_schema=False)

    @pages.get("/")
    async def page(request: Request) -> Response:
        return assets.response("index.html", request)

    @pages.get("/favicon.ico")
    async def icon(request: Request) -> Response:
        return assets.response("icon.svg", request)

    @pages.get("/static/{name:path}")
    async def static(name: str, request: Request) -> Response:
        return assets.response(name, request)

    return pages
