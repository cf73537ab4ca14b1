"""Run a server: from a recipe and rows to a port that answers."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from pertinent.exceptions import InputError, optional
from pertinent.server.solving.recipe import Recipe, evenly

log = logging.getLogger("pertinent.server")


def _require_packages() -> None:
    for package in ("fastapi", "uvicorn", "prometheus_client", "pandas"):
        optional(package, "serve", "The server")


def make_server(recipe: Recipe, rows: Any = None, settings: Any = None) -> Server:
    """Return a server, not started yet.

    Parameters
    ----------
    recipe : Recipe
    rows : DataFrame or array, optional
        The rows to serve; by default the training data.
    settings : ServerSettings, optional
    """
    _require_packages()
    from pertinent.server.web.settings import ServerSettings

    server = Server(recipe, rows, settings or ServerSettings())
    server.service.rehearse()
    return server


class Server:
    """A server: `run` serves until it is interrupted, `start` and `stop` do so in a thread.

    Parameters
    ----------
    recipe : Recipe
    rows : DataFrame or array, optional
    settings : ServerSettings
    pool : Pool, optional
        Who solves; by default worker processes of its own.
    """

    def __init__(self, recipe: Recipe, rows: Any, settings: Any, pool: Any = None) -> None:
        import uvicorn

        from pertinent.server.web.app import create_app
        from pertinent.server.web.patience import Announcing, PatientProtocol
        from pertinent.server.web.service import Service

        rows = recipe.data if rows is None else rows
        self.settings = settings
        trained = Recipe(recipe.model, _as_pandas(evenly(recipe.data)), recipe.arguments)
        self.service = Service(trained, _as_pandas(rows), settings, pool)
        self.app = create_app(self.service)
        config = uvicorn.Config(
            self.app, host=settings.host, port=settings.port, log_config=None, access_log=False,
            server_header=False, date_header=True, timeout_keep_alive=15, lifespan="on",
            h11_max_incomplete_event_size=32_768, proxy_headers=False,
            timeout_graceful_shutdown=int(settings.time_limit) + 5, http=PatientProtocol, ws="none",
        )  # fmt: skip
        self._server = Announcing(config)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port it listens on: with port 0, the one that was free."""
        for server in getattr(self._server, "servers", []):
            for socket in server.sockets:
                return int(socket.getsockname()[1])
        return int(self.settings.port)

    @property
    def url(self) -> str:
        """The address of the page."""
        host = "127.0.0.1" if self.settings.host in ("0.0.0.0", "::") else self.settings.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    def run(self) -> None:
        """Serve until the process is interrupted or told to end."""
        self._server.run()

    def start(self, timeout: float = 60.0) -> Server:
        """Serve in a thread, and return when requests are answered."""
        self._thread = threading.Thread(target=self._server.run, name="server", daemon=True)
        self._thread.start()
        end = time.monotonic() + timeout
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise InputError(f"The server cannot listen on {self.url}: is the port in use?")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """End: what is being answered is answered first."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(self.settings.time_limit + 10)

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Server: {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{self.url}" target="_blank">{self.url}</a>'


def _as_pandas(data: Any) -> Any:
    """Return a table of another library as pandas; arrays and pandas tables as they are."""
    if data is None or hasattr(data, "iloc") or not hasattr(data, "columns"):
        return data
    import narwhals as nw

    return nw.from_native(data, eager_only=True).to_pandas()
