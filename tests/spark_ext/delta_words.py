"""Tries a row of the page of words in a Spark with Colonnade, for `java/test_words.py`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import colonnade
from tests.words import make_database

TIME = "2026-01-31 12:00"
CHECKPOINTS = "spark.sql.streaming.checkpointLocation"


class Tried:
    """The tables of the page, and what its rows may name.

    `/lake` of a row is the folder `lake`, and its time is one right after the tables were made.
    """

    def __init__(self, spark: SparkSession, lake: Path) -> None:
        self.spark = spark
        self.lake = lake
        made: dict[str, Any] = {"colonnade": colonnade}
        before = os.getcwd()
        os.chdir(lake)
        try:
            make_database(made)
        finally:
            os.chdir(before)
        news = pa.table({"id": [3, 4], "item": ["cap", "box"], "price": [1.5, 9.0]})
        made["db"].create_table("news", news)
        os.mkdir(lake / "files")
        pq.write_table(news.slice(1), lake / "files" / "one.parquet")
        spark.sql("USE colonnade.shop")
        frame = spark.table("news")
        fresh = frame.where("id = 4")
        spark.conf.set(CHECKPOINTS, str(lake / "checkpoint"))
        stream = spark.readStream.schema(frame.schema)
        self.names: dict[str, Any] = {"spark": spark, "F": F, "colonnade": colonnade}
        self.names |= {"Table": colonnade.Table, "builder": SparkSession.builder, "lake": lake}
        self.names |= {"news": frame, "fresh": fresh, "paid": fresh.withColumn("paid", F.lit(True))}
        self.names |= {"stream": stream.parquet(str(lake / "files"))}
        self.names |= {"table": colonnade.Table.forName(spark, "orders")}
        self.names |= {"again": self.again, "ids": self.ids, "rows": self.rows}
        self.names |= {"columns": self.columns, "files": self.files}

    def run(self, code: str, in_sql: bool, expression: str) -> Any:
        """Run the code of a row, and return the value of an expression about it.

        `found` is the result of Python, and the rows of a statement as dicts. `again()` runs the
        code once more, such as after a change that it should undo.
        """
        [now] = self.rows("SELECT CAST(current_timestamp() AS STRING) AS time")
        self.code = code.replace("/lake", str(self.lake)).replace(TIME, now["time"])
        self.in_sql = in_sql
        self.names["found"] = self.again()
        return eval(expression, self.names)

    def again(self) -> Any:
        return self.rows(self.code) if self.in_sql else eval(self.code, self.names)

    def rows(self, given: str | DataFrame) -> list[dict[str, Any]]:
        found = self.spark.sql(given) if isinstance(given, str) else given
        return [row.asDict(recursive=True) for row in found.collect()]

    def ids(self, given: str | DataFrame = "orders") -> list[int]:
        found = self.spark.table(given) if isinstance(given, str) else given
        return sorted(row["id"] for row in found.select("id").collect())

    def columns(self, name: str = "orders") -> list[str]:
        return list(self.spark.table(name).columns)

    def files(self) -> int:
        return int(self.names["table"].detail().first().numFiles)


def tried(spark: SparkSession, folder: str, code: str, in_sql: bool, expression: str) -> Any:
    """Try a row in the warehouse of the tests' Spark, and leave it and the session as they were."""
    lake = Path(folder) / "warehouse"
    lake.mkdir(exist_ok=True)
    try:
        return Tried(spark, lake).run(code, in_sql, expression)
    finally:
        spark.conf.unset(CHECKPOINTS)
        spark.sql("USE spark_catalog.default")
        spark.sql("DROP TABLE IF EXISTS new")
        spark.sql("DROP DATABASE colonnade.shop CASCADE")
        for made in ("shop", "new", "files", "checkpoint"):
            shutil.rmtree(lake / made, ignore_errors=True)
