"""Writes through Spark, in a process of its own: `python write_road.py FOLDER`.

Leaves tables in FOLDER, and in FOLDER/seen.json what was seen, for the tests to judge.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import colonnade

SORTED = """
    id bigint, f double, s string, d decimal(25,3), b binary, t timestamp, ok boolean,
    m interval year to month, day date
"""
ROWS = """
    SELECT id,
      CASE id % 7 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN -0.0D WHEN 3 THEN 0.0D
        ELSE id * -1.5D END f,
      CASE WHEN id % 5 = 0 THEN NULL ELSE concat(chr(int(id * 37 % 5000 + 1)), 'x') END s,
      CASE WHEN id % 9 = 0 THEN NULL ELSE decimal((id * 7919 % 1000 - 500) / 8) END d,
      CASE WHEN id % 4 = 0 THEN NULL ELSE unhex(hex(id * 31 % 700)) END b,
      timestamp_micros(id * 999983 % 7 - 3) t, id % 3 = 0 ok,
      make_ym_interval(0, int(id % 5 - 2)) m, date_add(DATE'1969-12-30', int(id * 13 % 6)) day
    FROM range(0, 3000, 1, 3)
"""
KEYS = ["f", "s desc", "d", "b desc", "t", "ok", "m", "day desc"]


def sorted_tables(spark: SparkSession, folder: Path) -> None:
    """For each rotation of the keys a table that Spark sorts by them."""
    for turn in range(len(KEYS)):
        key = ", ".join([*KEYS[turn:], *KEYS[:turn]])
        path = f"{folder}/sorted{turn}"
        spark.sql(f"CREATE TABLE colonnade.`{path}` ({SORTED}) TBLPROPERTIES (sortKey = '{key}')")
        spark.sql(f"INSERT INTO colonnade.`{path}` {ROWS}")


def broken_text(spark: SparkSession, path: str) -> str:
    """What a user sees who writes text that is none."""
    rows = spark.range(3).select(F.expr("CAST(unhex('fffe') AS string)").alias("s"))
    try:
        rows.write.format("colonnade").mode("append").save(path)
    except Exception as error:
        return str(error)
    return ""


def main(folder: Path) -> None:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = colonnade.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    seen: dict[str, Any] = {}
    sorted_tables(spark, folder)
    spark.sql("SELECT 'a' s").write.format("colonnade").save(f"{folder}/texts")
    seen["broken text"] = broken_text(spark, f"{folder}/texts")
    (folder / "seen.json").write_text(json.dumps(seen))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
