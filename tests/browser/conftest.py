"""One browser and one server for all tests of the pages.

Without an installed Chromium they are skipped, unless BROWSER_TESTS=required is set, as
`make test SUITE=browser` does, and `.ci/run` wherever it could install one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pertinent.demo import RULES, WORDING, train_credit_model

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


#: Milliseconds after which a page hangs: a busy machine is slow, and not wrong.
PATIENCE = 180_000
#: Seconds after which a server does.
LONG = 600.0


def new_page(browser: Any, **how: Any) -> Any:
    """Return a page of a browser, or of a context of it, that waits for slow machines."""
    page = browser.new_page(**how)
    page.set_default_timeout(PATIENCE)
    return page


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    if program is None:
        words = "No Chromium found. Install it (apt install chromium) or set CHROMIUM."
        if os.environ.get("BROWSER_TESTS") == "required":
            pytest.fail(words)
        pytest.skip(words)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def credit() -> Any:
    return train_credit_model()


@pytest.fixture(scope="session")
def server(credit: Any) -> Iterator[Any]:
    """The embedded credit model, served on a free port of this machine."""
    from pertinent.server.serving import make_server
    from pertinent.server.solving.recipe import Recipe
    from pertinent.server.web.settings import ServerSettings

    recipe = Recipe(credit.model, credit.train, {"constraints": RULES, "wording": WORDING})
    settings = ServerSettings(port=0, workers=1, time_limit=LONG)
    with make_server(recipe, credit.applicants, settings) as running:
        assert running.service.pool.wait_ready(timeout=LONG)
        yield running


@pytest.fixture
def serving() -> Callable[..., Any]:
    """Return what serves another model: without worker processes, whose start takes seconds."""
    from pertinent.server.serving import Server
    from pertinent.server.solving.recipe import Recipe
    from pertinent.server.web.settings import ServerSettings
    from tests.server.inline import Inline

    def make(model: Any, data: Any, rows: Any = None, **settings: Any) -> Any:
        recipe = Recipe(model, data)
        settings = {"port": 0, "time_limit": LONG} | settings
        return Server(recipe, rows, ServerSettings(**settings), Inline(recipe))

    return make


@pytest.fixture
def opened(browser: Any, server: Any) -> Iterator[Callable[..., Any]]:
    """Return what opens the page; an error in it, or a request elsewhere, fails the test."""
    contexts = []
    wrong: list[str] = []

    def open_page(fragment: str = "#row=4", **how: Any) -> Any:
        how = {"viewport": {"width": 1280, "height": 900}} | how
        context = browser.new_context(accept_downloads=True, **how)
        contexts.append(context)
        page = new_page(context)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
        page.on("request", lambda r: _foreign(r.url, server.url) and wrong.append(r.url))
        page.goto(f"{server.url}{fragment}")
        page.wait_for_selector("html[data-ready]")
        settle(page)
        return page

    open_page.expected = wrong.remove  # type: ignore[attr-defined]
    yield open_page
    for context in contexts:
        context.close()
    assert not wrong, wrong


def _foreign(url: str, own: str) -> bool:
    return not url.startswith((own, "blob:", "data:"))


def go(page: Any, fragment: str) -> None:
    """Change the address of an open page, and wait until it has begun to show another state."""
    page.evaluate(
        """(to) => new Promise((done) => {
            addEventListener("hashchange", done, { once: true });
            location.hash = to;
        })""",
        fragment,
    )


def settle(page: Any) -> None:
    """Wait until the page has answered what was last asked."""
    page.wait_for_selector(".answers[aria-busy=false][data-whole=yes]", state="attached")
