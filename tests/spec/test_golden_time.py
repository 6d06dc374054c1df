"""A log with tags, pins and a restore, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#restoring-tables
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.operations import (
    AddRowSet,
    AlterSchema,
    CreateTable,
    DropConsumer,
    DropRowSet,
    Operation,
    Pin,
    Restore,
    SetConsumer,
    Tag,
    Unpin,
    Untag,
)
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    delete,
    rowset,
    states,
    vector,
)

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
        ("alter_table", (alter, *add(rowset(3)))),
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
        ("set_consumer", (gold(8, None), gold(3, None, "«né»"))),
        ("transaction", (gold(10, 8), DropConsumer(name="«né»"))),
    )


def gold(seen: int, before: int | None, name: str = "gold") -> SetConsumer:
    until, keep = 1_700_000_900_000, 86_400_000
    return SetConsumer(
        name=name, source=ORDERS, seen=seen, before=before, until_ms=until, keep_ms=keep
    )


def write(writer: Writer) -> None:
    for name, operations in changes():
        writer.commit(name, *operations)


def add_tags_and_pins(snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["tags"] = dict(snapshot.tags)
    state["consumers"] = {c.name: [c.seen, c.until_ms] for c in snapshot.consumers.values()}
    state["pins"] = {p.name: [p.epoch, p.until_ms] for p in snapshot.pins.values()}


LOG = GoldenLog("log-v1-time", write, partial(states, add=add_tags_and_pins))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
