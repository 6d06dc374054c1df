"""Every door of Spark to the changes of a table, for a process that has Spark.

`differences` compares the rows of each with those that Python reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession

import colonnade

HAS_CHANGES = pyspark.__version__ >= "4.2"
"""Whether this Spark has `CHANGES FROM VERSION`."""

Door = Callable[[SparkSession, str, int, int], DataFrame]
"""Reads the changes of the table at a path from one epoch to another."""


def options(spark: SparkSession, first: int, last: int, **more: Any) -> Any:
    reader = spark.read.format("colonnade").option("readChangeFeed", True).options(**more)
    return reader.option("startingVersion", first).option("endingVersion", last)


def changelog(spark: SparkSession, path: str, first: int, last: int) -> DataFrame:
    return spark.sql(
        f"SELECT * FROM {name(path)} CHANGES FROM VERSION {first} TO VERSION {last}"
        " WITH (computeUpdates = 'true')"
    )


def frame_of_changes(spark: SparkSession, path: str, first: int, last: int) -> DataFrame:
    reader = spark.read.option("startingVersion", first).option("endingVersion", last)
    return reader.option("computeUpdates", True).changes(name(path))


def name(path: str) -> str:
    return f"colonnade.`{path}`"


DOORS: dict[str, Door] = {
    "metadata table": lambda spark, path, first, last: spark.sql(
        f"SELECT * FROM {name(path)}.changes WHERE _commit_version BETWEEN {first} AND {last}"
    ),
    "options of a path": lambda spark, path, first, last: options(spark, first, last).load(path),
    "options of a name": lambda spark, path, first, last: options(spark, first, last).table(
        name(path)
    ),
    "options in SQL": lambda spark, path, first, last: spark.sql(
        f"SELECT * FROM {name(path)} WITH"
        f" (readChangeFeed = 'true', startingVersion = '{first}', endingVersion = '{last}')"
    ),
    "function": lambda spark, path, first, last: spark.sql(
        f"SELECT * FROM table_changes('{name(path)}', {first}, {last})"
    ),
    "function of a path": lambda spark, path, first, last: spark.sql(
        f"SELECT * FROM table_changes_by_path('{path}', {first}, {last})"
    ),
}
if HAS_CHANGES:
    DOORS["CHANGES FROM"] = changelog
    DOORS["spark.read.changes"] = frame_of_changes


def differences(
    spark: SparkSession, path: str, ranges: list[tuple[int, int]], doors: list[str] | None = None
) -> list[str]:
    """What some doors, by default all, show of ranges of epochs, where Python shows other rows."""
    table, found = colonnade.open(path), []
    for first, last in ranges:
        expected = table.changes(first, last).to_arrow()
        # The metadata table has the columns of the newest epoch, whatever its conditions are.
        newest = table.changes(first, last, schema_epoch=table.epoch).to_arrow()
        for door in doors or DOORS:
            wanted = newest if door == "metadata table" else expected
            frame = DOORS[door](spark, path, first, last)
            found += [f"{door} {first} {last}: {e}" for e in difference(frame, wanted)]
    return found


def difference(frame: DataFrame, expected: pa.Table) -> list[str]:
    """What rows of Spark and of Python have that the others do not have."""
    if frame.columns != expected.column_names:
        return [f"the columns are {frame.columns}"]
    seen, wanted = rows_of(frame.toArrow().cast(expected.schema)), rows_of(expected)
    return (
        [f"Spark {list((seen - wanted).items())[:3]}, Python {list((wanted - seen).items())[:3]}"]
        if seen != wanted
        else []
    )


def rows_of(rows: pa.Table) -> Counter[str]:
    return Counter(map(repr, rows.to_pylist()))


def filtered(
    spark: SparkSession, path: str, conditions: Mapping[str, str], **how: Any
) -> list[str]:
    """Compare what is left of all changes by conditions in SQL of Spark and of Python."""
    changes = colonnade.open(path)
    found = []
    for text, same in conditions.items():
        for door in ("metadata table", "options of a path", "function"):
            frame = DOORS[door](spark, path, 1, changes.epoch).where(text)
            expected = changes.changes(1, changes.epoch, where=same).to_arrow()
            found += [f"{door} where {text}: {e}" for e in difference(frame, expected)]
    return found
