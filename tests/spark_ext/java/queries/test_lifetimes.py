"""Rows and values that have expired are gone in every statement of Spark, at one time a query."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

NAME = "colonnade.ttl.t"
HOUR = timedelta(hours=1)


def made(spark: SparkShell, properties: str, key: str = "") -> colonnade.ArrowTable:
    """Return an empty table that SQL has made."""
    spark.sql("CREATE DATABASE IF NOT EXISTS colonnade.ttl")
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    columns = "id BIGINT NOT NULL, ts TIMESTAMP, gone TIMESTAMP, note STRING, tags ARRAY<STRING>"
    spark.sql(f"CREATE TABLE {NAME} ({columns}{key}) USING colonnade TBLPROPERTIES ({properties})")
    return colonnade.open(spark.folder / "warehouse" / "ttl" / "t")


def rows(table: colonnade.ArrowTable, *given: tuple[int, datetime, datetime | None]) -> pa.Table:
    values = [
        {"id": id, "ts": ts, "gone": gone, "note": f"n{id}", "tags": [str(id)]}
        for id, ts, gone in given
    ]
    return pa.Table.from_pylist(values, table.schema)


def all_dated(table: colonnade.ArrowTable) -> bool:
    """Whether the log says of each RowSet when its rows were written."""
    table.refresh()
    rowsets = table._log.rowsets.read(table._state)
    return all(each.entry.written_ms is not None for each in rowsets)


def test_expired_rows_and_values_are_gone_in_queries_and_statements(
    spark_shell: SparkShell,
) -> None:
    spark, now = spark_shell, datetime.now(timezone.utc)
    given = "'ttl' = '3 hours', 'ttl.column' = 'TS', 'ttl.note' = '1 hour', 'ttl.expires' = 'gone'"
    table = made(spark, given)
    old, young = now - 4 * HOUR, now - 2 * HOUR
    table.append(
        rows(table, (1, old, None), (2, young, None), (3, now, None), (4, now, now - HOUR))
    )
    table.append(rows(table, (5, old, None)))
    written = table.epoch
    assert spark.sql(f"SELECT count(*), min(id), max(note), count(note) FROM {NAME}") == [
        [2, 2, "n3", 1]
    ]
    assert spark.sql(f"SELECT id, note, tags FROM {NAME} ORDER BY id") == [
        [2, None, ["2"]],
        [3, "n3", ["3"]],
    ]
    assert spark.sql(f"SELECT id FROM {NAME} WHERE note IS NULL") == [[2]]
    assert spark.sql(f"SELECT id FROM {NAME} ORDER BY id LIMIT 1") == [[2]]
    assert spark.sql(f"SELECT count(*) FROM {NAME} a JOIN {NAME} b ON a.id = b.id") == [[2]]
    past = f"{NAME} VERSION AS OF {written}"
    assert spark.sql(f"SELECT count(*) FROM {past}") == [[2]]
    frame = f"spark.read.format('colonnade').option('seenAt', '{{}}').load('{table.path}')"
    earlier = (now - 3 * HOUR).isoformat()
    assert spark.run(f"{frame.format(earlier)}.count()") == 5
    assert spark.run(f"{frame.format('now')}.count()") == 2
    shown = dict(spark.sql(f"SHOW TBLPROPERTIES {NAME}"))
    assert (shown["ttl"], shown["ttl.column"], shown["ttl.note"]) == ("3 hours", "ts", "1 hour")
    spark.sql(f"UPDATE {NAME} SET tags = array('u') WHERE id < 4")
    assert spark.sql(f"SELECT id, note, tags FROM {NAME} ORDER BY id") == [
        [2, None, ["u"]],
        [3, "n3", ["u"]],
    ]
    spark.sql(
        f"MERGE INTO {NAME} t USING (SELECT explode(array(1L, 2L, 9L)) AS k) s ON t.id = s.k"
        " WHEN MATCHED THEN DELETE"
        " WHEN NOT MATCHED THEN INSERT (id, ts, note) VALUES (k, current_timestamp(), 'new')"
    )
    assert spark.sql(f"SELECT id, note FROM {NAME} ORDER BY id") == [
        [1, "new"],
        [3, "n3"],
        [9, "new"],
    ]
    spark.sql(f"DELETE FROM {NAME} WHERE note LIKE 'n3%'")
    assert spark.sql(f"SELECT count(*) FROM {NAME}") == [[2]]
    spark.sql(f"ALTER TABLE {NAME} UNSET TBLPROPERTIES ('ttl', 'ttl.note', 'ttl.column')")
    assert spark.sql(f"SELECT sort_array(collect_list(id)) FROM {NAME}") == [[[1, 1, 5, 9]]]
    assert "needs it" in spark.refusal(f"ALTER TABLE {NAME} DROP COLUMN gone")


def test_rows_that_spark_writes_count_from_their_write(spark_shell: SparkShell) -> None:
    spark = spark_shell
    table = made(spark, "'ttl' = '1 hour'")
    spark.sql(f"INSERT INTO {NAME} (id, note) SELECT id, 'a' FROM range(0, 4, 1, 2)")
    assert all_dated(table)
    assert spark.sql(f"SELECT count(*) FROM {NAME}") == [[4]]
    spark.sql(f"UPDATE {NAME} SET note = 'b' WHERE id = 1")
    assert all_dated(table)
    later = (datetime.now(timezone.utc) + 2 * HOUR).isoformat()
    frame = f"spark.read.format('colonnade').option('seenAt', '{later}').load('{table.path}')"
    assert spark.run(f"{frame}.count()") == 0


def test_the_rows_of_one_write_get_a_time_to_live(spark_shell: SparkShell) -> None:
    spark = spark_shell
    table = made(spark, "'ttl.expires' = 'gone'")
    own = "timestamp'2200-01-01 00:00:00'"
    spark.sql(
        f"INSERT INTO {NAME} WITH ('ttl' = '1 hour') (id, gone)"
        f" SELECT id, if(id = 0, {own}, NULL) FROM range(0, 3, 1, 2)"
    )
    frame = "spark.range(3, 5).selectExpr('id', \"'n' AS note\").write.option('ttl', '1 hour')"
    spark.run(f"{frame}.format('colonnade').mode('append').save('{table.path}')")
    spark.sql(f"INSERT INTO {NAME} (id) VALUES (9)")
    left = "(unix_micros(gone) - unix_micros(current_timestamp())) / 60e6"
    shown = f"SELECT id, {left} BETWEEN 30 AND 60, gone = {own} FROM {NAME} ORDER BY id"
    assert spark.sql(shown) == [
        [0, False, True],
        [1, True, False],
        [2, True, False],
        [3, True, False],
        [4, True, False],
        [9, None, None],
    ]
    later = (datetime.now(timezone.utc) + 2 * HOUR).isoformat()
    seen = f"spark.read.format('colonnade').option('seenAt', '{later}').load('{table.path}')"
    assert spark.run(f"{seen}.count()") == 2
    spark.run(f"{frame}.format('colonnade').mode('overwrite').save('{table.path}')")
    assert spark.sql(shown) == [[3, True, False], [4, True, False]]
    assert "Option ttl must be a time" in spark.refusal(
        f"INSERT INTO {NAME} WITH ('ttl' = 'soon') (id) VALUES (1)"
    )


def test_a_time_to_live_of_a_write_meets_keys_constraints_and_generated_columns(
    spark_shell: SparkShell,
) -> None:
    spark = spark_shell
    spark.sql("CREATE DATABASE IF NOT EXISTS colonnade.ttl")
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")
    spark.sql(
        f"CREATE TABLE {NAME} (id BIGINT NOT NULL, v INT, gone TIMESTAMP_NTZ,"
        " day DATE GENERATED ALWAYS AS (CAST(gone AS DATE)),"
        " CONSTRAINT ends CHECK (gone IS NOT NULL)) USING colonnade PARTITIONED BY (day)"
        " TBLPROPERTIES ('primaryKey' = 'id', 'onDuplicate' = 'merge', 'ttl.expires' = 'gone')"
    )
    spark.sql(f"INSERT INTO {NAME} WITH ('ttl' = '2 days') (id, v) VALUES (1, 1), (2, 2)")
    spark.sql(f"INSERT INTO {NAME} WITH ('ttl' = '9 days') (id) VALUES (2)")
    days = "datediff(day, current_date())"
    assert spark.sql(
        f"SELECT id, v, {days} >= 8, day = CAST(gone AS DATE) FROM {NAME} ORDER BY id"
    ) == [[1, 1, False, True], [2, 2, True, True]]
    assert "ends" in spark.refusal(f"INSERT INTO {NAME} (id, v) VALUES (3, 3)")
    spark.sql(f"DROP TABLE {NAME}")


def test_a_time_to_live_that_fills_no_column_is_refused(spark_shell: SparkShell) -> None:
    spark = spark_shell
    table = made(spark, "'ttl' = '3 hours'")
    epoch = table.refresh().epoch
    refused = spark.refusal(f"INSERT INTO {NAME} WITH ('ttl' = '1 hour') (id) VALUES (1)")
    assert "has no column that says when each row expires" in refused
    assert table.refresh().epoch == epoch
    made_anew = "spark.range(1).selectExpr('id', 'current_timestamp() AS gone').writeTo"
    refused = spark.refused_run(
        f"{made_anew}('colonnade.ttl.other').using('colonnade').option('ttl', '1 hour')"
        ".tableProperty('ttl.expires', 'gone').create()"
    )
    assert "does not exist yet, so option ttl cannot fill its column 'gone'" in refused


def test_a_column_that_spark_computes_sees_expired_values_as_null(spark_shell: SparkShell) -> None:
    spark, now = spark_shell, datetime.now(timezone.utc)
    table = made(spark, "'ttl.note' = '1 hour', 'ttl.column' = 'ts'")
    old = now - 2 * HOUR
    table.append(rows(table, (1, old, None), (2, now, None), (3, old, None), (4, now, None)))
    call = "CALL colonnade.system"
    spark.sql(f"{call}.add_column('ttl.t', 'copy', 'string', 'note')")
    assert spark.sql(f"SELECT copy FROM {NAME} ORDER BY id") == [[None], ["n2"], [None], ["n4"]]
    path = f"colonnade.Table.forPath(spark, '{table.path}')"
    spark.run(f"{path}.backfill('copy', '\"none\"', 'note IS NULL AND id = 1') and None")
    spark.sql(f"ALTER TABLE {NAME} UNSET TBLPROPERTIES ('ttl.note', 'ttl.column')")
    assert spark.sql(f"SELECT note, copy FROM {NAME} ORDER BY id") == [
        ["n1", "none"],
        ["n2", "n2"],
        ["n3", None],
        ["n4", "n4"],
    ]
