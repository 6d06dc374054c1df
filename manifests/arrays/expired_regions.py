"""What has expired in a table at a time: rows as regions, and values as masks. Pure.

Spec: docs/spec/lifetimes.md#time-of-a-row
"""

from __future__ import annotations

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.lifetimes import column_of
from colonnade.manifests.model.regions import Interval, Mask, Region
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import bound_prefix, decode_bound, encode_bound
from colonnade.manifests.state.snapshot import LiveRowSet, TableState


def expired_regions(table: TableState, now_ms: int) -> tuple[Region, ...]:
    """Return the regions of the rows of a table that have expired at a time (ms since 1970)."""
    lives, found = table.lifetimes, []
    if lives is None:
        return ()
    if lives.rows_ms is not None:
        found.append(_until(_time_column(table), now_ms - lives.rows_ms))
    if lives.expires_column is not None:
        found.append(_until(column_of(lives.expires_column, table.schema), now_ms))
    return tuple(found)


def expired_values(table: TableState, now_ms: int) -> tuple[Mask, ...]:
    """Return the masks of the values of a table that have expired at a time (ms since 1970)."""
    lives = table.lifetimes
    if lives is None:
        return ()
    time = _time_column(table)
    return tuple(
        Mask(column=column_of(each.column, table.schema).id, region=_until(time, now_ms - each.ms))
        for each in lives.columns
    )


def expired_share(table: TableState, rowset: LiveRowSet, now_ms: int) -> float:
    """Estimate the share of the rows of a RowSet that have expired at a time, from 0 to 1.

    Times count as spread evenly between the bounds in the log. Without bounds, the share is 0.
    """
    return max((_share(rowset, each) for each in expired_regions(table, now_ms)), default=0.0)


def without_expired_bounds(table: TableState, bounds: BoundsTable) -> BoundsTable:
    """Return stored bounds of a table that do not say how many values are NULL where some expire.

    An expired value is NULL, which no bound in the log knows.
    """
    if table.lifetimes is None:
        return bounds
    expiring = {each.column for each in table.lifetimes.columns}
    return bounds.with_open_nulls(expiring) if expiring else bounds


def _share(rowset: LiveRowSet, region: Region) -> float:
    (column,), (interval,) = region.columns, region.intervals
    extent, (_, end) = _extent(rowset.entry, column), interval.bounds(column)
    if extent is None or not isinstance(end, int) or end < extent[0]:
        return 0.0
    low, high, nulls = extent
    inside = min(1.0, (end - low + 1) / (high - low + 1))
    return float(inside * (rowset.entry.rows - nulls) / rowset.entry.rows)


def _extent(entry: RowSetEntry, column: SchemaField) -> tuple[int, int, int] | None:
    """Return the least and the greatest time in a column, and its NULLs; None if unknown."""
    if column.id == WRITTEN.id:
        times = entry.written_ms
        return None if times is None else (times[0] * 1000, times[1] * 1000, 0)
    stated = entry.statistics.get(column.id)
    if stated is None or stated.min is None or stated.max is None:
        return None
    low, high = (decode_bound(each, bound_prefix(column.type)) for each in (stated.min, stated.max))
    assert isinstance(low, int)
    assert isinstance(high, int)
    return low, high, stated.nulls


def _time_column(table: TableState) -> SchemaField:
    assert table.lifetimes is not None
    number = table.lifetimes.time_column
    return WRITTEN if number is None else column_of(number, table.schema)


def _until(column: SchemaField, end_ms: int) -> Region:
    """Return the rows whose time is not after an end. A date begins at midnight UTC."""
    end = end_ms // DAY_MS if column.type == "date" else end_ms * 1000
    interval = Interval(column=column.id, high=encode_bound(end, bound_prefix(column.type)))
    return Region(intervals=(interval,), columns=(column,))
