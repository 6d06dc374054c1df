"""All 22 TPC-H queries: Colonnade's tables answer as the Parquet files they were loaded from."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = pytest.mark.spark

SCALE = "0.05"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
QUERIES = dict(
    re.findall(
        r"-- (q\d+)\n(.*?);\n",
        Path(__file__).with_name("tpch_queries.sql").read_text(),
        flags=re.DOTALL,
    )
)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    generator = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([generator, "parquet", "-s", SCALE, "-o", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def database(spark: SparkSession, sources: Path) -> Path:
    path = sources / "colonnade"
    for table in TABLES:
        frame = spark.read.parquet(str(sources / f"{table}.parquet"))
        # Every table is a lone one here: databases have tests of their own.
        frame.write.format("colonnade").mode("append").save(str(path / table))
    return path


@pytest.fixture
def views(spark: SparkSession) -> Iterator[Any]:
    def use(load: Any) -> None:
        for table in TABLES:
            load(table).createOrReplaceTempView(table)

    yield use
    for table in TABLES:
        spark.catalog.dropTempView(table)


def test_every_query_is_there() -> None:
    assert list(QUERIES) == [f"q{number}" for number in range(1, 23)]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_answers_as_on_parquet(
    name: str, spark: SparkSession, sources: Path, database: Path, views: Any
) -> None:
    def ours(table: str) -> DataFrame:
        return spark.read.format("colonnade").load(str(database / table))

    def theirs(table: str) -> DataFrame:
        return spark.read.parquet(str(sources / f"{table}.parquet"))

    views(theirs)
    expected = spark.sql(QUERIES[name]).collect()
    views(ours)
    answer = spark.sql(QUERIES[name]).collect()
    assert rounded(answer) == rounded(expected)
    assert expected, "the query selects nothing at this scale, so it shows nothing"


def rounded(rows: list[Row]) -> list[tuple[Any, ...]]:
    """Floating sums depend on the order of rows; everything else must be equal to the bit."""
    return [
        tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row)
        for row in rows
    ]
