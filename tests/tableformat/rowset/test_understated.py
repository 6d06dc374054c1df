"""What the first writers stored too small a figure of stays readable, is named, and is put right.

They left out which structs are NULL when they stated how many bytes a block takes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.rowset import output as rowset_output
from colonnade.tableformat.rowset.block import BlockEntry, encode_block
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.compaction_tables import jobs, new

ROWS = 70_000
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("flags", pa.struct([("a", pa.bool_()), ("deep", pa.struct([("b", pa.int8())]))])),
    ]
)


def rows(first: int) -> pa.Table:
    ids = range(first, first + ROWS)
    flags = [None if i % 3 == 0 else {"a": i % 2 == 0, "deep": {"b": i % 5}} for i in ids]
    return pa.table({"id": ids, "flags": flags}, SCHEMA)


def as_first_writers(
    array: pa.Array, column: StoredColumn
) -> tuple[BlockEntry, tuple[pa.Buffer, ...]]:
    entry, data = encode_block(array, column)
    return replace(entry, decoded=array.nbytes), data


@pytest.fixture
def table() -> ArrowTable:
    """Two RowSets of the first writers, and one of today's."""
    made = new(schema_from_arrow(SCHEMA))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rowset_output, "encode_block", as_first_writers)
        made.append(rows(0))
        made.append(rows(ROWS))
    made.append(rows(2 * ROWS))
    return made


def content(table: ArrowTable) -> pa.Table:
    table.refresh()
    return table.scan().to_arrow().sort_by("id")


EXPECTED = pa.concat_tables([rows(0), rows(ROWS), rows(2 * ROWS)])


def test_all_rows_are_read(table: ArrowTable) -> None:
    assert content(table).equals(EXPECTED)


@pytest.mark.parametrize("depth", [3, 4])
def test_verify_names_them_and_calls_them_no_damage(table: ArrowTable, depth: int) -> None:
    report = table.verify(depth)
    assert report.is_sound
    assert [(each.kind, each.rowset, each.column) for each in report.findings] == [
        ("understated", 0, "flags"),
        ("understated", 1, "flags"),
    ]
    assert "`--rowsets 1`" in str(report)
    assert table.verify(2).findings == ()


def test_repair_writes_them_anew_and_loses_nothing(table: ArrowTable, tmp_path: Path) -> None:
    rowsets = table.verify().damaged_rowsets("t")
    assert rowsets == [0, 1]
    result = table.repair(rowsets, rescue=tmp_path / "lost.parquet")
    assert (result.rows_lost, result.rows_kept) == (0, 2 * ROWS)
    assert not list(tmp_path.iterdir())
    assert table.verify(4).findings == ()
    assert content(table).equals(EXPECTED)


def test_a_compaction_copies_none_of_them(table: ArrowTable) -> None:
    """The stretch of 65,536 rows before the deleted row would be copied in its stored form."""
    table.delete(f"id = {ROWS - 1}")
    base, [job] = jobs(table, "copy")
    outcome = run_job(job, table._location.store)
    assert outcome.bytes_copied > 0
    commit_job(table._log, base, job, outcome)
    assert table.verify(4).findings == ()
    assert content(table).equals(EXPECTED.filter(pc.not_equal(EXPECTED["id"], ROWS - 1)))
