"""A log of replaced columns, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#replaced-columns
"""

from __future__ import annotations

from typing import Any

import pytest
from pyroaring import FrozenBitMap

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    ColumnStatistics,
    DeletionVectorEntry,
)
from colonnade.manifests.model.operations import (
    AddRowSet,
    CreateTable,
    DropRowSet,
    Operation,
    ReplaceColumn,
    Restore,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.spec.golden_logs import (
    JOB,
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    copy,
    rowset,
    states,
)


def replacement(number: int, *columns: int, **changed: Any) -> ColumnReplacement:
    fields = {
        "columns": columns,
        "object": f"{number:032x}",
        "place": "packed",
        "bytes": 500 + number,
        "footer": ByteCheck(length=200, crc32c=2**32 - number),
    }
    return ColumnReplacement(**{**fields, **changed})


def replace(number: int, new: ColumnReplacement, **more: Any) -> ReplaceColumn:
    return ReplaceColumn(table=ORDERS, rowset=number, replacement=new, **more)


def bitmap(store: ObjectStore, *rows: int) -> DeletionVectorEntry:
    return write_deletion_vector(store, f"{ORDERS}/", JOB, DeletionVector(FrozenBitMap(rows)))


def prices(low: int, high: int) -> dict[int, ColumnStatistics]:
    return {5: ColumnStatistics(min=f"i4:{low}", max=f"i4:{high}", nulls=1)}


def write(writer: Writer) -> None:
    """Write the log as today's writer does; epochs 4 and 8 are checkpoints."""

    def commit(name: str, *ops: Operation) -> None:
        writer.commit(name, *ops, job_id=JOB)

    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", orders)
    commit("append", *add(rowset(1), rowset(2), rowset(3)))
    inline = replacement(21, 3, place="inline", data="QUJD", bytes=3)
    commit(
        "update", replace(0, replacement(20, 2, 5), statistics=prices(-3, 99)), replace(1, inline)
    )
    commit("append", *add(rowset(4)))
    some = bitmap(writer.store, 0, 2, 9)
    folder = replacement(22, 5, place="directory", unsynced=True)
    commit(
        "update",
        replace(0, folder, statistics=prices(0, 7), changed=some, predecessors=(f"{20:032x}",)),
    )
    commit("update", replace(3, replacement(23, 2), changed=bitmap(writer.store, *range(0, 40, 3))))
    live = writer.live()
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 3),))
    again = [AddRowSet(table=ORDERS, rowset=live[number].stored_entry) for number in (0, 1)]
    commit("restore", dropped, Restore(table=ORDERS, epoch=6), *again)
    commit("update", replace(4, replacement(24, 2, 5), predecessors=(f"{20:032x}", f"{22:032x}")))
    commit("update", replace(5, replacement(25, 1)))


LOG = GoldenLog("log-v1-replace", write, states)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_a_state_is_the_same_from_checkpoints_and_from_operations_alone() -> None:
    kept, plain = LOG.written(), MemoryStore()
    files = contents(kept).items()
    copy({n: data for n, data in files if "checkpoint" not in n and "hint" not in n}, plain)
    stored, replayed = Log(kept).reader.read_head(), Log(plain).reader.read_head()
    assert _entries(Log(kept), stored) == _entries(Log(plain), replayed)
    assert stored.table("orders").rowsets.byte_count in (None, 1001 + 524 + 1002 + 3 + 525)


def _entries(log: Log, state: Snapshot) -> list[object]:
    return [
        each.model_dump() for each in (r.entry for r in log.rowsets.read(state.table("orders")))
    ]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (replace(9, replacement(40, 2)), "no RowSet 9"),
        (replace(4, replacement(40, 2)), "but they are in"),
        (replace(4, replacement(40, 2, place="inline")), "place and its data do not match"),
        (replace(4, replacement(40, 2), statistics=prices(1, 2)), "not possible"),
    ],
)
def test_a_replacement_that_the_state_contradicts_is_refused(
    wrong: ReplaceColumn, said: str
) -> None:
    log = Log(LOG.store())
    with pytest.raises(InvalidInputError, match=said):
        log.preview(Change(new_transaction_id(), "update", (wrong,)), log.reader.read_at(7))
