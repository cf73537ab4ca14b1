"""Files that are there whole or not at all, and folders that one run has to itself."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pertinent.exceptions import InputError, reading

_UNFINISHED = ".unfinished"


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file so that no one ever sees a part of it, whenever the process is killed.

    It is written under another name in the same folder, forced to the disk, and renamed.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}{_UNFINISHED}")
    with unfinished.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    _sync_folder(path.parent)


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file whole; the same content gives the same bytes."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_whole(path, lambda file: file.write(text.encode()))


def remove_unfinished(folder: Path) -> None:
    """Remove what a killed run had begun to write."""
    for leftover in folder.glob(f".*{_UNFINISHED}"):
        leftover.unlink()


def sha256(path: Path) -> str:
    """Return the hash of a file's content."""
    with reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; the system lets go of it however the process ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise InputError(f"Another run is writing to {folder} right now.") from error
    try:
        yield
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Force a rename to the disk, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
