"""Small changes, entries and clocks for tests of the log."""

from __future__ import annotations

import itertools
import random
import secrets
from collections.abc import Mapping, Sequence
from multiprocessing.queues import SimpleQueue

import numpy as np
import pytest
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId, new_transaction_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnStatistics,
    DeletionVectorEntry,
    RowSetEntry,
    SortField,
)
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    CreateTable,
    DropRowSet,
    DropTable,
    Operation,
    Txn,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore

ORDERS = TableId("0123456789abcdef")
TRIPS = TableId("fedcba9876543210")

SCHEMA = TableSchema(
    fields=(SchemaField(id=1, name="id", type="long"), SchemaField(id=2, name="x", type="double"))
)


def table(
    table_id: str = ORDERS, name: str = "orders", sorted_by: int | None = None
) -> CreateTable:
    """A table of two columns."""
    key = () if sorted_by is None else (SortField(column=sorted_by),)
    return CreateTable(
        table=table_id, name=name, table_schema=SCHEMA, next_column_id=3, sort_key=key
    )


def entry(rows: int = 10, low: int = 0, data: str | None = None) -> RowSetEntry:
    """A RowSet whose column 1 holds `low` to `low + rows - 1`."""
    return RowSetEntry(
        object=secrets.token_hex(16),
        place="packed" if data is None else "inline",
        rows=rows,
        bytes=100 + rows,
        cuts=rows,
        footer=ByteCheck(length=40, crc32c=7),
        statistics={
            1: ColumnStatistics(min=f"i:{low}", max=f"i:{low + rows - 1}"),
            2: ColumnStatistics(min="f:-0.5", max="f:inf", nulls=1, nans=2, exact=False),
        },
        data=data,
    )


def vector(cardinality: int, before: DeletionVectorEntry | None = None) -> DeletionVectorEntry:
    """A deletion vector that replaces `before`."""
    return DeletionVectorEntry(
        object=secrets.token_hex(16),
        cardinality=cardinality,
        check=ByteCheck(length=20, crc32c=9),
        predecessor=before.object if before else None,
        data="AAAA",
    )


def change(*operations: Operation, name: str = "test") -> Change:
    """A change with a transaction id of its own."""
    return Change(new_transaction_id(), name, operations)


def epoch_after(base: Snapshot, made: Change) -> Epoch:
    """The epoch of a change right after a state, as a writer that checks nothing would send it."""
    return Epoch(
        epoch=base.epoch + 1,
        transaction=made.transaction,
        previous=base.transaction,
        base=base.epoch,
        time_ms=base.time_ms + 1,
        operation=made.operation,
        engine="test",
        ops=made.ops,
    )


def check_refused(log: Log, base: Snapshot, wrong: Sequence[Operation], text: str) -> None:
    """Require that operations are refused with a text, and that nothing is committed."""
    with pytest.raises(InvalidInputError, match=text):
        log.commit(change(*wrong), base)
    assert log.reader.read_head() == base


def append(*rowsets: RowSetEntry, to: str = ORDERS) -> Change:
    """Add RowSets to a table."""
    added = rowsets or (entry(),)
    return change(*(AddRowSet(table=to, rowset=each) for each in added), name="append")


def overwrite(*ranges: tuple[int, int], to: str = ORDERS) -> Change:
    """Replace these RowSets of a table by a new one."""
    operations = (DropRowSet(table=to, rowsets=ranges), AddRowSet(table=to, rowset=entry()))
    return change(*operations, name="overwrite")


def delete(rowset: int, new: DeletionVectorEntry, to: str = ORDERS) -> Change:
    """Delete rows of one RowSet."""
    return change(AddDeletionVector(table=to, rowset=rowset, vector=new), name="delete")


def compact() -> Change:
    """Replace the RowSets 0 and 1, of ten rows each, by one of twenty rows."""
    inputs = tuple(CompactionInput(rowset=number, rows=10) for number in (0, 1))
    outputs = (CompactionOutput(rowset=entry(20)),)
    operation = Compaction(table=ORDERS, inputs=inputs, outputs=outputs)
    return change(operation, name="compaction")


