"""A log with generated columns, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Restore,
)
from colonnade.manifests.model.schema import Generation, SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import ORDERS, TRIPS, GoldenLog, Writer, add, contents, rowset, states

ID = SchemaField(id=1, name="id", type="long", nullable=False)
TIME = SchemaField(id=2, name="at", type="timestamp")
DAY = SchemaField(
    id=3,
    name="day",
    type="date",
    generated=Generation(sql="CAST(at AS DATE)", columns=(2,), time_zone="Europe/Zürich"),
)
TEXT = SchemaField(
    id=4,
    name="both",
    type="string",
    comment="as it is spoken: «né»",
    generated=Generation(sql="concat(id, ' ', `at`)", columns=(1, 2), time_zone="UTC"),
)
SCHEMA = TableSchema(fields=(ID, TIME, DAY, TEXT))


def write(writer: Writer) -> None:
    commit = writer.commit
    plain = TableSchema(fields=(ID,))
    commit(
        "create_table", CreateTable(table=TRIPS, name="trips", table_schema=plain, next_column_id=2)
    )
    create = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=5)
    commit("create_table", create)
    commit("append", *add(rowset(1)))
    renamed = TEXT.model_copy(update={"name": "text"})
    fewer = TableSchema(fields=(renamed, TIME, ID))
    commit(
        "alter_table",
        AlterSchema(table=ORDERS, table_schema=fewer, schema_id=1, next_column_id=5),
    )
    commit("append", *add(rowset(2)))
    gone = DropRowSet(table=ORDERS, rowsets=((0, 1),))
    back = Restore(table=ORDERS, epoch=3, table_schema=SCHEMA)
    commit("restore", gone, back, *add(rowset(1)))


def add_generated(snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["generated"] = {
        table.name: {
            field.name: field.generated.model_dump(mode="json")
            for field in table.schema.fields
            if field.generated is not None
        }
        for table in snapshot.tables.values()
    }


LOG = GoldenLog("log-v1-generated", write, partial(states, add=add_generated))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
