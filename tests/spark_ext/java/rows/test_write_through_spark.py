"""Spark's tasks leave RowSets in the order of the sort key, and errors that say one sentence."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write.sort import sort_indices
from tests.spark_ext.java.spark_shell import SparkShell

SORTED = """
    id bigint, f double, s string, d decimal(25,3), b binary, t timestamp, ok boolean,
    m interval year to month, day date
"""
ROWS = """
    SELECT id,
      CASE id % 7 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN -0.0D WHEN 3 THEN 0.0D
        ELSE id * -1.5D END f,
      CASE WHEN id % 5 = 0 THEN NULL ELSE concat(chr(int(id * 37 % 5000 + 1)), 'x') END s,
      CASE WHEN id % 9 = 0 THEN NULL ELSE decimal((id * 7919 % 1000 - 500) / 8) END d,
      CASE WHEN id % 4 = 0 THEN NULL ELSE unhex(hex(id * 31 % 700)) END b,
      timestamp_micros(id * 999983 % 7 - 3) t, id % 3 = 0 ok,
      make_ym_interval(0, int(id % 5 - 2)) m, date_add(DATE'1969-12-30', int(id * 13 % 6)) day
    FROM range(0, 3000, 1, 3)
"""
KEYS = ["f", "s desc", "d", "b desc", "t", "ok", "m", "day desc"]


@pytest.fixture(scope="module")
def folder(spark_shell: SparkShell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a table for each rotation of the keys, which Spark sorts by them."""
    folder = tmp_path_factory.mktemp("written")
    for turn in range(len(KEYS)):
        key = ", ".join([*KEYS[turn:], *KEYS[:turn]])
        table = f"colonnade.`{folder}/sorted{turn}`"
        spark_shell.sql(f"CREATE TABLE {table} ({SORTED}) TBLPROPERTIES (sortKey = '{key}')")
        spark_shell.sql(f"INSERT INTO {table} {ROWS}")
    return folder


@pytest.mark.parametrize("turn", range(len(KEYS)))
def test_every_rowset_is_in_the_order_of_the_sort_key(folder: Path, turn: int) -> None:
    path = folder / f"sorted{turn}"
    store = LocalStore(path)
    log = Log(store)
    snapshot = log.reader.read_head()
    (table,) = snapshot.tables.values()
    assert len(table.sort_key) == len(KEYS)
    entries = [live.entry for live in log.rowsets.read_entries(table)]
    assert len(entries) == 3
    for entry in entries:
        found = [
            b
            for _, b in RowSetReader(store, View.written(table.prefix), as_written(entry)).read(
                table.schema.fields
            )
        ]
        (batch,) = pa.Table.from_batches(found).combine_chunks().to_batches()
        columns = {f.id: batch.column(i) for i, f in enumerate(table.schema.fields)}
        order = sort_indices(columns, table.sort_key).to_pylist()
        # A stable sort of sorted rows moves no row.
        assert order == list(range(batch.num_rows))


def test_a_refusal_in_a_task_reaches_the_user_as_the_same_sentence(
    spark_shell: SparkShell, folder: Path
) -> None:
    write = f".write.format('colonnade').mode('append').save('{folder}/texts')"
    spark_shell.run(f"spark.sql(\"SELECT 'a' s\"){write}")
    broken = "F.expr(\"CAST(unhex('fffe') AS string)\").alias('s')"
    refusal = spark_shell.refused_run(f"spark.range(3).select({broken}){write}")
    assert "[COLONNADE_INVALID_INPUT] Column 's' has an invalid string in row " in refusal
    assert colonnade.open(folder / "texts").scan().to_arrow().to_pylist() == [{"s": "a"}]
