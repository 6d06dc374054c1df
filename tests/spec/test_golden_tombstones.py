"""A log with tombstones, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#tombstones
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.operations import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CreateTable,
    Operation,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.tombstones import adds_tombstones, are_tombstones
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import (
    ORDERS,
    GoldenLog,
    Writer,
    add,
    contents,
    delete,
    rowset,
    states,
    vector,
)

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="id", type="long", nullable=False),
        SchemaField(id=2, name="at", type="long"),
    )
)


def buried(number: int) -> AddRowSet:
    entry = rowset(number)
    every = vector(number + 50, entry.rows, data="AAAA")
    return AddRowSet(table=ORDERS, rowset=entry, vector=every)


def emptied(writer: Writer, *numbers: int) -> Compaction:
    """A compaction without outputs of RowSets of tombstones."""
    live = {
        each.id: each
        for each in writer.log.rowsets.read(writer.state.table("orders"), which="tombstones")
    }
    inputs = tuple(
        CompactionInput(rowset=i, rows=live[i].entry.rows, vector=live[i].vector) for i in numbers
    )
    return Compaction(table=ORDERS, inputs=inputs, outputs=())


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=3,
        primary_key=(1,),
        properties={"sequence": "2"},
    )
    commit("create_table", create)
    commit("append", *add(rowset(1)))
    commit("delete", delete(0, vector(30, 3, data="AAAA")), buried(2))
    commit("delete", buried(3))
    commit("compact", emptied(writer, 1, 2), buried(4))
    commit("compact", emptied(writer, 3))


def add_tombstones(log: LogReader, snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["tombstones"] = {
        table.name: [each.id for each in log.rowsets.read(table, which="tombstones")]
        for table in snapshot.tables.values()
    }


def read(store: Any) -> dict[str, Any]:
    return states(store, add=partial(add_tombstones, LogReader(store)))


LOG = GoldenLog("log-v1-tombstones", write, read)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_readers_of_rows_see_the_same_rowset_while_tombstones_come_and_go() -> None:
    found = [*LOG.expected().values()]
    remembered = [each["tombstones"].get("orders", []) for each in found]
    assert remembered == [[], [], [], [1], [1, 2], [3], []]
    rows = [[each[0] for each in state["tables"]["orders"]["rowsets"]] for state in found[2:]]
    assert rows == [[0]] * len(rows)


def test_a_rowset_has_tombstones_if_all_its_rows_are_deleted() -> None:
    operation: Operation = buried(9)
    assert adds_tombstones(operation)
    assert not adds_tombstones(*add(rowset(9)))
    entry = rowset(9)
    assert not are_tombstones(entry, None)
    assert not are_tombstones(entry, vector(3, entry.rows - 1))
