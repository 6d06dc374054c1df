"""Words and formats of peers: each road takes or refuses the same ones, and stores none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

T = "colonnade.peers.t"
TUNES = {
    "TBLPROPERTIES": f"CREATE TABLE {T} (id BIGINT) TBLPROPERTIES ('delta.targetFileSize' = '1g')",
    "OPTIONS": f"CREATE TABLE {T} (id BIGINT) OPTIONS (compression 'zstd')",
    "CREATE AS": f"CREATE TABLE {T} TBLPROPERTIES ('write.format.default' = 'orc') AS SELECT 1L id",
    "ALTER": f"ALTER TABLE {T} SET TBLPROPERTIES ('optimizeWrite' = 'true', 'owner2' = 'Ann')",
}
FRAMES = (
    "spark.range(2).write.format('colonnade').option('optimizeWrite', True)"
    f".option('dataChange', False).mode('append').saveAsTable('{T}')",
    f"spark.range(2).writeTo('{T}').option('compression', 'zstd').append()",
    f"spark.range(2).writeTo('{T}').tableProperty('write.parquet.page-size-bytes', '1').replace()",
    "spark.read.format('colonnade').option('split-size', '1').load(folder +"
    " '/warehouse/peers/t').count()",
)
PROMISES = {
    "TBLPROPERTIES": f"CREATE TABLE {T} (id INT) TBLPROPERTIES ('delta.appendOnly' = 'true')",
    "CREATE AS": f"CREATE TABLE {T} TBLPROPERTIES ('delta.enableRowTracking' = 'true') AS SELECT 1",
    "OPTIONS": f"CREATE TABLE {T} (id INT) OPTIONS ('write.wap.enabled' 'true')",
}


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE IF NOT EXISTS colonnade.peers")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.peers CASCADE")


def properties(spark: SparkShell) -> list[list[str]]:
    return spark.sql(f"SHOW TBLPROPERTIES {T}")


def test_words_that_only_tune_are_taken_on_each_road_and_not_stored(spark: SparkShell) -> None:
    for road in ("TBLPROPERTIES", "OPTIONS", "CREATE AS"):
        spark.sql(TUNES[road])
        assert properties(spark) == []
        if road != "CREATE AS":
            spark.sql(f"DROP TABLE {T}")
    spark.sql(TUNES["ALTER"])
    assert properties(spark) == [["owner2", "Ann"]]
    for code in FRAMES:
        spark.run(code)
    assert properties(spark) == []
    assert spark.sql(f"SELECT count(*) FROM {T}") == [[2]]


def test_words_that_promise_something_are_refused_on_each_road(spark: SparkShell) -> None:
    for statement in PROMISES.values():
        assert "of another format promises" in spark.refusal(statement)
    assert spark.sql("SHOW TABLES IN colonnade.peers") == []
    spark.sql(f"CREATE TABLE {T} (id BIGINT)")
    changed = f"ALTER TABLE {T} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
    assert "'delta.enableRowTracking' of another format promises" in spark.refusal(changed)
    write = f"spark.range(1).writeTo('{T}').option('merge-schema', True).append()"
    assert "use the option mergeSchema" in spark.refused_run(write)
    read = "spark.read.format('colonnade').option('snapshot-id', 5).load(folder + '/x')"
    assert "read an epoch or a tag with versionAsOf" in spark.refused_run(read)


def test_the_default_format_means_a_colonnade_table_in_sql_and_in_data_frames(
    spark: SparkShell,
) -> None:
    spark.sql("CREATE TABLE colonnade.peers.a (id BIGINT) USING parquet")
    spark.sql("CREATE TABLE colonnade.peers.b USING Parquet AS SELECT 1L AS id")
    spark.run("spark.range(1).write.format('parquet').saveAsTable('colonnade.peers.c')")
    spark.run("spark.range(1).write.saveAsTable('colonnade.peers.d')")
    for name in "abcd":
        assert colonnade.open(Path(spark.folder / "warehouse/peers" / name)).epoch >= 1
    for road in (
        "spark.sql('CREATE TABLE colonnade.peers.e (id BIGINT) USING orc')",
        "spark.range(1).write.format('orc').saveAsTable('colonnade.peers.e')",
        "spark.range(1).writeTo('colonnade.peers.e').using('orc').create()",
    ):
        assert "only Colonnade tables, not tables of orc" in spark.refused_run(road)


def test_a_word_without_effect_is_one_warning_in_the_log_of_the_driver(
    spark: SparkShell, tmp_path: Path
) -> None:
    log = tmp_path / "driver.log"
    log4j = "spark._jvm.org.apache.logging.log4j"
    stream = f"spark._jvm.java.io.FileOutputStream('{log}')"
    made = f"{log4j}.core.appender.OutputStreamAppender.createAppender"
    root = f"{log4j}.LogManager.getRootLogger()"
    spark.run(f"[told := {made}(None, None, {stream}, 'told', False, True), told.start()][1]")
    spark.run(f"{root}.addAppender(told)")
    spark.run("spark.sparkContext.setLogLevel('WARN')")
    try:
        spark.sql(f"CREATE TABLE {T} (id BIGINT) TBLPROPERTIES ('delta.checkpointInterval' = '5')")
        spark.run(f"spark.range(1).writeTo('{T}').option('fanout-enabled', True).append()")
        spark.sql("CREATE TABLE colonnade.peers.u (id BIGINT) USING PARQUET")
    finally:
        spark.run("spark.sparkContext.setLogLevel('OFF')")
        spark.run(f"{root}.removeAppender(told)")
    told = log.read_text()
    assert told.count("Property 'delta.checkpointInterval' of another format has no effect") == 1
    assert told.count("Option 'fanout-enabled' of another format has no effect") == 1
    assert told.count("so USING PARQUET has no effect") == 1
