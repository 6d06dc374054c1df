"""Random expressions have Spark's values and types, and fail for the rows that Spark fails for."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from colonnade import InvalidInputError
from colonnade.manifests.model.schema import assign_ids
from colonnade.tableformat.predicate.bind import bind_value
from colonnade.tableformat.predicate.literals import Literal
from colonnade.tableformat.predicate.sql import parse_value
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.spark_ext.random_expressions import SCHEMA, expression, rows

pytestmark = pytest.mark.spark

COLUMNS, _ = assign_ids(schema_from_arrow(SCHEMA), 1)
ROWS = 30
CHANGING = ",".join(
    f"org.apache.spark.sql.catalyst.optimizer.{rule}"
    for rule in ("ReorderAssociativeOperator", "SimplifyCasts")
)
"""Rules of Spark that change results: one multiplies in another order, so other products overflow;
one leaves out the cast of a long to float if the float becomes a double."""


def python_values(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values that can be compared: NaN equals itself, and a time is what is stored."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_date32(array.type):
        array = array.view(pa.int32())
    elif pa.types.is_temporal(array.type):
        array = array.view(pa.int64())
    found = array.to_pylist()
    return ["NaN" if isinstance(each, float) and math.isnan(each) else each for each in found]


def compare(spark: SparkSession, sql: str, batch: pa.RecordBatch) -> None:
    """Compare an expression on rows of the view `random_rows`, which are those of the batch."""
    try:
        parsed = parse_value(sql)
        value = bind_value(parsed, COLUMNS)
    except InvalidInputError:
        return  # its types are not supported
    if isinstance(parsed, Literal):
        return  # it takes the type of its column
    fine, failing = [], []
    for at in range(batch.num_rows):
        try:
            value.compute(batch.slice(at, 1))
            fine.append(at)
        except InvalidInputError:
            failing.append(at)
    query = f"SELECT row, ({sql}) AS v FROM random_rows WHERE row IN"
    if fine:
        mine = value.compute(batch.take(pa.array(fine)))
        found = spark.sql(f"{query} ({', '.join(map(str, fine))})").toArrow().sort_by("row")
        assert python_values(mine) == python_values(found["v"]), sql
        assert mine.type == found.schema.field("v").type, sql
    if failing:
        with pytest.raises(PySparkException):
            spark.sql(f"{query} ({failing[0]})").collect()


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 80))]
)
def test_an_expression_has_the_results_of_spark(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    table = rows(rng, ROWS)
    numbered = table.append_column("row", pa.array(range(ROWS), pa.int32()))
    pq.write_table(numbered, tmp_path / "rows.parquet")
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.optimizer.excludedRules", CHANGING)
    try:
        frame = spark.read.parquet(str(tmp_path / "rows.parquet")).coalesce(1).cache()
        frame.createOrReplaceTempView("random_rows")
        [batch] = table.combine_chunks().to_batches()
        for _ in range(40):
            compare(spark, expression(rng, rng.randint(1, 3)), batch)
        frame.unpersist()
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))
        spark.conf.unset("spark.sql.optimizer.excludedRules")
