"""Random expressions of generated columns have the same values in Spark as in Python's writers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import InvalidInputError, SchemaField, TableSchema
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark]

WHOLE = ("b", "h", "n", "l")
TYPES = {"b": "TINYINT", "h": "SMALLINT", "n": "INT", "l": "BIGINT"}
TIMES = ("at", "wall")
ARROW = pa.schema(
    {
        "id": pa.int64(), "b": pa.int8(), "h": pa.int16(), "n": pa.int32(), "l": pa.int64(),
        "at": pa.timestamp("us", "UTC"), "wall": pa.timestamp("us"),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE colonnade.valued")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.valued CASCADE")


def path(spark: SparkShell, name: str) -> Path:
    return spark.folder / "warehouse" / "valued" / name


def whole(rng: random.Random, depth: int) -> str:
    """Return an expression of whole numbers that both roads know."""
    match rng.randrange(4 if depth else 2):
        case 0:
            return rng.choice(WHOLE)
        case 1:
            return str(rng.randint(0, 9))
        case 2:
            return f"CAST({whole(rng, depth - 1)} AS {rng.choice(('INT', 'BIGINT'))})"
        case _:
            operator = rng.choice("+-*")
            return f"({whole(rng, depth - 1)} {operator} {whole(rng, depth - 1)})"


def definitions(rng: random.Random, count: int) -> dict[str, str]:
    """Return columns with random expressions, `count` of each kind: types and texts by name."""
    found = {}
    for at in range(count):
        found[f"w{at}"] = f"BIGINT GENERATED ALWAYS AS ({whole(rng, 3)})"
        found[f"t{at}"] = f"STRING GENERATED ALWAYS AS (CAST({whole(rng, 2)} AS STRING))"
        part = rng.choice(("year", "month", "day", "hour", "minute"))
        found[f"p{at}"] = (
            f"BIGINT GENERATED ALWAYS AS ({part}({rng.choice(TIMES)}) + {whole(rng, 0)})"
        )
        found[f"d{at}"] = f"DATE GENERATED ALWAYS AS (CAST({rng.choice(TIMES)} AS DATE))"
    return found


def values(rng: random.Random, ids: range) -> list[dict[str, Any]]:
    """Return rows; numbers are small, because overflow has a test of its own."""
    zone = timezone.utc
    start = datetime(1950, 1, 1, tzinfo=zone)
    rows = []
    for each in ids:
        row: dict[str, Any] = {name: rng.randint(-3, 3) for name in WHOLE}
        moment = start + timedelta(seconds=rng.randrange(75 * 365 * 86400), microseconds=each)
        row |= {"at": moment, "wall": moment.replace(tzinfo=None)}
        row = {name: None if rng.random() < 0.15 else value for name, value in row.items()}
        rows.append({"id": each, **row})
    return rows


def frame(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a table of SQL."""

    def literal(name: str, value: Any) -> str:
        kind = {**TYPES, "id": "BIGINT", "at": "TIMESTAMP", "wall": "TIMESTAMP_NTZ"}[name]
        return "NULL" if value is None else f"CAST('{value}' AS {kind})"

    lines = (", ".join(literal(k, v) for k, v in row.items()) for row in rows)
    return "VALUES " + ", ".join(f"({line})" for line in lines)


@pytest.mark.parametrize(
    ("seed", "count"), [(1, 2), *(pytest.param(n, 8, marks=pytest.mark.long) for n in (2, 3, 4))]
)
def test_random_expressions_have_the_values_of_python(
    spark: SparkShell, seed: int, count: int
) -> None:
    rng = random.Random(seed)
    texts = definitions(rng, count)
    plain = ", ".join([f"{name} {kind}" for name, kind in TYPES.items()])
    columns = ", ".join(
        ["id BIGINT", plain, "at TIMESTAMP, wall TIMESTAMP_NTZ"]
        + [f"{name} {text}" for name, text in texts.items()]
    )
    zone = rng.choice(("UTC", "Asia/Kathmandu", "America/New_York"))
    spark.sql(f"SET spark.sql.session.timeZone = {zone}")
    try:
        for name in ("x", "y"):
            spark.sql(f"CREATE OR REPLACE TABLE colonnade.valued.{name} ({columns})")
    finally:
        spark.sql("RESET spark.sql.session.timeZone")
    mine = colonnade.open(path(spark, "y"))
    given = ", ".join(ARROW.names)
    first, second = values(rng, range(20)), values(rng, range(10, 30))
    spark.sql(f"INSERT INTO colonnade.valued.x ({given}) {frame(first)}")
    mine.append(pa.Table.from_pylist(first, ARROW))
    spark.sql(
        f"MERGE INTO colonnade.valued.x t USING (SELECT * FROM {frame(second)} AS s({given})) s"
        f" ON t.id = s.id WHEN MATCHED THEN UPDATE SET"
        f" {', '.join(f't.{name} = s.{name}' for name in ARROW.names)}"
        f" WHEN NOT MATCHED THEN INSERT ({given}) VALUES ({given.replace(', ', ', s.')})"
    )
    mine.upsert(pa.Table.from_pylist(second, ARROW), on=["id"])
    spark.sql(
        "UPDATE colonnade.valued.x SET n = 2, at = TIMESTAMP'2024-02-29 23:30:00Z' WHERE l > 0"
    )
    mine.update({"n": 2, "at": datetime(2024, 2, 29, 23, 30, tzinfo=timezone.utc)}, "l > 0")
    tables = [colonnade.open(path(spark, name)).scan().to_arrow() for name in ("x", "y")]
    found, wanted = (sorted(each.to_pylist(), key=lambda row: row["id"]) for each in tables)
    assert found == wanted


@pytest.mark.parametrize(
    ("kind", "sql", "row"),
    [
        ("long", "l * 2", {"l": 2**62}),
        ("int", "n - 1", {"n": -(2**31)}),
        ("byte", "CAST(n AS TINYINT)", {"n": 128}),
        ("short", "h + h", {"h": 20000}),
        ("varchar(3)", "CAST(n AS STRING)", {"n": 1234}),
    ],
)
def test_both_roads_refuse_a_value_that_the_column_cannot_hold(
    spark: SparkShell, kind: str, sql: str, row: dict[str, int]
) -> None:
    (name, value), *_ = row.items()
    source = schema_from_arrow(pa.schema([ARROW.field(name)])).fields[0]
    schema = TableSchema(fields=(source, SchemaField(name="g", type=kind)))
    table = colonnade.create(path(spark, f"o_{kind[:3]}"), schema, generated={"g": sql})
    with pytest.raises(InvalidInputError, match="'g'"):
        table.append(pa.Table.from_pylist([row], pa.schema([ARROW.field(name)])))
    given = f"({name}) VALUES (CAST('{value}' AS {TYPES[name]}))"
    refusal = spark.refusal(f"INSERT INTO colonnade.valued.o_{kind[:3]} {given}")
    assert "OVERFLOW" in refusal or "EXCEED_LIMIT_LENGTH" in refusal
    table.refresh()
    assert table.scan().to_arrow().num_rows == 0
