"""A log that an earlier writer left is read to the same states, and written the same again.

`python -m tests.spec.test_golden_log` makes the files of a new format version; existing ones are
never edited. Specification: docs/spec/epoch-log.md, operations.md, checkpoint.md
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from manifests.change import Change
from manifests.checkpoint_reader import read_hint
from manifests.codec import encode_model
from manifests.entries import (
    ByteCheck,
    ColumnStatistics,
    DeletionVectorEntry,
    RowSetEntry,
    SortField,
)
from manifests.errors import NotFoundError, UnsupportedFormatError
from manifests.ids import new_transaction_id
from manifests.log import Log, create_database
from manifests.log_reader import LogReader
from manifests.names import HINT, epoch_name
from manifests.operations import (
    AddDeletionVector,
    AddRowSet,
    Anchor,
    CreateTable,
    DropRowSet,
    DropTable,
    EnableFeatures,
    Operation,
    Stub,
)
from manifests.schema import ArrayType, MapType, SchemaField, StructType, TableSchema
from manifests.snapshot import Snapshot
from manifests.store import LocalStore, MemoryStore, ObjectStore

GOLDEN = Path(__file__).parent / "golden" / "log-v1"
ORDERS = "0123456789abcdef"
TRIPS = "fedcba9876543210"
INTERVAL = 4
FLOOR = 8

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="id", type="long", nullable=False),
        SchemaField(id=2, name="x", type="double"),
        SchemaField(id=3, name="name", type="varchar(20)", comment="as it is spoken: «né»"),
        SchemaField(id=4, name="key", type="binary"),
        SchemaField(id=5, name="price", type="decimal(38,4)"),
        SchemaField(
            id=6,
            name="nested",
            type=StructType(
                fields=(
                    SchemaField(
                        id=7,
                        name="list",
                        type=ArrayType(element=SchemaField(id=9, name="element", type="int")),
                    ),
                    SchemaField(
                        id=8,
                        name="map",
                        type=MapType(
                            key=SchemaField(id=10, name="key", type="date", nullable=False),
                            value=SchemaField(id=11, name="value", type="interval day to second"),
                        ),
                    ),
                )
            ),
        ),
    )
)

STATISTICS = {
    1: ColumnStatistics(min="i:-9223372036854775808", max="i:9223372036854775807"),
    2: ColumnStatistics(min="f:-inf", max="f:0.1", nulls=1, nans=2, exact=False),
    3: ColumnStatistics(min="s:", max="s:né", exact=False),
    4: ColumnStatistics(min="b:", max="b:/w=="),
    5: ColumnStatistics(min=f"i:-{10**37}", max=f"i:{10**37}"),
    6: ColumnStatistics(nulls=3),
}


@contextmanager
def counted_ids() -> Iterator[None]:
    """New ids count up, and changes spill early, so that every writer makes the same bytes."""
    numbers = itertools.count(1)

    def token_hex(size: int) -> str:
        return f"{next(numbers):0{2 * size}x}"

    with (
        patch("manifests.ids.secrets.token_hex", token_hex),
        patch("manifests.spill.SPILL_COUNT", 4),
    ):
        yield


def rowset(number: int, **changed: Any) -> RowSetEntry:
    fields: dict[str, Any] = {
        "object": f"{number:032x}",
        "place": "packed",
        "rows": 10 * number,
        "bytes": 1000 + number,
        "cuts": 7,
        "footer": ByteCheck(length=300, crc32c=2**32 - number),
        "statistics": {1: ColumnStatistics(min=f"i:{number}", max=f"i:{number + 9}")},
    }
    return RowSetEntry(**{**fields, **changed})


def vector(number: int, cardinality: int, **changed: Any) -> DeletionVectorEntry:
    check = ByteCheck(length=20, crc32c=number)
    return DeletionVectorEntry(
        object=f"{number:032x}", cardinality=cardinality, check=check, **changed
    )


def add(*rowsets: RowSetEntry) -> tuple[Operation, ...]:
    return tuple(AddRowSet(table=ORDERS, rowset=each) for each in rowsets)


def delete(number: int, new: DeletionVectorEntry) -> AddDeletionVector:
    return AddDeletionVector(table=ORDERS, rowset=number, vector=new)


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on; epochs 4 and 8 are checkpoints."""
    orders = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=12,
        sort_key=(SortField(column=1), SortField(column=3, descending=True)),
        properties={"owner": "«né»", "colonnade.x": ""},
        comment='quoted "text"\n',
    )
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    return (
        ("create_table", (orders,)),
        ("create_table", (trips,)),
        (
            "append",
            add(
                rowset(1, statistics=STATISTICS),
                rowset(2, place="directory", cuts=(3, 4, 20), statistics={}, unsynced=True),
                rowset(3, place="inline", data="QUJD", bytes=3, sort_order_id=1),
            ),
        ),
        ("append", add(*(rowset(n) for n in range(4, 10)))),
        (
            "delete",
            (
                delete(0, vector(20, 1, data="AAAA")),
                delete(4, vector(21, 5)),
            ),
        ),
        (
            "delete",
            (delete(0, vector(22, 2, data="AAEC", predecessor=f"{20:032x}")),),
        ),
        (
            "overwrite",
            (DropRowSet(table=ORDERS, rowsets=((1, 2), (5, 7))), *add(rowset(10))),
        ),
        ("drop_table", (DropTable(table=TRIPS),)),
        ("anchor", ()),
        ("enable_features", (EnableFeatures(writer=("golden_example",)),)),
    )


