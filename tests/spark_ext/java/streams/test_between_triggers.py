"""A stream has each row once, whatever happens to its table between two of its triggers."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AlterProperties, ArrowTable
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]
ROWS = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.string())])
CHANGES = {"readChangeFeed": "true"}
STREAMS = "__import__('tests.spark_ext.java.queries.streams', fromlist=['x'])"


def reader(table: ArrowTable, **options: str) -> str:
    return f"spark.readStream.format('colonnade').options(**{options}).load({str(table.path)!r})"


class Runs:
    """Runs of one stream, each of which reads what is there."""

    def __init__(self, spark: SparkShell, table: ArrowTable, options: dict[str, str]) -> None:
        checkpoint = str(table.path) + "-checkpoint"
        self.spark = spark
        self.code = f"{STREAMS}.run(spark, {str(table.path)!r}, {checkpoint!r}, {options})"

    def rows(self) -> list[list[Any]]:
        """Run the stream. Return its new rows."""
        return [row for _, batch in self.spark.run(self.code) for row in batch]


@pytest.mark.parametrize("reads", ["two reads", "one read"])
def test_a_stream_that_reads_a_table_twice_has_each_row_twice(
    spark_shell: SparkShell, tmp_path: Path, reads: str
) -> None:
    table = colonnade.create(tmp_path / "t", ROWS)
    one, other = reader(table, maxFilesPerTrigger="1"), reader(table, maxRowsPerTrigger="3")
    union = f"{one}.union({other})" if reads == "two reads" else f"(lambda f: f.union(f))({one})"
    writer = f"{union}.writeStream.format('colonnade').trigger(availableNow=True)"
    writer += f".option('checkpointLocation', {str(tmp_path / 'checkpoint')!r})"
    for turn in range(3):
        for number in range(3):
            table.append([{"id": 10 * turn + number, "v": "x"}])
        table.optimize().option("min-rowsets", 2).executeCompaction()
        spark_shell.run(f"{writer}.start({str(tmp_path / 'copy')!r}).awaitTermination()")
        copy = colonnade.open(tmp_path / "copy").scan().to_arrow()["id"].to_pylist()
        ids = table.refresh().scan().to_arrow()["id"].to_pylist()
        assert Counter(copy) == Counter(ids * 2)


def test_a_vacuum_of_everything_old_between_triggers_takes_nothing_from_a_stream(
    spark_shell: SparkShell, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", ROWS, primary_key=["id"])
    table.append([{"id": number, "v": "a"} for number in range(6)])
    runs = Runs(spark_shell, table, CHANGES)
    found = Counter[tuple[int, str]]()
    for turn in range(4):
        table.upsert([{"id": number, "v": f"b{turn}"} for number in range(turn, turn + 3)])
        table.delete(f"id = {turn}")
        table.optimize().option("min-rowsets", 2).executeCompaction()
        table.vacuum(retention_hours=0, force=True)
        for id_, value, kind, *_ in runs.rows():
            found[id_, value] += 1 if kind in ("insert", "update_postimage") else -1
        rows = table.scan().to_arrow().to_pylist()
        assert +found == Counter((row["id"], row["v"]) for row in rows)
        table.vacuum(retention_hours=0, force=True)


@pytest.mark.parametrize("options", [{}, CHANGES], ids=["rows", "changes"])
def test_a_row_that_expires_before_its_trigger_is_left_out_and_a_later_one_changes_nothing(
    spark_shell: SparkShell, tmp_path: Path, options: dict[str, str]
) -> None:
    schema = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    table = colonnade.create(tmp_path / "t", schema)

    def append(number: int, age: timedelta) -> None:
        table.append([{"id": number, "at": datetime.now(timezone.utc) - age}])

    append(1, timedelta())
    append(2, timedelta(days=5))
    runs = Runs(spark_shell, table, options)
    assert sorted(row[0] for row in runs.rows()) == [1, 2]
    table.alter(AlterProperties({"ttl": "3 days", "ttl.column": "at"}))
    append(3, timedelta())
    append(4, timedelta(days=3, seconds=-2))
    time.sleep(2)
    assert [row[0] for row in runs.rows()] == [3]
    table.optimize().option("min-rowsets", 2).executeCompaction()
    append(5, timedelta())
    assert [row[0] for row in runs.rows()] == [5]
    assert table.refresh().scan().to_arrow()["id"].to_pylist() == [1, 3, 5]


@pytest.mark.parametrize("options", [{}, CHANGES], ids=["rows", "changes"])
def test_rows_of_a_stream_have_the_static_values_of_their_epoch(
    spark_shell: SparkShell, tmp_path: Path, options: dict[str, str]
) -> None:
    fields = [pa.field("k", pa.string(), nullable=False), pa.field("m", pa.int64(), nullable=False)]
    schema = pa.schema([*fields, ("room", pa.string())])
    table = colonnade.create(
        tmp_path / "t", schema, primary_key=["k", "m"], partition_key=["k"], static=["room"]
    )
    table.append([{"k": "a", "m": 1, "room": "x"}])
    runs = Runs(spark_shell, table, options)
    assert [row[:3] for row in runs.rows()] == [["a", 1, "x"]]
    table.update({"room": "'y'"}, "k = 'a'")
    assert runs.rows() == []
    table.append([{"k": "a", "m": 2}, {"k": "b", "m": 1}])
    table.statics.update({"room": "'z'"}, "k = 'a'")
    assert sorted(row[:3] for row in runs.rows()) == [["a", 2, "y"], ["b", 1, None]]
