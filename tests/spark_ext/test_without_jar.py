"""What the page about Spark shows for sessions without the jar does what it says."""

import re
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[2] / "docs" / "spark-sessions.md"


def test_the_lines_for_sessions_without_the_jar_run_as_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    _, _, section = PAGE.read_text("utf-8").partition("## Without the jar")
    [block] = re.findall(r"```py\n(.*?)```", section, flags=re.DOTALL)
    schema = "day date, miles double, note string"
    rows = [(date(2025, 12, 31), 2.5, "a"), (date(2026, 1, 1), 7.0, "b")]
    df = spark.createDataFrame(rows, schema)
    df.write.format("colonnade").mode("append").save(f"{tmp_path}/lake/trips")
    code = compile(block.replace('"lake', f'"{tmp_path}/lake'), PAGE, "eval")
    assert eval(code, {"spark": spark}).collect() == [(date(2026, 1, 1), 7.0)]
