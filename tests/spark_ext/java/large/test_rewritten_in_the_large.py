"""Both readers read what Python has rewritten, at real sizes: every type, nesting and change.

Python or the JVM wrote the table before. `tests/tableformat/table/test_in_the_large.py` has more of
the tables that Python wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.scan.plan import plan_scan, split_plan
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import live, new
from tests.large_changes import (
    CHANGES,
    STEPS,
    Step,
    append,
    chosen_steps,
    content,
    repair,
    seeds,
)
from tests.large_tables import TableMaker, same_rows
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, spark_schema
from tests.spark_ext.java.write_tool import PLACES, WriteTool
from tests.tableformat.verify.damaged import flip


def read_by_java(tool: ReadTool, url: Path, table: ArrowTable) -> Iterator[list[Any]]:
    """The rows between two cuts at a time, which is what fits into an answer of the JVM."""
    plan = plan_scan(table._log.rowsets.view(table._state, None, None), table.epoch)
    shown = spark_schema(table._state.schema)
    for part in split_plan(plan, target_bytes=1):
        yield tool.rows(str(url), json.loads(part.to_json()), shown)


def check(tool: ReadTool, url: Path, table: ArrowTable, rows: pa.Table, step: str) -> None:
    """Both readers find `rows`, in the same order."""
    found = content(table)
    assert same_rows(found, rows), step
    at = 0
    for part in read_by_java(tool, url, table):
        assert part == expected(found.slice(at, len(part)), table._state.schema), step
        at += len(part)
    assert at == rows.num_rows, step


def expected(rows: pa.Table, schema: TableSchema) -> list[Any]:
    batches = rows.combine_chunks().to_batches()
    return list(chain.from_iterable(expected_rows(batch, schema) for batch in batches))


def made(
    maker: TableMaker, url: Path, count: int, sort_key: bool, files_are_cheap: bool = True
) -> tuple[ArrowTable, pa.Table]:
    """An empty table with nested columns, and rows for it; a small one has one such column."""
    columns = 1 if count <= 20_000 else 2
    schema = maker.schema(columns)
    while not any(field.children() for field in schema.fields):
        schema = maker.schema(columns)
    store = LocalStore(url)
    store.files_are_cheap = files_are_cheap
    return new(schema, ["id"] if sort_key else (), store), maker.rows(schema, count)


def append_by_java(
    writer: WriteTool, table: ArrowTable, rows: pa.Table, seed: int, place: str | None = None
) -> None:
    """In one to three epochs, from both forms of Spark's rows and into every place of RowSets."""
    place = place or [*PLACES][seed % len(PLACES)]
    parts = 1 + seed % 3
    for at in range(parts):
        first, end = rows.num_rows * at // parts, rows.num_rows * (at + 1) // parts
        part = rows.slice(first, end - first)
        if table._state.sort_key:  # Spark sorts the rows before a task writes them.
            part = part.sort_by("id")
        writer.append(table, part, unsafe=(seed + at) % 2 == 0, options=PLACES[place])


EVERY_STEP = [(sort_key, name) for sort_key, steps in STEPS.items() for name in steps]

SLOW = pytest.mark.timeout(1200)
"""For tests that get up to 900,000 nested rows from the JVM as JSON."""


@pytest.mark.parametrize(
    ("sort_key", "step"),
    [
        # A change that both kinds of tables have is made to an unsorted one in each push.
        pytest.param(*each, marks=pytest.mark.long if each[0] and each[1] in CHANGES else ())
        for each in EVERY_STEP
    ],
)
def test_java_reads_what_each_change_has_rewritten(
    sort_key: bool, step: str, tool: ReadTool, folders: Iterator[Path], tmp_path: Path
) -> None:
    seed = EVERY_STEP.index((sort_key, step))
    maker, url = TableMaker(500 + seed, TYPES), next(folders)
    table, rows = made(maker, url, 20_000, sort_key)
    append(table, rows, maker, parts=2)
    change: Step = STEPS[sort_key][step]
    check(tool, url, table, change(table, rows, tmp_path), step)


