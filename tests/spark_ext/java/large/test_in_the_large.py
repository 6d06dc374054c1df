"""Tables of every type and nesting at real sizes: both writers and both readers, the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import (
    ArrayType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from tests.large_tables import TableMaker
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of, spark_schema
from tests.spark_ext.java.write_tool import PLACES, PREFIX, WriteTool, by_python, read
from tests.strategies import identical

SLICE_ROWS = 65_536
"""The number of rows that the JVM hands over in one answer."""


def cases() -> list[Any]:
    return [pytest.param(seed, marks=() if seed < 2 else pytest.mark.long) for seed in range(30)]


def ends(entry: RowSetEntry) -> tuple[int, ...]:
    """Where the stretches of a RowSet end."""
    if isinstance(entry.cuts, tuple):
        return entry.cuts
    return (*range(entry.cuts, entry.rows, entry.cuts), entry.rows)


def read_by_java(
    tool: ReadTool, url: Path, schema: TableSchema, entries: tuple[RowSetEntry, ...]
) -> Iterator[list[Any]]:
    for entry in entries:
        first = 0
        while first < entry.rows:
            # Rows are read between cuts, and those of wide rows are close together.
            last = max(cut for cut in ends(entry) if first < cut <= first + SLICE_ROWS)
            plan = plan_of(schema, [entry], ranges=[(first, last)], prefix=PREFIX)
            first = last
            yield tool.rows(str(url), plan, spark_schema(schema))


@pytest.mark.parametrize("seed", cases())
def test_two_writers_and_two_readers_agree_in_the_large(
    seed: int, writer: WriteTool, tool: ReadTool, folders: Iterator[Path]
) -> None:
    maker = TableMaker(seed, TYPES)
    schema = maker.schema(columns=2 if seed > 1 else 1)
    sizes = (20_000, 40_000) if seed < 2 else (50_000, 66_000, 140_000, 300_000)
    table = maker.rows(schema, sizes[seed % len(sizes)])
    [rows] = table.combine_chunks().to_batches()
    place = PLACES[tuple(PLACES)[seed % len(PLACES)]]
    parts = [rows.slice(0, 7), rows.slice(7)]
    url, other = next(folders), next(folders)
    written = {
        url: writer.write(url, schema, *parts, options=place),
        other: by_python(other, schema, *parts, **place),
    }
    for folder, entries in written.items():
        assert identical(read(folder, schema, entries), rows)
        at = 0
        for found in read_by_java(tool, folder, schema, entries):
            assert found == expected_rows(rows.slice(at, len(found)), schema)
            at += len(found)
        assert at == rows.num_rows


def test_a_struct_of_very_many_lists_is_read_by_both(
    writer: WriteTool, tool: ReadTool, folders: Iterator[Path]
) -> None:
    """Each list has one offset more than rows, which adds up to more than readers overlook."""
    element = SchemaField(name="element", type="byte")
    lists = [SchemaField(name=f"f{i}", type=ArrayType(element=element)) for i in range(1100)]
    wide = SchemaField(name="a", type=StructType(fields=tuple(lists)))
    schema = assign_ids(TableSchema(fields=(wide,)), 1)[0]
    rows = TableMaker(5).rows_of(schema, 3)
    url = next(folders)
    for entries in (writer.write(url, schema, rows), by_python(url, schema, rows)):
        assert identical(read(url, schema, entries), rows)
        [found] = read_by_java(tool, url, schema, entries)
        assert found == expected_rows(rows, schema)


@pytest.mark.long
def test_rows_of_null_are_written_as_wide_as_they_are(
    writer: WriteTool, tool: ReadTool, folders: Iterator[Path]
) -> None:
    fields = [SchemaField(name=f"f{i}", type="decimal(38,0)") for i in range(80)]
    schema = assign_ids(
        TableSchema(fields=(SchemaField(name="a", type=StructType(fields=tuple(fields))),)), 1
    )[0]
    empty = pa.nulls(66_000, TableMaker(5).rows_of(schema, 1).schema.field(0).type)
    for structs in (empty, pa.StructArray.from_arrays(empty.flatten(), fields=list(empty.type))):
        rows = pa.RecordBatch.from_arrays([structs], names=["a"])
        url = next(folders)
        entries = by_python(url, schema, rows)
        assert identical(read(url, schema, entries).column(0), structs)
        at = 0
        for found in read_by_java(tool, url, schema, entries):
            assert found == expected_rows(rows.slice(at, len(found)), schema)
            at += len(found)