def write_log(store: ObjectStore) -> None:
    """Write the whole log as today's writer does."""
    ticks = itertools.count(1_700_000_000_000, 1000)
    log = Log(store, clock_ms=lambda: next(ticks), checkpoint_interval=INTERVAL, engine="golden")
    with counted_ids():
        state = create_database(
            store, lone_table=False, clock_ms=lambda: next(ticks), engine="golden"
        )
        for name, given in changes():
            operations = given or (anchor_of(store),)
            parameters = {"mode": name, "text": "«né»"}
            change = Change(new_transaction_id(), name, operations, parameters)
            state = log.commit(change, state)


def anchor_of(store: ObjectStore) -> Anchor:
    """The operation that makes the newest checkpoint live data."""
    found = read_hint(store)
    assert found is not None
    ref, _ = found
    assert ref.epoch == FLOOR
    return Anchor(epoch=ref.epoch, root=ref.root, check=ref.check)


def write_retained(store: ObjectStore, whole: ObjectStore) -> None:
    """Write what retention leaves of a log: stubs, the anchored checkpoint, the newest epochs."""
    for info in whole.list(""):
        store.put(info.name, whole.get(info.name), sync=False)
    for number in range(1, FLOOR + 1):
        stub = Stub(removed=number, floor=FLOOR, anchor=anchor_of(whole))
        store.put(epoch_name(number), encode_model(stub), sync=False)


def written() -> dict[str, MemoryStore]:
    """The databases of the golden folder as today's code writes them."""
    whole, retained = MemoryStore(), MemoryStore()
    write_log(whole)
    write_retained(retained, whole)
    return {"whole": whole, "retained": retained}


def contents(store: ObjectStore) -> dict[str, bytes]:
    return {info.name: store.get(info.name) for info in store.list("")}


def described(log: LogReader, state: Snapshot) -> dict[str, Any]:
    """A state in plain JSON, wherever its RowSets are stored."""

    def plain(model: Any) -> Any:
        return model and model.model_dump(mode="json", exclude_defaults=True)

    return {
        "database": state.database,
        "transaction": state.transaction,
        "time_ms": state.time_ms,
        "writer_features": sorted(state.writer_features),
        "anchors": [plain(anchor) for anchor in state.anchors],
        "tables": {
            table.name: {
                "id": table.id,
                "schema": plain(table.schema),
                "next_ids": [table.next_column_id, table.next_rowset_id],
                "sort_key": [plain(field) for field in table.sort_key],
                "properties": dict(table.properties),
                "comment": table.comment,
                "epochs": [table.created_epoch, table.changed_epoch],
                "rowsets": [
                    [each.id, each.epoch, each.row_count, plain(each.entry), plain(each.vector)]
                    for each in log.read_rowsets(table)
                ],
            }
            for table in state.tables.values()
        },
    }


def states(store: ObjectStore, oldest: int) -> dict[str, Any]:
    log = LogReader(store)
    newest = log.read_head().epoch
    return {str(n): described(log, log.read_at(n)) for n in range(oldest, newest + 1)}


def golden(database: str) -> ObjectStore:
    return LocalStore(str(GOLDEN / database))


def expected() -> dict[str, Any]:
    return dict(json.loads((GOLDEN / "states.json").read_text("utf-8")))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert states(golden("whole"), 0) == expected()


def test_every_state_is_read_without_checkpoints() -> None:
    log = MemoryStore()
    for name, data in contents(golden("whole")).items():
        if name != HINT:
            log.put(name, data, sync=False)
    assert states(log, 0) == expected()


def test_what_retention_left_of_an_earlier_log_is_read() -> None:
    left = {n: state for n, state in expected().items() if int(n) >= FLOOR}
    assert states(golden("retained"), FLOOR) == left
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
        LogReader(golden("retained")).read_at(FLOOR - 1)


@pytest.mark.parametrize("database", ["whole", "retained"])
def test_the_same_changes_make_the_same_bytes(database: str) -> None:
    assert contents(written()[database]) == contents(golden(database))


def test_an_earlier_log_with_a_feature_of_writers_is_read_and_not_written() -> None:
    store = MemoryStore()
    for name, data in contents(golden("whole")).items():
        store.put(name, data, sync=False)
    log = Log(store)
    with pytest.raises(UnsupportedFormatError, match="golden_example"):
        log.commit(Change(new_transaction_id(), "append", add(rowset(11))), log.read_head())


def make() -> None:
    """Write the files; refuses to touch existing ones."""
    GOLDEN.mkdir(parents=True)
    stores = written()
    for database, store in stores.items():
        for name, data in contents(store).items():
            golden(database).put(name, data, sync=False)
    text = json.dumps(states(stores["whole"], 0), indent=1, ensure_ascii=False)
    (GOLDEN / "states.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    make()
