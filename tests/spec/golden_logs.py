"""What the golden logs share: entries, a writer whose ids and times count up, and the comparison.

A golden log is a folder of `golden/` with `whole`, the database as a writer left it, and
`states.json`, what a reader finds in it. `make_golden.py` makes its files.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnStatistics,
    DeletionVectorEntry,
    RowSetEntry,
)
from colonnade.manifests.model.operations import AddDeletionVector, AddRowSet, Operation
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore

ORDERS = "0123456789abcdef"
TRIPS = "fedcba9876543210"
JOB = "00000000000000aa"
INTERVAL = 4
START_MS = 1_700_000_000_000

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


@contextmanager
def counted_ids() -> Iterator[None]:
    """New ids count up, so that every writer makes the same bytes."""
    numbers = itertools.count(1)

    def token_hex(size: int) -> str:
        return f"{next(numbers):0{2 * size}x}"

    with patch("colonnade.manifests.ids.secrets.token_hex", token_hex):
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


class Writer:
    """Commits changes to a new database, an epoch each; every fourth is a checkpoint.

    Requires: `counted_ids`.
    """

    def __init__(
        self,
        store: ObjectStore,
        limits: Limits,
        slot_block: int = SLOT_BLOCK,
    ) -> None:
        ticks = itertools.count(START_MS, 1000)
        self.store = store
        self.log = Log(
            store,
            clock_ms=lambda: next(ticks),
            checkpoint_interval=INTERVAL,
            engine="golden",
            limits=limits,
        )
        self.state = create_database(
            store,
            lone_table=False,
            clock_ms=lambda: next(ticks),
            engine="golden",
            slot_block=slot_block,
        )

    def commit(
        self,
        name: str,
        *ops: Operation,
        base: Snapshot | None = None,
        **more: Any,
    ) -> None:
        """Commit operations, and what else a `Change` has; without a base on the newest state."""
        change = Change(new_transaction_id(), name, ops, **more)
        self.state = self.log.commit(change, base or self.state)

    def live(self) -> dict[int, LiveRowSet]:
        """The RowSets of the table `orders`, by id."""
        return {each.id: each for each in self.log.rowsets.read(self.state.table("orders"))}


def contents(store: ObjectStore) -> dict[str, bytes]:
    return {info.name: store.get(info.name) for info in store.list("")}


def copy(files: Mapping[str, bytes], store: ObjectStore) -> None:
    for name, data in sorted(files.items()):  # epoch 0 first: the others need it
        store.put(name, data, sync=False)


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
                "properties": dict(table.stored_properties),
                "comment": table.comment,
                "epochs": [table.created_epoch, table.changed_epoch],
                "rowsets": [
                    [
                        each.id,
                        each.epoch,
                        each.row_count,
                        plain(each.stored_entry),
                        plain(each.vector),
                    ]
                    for each in log.rowsets.view(table, None, None).rowsets
                ],
            }
            for table in state.tables.values()
        },
    }


Add = Callable[[Snapshot, dict[str, Any]], None]
"""Adds to a state in plain JSON what only some logs have."""


def states(store: ObjectStore, oldest: int = 0, add: Add | None = None) -> dict[str, Any]:
    """Every state from an epoch on."""
    log = LogReader(store)
    found = {}
    for number in range(oldest, log.read_head().epoch + 1):
        snapshot = log.read_at(number)
        found[str(number)] = described(log, snapshot)
        if add is not None:
            add(snapshot, found[str(number)])
    return found


LIMITS = Limits(listed_rowsets=4)


@dataclass(frozen=True)
class GoldenLog:
    """A folder of golden files: how today's writer makes the database, and how it is read."""

    folder: str
    write: Callable[[Writer], None]
    read: Callable[[ObjectStore], dict[str, Any]] = states
    limits: Limits = LIMITS
    slot_block: int = SLOT_BLOCK

    @property
    def path(self) -> Path:
        return Path(__file__).parent / "golden" / self.folder

    def store(self, database: str = "whole") -> LocalStore:
        """A database as the earlier writer left it."""
        return LocalStore(str(self.path / database))

    def written(self) -> MemoryStore:
        """The database as today's writer makes it."""
        store = MemoryStore(now_ms=lambda: START_MS)
        with counted_ids():
            self.write(Writer(store, self.limits, self.slot_block))
        return store

    def expected(self) -> dict[str, Any]:
        """What is to be read from it."""
        return dict(json.loads((self.path / "states.json").read_text("utf-8")))

    def make(self) -> None:
        """Make the files anew."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        written = self.written()
        copy(contents(written), self.store())
        text = json.dumps(self.read(written), indent=1, ensure_ascii=False)
        (self.path / "states.json").write_text(text + "\n", "utf-8")
