"""A log that alters tables, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.test_golden_alter` makes the files; existing ones are never edited.
Specification: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from manifests.change import Change
from manifests.ids import new_transaction_id
from manifests.log import Log, create_database
from manifests.operations import (
    AlterSchema,
    CreateTable,
    DropTable,
    Operation,
    RenameTable,
    SetComment,
    SetProperties,
)
from manifests.schema import SchemaField, TableSchema
from manifests.store import LocalStore, MemoryStore, ObjectStore
from tests.spec.test_golden_log import (
    INTERVAL,
    ORDERS,
    SCHEMA,
    TRIPS,
    add,
    contents,
    counted_ids,
    rowset,
    states,
)

GOLDEN = Path(__file__).parent / "golden" / "log-v1-alter"

ALTERED = TableSchema(
    fields=(
        SchemaField(id=12, name="note", type="string", comment="«new»"),
        SCHEMA.fields[0].model_copy(update={"name": "key", "nullable": True}),
        *SCHEMA.fields[3:],
    )
)


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on."""
    orders = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=12,
        properties={"owner": "me", "unit": "km"},
        comment="old",
    )
    trips = CreateTable(
        table=TRIPS, name="orders", table_schema=ALTERED, next_column_id=13, comment="as it was"
    )
    alter = AlterSchema(table=ORDERS, table_schema=ALTERED, schema_id=1, next_column_id=13)
    return (
        ("create_table", (orders,)),
        ("append", add(rowset(1), rowset(2))),
        (
            "alter_table",
            (
                alter,
                SetProperties(table=ORDERS, set={"unit": "«mi»"}, remove=("owner",)),
                SetComment(table=ORDERS, comment="new"),
            ),
        ),
        ("append", add(rowset(3, schema_id=1))),
        ("rename_table", (RenameTable(table=ORDERS, name="sales «né»"),)),
        ("create_table", (trips,)),
        ("alter_table", (SetComment(table=TRIPS),)),
        ("replace_table", (DropTable(table=TRIPS), trips.model_copy(update={"table": "1" * 16}))),
    )


def written() -> MemoryStore:
    """The log as today's writer makes it."""
    store = MemoryStore()
    ticks = itertools.count(1_700_000_000_000, 1000)
    log = Log(store, clock_ms=lambda: next(ticks), checkpoint_interval=INTERVAL, engine="golden")
    with counted_ids():
        state = create_database(
            store, lone_table=False, clock_ms=lambda: next(ticks), engine="golden"
        )
        for name, operations in changes():
            state = log.commit(Change(new_transaction_id(), name, operations), state)
    return store


def golden() -> ObjectStore:
    return LocalStore(str(GOLDEN / "whole"))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert states(golden(), 0) == json.loads((GOLDEN / "states.json").read_text("utf-8"))


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(written()) == contents(golden())


def make() -> None:
    """Write the files; refuses to touch existing ones."""
    GOLDEN.mkdir(parents=True)
    store = written()
    for name, data in contents(store).items():
        golden().put(name, data, sync=False)
    text = json.dumps(states(store, 0), indent=1, ensure_ascii=False)
    (GOLDEN / "states.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    make()
