"""Columns that a table does not show, which say of its rows when they came. Pure.

Statistics of a RowSet have them like other columns. A RowSet without a column segment of one has
the same value in every row: the least one of its statistics.
Spec: docs/spec/operations.md#hidden-columns
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import decode_bound, encode_bound

WRITTEN = SchemaField(id=2_147_483_001, name="_written", type="timestamp")
"""The time when a row was written, in microseconds since 1970 UTC."""

CLEANED = SchemaField(id=2_147_483_002, name="_cleaned", type="long")
"""The last epoch whose range tombstone a row has met. Every row of a RowSet has the same one."""

HIDDEN_COLUMNS = (WRITTEN, CLEANED)


@lru_cache
def written_at(value: int) -> SchemaField:
    """Return the column `_written` of RowSets that store no values of it."""
    return WRITTEN.model_copy(update={"initial": encode_bound(value)})


def with_hidden(fields: Iterable[SchemaField]) -> Iterator[SchemaField]:
    """Yield each form of these columns that RowSets may have, and the hidden columns."""
    for field in fields:
        yield from field.as_stored()
    yield from HIDDEN_COLUMNS


def least_value(entry: RowSetEntry, column: SchemaField) -> int | None:
    """Return the least value of a column of whole numbers; None if its writer stated none."""
    found = entry.statistics.get(column.id)
    return None if found is None else _whole(found.min)


def greatest_value(entry: RowSetEntry, column: SchemaField) -> int | None:
    """Return the greatest value of a column of whole numbers; None if its writer stated none."""
    found = entry.statistics.get(column.id)
    return None if found is None else _whole(found.max)


def _whole(bound: str | None) -> int | None:
    if bound is None:
        return None
    value = decode_bound(bound, (int,))
    assert isinstance(value, int)
    return value


def with_value(entry: RowSetEntry, column: SchemaField, value: int) -> RowSetEntry:
    """Return the entry of a RowSet in which every row has this value in a hidden column."""
    bound = encode_bound(value)
    statistics = {**entry.statistics, column.id: ColumnStatistics(min=bound, max=bound)}
    return entry.model_copy(update={"statistics": statistics})
