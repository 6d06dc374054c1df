"""Sort keys that change, at real sizes: both readers read rows that both writers wrote."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade import SetSortKey
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset.column import Order, column_of
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import live, new
from tests.large_changes import content
from tests.large_tables import TableMaker, same_rows
from tests.spark_ext.java.large.test_rewritten_in_the_large import check
from tests.spark_ext.java.read_tool import TYPES, ReadTool
from tests.spark_ext.java.write_tool import WriteTool

ROWS = 200_000
PARTS = 5


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_several_sort_keys_are_read_and_brought_over(
    seed: int, tool: ReadTool, writer: WriteTool, tmp_path: Path
) -> None:
    maker, order = TableMaker(seed, TYPES), random.Random(seed)
    # Nested columns are never sorted by, and take the test minutes.
    schema = maker.schema(columns=2, depth=0)
    rows = maker.rows(schema, ROWS)
    sortable = [f.name for f in schema.fields if column_of(f).order is not Order.NONE]
    table = new(schema, ["id"], LocalStore(str(tmp_path)))
    for part in range(PARTS):
        share = rows.slice(part * ROWS // PARTS, ROWS // PARTS)
        if part % 2:
            # Spark sorts the rows before a task writes them.
            table.alter(SetSortKey((f"id {'desc' if part == 1 else 'asc'}",)))
            way = "descending" if part == 1 else "ascending"
            writer.append(table, share.sort_by([("id", way)]))
        else:
            key = order.sample(sortable, min(2, len(sortable)))
            table.alter(
                SetSortKey(tuple(f"{name} {order.choice(('asc', 'desc'))}" for name in key))
            )
            table.append(share)
    assert len({each.entry.sort_order_id for each in live(table)}) >= 3
    same(tool, tmp_path, table, rows, "several orders")

    assert table.delete("id >= 1000 AND id < 30000").rows_deleted == 29_000
    ids = np.array(rows["id"])
    rows = rows.filter(pa.array((ids < 1000) | (ids >= 30_000)))
    same(tool, tmp_path, table, rows, "deleted rows")

    table.alter(SetSortKey(("id desc",)))
    for _ in range(3):
        table.optimize().option("min-rowsets", 2).option("max-overlap", 1).executeCompaction()
    found = {each.entry.sort_order_id for each in live(table)}
    assert found == {table._state.sort_order_id}
    assert not table.optimize().option("max-overlap", 1).plan().groups
    same(tool, tmp_path, table, rows, "a compaction")
    got = np.array(content(table)["id"])
    assert (np.diff(got) < 0).all()


def same(tool: ReadTool, url: Path, table: ArrowTable, rows: pa.Table, step: str) -> None:
    """Both readers find these rows, in one order, and every RowSet has the order that it states."""
    by_id = rows.sort_by("id")
    ids = content(table)["id"].combine_chunks()
    places = np.searchsorted(np.array(by_id["id"]), np.array(ids))
    check(tool, url, table, by_id.take(pa.array(places)), step)
    assert same_rows(content(table).sort_by("id"), by_id), step
    assert not table.verify(4).findings, step
