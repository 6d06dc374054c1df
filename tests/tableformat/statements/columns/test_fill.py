"""A fill writes the values of each RowSet once, and lists them all in one epoch."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade import ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.tableformat.statements.columns.fill import ROUNDS
from tests.tableformat.statements.tables import another, filled, made, rows


def test_the_values_of_a_rowset_are_written_once_however_many_others_come() -> None:
    table = filled()
    rival = another(table)
    left = [rows(i) for i in range(1000, 1000 + 2 * ROUNDS)]
    seen: list[int] = []

    def function(batch: pa.RecordBatch) -> pa.Array:
        seen.extend(batch["id"].to_pylist())
        if left and len(seen) > 10:
            rival.append(left.pop())
        return pc.multiply(batch["id"], 2)

    counts = table.add_column("twice", pa.int64(), function, columns=["id"])
    assert sorted(seen) == [
        *range(10),
        *range(100, 110),
        *range(1000 + len(left), 1000 + 2 * ROUNDS),
    ]
    assert counts.rows_updated == len(seen)


def test_deletes_and_other_new_columns_leave_written_values_as_they_are() -> None:
    table = filled()
    rival = another(table)
    calls: list[int] = []

    def function(batch: pa.RecordBatch) -> pa.Array:
        calls.append(batch.num_rows)
        if len(calls) == 2:
            rival.delete("id IN (3, 104)")
            rival.backfill("text", "'other'")
        return pc.multiply(batch["id"], 2)

    counts = table.add_column("twice", pa.int64(), function, columns=["id"])
    assert calls == [10, 10]
    assert counts.rows_updated == 18
    found = table.scan(["id", "text", "twice"]).to_arrow().to_pylist()
    assert found == [{"id": row["id"], "text": "other", "twice": 2 * row["id"]} for row in found]


def test_a_table_with_too_many_rowsets_says_what_to_do() -> None:
    table = made()
    limits = replace(LIMITS, epoch_bytes=4096)
    log = Log(table._log.store, pause=lambda _: None, limits=limits)
    for i in range(6):
        table.append(rows(i))
    mine = ArrowTable(table._location, log, None)
    with pytest.raises(InvalidInputError, match=r"6 RowSets, and one epoch .* 5; compact"):
        mine.add_column("n", pa.int64(), 1)
    counts = mine.backfill("text", "'a'", "id = 3")
    assert (counts.rows_updated, counts.rowsets_in_place) == (1, 1)


def test_a_condition_that_meets_too_many_rowsets_is_refused_and_changes_nothing() -> None:
    table = made()
    for i in range(12):
        table.append(rows(i))
    log = Log(table._log.store, pause=lambda _: None, limits=replace(LIMITS, epoch_bytes=4096))
    mine = ArrowTable(table._location, log, None)
    before = mine.refresh().epoch
    with pytest.raises(InvalidInputError, match="condition that meets fewer RowSets"):
        mine.backfill("text", "'a'", "id < 100 OR text = 'z'")
    assert mine.refresh().epoch == before


def test_rowsets_that_a_compaction_drops_meanwhile_take_no_room() -> None:
    table = made()
    for i in range(5):
        table.append(rows(i))
    rival = another(table)
    log = Log(table._log.store, pause=lambda _: None, limits=replace(LIMITS, epoch_bytes=4096))

    def function(batch: pa.RecordBatch) -> pa.Array:
        if rival.epoch == table.epoch:
            rival.optimize().option("min-rowsets", 2).executeCompaction()
        return pc.multiply(batch["id"], 2)

    mine = ArrowTable(table._location, log, None)
    counts = mine.add_column("twice", pa.int64(), function, columns=["id"])
    assert (counts.rows_updated, counts.rowsets_in_place) == (5, 1)
