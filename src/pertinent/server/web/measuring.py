"""Counts and times of requests, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from pertinent.server.solving.pool import Pool
from pertinent.server.table.scores import Scores

BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Measures:
    """The metrics of one server; each has a registry of its own.

    Parameters
    ----------
    pool : Pool
    scores : Scores
    """

    media_type = CONTENT_TYPE_LATEST

    def __init__(self, pool: Pool, scores: Scores) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "pertinent_requests", "Requests answered.", ("method", "route", "status"),
            registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "pertinent_request_seconds", "Seconds from request to answer.", ("route",),
            buckets=BUCKETS, registry=self._registry,
        )  # fmt: skip
        self._registry.register(_Behind(pool, scores))

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; ``route`` is its template, never its address."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics."""
        return generate_latest(self._registry)


class _Behind(Collector):
    """What the pool and the scores know, read when it is asked for."""

    def __init__(self, pool: Pool, scores: Scores) -> None:
        self._pool, self._scores = pool, scores

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics."""
        pool = self._pool
        yield GaugeMetricFamily("pertinent_workers_ready", "Workers with a model.", pool.ready)
        yield GaugeMetricFamily("pertinent_queue_waiting", "Requests that wait.", pool.waiting)
        yield GaugeMetricFamily(
            "pertinent_rows_scored_ratio", "Share of rows scored.", self._scores.progress
        )
        events = CounterMetricFamily(
            "pertinent_worker_events", "What became of requests to workers.", labels=["event"]
        )
        for event, count in sorted(pool.counts.items()):
            events.add_metric([event.replace(" ", "_")], count)
        yield events
