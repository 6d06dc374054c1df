"""Statements of maintenance in a session of its own: `maintenance_road.py KIND FOLDER`.

KIND is `connect`, or `delta` for sessions that have Delta Lake beside Colonnade.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

import colonnade
from tests.spark_ext.maintenance import check_refusals, names, walk

DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
BOTH = {
    "spark.jars.packages": DELTA,
    "spark.jars": str(colonnade.jar_path()),
    "spark.colonnade.python": sys.executable,
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}
EXTENSIONS = ("io.delta.sql.DeltaSparkSessionExtension", "colonnade.catalog.SessionExtension")


def settings(folder: Path) -> dict[str, str]:
    """What every session of this road has."""
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": f"{folder}/spark",
        "spark.sql.catalog.colonnade.warehouse": f"{folder}/warehouse",
    }


def statements(spark: SparkSession) -> Callable[[str], list[Any]]:
    return lambda text: spark.sql(text).collect()


def refusals(spark: SparkSession) -> Callable[[str], str]:
    def refusal(text: str) -> str:
        try:
            spark.sql(text).collect()
        except Exception as error:
            said = str(getattr(error, "java_exception", error))
            return said[max(said.find("[COLONNADE_"), 0) :].splitlines()[0]
        raise AssertionError(f"{text} was not refused")

    return refusal


def on_connect(folder: Path) -> None:
    """Each statement, by each kind of name, of a client of Spark Connect."""
    builder = SparkSession.builder.remote("local[1]")
    for name, value in settings(folder).items():
        builder = builder.config(name, value)
    spark = colonnade.configure(builder).getOrCreate()
    spark.sql("CREATE NAMESPACE colonnade.shop")
    for created, named in names(folder).values():
        walk(statements(spark), created, named)
    check_refusals(refusals(spark), "colonnade.shop.named")
    as_ada(folder)
    spark.stop()


def as_ada(folder: Path) -> None:
    """What a client commits has the name of its user, by statements and by methods of a table."""
    remote = SparkSession.builder.remote("sc://localhost:15002/;user_id=ada").create()
    remote.conf.set("spark.colonnade.userMetadata", "nightly")
    remote.sql("CREATE TABLE colonnade.shop.ada (id BIGINT)")
    for number in (1, 2):
        remote.sql(f"INSERT INTO colonnade.shop.ada VALUES ({number})")
    table = colonnade.Table.forPath(remote, f"{folder}/warehouse/shop/ada")
    table.delete("id = 1")
    table.restoreToVersion(table.history(1).collect()[0].version - 1)
    remote.sql("OPTIMIZE colonnade.shop.ada FULL")
    told = [(row.operation, row.userName, row.userMetadata) for row in table.history().collect()]
    names = ["OPTIMIZE", "RESTORE", "DELETE", "WRITE", "WRITE", "CREATE TABLE"]
    assert told == [(name, "ada", "nightly") for name in names], told


def beside_delta(folder: Path) -> None:
    """Both formats, whichever extension comes first, and whoever makes the session."""
    kinds = (
        (EXTENSIONS, False),
        (EXTENSIONS[::-1], False),
        (EXTENSIONS[::-1], True),
        (EXTENSIONS[:1], True),
    )
    for number, (extensions, of_jvm) in enumerate(kinds):
        place = folder / str(number)
        conf = SparkConf().setMaster("local[1]").setAppName("both")
        for name, value in {**settings(place), **BOTH}.items():
            conf.set(name, value)
        conf.set("spark.sql.extensions", ",".join(extensions))
        context = SparkContext(conf=conf)
        context.setLogLevel("OFF")
        spark = made_by_jvm(context) if of_jvm else SparkSession.builder.getOrCreate()
        serve_both(spark, place)
        if number == 0:
            serve_more(spark, place)
        spark.stop()
        print("served:", ", ".join(extensions), "of the JVM" if of_jvm else "", flush=True)


def made_by_jvm(context: SparkContext) -> SparkSession:
    """The session that a program of the JVM makes, such as spark-sql or a Connect server."""
    jvm: Any = context._jvm
    return SparkSession(context, jvm.org.apache.spark.sql.classic.SparkSession.builder().create())


def serve_both(spark: SparkSession, folder: Path) -> None:
    """Each format serves the statements on its own tables; Delta's is asked first."""
    sql = statements(spark)
    sql("CREATE TABLE d (id BIGINT) USING delta")
    sql("INSERT INTO d SELECT id FROM range(4)")
    [detail] = sql("DESCRIBE DETAIL d")
    place = detail["location"].removeprefix("file:")
    assert "metrics" in sql("OPTIMIZE d")[0]
    history = spark.sql(f"DESC HISTORY delta.`{place}` LIMIT 1")
    assert history.count() == 1

    sql("CREATE NAMESPACE colonnade.shop")
    sql("CREATE TABLE colonnade.shop.c (id BIGINT)")
    sql("INSERT INTO colonnade.shop.c SELECT id FROM range(4)")
    columns = spark.sql("OPTIMIZE colonnade.shop.c ZORDER BY (id)").columns
    assert columns == spark.sql("OPTIMIZE d").columns
    ours = spark.sql("DESC HISTORY colonnade.shop.c LIMIT 1")
    assert plain(ours.schema) == plain(history.schema)
    assert ours.unionByName(history).count() == 2
    restored = spark.sql("RESTORE colonnade.shop.c TO VERSION AS OF 2").columns
    theirs = spark.sql("RESTORE d TO VERSION AS OF 0").columns
    assert set(theirs) <= set(restored), theirs
    sql("RESTORE d TO VERSION AS OF 1")
    sql("USE colonnade.shop")
    for table, format in {
        "c": "colonnade",
        f"colonnade.`{folder}/warehouse/shop/c`": "colonnade",
        f"'{folder}/warehouse/shop/c'": "colonnade",
        "spark_catalog.default.d": "delta",
        f"delta.`{place}`": "delta",
        f"'{place}'": "delta",
    }.items():
        [detail] = sql(f"DESCRIBE DETAIL {table}")
        assert detail["format"] == format, table
    refused = refusals(spark)("OPTIMIZE nobody.`s/own` FOR EVER")
    assert "OPTIMIZE names no table of Colonnade here" in refused, refused


def plain(schema: StructType) -> list[tuple[str, str]]:
    """The names and types of columns."""
    return [(field.name, field.dataType.simpleString()) for field in schema.fields]


def serve_more(spark: SparkSession, folder: Path) -> None:
    """The statements that only one of the formats has, and all of Colonnade's own."""
    sql = statements(spark)
    sql("USE spark_catalog.default")
    assert sql("VACUUM d RETAIN 168 HOURS DRY RUN") == []
    sql("RESTORE TABLE d TO VERSION AS OF 1")
    sql("REORG TABLE d APPLY (PURGE)")
    sql("GENERATE symlink_format_manifest FOR TABLE d")
    sql(f"CREATE TABLE delta.`{folder}/copy` SHALLOW CLONE d")
    spark.range(2).write.parquet(f"{folder}/files")
    sql(f"CONVERT TO DELTA parquet.`{folder}/files`")
    sql("CREATE NAMESPACE colonnade.alone")  # a vacuum keeps what another table wants to keep
    created, named = names(folder, "alone")["name"]
    walk(sql, created, named)
    check_refusals(refusals(spark), named)


if __name__ == "__main__":
    KINDS = {"connect": on_connect, "delta": beside_delta}
    os.chdir(sys.argv[2])
    KINDS[sys.argv[1]](Path(sys.argv[2]))
