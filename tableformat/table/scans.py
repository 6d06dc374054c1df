"""Plan the scans of an open table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from colonnade.manifests.clock import moment
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import Predicate, Where, parse_predicate
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.open_rowsets import BegunScan, open_ahead
from colonnade.tableformat.scan.order import Order, check_order
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.table.epochs.time_travel import seen_ms
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.table.scan_source import TableSource


def scan_table(
    table: OpenTable,
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    *,
    epoch: int | None = None,
    timestamp: datetime | str | None = None,
    tag: str | None = None,
    schema_epoch: int | None = None,
    order: Order | None = None,
    seen_at: datetime | str | None = None,
) -> Scan:
    """Plan to read columns of the rows that meet a condition; see `ArrowTable.scan`."""
    check_order(order)
    predicate = None if where is None else parse_predicate(where)
    begun: BegunScan | None = None
    if all(each is None for each in (epoch, timestamp, tag, schema_epoch, order, seen_at)):
        snapshot, begun = _refresh_and_open(table, columns, predicate)
    else:
        snapshot = table.snapshot_at(epoch, timestamp, tag)
    found = table.location.require_at(snapshot, table.proven)
    pinned = any(each is not None for each in (epoch, timestamp, tag))
    seen = seen_ms(table.log.reader, snapshot, pinned=pinned, seen_at=seen_at)
    shown = found
    if schema_epoch is not None:
        other = table.snapshot_at(schema_epoch)
        shown = with_columns_of(found, table.location.require_at(other, table.proven))
    again = partial(
        _scan_again,
        replace(table.location, opening=None),
        epoch=snapshot.epoch,
        schema_epoch=schema_epoch,
        order=order,
        seen=seen,
    )
    source = TableSource(table.log, found, snapshot.epoch, shown, order, seen, again=again)
    if begun is None or begun.table is not found:
        return source.scan(columns, predicate)
    plan = plan_scan(begun.view, snapshot.epoch, columns, begun.predicate)
    return Scan(table.log.store, plan, source, predicate, begun.ahead)


def _refresh_and_open(
    table: OpenTable, columns: Sequence[str] | None, predicate: Predicate | None
) -> tuple[Snapshot, BegunScan | None]:
    """Look for newer epochs. Behind a network, open RowSets of the last state side by side."""
    seen, log = table.last_seen, table.log
    last = None if seen is None or log.store.parallel == 1 else table.location.find(seen)
    # The names are read twice, which not everything allows that users give.
    known = columns is None or isinstance(columns, list | tuple)
    if seen is None or last is None or not known:
        return table.refresh(), None

    def open_last() -> BegunScan | None:
        # The state may be old. Without its columns or objects, nothing is opened ahead.
        with suppress(ColonnadeError):
            chosen = by_partitions(log, last, predicate)
            may_match, now = rowset_filter(last, chosen), log.reader.query_ms(seen)
            view = log.rowsets.view(last, may_match, now)
            plan = plan_scan(view, seen.epoch, columns, chosen)
            return BegunScan(last, chosen, view, open_ahead(log.store, plan))
        return None

    begun, newest = log.store.both(open_last, table.refresh)
    return newest, begun


def _scan_again(
    location: Location,
    columns: Sequence[str],
    where: Predicate | None,
    limit: int | None,
    *,
    seen: int,
    **state: Any,
) -> Scan:
    """Plan a scan in another process, of a state as it was seen at a time in ms since 1970 UTC.

    Raises the errors of `ArrowTable.scan`.
    """
    table = OpenTable(location, Log(location.store), None)
    scan = scan_table(table, columns, where, seen_at=moment(seen), **state)
    return scan if limit is None else scan.limit(limit)
