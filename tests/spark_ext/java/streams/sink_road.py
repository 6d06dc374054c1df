"""A stream of files that writes to a table: one file is one batch."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import colonnade
from colonnade import ArrowTable
from tests.spark_ext.java.spark_shell import SparkShell

Batch = Sequence[Mapping[str, Any]]
TYPES = {int: "BIGINT", str: "STRING", dict: "STRUCT<a: BIGINT, b: STRING>", list: "ARRAY<BIGINT>"}


class Stream:
    """A stream from a folder of files into a table, with a checkpoint of its own.

    `to` is a path, or the name of a table, in which `by_name` is true. `change` is the code of its
    query, such as `.groupBy('k').count()`.
    """

    def __init__(
        self,
        shell: SparkShell,
        folder: Path,
        to: str | Path,
        *,
        change: str = "",
        mode: str = "append",
        **options: Any,
    ) -> None:
        self.shell, self.folder, self.to = shell, folder, str(to)
        self.change, self.mode, self.options = change, mode, options
        self.checkpoint = folder / "checkpoint"
        self.files = 0
        (folder / "in").mkdir(parents=True)

    def give(self, *batches: Batch) -> None:
        """Add a file for each batch, whose first row has all columns."""
        for rows in batches:
            path = self.folder / "in" / f"{self.files}.parquet"
            pq.write_table(pa.Table.from_pylist([*map(dict, rows)]), path)
            os.utime(path, (seconds := time.time() - 1000 + self.files, seconds))
            self.files += 1
            self.columns = ", ".join(f"{name} {TYPES[type(v)]}" for name, v in rows[0].items())

    def code(self) -> str:
        """The code that runs the stream until it has read all files."""
        by_name = not self.to.startswith("/")
        options = {"checkpointLocation": str(self.checkpoint), **self.options}
        layout = options.pop("partitionBy_", None)
        return (
            f"spark.readStream.schema({self.columns!r}).option('maxFilesPerTrigger', 1)"
            f".parquet({str(self.folder / 'in')!r}){self.change}"
            f".writeStream.outputMode({self.mode!r}).options(**{options!r})"
            + ("" if self.to.startswith("colonnade.") else ".format('colonnade')")
            + (f".partitionBy({layout!r})" if layout else "")
            + ".trigger(availableNow=True)"
            + (f".toTable({self.to!r})" if by_name else f".start({self.to!r})")
            + ".awaitTermination()"
        )

    def run(self, *batches: Batch) -> None:
        """Run the stream until it has written these batches, too."""
        self.give(*batches)
        self.shell.run(self.code())

    def refused(self, *batches: Batch) -> str:
        """Return the first line of the error that ends the stream."""
        self.give(*batches)
        return self.shell.refused_run(self.code())

    def forget(self, batch: int) -> None:
        """Make the checkpoint what it was between the commit of a batch and Spark's note of it."""
        for path in (self.checkpoint / "commits").iterdir():
            name = path.name.strip(".").removesuffix(".crc")
            if name.isdigit() and int(name) >= batch:
                path.unlink()


def rows_of(table: ArrowTable) -> list[dict[str, Any]]:
    """The rows of a table, sorted by their text."""
    found: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    return sorted(found, key=str)


def changes_of(table: ArrowTable) -> list[str]:
    """What the epochs did that are not the creation alone, the oldest first."""
    return [each.operation for each in reversed(table.history())]


def stored(path: Path) -> set[str]:
    """The files of a database outside of its log."""
    return {
        str(found.relative_to(path))
        for found in path.rglob("*")
        if found.is_file() and "_manifest" not in found.parts
    }


def numbered(count: int, **columns: Any) -> Iterator[Batch]:
    """Batches of one row each: `id` counts them."""
    return ([{"id": number, **columns}] for number in range(count))


def opened(shell: SparkShell, to: str) -> ArrowTable:
    """The table at a path, or the one of a name in a warehouse."""
    if to.startswith("/"):
        return colonnade.open(to)
    [*catalog, database, name] = to.split(".")
    folder = f"warehouse/{database}" if catalog else f"spark/{database}.db"
    return colonnade.open(shell.folder / folder / name)
