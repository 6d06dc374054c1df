"""The words of a user: load a path, save a frame, look at its ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession


def load(spark: SparkSession, path: Path | str, **options: Any) -> DataFrame:
    return spark.read.format("colonnade").options(**options).load(str(path))


def save(frame: DataFrame, path: Path | str, mode: str = "append", **options: Any) -> None:
    frame.write.format("colonnade").mode(mode).options(**options).save(str(path))


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())