def land(versions: Mapping[str, int], to: str = ORDERS) -> Change:
    """Append a RowSet with batches of applications."""
    batches = (Txn(table=to, app=app, version=version) for app, version in versions.items())
    return change(AddRowSet(table=to, rowset=entry()), *batches, name="append")


def drop(table_id: str = ORDERS) -> Change:
    """Drop a table."""
    return change(DropTable(table=table_id), name="drop_table")


def make_log(
    store: ObjectStore | None = None,
    interval: int = 64,
    start_ms: int = 1000,
    limits: Limits = LIMITS,
) -> Log:
    """A log that never waits, whose clock advances by a millisecond a look."""
    ticks = itertools.count(start_ms)
    return Log(
        store or MemoryStore(),
        clock_ms=lambda: next(ticks),
        checkpoint_interval=interval,
        pause=lambda _: None,
        limits=limits,
    )


def database(store: ObjectStore, *, lone_table: bool = False) -> Snapshot:
    """A new, empty database, made at the time of 0 ms."""
    return create_database(store, lone_table=lone_table, clock_ms=lambda: 0, pause=lambda _: None)


def with_orders(store: ObjectStore, log: Log) -> Snapshot:
    """A new database whose epoch 1 creates the table `orders`."""
    return log.commit(change(table(), name="create_table"), database(store))


def table_state(schema: TableSchema = SCHEMA, added: Sequence[LiveRowSet] = ()) -> TableState:
    """The table `orders` with some columns and RowSets, without a log."""
    return TableState(
        id=ORDERS,
        name="orders",
        schema=schema,
        schema_id=0,
        next_column_id=1 + len(schema.fields),
        sort_orders=((),),
        stored_properties={},
        comment=None,
        created_epoch=1,
        changed_epoch=1,
        rowsets=RowSets(added=tuple(added)),
    )


def live(log: Log | LogReader, state: TableState) -> list[LiveRowSet]:
    """All RowSets of a table."""
    return log.rowsets.read(state)


def replay(store: ObjectStore, epoch: int | None = None) -> Snapshot:
    """The head, or the state at an epoch, without any checkpoint."""
    bare = MemoryStore()
    # Epoch 0 is first, because all later epochs need it.
    for info in sorted(store.list("_manifest/0"), key=lambda each: each.name):
        bare.put(info.name, store.get(info.name), sync=False)
    return LogReader(bare).read_at(epoch)


def contents(log: Log | LogReader, snapshot: Snapshot) -> dict[str, object]:
    """Everything that a snapshot says, without regard to where its entries lie."""
    return {
        "head": (snapshot.database, snapshot.epoch, snapshot.transaction, snapshot.time_ms),
        "features": (snapshot.reader_features, snapshot.writer_features),
        "anchors": (snapshot.anchors, snapshot.anchor_list),
        "tables": {
            t.id: (t.name, t.schema, t.sort_key, t.created_epoch, t.changed_epoch, t.next_rowset_id)
            for t in snapshot.tables.values()
        },
        "rowsets": {t.id: live(log, t) for t in snapshot.tables.values()},
        "identities": {t.id: t.identities for t in snapshot.tables.values()},
        "batches": {t.id: dict(t.batches) for t in snapshot.tables.values()},
        "counts": {t.id: t.rowsets.rowset_count for t in snapshot.tables.values()},
    }


def holds(value: int, column: int = 1) -> BoundsFilter:
    """Keeps what may contain `value`."""

    def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
        found = bounds.columns.get(column)
        if found is None:
            return np.ones(len(bounds.rows), bool)
        low, high = found.low.astype(object), found.high.astype(object)
        return ~found.known | np.asarray((low <= value) & (high >= value), bool)

    return may_match


def append_many(root: str, seed: int, results: SimpleQueue[list[str]]) -> None:
    """Append 25 times to `orders`, sometimes from an old base: the work of a racing process."""
    log = Log(LocalStore(root), checkpoint_interval=16)
    state = log.reader.read_head()
    order = random.Random(seed)
    objects = []
    for _ in range(25):
        mine = entry(data="QUJD")
        if order.random() < 0.5:
            state = log.reader.refresh(state)
        state = log.commit(append(mine), state)
        objects.append(mine.object)
    results.put(objects)
