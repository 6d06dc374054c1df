"""A session with the jar that passes options of stores to the planner; run by test_storage_options.

The planner knows the protocol `vault`: files on a local disk, which only open for callers with a
secret. Counts come from the log, so that no task has to read the store. Prints what each query and
each error shows, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import colonnade

SECRET = "HUNTER2"
SETTING = "spark.colonnade.storage.secret"
KEY = "spark.colonnade.storage.account_key"
"""Spark hides no such name by itself."""
PYTHON_PATH = "spark.colonnade.pythonPath"
PROTOCOL = """
import fsspec
from fsspec.implementations.local import LocalFileSystem

class VaultFiles(LocalFileSystem):
    protocol = "vault"
    cachable = False

    def __init__(self, secret="", **options):
        super().__init__(**options)
        if secret != "HUNTER2":
            raise PermissionError(secret)

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("vault://"))

fsspec.register_implementation("vault", VaultFiles, clobber=True)
"""


def shown(frame: DataFrame) -> str:
    """Return everything that Spark shows of a query, and its first row."""
    execution = frame._jdf.queryExecution()
    plans = str(execution.toString()) + str(execution.simpleString()) + repr(frame)
    return plans + str(frame.collect()[0])


def sentence(action: Callable[[], object]) -> str:
    """Return the error of an action that must fail."""
    try:
        action()
    except PySparkException as error:
        return str(error)
    raise AssertionError("it did not fail")


def run(spark: SparkSession, url: str) -> dict[str, str]:
    """Return what Spark shows, by the case."""

    def load() -> DataFrame:
        return spark.read.format("colonnade").load(url)

    seen = {"no option": sentence(load)}
    reader = spark.read.format("colonnade").option("storage.secret", SECRET)
    seen["read"] = shown(reader.load(url).groupBy().count())
    seen["earlier"] = shown(reader.option("epoch", 1).load(url).groupBy().count())
    seen["another read"] = sentence(load)
    writer = spark.range(3).write.format("colonnade").mode("append")
    seen["write"] = sentence(lambda: writer.option("storage.secret", SECRET).save(url))
    spark.conf.set(SETTING, f"not {SECRET}")
    seen["wrong"] = sentence(load)
    spark.conf.set(SETTING, SECRET)
    spark.conf.set(KEY, f"{SECRET} of the session")
    seen["session"] = shown(load().groupBy().count())
    seen["sql"] = shown(spark.sql(f"SELECT count(*) FROM colonnade.`{url}`"))
    seen["history"] = shown(spark.sql(f"CALL colonnade.system.history(table => '{url}')"))
    seen["set"] = str(spark.sql("SET").where(f"key = '{KEY}'").collect())
    query = spark._jsparkSession.sharedState().statusStore().executionsCount() - 1
    context = spark.sparkContext
    environment = f"/api/v1/applications/{context.applicationId}/environment"
    for case, page in (("environment", environment), ("query", f"/SQL/execution/?id={query}")):
        seen[case] = urlopen(f"{context.uiWebUrl}{page}").read().decode()
    for name in (SETTING, KEY):
        spark.conf.unset(name)
    spark.conf.set("spark.colonnade.storage.patience", "1")
    seen["dead server"] = sentence(lambda: spark.sql("SELECT * FROM colonnade.`s3a://bucket/t`"))
    return seen


def main(folder: Path) -> None:
    """Make a table of 100 rows and print what is seen of it."""
    code = folder / "code"
    code.mkdir()
    (code / "sitecustomize.py").write_text(PROTOCOL)
    table = colonnade.create(folder / "t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": pa.array(range(100), pa.int64())}))
    builder = (
        SparkSession.builder.master("local[1]").config("spark.ui.port", "0").config(KEY, SECRET)
    )
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    for name in ("secret.key", "session.token"):
        builder = builder.config(f"spark.hadoop.fs.s3a.{name}", SECRET)
    builder = builder.config("spark.hadoop.fs.s3a.access.key", "someone")
    builder = builder.config("spark.hadoop.fs.s3a.endpoint", "http://127.0.0.1:1")
    spark = colonnade.enable(colonnade.configure(builder).getOrCreate())
    spark.conf.set(PYTHON_PATH, f"{code}{os.pathsep}{spark.conf.get(PYTHON_PATH)}")
    print(json.dumps(run(spark, f"vault://{folder}/t")))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
