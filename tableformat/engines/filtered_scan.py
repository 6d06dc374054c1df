"""Read the rows of a scan that meet an expression of Arrow, as batches in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import acero

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.engines.engine_scan import EngineScan
from colonnade.tableformat.predicate.foreign.arrow import split
from colonnade.tableformat.types.arrow_types import schema_from_arrow

Columns = Sequence[str] | Mapping[str, Any] | None
"""Names of columns, or expressions of Arrow by their names in the result; None for all."""


@dataclass(frozen=True, slots=True)
class FilteredScan:
    """A planned read of a dataset.

    `scan` reads what is needed. `rest` then chooses rows, and `columns` the columns of the result,
    where the scan does neither.
    """

    scan: EngineScan
    rest: Any | None
    columns: Columns
    schema: pa.Schema

    def batches(self, threads: int | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, decoding in `threads` threads (None: as many as Arrow uses).

        Raises the errors of `Scan.to_batches`, and those of Arrow for the expressions.
        """
        with closing(self.scan.to_batches(threads)) as batches:  # type: ignore[type-var]
            if self.rest is None and self.columns is None:
                yield from batches
                return
            for batch in batches:
                yield from (
                    each for each in _evaluated(batch, self.rest, self.columns) if each.num_rows
                )

    def count(self) -> int:
        """Return the number of rows. The log tells it where it can."""
        if self.rest is None:
            return self.scan.count()
        return sum(batch.num_rows for batch in self.batches(None))


def filtered(scan: EngineScan, columns: Columns, expression: Any | None) -> FilteredScan:
    """Plan to read columns of the rows of a scan that meet an expression (None: all).

    The scan takes over what it can. A scan with a limit takes over no part of the expression, which
    chooses among its first rows. Raises the errors of `Scan.select`, and InvalidInputError for
    anything but a list of columns.
    """
    schema = scan.schema
    where, rest, of_rest = None, expression, frozenset[str]() if expression is None else None
    if expression is not None and not scan.is_limited:
        where, rest, of_rest = split(expression, schema_from_arrow(schema))
    names = _names(columns, schema)
    if names is None or of_rest is None:
        needed = schema.names
    else:
        needed = [name for name in schema.names if name in of_rest or name in names]
        if not of_rest.difference(names) and len(set(names)) == len(names):
            needed = names
    chosen = scan.select(needed) if needed != schema.names else scan
    if where is not None:
        chosen = chosen.filter(where)
    same = columns is None or (names is not None and list(columns) == needed)
    later = None if same else columns
    if rest is None and later is None:
        return FilteredScan(chosen, None, None, chosen.schema)
    empty = pa.RecordBatch.from_pylist([], chosen.schema)
    return FilteredScan(chosen, rest, later, _evaluated(empty, rest, later)[0].schema)


def _names(columns: Columns, schema: pa.Schema) -> list[str] | None:
    """Return the names of the columns to return; None if expressions compute them."""
    if columns is None:
        return list(schema.names)
    if isinstance(columns, Mapping):
        return None
    is_list = isinstance(columns, Iterable) and not isinstance(columns, str)
    names = [*columns] if is_list else []
    if not is_list or not all(isinstance(name, str) for name in names):
        raise InvalidInputError(f"columns must be a list of column names, not {columns!r:.100}.")
    return names


def _evaluated(batch: pa.RecordBatch, rest: Any | None, columns: Columns) -> list[pa.RecordBatch]:
    """Return the rows of a batch that meet `rest`, with `columns`."""
    rows = pa.Table.from_batches([batch])
    if rest is not None:
        rows = rows.filter(rest)
    if isinstance(columns, Mapping):
        source = acero.Declaration("table_source", acero.TableSourceNodeOptions(rows))
        chosen = acero.ProjectNodeOptions(list(columns.values()), list(columns))
        rows = acero.Declaration("project", chosen, [source]).to_table(use_threads=False)
    elif columns is not None:
        rows = rows.select([rows.schema.names.index(name) for name in columns])
    if rows.num_rows and not rows.num_columns:
        return [batch.slice(0, rows.num_rows).select([])]
    return rows.to_batches() or [pa.RecordBatch.from_pylist([], rows.schema)]
