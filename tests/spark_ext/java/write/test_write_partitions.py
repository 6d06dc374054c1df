"""The JVM's writer parts rows by partition as the specification and the Python writer do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.entries import PartitionField, RowSetEntry, SortField
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.storage_form import from_storage, to_storage
from tests.spark_ext.java.write_tool import WriteTool, read
from tests.spec.test_partition_vectors import FILE, stored
from tests.tagged import untagged

NO_SPARK_TYPE = ("time(9)",)
"""Types that Spark has no columns of."""

LAYOUT = (
    PartitionField(transform="bucket", column=1, argument=3),
    PartitionField(transform="truncate", column=2, argument=1),
    PartitionField(transform="days", column=3),
)


def vectors() -> Iterator[tuple[str, list[PartitionField], dict[str | None, list[str | None]]]]:
    """For each type all its transforms, and what they make of each value."""
    for kind, own in groupby(json.loads(FILE.read_text("utf-8")), itemgetter("type")):
        if kind in NO_SPARK_TYPE:
            continue
        fields: list[PartitionField] = []
        results: dict[str | None, list[str | None]] = {}
        for (transform, argument), group in groupby(own, itemgetter("transform", "argument")):
            fields.append(PartitionField(transform=transform, column=1, argument=argument))
            for vector in group:
                results.setdefault(vector["value"], []).append(vector["result"])
        yield kind, fields, results


def partitions(
    url: Path, schema: TableSchema, entries: Sequence[RowSetEntry]
) -> dict[int, list[str | None]]:
    """Return the partition of each row by the number in its column `nr`."""
    found = {}
    for entry in entries:
        assert entry.partition is not None
        for number in read(url, schema, [entry]).column("nr").to_pylist():
            assert number not in found
            found[number] = list(entry.partition)
    return found


def test_every_vector_comes_to_its_partition(writer: WriteTool, folders: Iterator[Path]) -> None:
    url = next(folders)
    for kind, fields, results in vectors():
        columns = (SchemaField(name="c", type=kind), SchemaField(name="nr", type="long"))
        schema = assign_ids(TableSchema(fields=columns), 1)[0]
        values = [None if value is None else untagged(value) for value in results]
        numbers = pa.array(range(len(values)), pa.int64())
        rows = from_storage([stored(schema.fields[0], values), numbers], schema)
        found = partitions(url, schema, writer.write(url, schema, rows, partitioned_by=fields))
        assert found == dict(enumerate(results.values())), kind


def example(count: int) -> tuple[TableSchema, pa.RecordBatch]:
    """Rows of many partitions in no order, with NULL in each column that they are made by."""
    rng = np.random.default_rng(count)
    texts = [None if at == 4 else f"{'äbc日'[at]}{at}" for at in rng.integers(0, 5, count)]
    days = rng.integers(-2, 3, count) * 86_400_000_000 + rng.integers(0, 10**9, count)
    rows = pa.record_batch(
        {
            "id": pa.array(rng.integers(0, 9, count), mask=rng.random(count) < 0.1),
            "name": pa.array(texts, pa.string()),
            "at": pa.array(days, mask=rng.random(count) < 0.1).cast(pa.timestamp("us", "UTC")),
            "nr": pa.array(range(count), pa.int64()),
        }
    )
    return assign_ids(schema_from_arrow(rows.schema), 1)[0], rows


def test_rows_are_parted_by_several_fields_like_in_python(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = example(700)
    codes, known = divide(LAYOUT, schema, dict(enumerate(to_storage(rows, schema), 1)))
    for unsafe in (True, False):
        url = next(folders)
        entries = writer.write(url, schema, rows, partitioned_by=LAYOUT, unsafe=unsafe)
        found = partitions(url, schema, entries)
        assert found == {at: list(known[code]) for at, code in enumerate(codes)}


def test_rows_that_come_by_partition_make_one_rowset_each(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = example(700)
    codes, known = divide(LAYOUT, schema, dict(enumerate(to_storage(rows, schema), 1)))
    key = [SortField(column=4, descending=False)]
    order = np.lexsort((np.arange(700), codes))
    url = next(folders)
    entries = writer.write(url, schema, rows.take(pa.array(order)), partitioned_by=LAYOUT, key=key)
    assert len(entries) == len(known) > 60
    assert len({tuple(entry.partition or ()) for entry in entries}) == len(known)
    assert set(entries[0].statistics) == {1, 2, 3, 4}


IDENTITY = PartitionField(transform="identity", column=1)


def wide_rows() -> tuple[TableSchema, pa.RecordBatch]:
    """8 MB of rows, each of a partition of its own."""
    ids = pa.array(np.random.default_rng(1).permutation(64), pa.int64())
    wide = pa.array([bytes([at]) * 2**17 for at in range(64)], pa.binary())
    rows = pa.record_batch({"id": ids, "wide": wide})
    return assign_ids(schema_from_arrow(rows.schema), 1)[0], rows


def test_rows_in_no_order_take_no_more_memory_than_one_partition(
    class_path: str, tmp_path: Path
) -> None:
    """64 MB of staged rows, in a heap that could not hold them."""
    schema, rows = wide_rows()
    how = {"times": 8, "options": {"held_bytes": 2**22}}
    with WriteTool(class_path, tmp_path, heap="40m") as small:
        written = small.write(tmp_path, schema, rows, partitioned_by=[IDENTITY], **how)
        assert sum(entry.rows for entry in written) == 8 * 64


def test_alternating_partitions_stay_open_while_memory_allows(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = wide_rows()
    for held_bytes, rowsets in ((2**24, 4), (2**21, 16)):
        how = {"times": 16, "options": {"held_bytes": held_bytes}}
        written = writer.write(
            next(folders), schema, rows.slice(0, 4), partitioned_by=[IDENTITY], **how
        )
        assert sum(entry.rows for entry in written) == 64
        assert rowsets <= len(written) <= rowsets * 2
    assert len(writer.write(next(folders), schema, rows, partitioned_by=[IDENTITY], times=2)) == 128


def test_a_value_that_is_too_long_for_the_log_is_refused(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rows = pa.record_batch({"name": ["é" * 512, "é" * 513]})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    assert len(writer.write(url, schema, rows.slice(0, 1), partitioned_by=[IDENTITY])) == 1
    assert writer.error(url, schema, rows, partitioned_by=[IDENTITY]) == (
        "[COLONNADE_INVALID_INPUT] Column 'name' cannot be partitioned by: a value has 1026 bytes,"
        " and at most 1024 are allowed in the log; use truncate."
    )
    assert [p.name for p in (url / "t").glob("*")] == []
    short = PartitionField(transform="truncate", column=1, argument=512)
    assert len(writer.write(url, schema, rows, partitioned_by=[short])) == 1


def test_a_task_keeps_as_many_partitions_open_as_the_driver_says(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = example(200)
    choices = ({"open_partitions": 10_000, "open_files": 10**6}, {"open_partitions": 1})
    many, one = (
        writer.write(next(folders), schema, rows, partitioned_by=LAYOUT, options=options)
        for options in choices
    )
    layouts = [{entry.partition for entry in entries} for entries in (many, one)]
    assert layouts[0] == layouts[1]
    assert len(many) == len(layouts[0]) < len(one)
