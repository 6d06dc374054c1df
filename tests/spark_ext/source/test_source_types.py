"""Every type through `spark.read` and `df.write`, and what Arrow sees of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

import colonnade
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.spark_ext.types import max_time_digits
from tests.spark_ext.frames import load, save
from tests.strategies import PRIMITIVES, identical, make_batch

pytestmark = pytest.mark.spark

UNCARRIED = ("interval year", "interval month", "char(", "time(9)")
"""Year-month intervals are refused, char(n) comes back padded, time(9) is newer than Spark 4.2."""


def every_type() -> TableSchema:
    names = [*(text for text in PRIMITIVES if not text.startswith(UNCARRIED)), "void"]
    plain = [SchemaField(id=i, name=f"c{i}", type=text) for i, text in enumerate(names, 1)]
    start = len(names) + 1
    nested = (
        SchemaField(id=start, name="c", type="varchar(5)"),
        SchemaField(
            id=start + 1,
            name="list",
            type=ArrayType(
                element=SchemaField(id=start + 2, name="element", type="decimal(38,10)")
            ),
        ),
        SchemaField(
            id=start + 3,
            name="pairs",
            type=MapType(
                key=SchemaField(id=start + 4, name="key", type="string", nullable=False),
                value=SchemaField(
                    id=start + 5,
                    name="value",
                    type=StructType(
                        fields=(
                            SchemaField(id=start + 6, name="x y", type="variant"),
                            SchemaField(id=start + 7, name="d", type="double", nullable=False),
                        )
                    ),
                ),
            ),
        ),
    )
    return TableSchema(fields=(*plain, *nested))


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_every_type_passes_through_spark_and_back_bit_by_bit(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = every_type()
    before = colonnade.create(tmp_path / "before", schema)
    for seed in range(4):
        before.append(make_batch(schema, 50, seed))
    after = colonnade.create(tmp_path / "after", schema)
    save(load(spark, before.path).coalesce(1), after.path)
    rows = [table.scan().to_arrow().combine_chunks() for table in (before, after)]
    one, two = (table.to_batches()[0] for table in rows)
    for name in one.schema.names:
        assert identical(one.column(name), two.column(name)), name


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_values_that_spark_made_are_the_values_that_spark_reads(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.sql("""
        SELECT * FROM VALUES
        (1, 1.5D, -0.0D, 'ä', X'00ff', DATE'0001-01-01', TIMESTAMP'1969-12-31 23:59:59.999999',
         TIMESTAMP_NTZ'9999-12-31 23:59:59', INTERVAL '-1' SECOND, map('k', array(1, NULL))),
        (2, double('NaN'), double('-Infinity'), '', X'', DATE'9999-12-31',
         TIMESTAMP'2026-03-29 02:30:00', NULL, INTERVAL '9' SECOND, map()),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
        AS t(id, d, z, s, b, day, ts, ntz, took, m)""")
    save(rows, tmp_path / "t")
    again = load(spark, tmp_path / "t")
    assert again.dtypes == rows.dtypes
    assert sorted(map(repr, again.collect())) == sorted(map(repr, rows.collect()))


@pytest.mark.matrix
@pytest.mark.spark_compat
@pytest.mark.parametrize("digits", [7, 9])
def test_a_time_finer_than_microseconds_is_carried_or_refused_by_name(
    spark: SparkSession, tmp_path: Path, error_of: Any, digits: int
) -> None:
    times = SchemaField(name="at", type=f"time({digits})")
    schema = TableSchema(fields=(SchemaField(name="id", type="long"), times))
    table = colonnade.create(tmp_path / "t", schema)
    rows = pa.table({"id": [1], "at": pa.array([86_399_999_999_900], pa.time64("ns"))})
    table.append(rows)
    if digits > max_time_digits(pyspark.__version__):
        sentence = error_of(lambda: load(spark, table.path).collect())
        assert f"Column 'at' has the type time({digits})" in sentence
        frame = spark.read.format("colonnade").schema("id long").load(table.path)
        assert frame.collect() == [(1,)]
    else:
        save(load(spark, table.path), table.path)
        both = table.scan(["at"]).to_arrow()["at"].cast(pa.int64())
        assert both.to_pylist() == [86_399_999_999_900] * 2


def test_a_char_column_pads_and_compares_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    schema = TableSchema(fields=(SchemaField(name="c", type="char(3)"),))
    colonnade.create(tmp_path / "t", schema)
    save(spark.sql("SELECT 'ab' AS c"), tmp_path / "t")
    frame = load(spark, tmp_path / "t")
    assert frame.where("c = 'ab'").count() == frame.where("c = 'ab '").count() == 1
    assert frame.first() == ("ab ",)
