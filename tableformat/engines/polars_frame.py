"""A scan as a lazy frame of Polars, which reads only what a query needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from colonnade.tableformat.engines.engine_scan import EngineScan
from colonnade.tableformat.engines.libraries import library
from colonnade.tableformat.predicate.foreign.polars import from_polars
from colonnade.tableformat.types.arrow_types import schema_from_arrow


def frame_of(rows: pa.Table) -> Any:
    """Return rows as a `polars.DataFrame`. Raises ImportError if Polars is not installed."""
    return library("polars", "to_polars").from_arrow(rows)


def lazy_frame_of(scan: EngineScan) -> Any:
    """Return a `polars.LazyFrame` of a scan. Raises ImportError if Polars is not installed.

    A query hands over its columns, its filter and its limit. Each collection reads the rows again,
    as batches in bounded memory.
    """
    schema = frame_of(scan.schema.empty_table()).schema
    plugins = library("polars.io.plugins", "to_polars")
    return plugins.register_io_source(_Source(scan), schema=schema, is_pure=True)


@dataclass(frozen=True, slots=True)
class _Source:
    """Reads what Polars asks of a scan. Polars pickles it if it sends a plan elsewhere."""

    scan: EngineScan

    def __call__(
        self,
        with_columns: list[str] | None,
        predicate: Any | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[Any]:
        """Yield frames with some columns, of the first `n_rows` rows those that meet `predicate`.

        Polars itself applies the predicate to the frames, so it means what it means elsewhere in
        Polars. Raises the errors of `Scan.to_batches`.
        """
        scan = self.scan
        if n_rows is not None:
            scan = scan.limit(n_rows)
        elif predicate is not None and not scan.is_limited:
            where = from_polars(predicate, schema_from_arrow(scan.schema))
            scan = scan if where is None else scan.filter(where)
        wanted = scan.columns if with_columns is None else with_columns
        tested = [] if predicate is None else predicate.meta.root_names()
        needed = [name for name in scan.columns if name in wanted or name in tested]
        with closing(scan.select(needed).to_batches(None)) as batches:  # type: ignore[type-var]
            for batch in batches:
                frame = frame_of(pa.Table.from_batches([batch]))
                if predicate is not None:
                    frame = frame.filter(predicate)
                if needed != wanted:
                    frame = frame.select(wanted)
                yield from frame.iter_slices(batch_size or max(1, frame.height))
