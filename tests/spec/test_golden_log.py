"""A log that an earlier writer left is read to the same states, and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/epoch-log.md, operations.md, checkpoint.md
"""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import NotFoundError, UnsupportedFormatError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import encode_model
from colonnade.manifests.model.entries import ColumnStatistics, SortField
from colonnade.manifests.model.epoch import Stub
from colonnade.manifests.model.operations import (
    Anchor,
    CreateTable,
    DropRowSet,
    DropTable,
    EnableFeatures,
    Operation,
)
from colonnade.manifests.object_names import HINT, epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    TRIPS,
    GoldenLog,
    Writer,
    add,
    contents,
    copy,
    delete,
    rowset,
    states,
    vector,
)

FLOOR = 8

STATISTICS = {
    1: ColumnStatistics(min="i:-9223372036854775808", max="i:9223372036854775807"),
    2: ColumnStatistics(min="f:-inf", max="f:0.1", nulls=1, nans=2, exact=False),
    3: ColumnStatistics(min="s:", max="s:né", exact=False),
    4: ColumnStatistics(min="b:", max="b:/w=="),
    5: ColumnStatistics(min=f"i:-{10**37}", max=f"i:{10**37}"),
    6: ColumnStatistics(nulls=3),
}


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
                rowset(3, place="inline", data="QUJD", bytes=3),
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
        ("enable_features", (EnableFeatures(writer=("golden_example",)),)),
    )


def write(writer: Writer) -> None:
    for name, operations in changes():
        writer.commit(name, *operations, parameters={"mode": name, "text": "«né»"})


def anchor_of(store: ObjectStore) -> Anchor:
    """The anchor of the newest checkpoint."""
    found = read_hint(store)
    assert found is not None
    ref, _ = found
    assert ref.epoch == FLOOR
    return Anchor(epoch=ref.epoch, root=ref.root, check=ref.check)


def retained(whole: ObjectStore) -> MemoryStore:
    """What retention leaves of a log: stubs, the anchored checkpoint, the newest epochs."""
    left = MemoryStore()
    copy(contents(whole), left)
    for number in range(1, FLOOR + 1):
        stub = Stub(removed=number, floor=FLOOR, anchor=anchor_of(whole))
        left.put(epoch_name(number), encode_model(stub), sync=False)
    return left


class RetainedLog(GoldenLog):
    """The golden log that also has the part of it that retention keeps."""

    def make(self) -> None:
        super().make()
        copy(contents(retained(self.store())), self.store("retained"))


LOG = RetainedLog("log-v1", write)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_every_state_is_read_without_checkpoints() -> None:
    store = MemoryStore()
    copy({n: data for n, data in contents(LOG.store()).items() if n != HINT}, store)
    assert LOG.read(store) == LOG.expected()


def test_the_epochs_of_an_earlier_log_that_retention_kept_are_read() -> None:
    store = LOG.store("retained")
    left = {n: state for n, state in LOG.expected().items() if int(n) >= FLOOR}
    assert states(store, FLOOR) == left
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
        LogReader(store).read_at(FLOOR - 1)


def test_the_same_changes_make_the_same_bytes() -> None:
    whole = LOG.written()
    assert contents(whole) == contents(LOG.store())
    assert contents(retained(whole)) == contents(LOG.store("retained"))


def test_an_earlier_log_with_a_feature_of_writers_is_read_and_not_written() -> None:
    store = MemoryStore()
    copy(contents(LOG.store()), store)
    log = Log(store)
    with pytest.raises(UnsupportedFormatError, match="golden_example"):
        log.commit(Change(new_transaction_id(), "append", add(rowset(11))), log.read_head())
