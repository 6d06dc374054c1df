"""A log with primary keys, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#primary-keys
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Restore,
    SetPrimaryKey,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import ORDERS, TRIPS, GoldenLog, Writer, add, contents, rowset, states

DAY = SchemaField(id=1, name="day", type="date", nullable=False)
NUMBER = SchemaField(id=2, name="number", type="int", nullable=False)
SCHEMA = TableSchema(fields=(DAY, NUMBER))
WIDER = NUMBER.model_copy(update={"type": "long"})


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=3)
    commit("create_table", create)
    commit("append", *add(rowset(1)))
    commit("alter_table", SetPrimaryKey(table=ORDERS, columns=(2, 1)))
    commit("append", *add(rowset(2)))
    wider = TableSchema(fields=(DAY, WIDER))
    commit(
        "alter_table",
        AlterSchema(table=ORDERS, table_schema=wider, schema_id=1, next_column_id=4),
        SetPrimaryKey(table=ORDERS, columns=(2,)),
    )
    commit("alter_table", SetPrimaryKey(table=ORDERS, columns=()))
    gone = DropRowSet(table=ORDERS, rowsets=((0, 1),))
    back = Restore(table=ORDERS, epoch=4, table_schema=SCHEMA, primary_key=(2, 1))
    commit("restore", gone, back, *add(rowset(1), rowset(2)))
    gone = DropRowSet(table=ORDERS, rowsets=((2, 3),))
    none = Restore(table=ORDERS, epoch=2, primary_key=())
    commit("restore", gone, none, *add(rowset(1)))
    made = {"table": TRIPS, "name": "trips", "primary_key": (1, 2)}
    commit("create_table", create.model_copy(update=made))


def add_keys(snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["primary_keys"] = {table.name: [*table.primary_key] for table in snapshot.tables.values()}


LOG = GoldenLog("log-v1-primary-key", write, partial(states, add=add_keys))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_each_state_has_its_key() -> None:
    found = [*LOG.expected().values()]
    keys = [each["primary_keys"].get("orders", []) for each in found]
    assert keys == [[], [], [], [2, 1], [2, 1], [2], [], [2, 1], [], []]
    assert found[-1]["primary_keys"]["trips"] == [1, 2]
