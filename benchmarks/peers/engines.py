"""The four table formats that the benchmarks compare in one Spark session."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import colonnade

SPARK, DELTA, ICEBERG = "4.1", "4.4.0", "1.12.0"
PACKAGES = (
    f"io.delta:delta-spark_{SPARK}_2.13:{DELTA}",
    f"org.apache.iceberg:iceberg-spark-runtime-{SPARK}_2.13:{ICEBERG}",
)
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
)


def session(folder: Path | str, others: Mapping[str, str] | None = None) -> SparkSession:
    """Start local Spark on two processors with all four formats; `folder` holds Iceberg's tables.

    `folder` may be the URL of a bucket's folder. `others` has settings to add to those of the
    session.

    Raises `RuntimeError` on another version of Spark than the peers are released for.
    """
    if not pyspark.__version__.startswith(f"{SPARK}."):
        raise RuntimeError(
            f"The peers are measured on pyspark {SPARK}, and this is {pyspark.__version__}: run "
            "`bash tests/run --spark 4.1` once, then this with PYTHONPATH=.venv-spark41."
        )
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.jars.packages": ",".join(PACKAGES),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # The default of 50 suits clusters, but would slow every scan of Delta here.
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.catalog.iceberg": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.iceberg.type": "hadoop",
        "spark.sql.catalog.iceberg.warehouse": f"{folder}/iceberg",
        **(others or {}),
    }
    builder = SparkSession.builder.master("local[2]").appName("colonnade-benchmarks")
    for name, value in settings.items():
        builder.config(name, value)
    spark = colonnade.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Engine(ABC):
    """The tables of one format, by short names. Each `create` makes its table in a new folder.

    `folder` may be the URL of a new folder of a bucket.
    """

    name: str

    def __init__(self, spark: SparkSession, folder: Path | str) -> None:
        self.spark = spark
        self.folder = f"{folder}/{type(self).__name__.lower()}"
        if isinstance(folder, Path):
            shutil.rmtree(self.folder, ignore_errors=True)
        self._numbers = itertools.count()
        self._places: dict[str, str] = {}

    def create(self, table: str, frame: DataFrame) -> None:
        """Write `frame` as a new table, without reading the table that it replaces."""
        self._places[table] = f"{table}_{next(self._numbers)}"
        self._create(table, frame)

    def adopt(self, table: str, place: str) -> None:
        """Give a short name to a table that is there already, in a folder of the same engine."""
        self._places[table] = place

    def place(self, table: str) -> str:
        """Return the folder of the table's files."""
        return f"{self.folder}/{self._places[table]}"

    def size(self, table: str) -> int:
        """Return the bytes of the table's files, without Hadoop's local checksum files.

        Requires a table on local disk.
        """
        files = (each for each in Path(self.place(table)).rglob("*") if each.suffix != ".crc")
        return sum(each.stat().st_size for each in files if each.is_file())

    def sql_name(self, table: str) -> str:
        """Return the name of the table in SQL."""
        return f"{type(self).__name__.lower()}.`{self.place(table)}`"

    @abstractmethod
    def read(self, table: str) -> DataFrame:
        """Return the newest rows of the table."""

    @abstractmethod
    def append(self, table: str, frame: DataFrame) -> None:
        """Append the rows of `frame` in one commit."""

    @abstractmethod
    def _create(self, table: str, frame: DataFrame) -> None: ...


class Colonnade(Engine):
    """Colonnade, read and written by the jar's source."""

    name = "Colonnade"

    def read(self, table: str) -> DataFrame:
        return self.spark.read.format("colonnade").load(self.place(table))

    def append(self, table: str, frame: DataFrame) -> None:
        frame.write.format("colonnade").mode("append").save(self.place(table))

    def _create(self, table: str, frame: DataFrame) -> None:
        self.append(table, frame)


class Parquet(Engine):
    """A folder of Parquet files that Spark lists; a failed append may leave rows behind.

    Reads give the schema, as a catalog would, since Spark would run a job to infer it.
    """

    name = "Parquet-zstd"

    def __init__(self, spark: SparkSession, folder: Path | str) -> None:
        super().__init__(spark, folder)
        self._schemas: dict[str, StructType] = {}

    def read(self, table: str) -> DataFrame:
        return self.spark.read.schema(self._schemas[table]).parquet(self.place(table))

    def append(self, table: str, frame: DataFrame) -> None:
        frame.write.mode("append").parquet(self.place(table))

    def _create(self, table: str, frame: DataFrame) -> None:
        self._schemas[table] = frame.schema
        self.append(table, frame)


class Delta(Engine):
    """Delta Lake with the settings of a new table."""

    name = f"Delta {DELTA}"

    def read(self, table: str) -> DataFrame:
        return self.spark.read.format("delta").load(self.place(table))

    def append(self, table: str, frame: DataFrame) -> None:
        frame.write.format("delta").mode("append").save(self.place(table))

    def _create(self, table: str, frame: DataFrame) -> None:
        self.append(table, frame)


class Iceberg(Engine):
    """Iceberg, format version 3 with merge-on-read, in a catalog that is a folder."""

    name = f"Iceberg {ICEBERG}"
    mode = "merge-on-read"

    def sql_name(self, table: str) -> str:
        return self._identifier(table)

    def read(self, table: str) -> DataFrame:
        return self.spark.table(self._identifier(table))

    def append(self, table: str, frame: DataFrame) -> None:
        frame.writeTo(self._identifier(table)).append()

    def place(self, table: str) -> str:
        return f"{self.folder}/db/{self._places[table]}"

    def _create(self, table: str, frame: DataFrame) -> None:
        writer = frame.writeTo(self._identifier(table)).using("iceberg")
        for action in ("delete", "update", "merge"):
            writer = writer.tableProperty(f"write.{action}.mode", self.mode)
        writer = writer.tableProperty("write.parquet.compression-codec", "zstd")
        writer.tableProperty("format-version", "3").create()

    def _identifier(self, table: str) -> str:
        return f"iceberg.db.{self._places[table]}"


ENGINES: tuple[type[Engine], ...] = (Colonnade, Parquet, Delta, Iceberg)
