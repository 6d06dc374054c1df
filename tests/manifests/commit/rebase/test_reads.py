"""What a statement has read, and the keys that it inserts, against rows of concurrent writers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pyroaring import BitMap

from colonnade.manifests.commit.change import Change, DeletedRows, KeyGuard, TableRead
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.operations import AddRowSet, AlterSchema, SetProperties
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    entry,
    holds,
    live,
    make_log,
    with_orders,
)


def opened(isolation: str | None = None, limits: Limits = LIMITS) -> tuple[Log, Snapshot]:
    """`orders` with ids 0 to 9 and 100 to 109 in two RowSets."""
    store = MemoryStore()
    log = make_log(store, limits=limits)
    state = log.commit(append(entry(low=0), entry(low=100)), with_orders(store, log))
    if isolation is not None:
        state = log.commit(change(SetProperties(table=ORDERS, set={"isolation": isolation})), state)
    return log, state


def reading(read: TableRead, *ops: AddRowSet) -> Change:
    made = ops or (AddRowSet(table=ORDERS, rowset=entry(low=500)),)
    return replace(change(*made, name="insert"), reads=(read,))


def delete_in(log: Log, state: Snapshot, index: int, to: str = ORDERS) -> Change:
    rowset = live(log, state.tables[to])[index]  # type: ignore[index]
    return replace(change(name="delete"), rows=(DeletedRows(to, rowset, "delete", BitMap([1])),))


@pytest.mark.parametrize("level", [None, "snapshot", "serializable"])
def test_serializable_statements_meet_rows_that_came_where_they_read(level: str | None) -> None:
    log, base = opened(level)
    log.commit(append(entry(low=40)), base)
    log.commit(reading(TableRead(ORDERS, holds(7))), base)
    statement = reading(TableRead(ORDERS, holds(44)))
    if level == "serializable":
        with pytest.raises(ConflictError, match="Rows of table .orders. that the statement reads"):
            log.commit(statement, base)
    else:
        log.commit(statement, base)


@pytest.mark.parametrize("index", [0, 1])
def test_serializable_statements_conflict_with_deleted_rows_that_they_may_have_read(
    index: int,
) -> None:
    log, base = opened("serializable")
    log.commit(delete_in(log, base, index), base)
    statement = reading(TableRead(ORDERS, holds(105)))
    if index == 1:
        with pytest.raises(ConflictError, match=r"epoch 4 \(delete\)"):
            log.commit(statement, base)
    else:
        log.commit(statement, base)


def test_a_table_that_becomes_serializable_protects_from_then_on() -> None:
    log, base = opened()
    state = log.commit(change(SetProperties(table=ORDERS, set={"isolation": "serializable"})), base)
    log.commit(append(entry(low=40)), state)
    with pytest.raises(ConflictError):
        log.commit(reading(TableRead(ORDERS, holds(44))), base)


def test_an_overwrite_by_a_condition_conflicts_with_added_rows_that_it_may_select() -> None:
    log, base = opened()
    log.commit(append(entry(low=40)), base)
    log.commit(reading(TableRead(ORDERS, holds(105), overwrites=True)), base)
    for wanted in (holds(44), None):
        with pytest.raises(ConflictError):
            log.commit(reading(TableRead(ORDERS, wanted, overwrites=True)), base)


def test_keys_are_compared_with_rows_that_concurrent_writers_added_also_in_segments() -> None:
    log, base = opened(limits=Limits(listed_rowsets=2))
    others = [entry(low=n) for n in (20, 30, 40)]
    log.commit(append(*others), base)
    log.commit(append(entry(low=60)), log.reader.read_head())
    seen: list[str] = []

    def meets(added: Sequence[LiveRowSet]) -> list[LiveRowSet]:
        seen.extend(each.entry.object for each in added)
        return [each for each in added if each.entry.statistics[1].min == "i:60"]

    statement = replace(append(entry(low=70)), keys=(KeyGuard(ORDERS, meets),))
    with pytest.raises(ConflictError, match="Keys that the statement inserts"):
        log.commit(statement, base)
    assert seen[:3] == [each.object for each in others]


@pytest.mark.parametrize("count", [1, 3], ids=["entries", "segment"])
def test_rows_of_a_type_that_their_own_epoch_widens_are_compared_with_reads(count: int) -> None:
    log, base = opened("serializable", Limits(listed_rowsets=2))
    table = base.tables[TableId(ORDERS)]
    first, *others = table.schema.fields
    wider = TableSchema(fields=(first.model_copy(update={"type": "decimal(22,2)"}), *others))
    altered = AlterSchema(
        table=ORDERS,
        table_schema=wider,
        schema_id=table.schema_id + 1,
        next_column_id=table.next_column_id,
    )
    bounds = {1: ColumnStatistics(min="i2:4050", max="i2:4950")}
    added = [entry().model_copy(update={"statistics": bounds}) for _ in range(count)]
    theirs = append(*added)
    log.commit(replace(theirs, ops=(altered, *theirs.ops)), base)
    with pytest.raises(ConflictError, match="Rows of table .orders. that the statement reads"):
        log.commit(reading(TableRead(ORDERS, holds(7))), base)
