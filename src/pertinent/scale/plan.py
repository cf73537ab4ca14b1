"""Which rows of a Parquet data set go into which output file: the same at every start."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pertinent.exceptions import InputError, optional, reading

if TYPE_CHECKING:
    import pyarrow as pa


def parquet() -> Any:
    """Return pyarrow.parquet, or say which extra brings it."""
    return optional("pyarrow.parquet", "arrow", "A run over Parquet files")


@dataclass(frozen=True)
class Source:
    """One input file: its name in the data set, rows by row group, a fingerprint of its content.

    The fingerprint is the hash of the file's footer, which lists where every column lies, its
    size and its statistics: it is read in no time, however large the file.
    """

    path: Path
    name: str
    groups: tuple[int, ...]
    fingerprint: str

    @classmethod
    def of(cls, path: Path, name: str) -> Source:
        """Return what the footer of a file says."""
        with reading(path), path.open("rb") as file:
            metadata = parquet().read_metadata(path)
            groups = tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))
            file.seek(-8, 2)
            size = int.from_bytes(file.read(4), "little")
            file.seek(-8 - size, 2)
            fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, name, groups, fingerprint)


@dataclass(frozen=True)
class Part:
    """Consecutive rows of one row group, and the name of the file their answers go to."""

    source: int
    group: int
    start: int
    rows: int
    name: str


@dataclass(frozen=True)
class Plan:
    """All parts of a data set, in order."""

    sources: tuple[Source, ...]
    parts: tuple[Part, ...]
    batch_rows: int

    @classmethod
    def of(cls, data: Path, batch_rows: int) -> Plan:
        """Return the plan of a Parquet file, or of all of them below a folder."""
        root = data.parent if data.is_file() else data
        files = parquet_files(data)
        sources = tuple(Source.of(path, path.relative_to(root).as_posix()) for path in files)
        return cls(sources, tuple(_parts(sources, batch_rows)), batch_rows)

    @property
    def rows(self) -> int:
        """Number of rows in all."""
        return sum(part.rows for part in self.parts)

    def read(
        self, wanted: set[str], columns: list[str] | None
    ) -> Iterator[tuple[Part, pa.RecordBatch]]:
        """Yield the wanted parts with their rows; row groups without any are not opened."""
        by_group: dict[tuple[int, int], list[Part]] = {}
        for part in self.parts:
            by_group.setdefault((part.source, part.group), []).append(part)
        for (source, group), parts in by_group.items():
            if any(part.name in wanted for part in parts):
                path = self.sources[source].path
                with reading(path):
                    batches = (
                        parquet()
                        .ParquetFile(path)
                        .iter_batches(self.batch_rows, row_groups=[group], columns=columns)
                    )
                    for part, batch in zip(parts, batches, strict=True):
                        if part.name in wanted:
                            yield part, batch


def _parts(sources: tuple[Source, ...], batch_rows: int) -> Iterator[Part]:
    count = 0
    for s, source in enumerate(sources):
        for group, rows in enumerate(source.groups):
            for start in range(0, rows, batch_rows):
                name = f"part-{count:06d}.parquet"
                yield Part(s, group, start, min(batch_rows, rows - start), name)
                count += 1


def parquet_files(data: Path) -> list[Path]:
    """Return the files of a data set in the order of their names."""
    if data.is_file():
        return [data]
    found = sorted(
        path
        for path in data.rglob("*.parquet")
        if not any(part.startswith((".", "_")) for part in path.relative_to(data).parts)
    )
    if not found:
        what = "holds no .parquet files" if data.is_dir() else "does not exist"
        raise InputError(f"{data} {what}: expected a Parquet file, or a folder of them.")
    return found
