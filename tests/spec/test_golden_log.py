"""A log that an earlier writer left is read to the same states, and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/epoch-log.md, operations.md, checkpoint.md
"""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import ColumnStatistics, SortField
from colonnade.manifests.model.operations import (
    CreateTable,
    DropRowSet,
    DropTable,
    EnableFeatures,
    Operation,
)
from colonnade.manifests.object_names import HINT
from colonnade.manifests.store import MemoryStore
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
    vector,
)

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


LOG = GoldenLog("log-v1", write)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_every_state_is_read_without_checkpoints() -> None:
    store = MemoryStore()
    copy({n: data for n, data in contents(LOG.store()).items() if n != HINT}, store)
    assert LOG.read(store) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_an_earlier_log_with_a_feature_of_writers_is_read_and_not_written() -> None:
    store = MemoryStore()
    copy(contents(LOG.store()), store)
    log = Log(store)
    with pytest.raises(UnsupportedFormatError, match="golden_example"):
        log.commit(Change(new_transaction_id(), "append", add(rowset(11))), log.reader.read_head())
