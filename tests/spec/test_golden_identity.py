"""A log of identity columns, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.columns.identity import IdentityCounter
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DrawIdentity,
    DropRowSet,
    DropTable,
    Restore,
)
from colonnade.manifests.model.schema import (
    IdentityColumn,
    SchemaField,
    TableSchema,
)
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import JOB, ORDERS, GoldenLog, Writer, add, contents, rowset, states

ID = SchemaField(
    id=1,
    name="id",
    type="int",
    nullable=False,
    identity=IdentityColumn(start=100, step=-3, always=False),
)
KEY = SchemaField(id=2, name="key", type="long", nullable=False, identity=IdentityColumn())
FIRST = TableSchema(fields=(ID, KEY))
WIDE = ID.model_copy(update={"type": "long"})


def draw(column: int, count: int) -> DrawIdentity:
    return DrawIdentity(table=ORDERS, column=column, count=count, job=JOB)


def numbered(number: int, low: int, high: int) -> Any:
    statistics = {
        1: ColumnStatistics(min=f"i:{low}", max=f"i:{high}"),
        2: ColumnStatistics(min="i:1", max="i:10"),
    }
    return rowset(number, statistics=statistics)


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=FIRST, next_column_id=3)
    commit("create_table", create)
    commit("draw_identity", draw(1, 10), draw(2, 10))
    commit("append", *add(numbered(1, 73, 100)))
    commit("append", *add(numbered(2, -49, 500)))
    altered = AlterSchema(
        table=ORDERS,
        table_schema=TableSchema(fields=(WIDE,)),
        schema_id=1,
        next_column_id=3,
    )
    commit("alter_table", altered)
    commit("draw_identity", draw(1, 2**40))
    commit("append", *add(numbered(3, -52, -52)))
    restored = Restore(table=ORDERS, epoch=3, table_schema=FIRST)
    live = writer.live()
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 2),))
    commit("restore", dropped, restored, *add(live[0].stored_entry))
    again = create.model_copy(update={"identities": writer.state.table("orders").identities})
    commit("restore", DropTable(table=ORDERS), again, *add(live[0].stored_entry))


def add_identities(snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["identities"] = {
        table.name: [each.model_dump() for each in table.identities]
        for table in snapshot.tables.values()
    }


LOG = GoldenLog("log-v1-identity", write, partial(states, add=add_identities))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_the_last_values_never_go_back() -> None:
    found = [state["identities"].get("orders", []) for state in LOG.expected().values()]
    last = {
        column: [c["last"] for each in found for c in each if c["column"] == column]
        for column in (1, 2)
    }
    assert last[2] == sorted(last[2])
    assert last[1] == sorted(last[1], reverse=True)
    assert IdentityCounter(column=2, last=10).model_dump() in found[-1]
