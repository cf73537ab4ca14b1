"""The page's files, read once at the start: no path of a request comes near the file system."""

from __future__ import annotations

import hashlib
import mimetypes
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from pertinent.server.web.problems import Problem

TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".svg": "image/svg+xml"}


class Assets:
    """All files of the page by name; another name gives 404."""

    def __init__(self) -> None:
        self._files = dict(_walk(files("pertinent.server") / "static", ""))

    def __iter__(self) -> object:
        return iter(self._files)

    def response(self, name: str, request: Request) -> Response:
        """Return a file, or that it has not changed."""
        if name not in self._files:
            raise Problem(404, "There is no such file.")
        content, media_type, tag = self._files[name]
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=media_type)


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, tuple[bytes, str, str]]]:
    found = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _walk(entry, f"{name}/")
            continue
        content = entry.read_bytes()
        ending = f".{entry.name.rpartition('.')[2]}"
        media_type = TYPES.get(ending) or mimetypes.guess_type(entry.name)[0]
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        found.append((name, (content, media_type or "application/octet-stream", tag)))
    return found
