"""The README's lines for Spark do what they say."""

import re
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

README = Path(__file__).parents[2] / "README.md"


def test_the_readmes_spark_lines_run_as_written(spark: SparkSession, tmp_path: Path) -> None:
    section = README.read_text().split("## With Spark")[1].split("## Without Spark")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    # The last two need the jar: see java/test_row_methods.py and java/test_transactions.py.
    assert len(blocks) == 5
    df = spark.createDataFrame([(date(2026, 1, 5), 1.5)], "day date, miles double")
    names = {"spark": spark, "df": df}
    for block in blocks[:-2]:
        exec(re.sub(r'"(lake|shop)', rf'"{tmp_path}/\1', block), names)
    trips = spark.read.format("colonnade").load(f"{tmp_path}/lake/trips")
    assert trips.collect() == df.collect()
    orders = spark.read.format("colonnade").load(f"{tmp_path}/shop/orders")
    assert orders.columns == ["id", "day"]
