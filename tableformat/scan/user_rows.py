"""The rows that a user gives a statement: a scan, a table, or anything that has rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.reads import TableReads
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.types.input.arrow_input import record_batches

HELD = (pa.Table, pa.RecordBatch)
"""Data whose rows are in memory, and can be read again."""


def held_batches(data: Any) -> tuple[pa.RecordBatch, ...]:
    """Return the batches of a pyarrow table or batch, which can be read twice; none for other data.

    Raises InvalidInputError.
    """
    return tuple(record_batches(data)) if isinstance(data, HELD) else ()


def batches_of(data: Any, known: pa.Schema | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a scan, of a table, or of anything that `record_batches` takes.

    `known` are the columns of the table to write to. Yields at least one batch. Raises
    InvalidInputError, and the errors of a scan.
    """
    scan = data.scan() if isinstance(data, TableReads) else data
    if not isinstance(scan, Scan):
        yield from record_batches(scan, known)
        return
    yield pa.RecordBatch.from_pylist([], scan.schema)
    # Batches are read directly, because errors would lose their type in Arrow's C interface.
    yield from scan.to_batches()


def held_rows(data: Any, known: pa.Schema | None = None) -> pa.Table:
    """Read all rows that `batches_of` yields into one table. Raises also the errors of `joined`."""
    return joined(batches_of(data, known))


def joined(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return the rows of at least one batch as a table, in types that hold the values of all.

    Raises InvalidInputError for batches whose columns have no common type, and whatever `batches`
    raises.
    """
    parts = list(batches)
    first = parts[0].schema
    if all(each.schema.equals(first) for each in parts):
        return pa.Table.from_batches(parts)
    try:
        return pa.concat_tables(map(_plain, parts), promote_options="permissive")
    except pa.ArrowException as error:
        reason = str(error).partition("\n")[0].rstrip(". ")
        raise InvalidInputError(
            f"The parts of the data have columns without a common type: {reason}."
        ) from error


def _plain(batch: pa.RecordBatch) -> pa.Table:
    """Return rows with the types of a table, of which there are fewer than of Arrow."""
    schema = arrow_schema(schema_from_arrow(batch.schema))
    return pa.Table.from_batches([batch]).cast(schema)