@pytest.mark.long
@SLOW
@pytest.mark.parametrize("seed", range(30))
def test_java_reads_what_many_changes_have_rewritten(
    seed: int, tool: ReadTool, folders: Iterator[Path], tmp_path: Path
) -> None:
    maker, url, sort_key = TableMaker(seed, TYPES), next(folders), seed % 3 == 0
    count, cheap = (66_000, 140_000, 300_000)[seed // 3 % 3], seed % 2 == 0
    table, rows = made(maker, url, count, sort_key, files_are_cheap=cheap)
    append(table, rows, maker, parts=1 + seed % 3)
    for step, change in chosen_steps(seed, sort_key=sort_key):
        rows = change(table, rows, tmp_path)
        check(tool, url, table, rows, step)


REWRITES = [
    (True, "merge"),
    *((False, name) for name in ("copy", "rewrite", "repartition", "z-order", "replace columns")),
]


@pytest.mark.parametrize(
    ("sort_key", "step"),
    [
        pytest.param(
            *each, marks=() if each[1] in ("merge", "replace columns") else pytest.mark.long
        )
        for each in REWRITES
    ],
)
def test_a_table_of_the_jar_keeps_its_rows_through_each_change(
    sort_key: bool,
    step: str,
    writer: WriteTool,
    tool: ReadTool,
    folders: Iterator[Path],
    tmp_path: Path,
) -> None:
    seed = REWRITES.index((sort_key, step))
    maker, url = TableMaker(1500 + seed, TYPES), next(folders)
    table, rows = made(maker, url, 20_000, sort_key)
    append_by_java(writer, table, rows, seed)
    check(tool, url, table, rows, "append")
    change: Step = STEPS[sort_key][step]
    check(tool, url, table, change(table, rows, tmp_path), step)
    assert not table.verify(4).findings


@pytest.mark.long
@SLOW
@pytest.mark.parametrize("seed", range(40))
def test_a_table_of_the_jar_keeps_its_rows_through_many_changes(
    seed: int, writer: WriteTool, tool: ReadTool, folders: Iterator[Path], tmp_path: Path
) -> None:
    maker, url, sort_key = TableMaker(2000 + seed, TYPES), next(folders), seed % 3 == 0
    count = (0, 1, 3000, 66_000, 140_000, 300_000, 20_000, 40_000)[seed % 8]
    table, rows = made(maker, url, count, sort_key)
    append_by_java(writer, table, rows, seed)
    assert same_rows(content(table), rows)
    for step, change in chosen_steps(seed, sort_key=sort_key) if count else ():
        rows = change(table, rows, tmp_path)
        check(tool, url, table, rows, step)
    assert not table.verify(4).findings


@pytest.mark.parametrize("seed", seeds(2, 10))
def test_a_table_of_the_jar_keeps_its_rows_through_a_repair(
    seed: int, writer: WriteTool, tool: ReadTool, folders: Iterator[Path], tmp_path: Path
) -> None:
    """Damaged Bloom filters cost no row, and let repair write a whole RowSet anew."""
    maker, url = TableMaker(3000 + seed, TYPES), next(folders)
    table, rows = made(maker, url, 20_000 if seed < 2 else 150_000, sort_key=seed % 2 == 1)
    table.alter(AlterProperties({"bloom-filter-enabled.column.id": "true"}))
    append_by_java(writer, table, rows, seed, place="directory")
    rowsets = live(table)
    for each in rowsets:
        flip(table._location.store, f"{table._state.prefix}{each.entry.object}/1.idx", 5)
    assert table.verify(3).damaged_rowsets(table.name) == [each.id for each in rowsets]
    check(tool, url, table, repair(table, rows, tmp_path), "repair")
