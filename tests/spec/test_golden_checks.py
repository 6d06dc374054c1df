"""A log with constraints, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#constraints
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.operations import (
    AddCheck,
    AlterSchema,
    CreateTable,
    DropCheck,
    DropRowSet,
    Restore,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import ORDERS, TRIPS, GoldenLog, Writer, add, contents, rowset, states

ID = SchemaField(id=1, name="id", type="long", nullable=False)
PRICE = SchemaField(id=2, name="price", type="int")
SCHEMA = TableSchema(fields=(ID, PRICE))
WIDER = PRICE.model_copy(update={"type": "long"})
PAID = CheckConstraint(name="paid", sql="price > 0", columns=(2,))
SHORT = CheckConstraint(name="Wie «kurz»", sql="length(string(price)) < id", columns=(1, 2))


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=3)
    commit("create_table", create)
    commit("append", *add(rowset(1)))
    commit("alter_table", AddCheck(table=ORDERS, constraint=PAID))
    commit("append", *add(rowset(2)))
    wider = TableSchema(fields=(ID, WIDER))
    alter = AlterSchema(table=ORDERS, table_schema=wider, schema_id=1, next_column_id=4)
    commit("alter_table", alter, AddCheck(table=ORDERS, constraint=SHORT))
    commit("alter_table", DropCheck(table=ORDERS, name="paid"))
    gone = DropRowSet(table=ORDERS, rowsets=((0, 1),))
    back = Restore(table=ORDERS, epoch=4, table_schema=SCHEMA, constraints=(PAID,))
    commit("restore", gone, back, *add(rowset(1), rowset(2)))
    gone = DropRowSet(table=ORDERS, rowsets=((2, 3),))
    none = Restore(table=ORDERS, epoch=2, constraints=())
    commit("restore", gone, none, *add(rowset(1)))
    made = create.model_copy(update={"table": TRIPS, "name": "trips", "constraints": (PAID, SHORT)})
    commit("create_table", made)


def add_constraints(snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["constraints"] = {
        table.name: [each.model_dump(mode="json") for each in table.constraints]
        for table in snapshot.tables.values()
    }


LOG = GoldenLog("log-v1-checks", write, partial(states, add=add_constraints))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
