"""A log of a partitioned table, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.test_golden_partitions` makes the files; existing ones are never edited.
Specification: docs/spec/partitions.md
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from manifests.change import Change
from manifests.entries import PartitionField, RowSetEntry
from manifests.ids import new_transaction_id
from manifests.log import Log, create_database
from manifests.operations import CreateTable, DropRowSet, Operation, Restore, SetPartitionLayout
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

GOLDEN = Path(__file__).parent / "golden" / "log-v1-partitions"

BY_BUCKET = PartitionField(transform="bucket", column=1, argument=16)
BY_TEXT = (PartitionField(transform="truncate", column=3, argument=2), BY_BUCKET)
BY_VALUE = (PartitionField(transform="identity", column=4),)


def of(number: int, layout: int, *values: str | None) -> RowSetEntry:
    return rowset(number, partition_layout_id=layout, partition=values)


def layout(number: int, *fields: PartitionField, table: str = ORDERS) -> SetPartitionLayout:
    return SetPartitionLayout(table=table, layout_id=number, fields=fields)


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on; epochs 4 and 8 are checkpoints."""
    orders = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=12,
        partition_fields=BY_TEXT,
    )
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    again = (of(2, 1, "s:né", None), of(1, 1, "s:", "i:3"))
    return (
        ("create_table", (trips,)),
        ("create_table", (orders,)),
        ("append", add(again[1], again[0])),
        ("append", add(*(of(n, 1, None, "i:15") for n in range(3, 9)))),
        ("alter_table", (layout(2, *BY_VALUE), layout(1, BY_BUCKET, table=TRIPS))),
        ("append", add(of(9, 2, "b:/w=="), of(10, 2, None), of(11, 1, None, "i:15"))),
        ("alter_table", (layout(0),)),
        ("append", add(rowset(12))),
        (
            "restore",
            (
                DropRowSet(table=ORDERS, rowsets=((0, 11),)),
                Restore(table=ORDERS, epoch=3, partition_layout_id=1),
                *add(again[1], again[0]),
            ),
        ),
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
        for table in log.read_at(int(number)).tables.values():
            state["tables"][table.name]["layouts"] = [
                [field.model_dump(exclude_none=True) for field in fields]
                for fields in table.partition_layouts
            ]
            state["tables"][table.name]["layout"] = table.partition_layout_id
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
