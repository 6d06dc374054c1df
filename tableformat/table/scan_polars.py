"""Scan a table at a path with Polars."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from colonnade.manifests.store import StorePath
from colonnade.tableformat.location import StorageOptions
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.table.table import ArrowTable


def scan_polars(
    path: StorePath,
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    epoch: int | None = None,
    timestamp: datetime | str | None = None,
    tag: str | None = None,
    storage_options: StorageOptions | None = None,
    filesystem: Any = None,
) -> Any:
    """Return a `polars.LazyFrame` of the table at `path`, which reads only what a query needs.

    The arguments are those of `colonnade.open` and `ArrowTable.scan`. The frame shows one epoch:
    the newest, unless another is given. Raises ImportError if Polars is not installed, and the
    errors of both.
    """
    table = ArrowTable.open(path, storage_options, filesystem=filesystem)
    scan = table.scan(columns, where, epoch=epoch, timestamp=timestamp, tag=tag)
    return scan.to_polars(lazy=True)
