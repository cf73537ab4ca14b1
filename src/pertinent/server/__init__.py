"""A model served over HTTP: a page to explore it, and an API; extra ``serve``.

Start one with ``pertinent serve``, `pertinent.Explainer.serve`, or `make_server`.
"""

from pertinent.server.serving import Server, make_server
from pertinent.server.solving.recipe import Recipe
from pertinent.server.web.settings import ServerSettings, read_tokens

__all__ = [
    "Recipe",
    "Server",
    "ServerSettings",
    "make_server",
    "read_tokens",
]
