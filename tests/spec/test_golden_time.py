"""A log with tags, pins and a restore, as an earlier writer left it, is read and written the same.

`python -m tests.spec.test_golden_time` makes the files; existing ones are never edited.
Specification: docs/spec/operations.md#restoring-tables
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from manifests.change import Change
from manifests.ids import new_transaction_id
from manifests.log import Log, create_database
from manifests.operations import (
    AddRowSet,
    AlterSchema,
    CreateTable,
    DropRowSet,
    Operation,
    Pin,
    Restore,
    Tag,
    Unpin,
    Untag,
)
from manifests.schema import TableSchema
from manifests.store import LocalStore, MemoryStore, ObjectStore
from tests.spec.test_golden_log import (
    INTERVAL,
    ORDERS,
    SCHEMA,
    add,
    contents,
    counted_ids,
    delete,
    rowset,
    states,
    vector,
)

GOLDEN = Path(__file__).parent / "golden" / "log-v1-time"
FEWER = TableSchema(fields=SCHEMA.fields[:3])


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on; epochs 4 and 8 are checkpoints."""
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    alter = AlterSchema(table=ORDERS, table_schema=FEWER, schema_id=1, next_column_id=12)
    gone = vector(20, 1, data="AAAA")
    return (
        ("create_table", (orders,)),
        ("append", add(rowset(1), rowset(2))),
        ("delete", (delete(0, gone),)),
        ("tag", (Tag(name="«né»", epoch=3), Tag(name="old", epoch=0))),
        ("pin", (Pin(name="reader", epoch=2, until_ms=1_700_000_900_000),)),
        ("alter_table", (alter, *add(rowset(3, schema_id=1)))),
        (
            "pin",
            (
                Pin(name="reader", epoch=2, until_ms=1_700_000_950_000),
                Pin(name="other", epoch=6, until_ms=0),
                Untag(name="old"),
            ),
        ),
        (
            "restore",
            (
                DropRowSet(table=ORDERS, rowsets=((0, 2),)),
                Restore(table=ORDERS, epoch=3, table_schema=SCHEMA),
                AddRowSet(table=ORDERS, rowset=rowset(1), vector=gone),
                *add(rowset(2)),
            ),
        ),
        ("unpin", (Unpin(name="other"), Restore(table=ORDERS, epoch=8))),
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


def described(store: ObjectStore) -> dict[str, object]:
    """Every state, with what only states of such a log have."""
    log = Log(store)
    found = states(store, 0)
    for number, state in found.items():
        snapshot = log.read_at(int(number))
        state["tags"] = dict(snapshot.tags)
        state["pins"] = {p.name: [p.epoch, p.until_ms] for p in snapshot.pins.values()}
    return found


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert described(golden()) == json.loads((GOLDEN / "states.json").read_text("utf-8"))


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(written()) == contents(golden())


def make() -> None:
    """Write the files; refuses to touch existing ones."""
    GOLDEN.mkdir(parents=True)
    store = written()
    for name, data in contents(store).items():
        golden().put(name, data, sync=False)
    text = json.dumps(described(store), indent=1, ensure_ascii=False)
    (GOLDEN / "states.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    make()
