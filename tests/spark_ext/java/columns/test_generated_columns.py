"""Generated columns in Spark: each statement computes them, with the values of Python's writers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark]

TABLE = "colonnade.made.t"
COLUMNS = (
    "id BIGINT, n INT, at TIMESTAMP, s STRUCT<a: INT, d: DECIMAL(10,2)>,"
    " twice BIGINT GENERATED ALWAYS AS (n * 2L),"
    " day DATE GENERATED ALWAYS AS (CAST(at AS DATE)),"
    " part DECIMAL(12,2) GENERATED ALWAYS AS (CAST(s.d / 3 + s.a AS DECIMAL(12,2))),"
    " tag STRING GENERATED ALWAYS AS (concat('n', n)),"
    " CONSTRAINT small CHECK (twice < 1000)"
)
EXPRESSIONS = {
    "twice": "n * 2L",
    "day": "CAST(at AS DATE)",
    "part": "CAST(s.d / 3 + s.a AS DECIMAL(12,2))",
    "tag": "concat('n', n)",
}
ROW = "named_struct('a', 4, 'd', 10.55BD)"


@pytest.fixture(scope="module")
def made(spark_shell: SparkShell) -> Iterator[int]:
    """A table of three rows whose generated columns read numbers, times and a nested field."""
    spark_shell.sql("CREATE DATABASE colonnade.made")
    spark_shell.sql(f"CREATE TABLE {TABLE} ({COLUMNS}) USING colonnade PARTITIONED BY (day)")
    spark_shell.sql(
        f"INSERT INTO {TABLE} (id, n, at, s) VALUES"
        f" (1, 1, TIMESTAMP'2026-01-02 03:00:00Z', {ROW}), (2, NULL, NULL, NULL),"
        " (3, 30, TIMESTAMP'2026-03-09 12:00:00Z', named_struct('a', NULL, 'd', 1BD))"
    )
    yield colonnade.open(path(spark_shell)).epoch
    spark_shell.sql("DROP DATABASE colonnade.made CASCADE")


@pytest.fixture
def spark(spark_shell: SparkShell, made: int) -> SparkShell:
    table = colonnade.open(path(spark_shell))
    if table.epoch > made:
        table.restore(epoch=made)
    return spark_shell


def path(spark: SparkShell, name: str = "t") -> Path:
    return spark.folder / "warehouse" / "made" / name


def check(spark: SparkShell) -> list[list[Any]]:
    """Check the generated columns of all rows, and return ids and numbers."""
    wrong = " OR ".join(f"NOT ({name} <=> ({sql}))" for name, sql in EXPRESSIONS.items())
    assert spark.sql(f"SELECT * FROM {TABLE} WHERE {wrong}") == []
    return spark.sql(f"SELECT id, n, twice FROM {TABLE} ORDER BY id")


FRAME = 'spark.sql("SELECT 9L AS id, {n} AS n, now() AS at, NULL AS s{more}")'
SQL = {
    "INSERT": "INSERT INTO {t} (id, n{name}) VALUES (9, {n}{value})",
    "INSERT BY NAME": "INSERT INTO {t} BY NAME SELECT 9L AS id, {n} AS n{as_}",
    "INSERT in a WITH": "WITH x AS (SELECT 9L, {n}{value}) INSERT INTO {t} (id, n{name}) TABLE x",
    "INSERT OVERWRITE": "INSERT OVERWRITE {t} (id, n{name}) VALUES (9, {n}{value})",
    "REPLACE WHERE": (
        "INSERT INTO {t} REPLACE WHERE id = 9"
        " SELECT 9L, {n}, NULL, NULL, {null_value}, NULL, NULL, NULL"
    ),
    "MERGE that inserts": (
        "MERGE INTO {t} t USING (SELECT 9L AS k) s ON t.id = s.k"
        " WHEN NOT MATCHED THEN INSERT (id, n{name}) VALUES (s.k, {n}{value})"
    ),
    "MERGE that does everything": (
        "MERGE INTO {t} t USING (SELECT explode(array(1L, 2L, 9L)) AS k) s ON t.id = s.k"
        " WHEN MATCHED AND t.id = 2 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET n = {n}{set_}, at = at + INTERVAL '1' MONTH"
        " WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k, 7)"
        " WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s.d = s.d + 1"
    ),
}
CODE = {
    "writeTo append": "{df}.writeTo('{t}').append()",
    "writeTo overwrite": "{df}.writeTo('{t}').overwrite(F.col('id') == 9)",
    "writeTo partitions": "{df}.writeTo('{t}').overwritePartitions()",
    "saveAsTable append": "{df}.write.mode('append').saveAsTable('{t}')",
    "saveAsTable overwrite": (
        "{df}.withColumns({{'twice': F.lit({value_}).cast('long'), 'day': F.lit(None).cast('date'),"
        " 'part': F.lit(None).cast('decimal(12,2)'), 'tag': F.lit(None).cast('string')}})"
        ".write.format('colonnade').mode('overwrite').partitionBy('day').saveAsTable('{t}')"
    ),
    "save append": "{df}.write.format('colonnade').mode('append').save('{path}')",
    "save overwrite": "{df}.write.format('colonnade').mode('overwrite').save('{path}')",
    "save that evolves": (
        "{df}.withColumn('new', F.lit(1)).write.format('colonnade').mode('append')"
        ".option('mergeSchema', 'true').save('{path}')"
    ),
    "Table.merge": (
        "colonnade.Table.forPath(spark, '{path}').alias('t')"
        ".merge({df}.select('id', 'n'{pick}).alias('s'), 't.id = s.id - 8')"
        ".whenMatchedUpdate(set={{'n': 's.n'{pairs}}}).execute()"
    ),
}


def run(spark: SparkShell, road: str, n: int, twice: int | None = None) -> str | None:
    """Write a row with `n` on a road, perhaps with a value of `twice`; return what is refused."""
    given = twice is not None
    parts = {"t": TABLE, "n": n, "path": path(spark), "null_value": twice if given else "NULL"}
    parts["value_"] = twice
    parts |= {"name": ", twice" if given else "", "value": f", {twice}L" if given else ""}
    parts |= {"as_": f", {twice}L AS twice" if given else ""}
    parts |= {"set_": f", twice = {twice}L" if given else ""}
    parts |= {
        "pick": ", 'twice'" if given else "",
        "pairs": ", 'twice': 's.twice'" if given else "",
    }
    parts["df"] = FRAME.format(n=n, more=parts["as_"]).replace(
        "NULL AS s", "CAST(NULL AS STRUCT<a: INT, d: DECIMAL(10,2)>) AS s"
    )
    text = (SQL[road] if road in SQL else CODE[road]).format(**parts)
    reply = spark.ask({"sql" if road in SQL else "code": text})
    return None if "error" not in reply else str(reply["error"]).splitlines()[0]


FEW = ("MERGE that does everything", "writeTo append")


def check_road(spark: SparkShell, road: str) -> None:
    before = colonnade.open(path(spark)).epoch
    refusal = run(spark, road, 21, 43)
    assert refusal is not None
    assert refusal.startswith("[COLONNADE_INVALID_INPUT] Column 'twice' of table 't', generated as")
    assert "has another value in a row with n = 21, twice = 43; no row was written." in refusal
    assert "constraint small" in str(run(spark, road, 500))
    assert colonnade.open(path(spark)).epoch == before
    assert run(spark, road, 22) is None
    assert {22, 44} <= {value for row in check(spark) for value in row}
    assert run(spark, road, 23, 46) is None
    check(spark)


@pytest.mark.spark_compat
@pytest.mark.parametrize("road", FEW)
def test_statements_compute_the_columns_and_refuse_another_value(
    spark: SparkShell, road: str
) -> None:
    check_road(spark, road)


@pytest.mark.long
@pytest.mark.parametrize("road", [road for road in (*SQL, *CODE) if road not in FEW])
def test_each_road_computes_the_columns_and_refuses_another_value(
    spark: SparkShell, road: str
) -> None:
    check_road(spark, road)


@pytest.mark.spark_compat
def test_an_update_computes_what_follows_and_sets_no_generated_column(spark: SparkShell) -> None:
    spark.sql(f"UPDATE {TABLE} SET n = n + 1, s.d = 2 * s.d WHERE id <> 3")
    assert check(spark) == [[1, 2, 4], [2, None, None], [3, 30, 60]]
    spark.sql(f"UPDATE {TABLE} SET at = at + INTERVAL '9' DAY, twice = DEFAULT, tag = NULL")
    spark.sql(f"UPDATE {TABLE} SET n = 5, twice = twice WHERE id = 2")
    assert check(spark) == [[1, 2, 4], [2, 5, 10], [3, 30, 60]]
    before = colonnade.open(path(spark)).epoch
    refusal = spark.refusal(f"UPDATE {TABLE} SET n = 1, twice = 2")
    assert (
        "[COLONNADE_INVALID_INPUT] Column 'twice' of table 't' is generated, so UPDATE" in refusal
    )
    assert "constraint small" in spark.refusal(f"UPDATE {TABLE} SET n = 500 WHERE id = 1")
    assert colonnade.open(path(spark)).epoch == before
    update = f"colonnade.Table.forPath(spark, '{path(spark)}').update('id = 1', {{'n': '40'}})"
    spark.run(update)
    assert [1, 40, 80] in check(spark)


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_merge_with_schema_evolution_computes_the_columns(spark: SparkShell) -> None:
    source = "(SELECT explode(array(1L, 9L)) AS id, 8 AS n, 'x' AS new)"
    spark.sql(
        f"MERGE WITH SCHEMA EVOLUTION INTO {TABLE} t USING {source} s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert check(spark) == [[1, 8, 16], [2, None, None], [3, 30, 60], [9, 8, 16]]
    wider = (
        f"{FRAME.format(n='5000000000L', more='')}.drop('s').write.option('mergeSchema', 'true')"
    )
    refused = spark.refused_run(f"{wider}.mode('append').saveAsTable('{TABLE}')")
    assert "Column 'n' cannot be" in refused
    assert "'twice'" in refused


def test_a_delete_computes_no_generated_columns(spark: SparkShell) -> None:
    spark.sql(f"DELETE FROM {TABLE} WHERE n = 30 AND id < 9")
    spark.sql(f"DELETE FROM {TABLE} WHERE day = DATE'2026-01-01'")
    assert check(spark) == [[2, None, None]]
    spark.sql(f"TRUNCATE TABLE {TABLE}")
    assert check(spark) == []


def test_a_value_that_differs_from_call_to_call_is_evaluated_once(spark: SparkShell) -> None:
    spark.sql(f"UPDATE {TABLE} SET n = int(rand() * 400)")
    spark.sql(f"INSERT INTO {TABLE} (id, n) SELECT id + 4, int(rand() * 400) FROM range(6)")
    assert len(check(spark)) == 9


@pytest.mark.spark_compat
def test_the_time_zone_is_that_of_the_table_in_each_session(spark: SparkShell) -> None:
    values = "(id, at) VALUES (9, TIMESTAMP'2026-06-02 03:00:00Z')"
    spark.sql("SET spark.sql.session.timeZone = Asia/Tokyo")
    try:
        spark.sql(f"INSERT INTO {TABLE} {values}")
        spark.sql(f"UPDATE {TABLE} SET at = at + INTERVAL '1' HOUR WHERE id = 9")
        days = spark.sql(f"SELECT id, day FROM {TABLE} WHERE id IN (1, 9) ORDER BY id")
    finally:
        spark.sql("RESET spark.sql.session.timeZone")
    assert days == [[1, "2026-01-01"], [9, "2026-06-02"]]
    check(spark)


def test_ansi_mode_is_that_of_the_table_in_each_session(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.made.a (n INT, g INT GENERATED ALWAYS AS (n + 1))")
    spark.sql("SET spark.sql.ansi.enabled = false")
    try:
        refusal = spark.refusal("INSERT INTO colonnade.made.a (n) VALUES (2147483647)")
    finally:
        spark.sql("RESET spark.sql.ansi.enabled")
    assert "ARITHMETIC_OVERFLOW" in refusal


def test_a_filter_on_a_column_prunes_the_partitions_that_follow_from_it(spark: SparkShell) -> None:
    times = "TIMESTAMP'2026-01-01 12:00:00Z' + make_dt_interval(id)"
    spark.sql(f"INSERT OVERWRITE {TABLE} (id, at) SELECT id, {times} FROM range(40)")
    table = colonnade.open(path(spark))
    rowsets = table._log.rowsets.read(table._state)
    assert len(rowsets) == 40
    spark.sql("SET spark.sql.adaptive.enabled = false")
    try:
        for where in ("at >= TIMESTAMP '2026-02-08 00:00:00Z'", "day >= DATE '2026-02-08'"):
            assert len(table.scan(where=where)._plan.rowsets) == 2
            query = f'(frame := spark.sql("SELECT id FROM {TABLE} WHERE {where}"), frame.collect(),'
            scan = "frame._jdf.queryExecution().executedPlan().collectLeaves().head()"
            assert spark.run(f"{query} {scan}.metrics().apply('numOutputRows').value())[2]") == 2
    finally:
        spark.sql("RESET spark.sql.adaptive.enabled")


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ("g STRING GENERATED ALWAYS AS (uuid())", "not deterministic"),
        ("g DATE GENERATED ALWAYS AS (current_date())", "'g' .* not deterministic"),
        ("g STRING GENERATED ALWAYS AS (current_timezone())", "not deterministic"),
        ("h INT GENERATED ALWAYS AS (n), g INT GENERATED ALWAYS AS (h)", "g|h"),
        ("g INT GENERATED ALWAYS AS (g)", "g"),
        ("g INT GENERATED ALWAYS AS (zz)", "zz"),
        ("g INT NOT NULL GENERATED ALWAYS AS (n)", "'g' cannot be generated.* NOT NULL"),
        ("g MAP<INT, INT> GENERATED ALWAYS AS (map(n, n))", "'g' .* cannot be compared"),
    ],
)
def test_an_expression_that_no_column_can_have_is_refused(
    spark: SparkShell, definition: str, said: str
) -> None:
    with pytest.raises(AssertionError, match=said):
        spark.sql(f"CREATE TABLE colonnade.made.bad (n INT, {definition})")
    assert not path(spark, "bad").exists()


def test_a_column_that_an_expression_reads_stays_as_it_is(spark: SparkShell) -> None:
    before = colonnade.open(path(spark)).epoch
    for change in ("DROP COLUMN n", "ALTER COLUMN n TYPE BIGINT",
                   "ADD COLUMN s.e INT", "ALTER COLUMN twice SET DEFAULT 4"):  # fmt: skip
        refusal = spark.refusal(f"ALTER TABLE {TABLE} {change}")
        assert "[COLONNADE_INVALID_INPUT]" in refusal, change
        assert "generated" in refusal, change
    for column in ("n", "twice"):
        refusal = spark.refusal(f"CALL colonnade.system.backfill('made.t', '{column}', '1')")
        assert f"Column '{column}' cannot be filled" in refusal
        assert "generated column" in refusal
    assert colonnade.open(path(spark)).epoch == before
    spark.sql(f"ALTER TABLE {TABLE} DROP CONSTRAINT small")
    spark.sql(f"ALTER TABLE {TABLE} DROP COLUMN twice")
    spark.sql(f"ALTER TABLE {TABLE} DROP COLUMN tag")
    spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN n TO m")


def test_columns_and_fields_that_expressions_read_are_renamed_and_the_expressions_show_it(
    spark: SparkShell,
) -> None:
    renamed = ROW.replace("'d'", "'e'")
    values = "SELECT twice, CAST(day AS STRING), CAST(part AS STRING), tag FROM " + TABLE
    before = spark.sql(f"{values} ORDER BY id")
    for change in ("n TO `the order`", "at TO n", "s.d TO e", "s TO t"):
        spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN {change}")
    assert spark.sql(f"{values} ORDER BY id") == before
    made = colonnade.open(path(spark)).generated
    assert made["twice"] == "`the order` * 2L"
    assert made["day"] == "CAST(`n` AS DATE)"
    assert made["part"] == "CAST(`t`.`e` / 3 + `t`.a AS DECIMAL(12,2))"
    shown = str(spark.sql(f"SHOW CREATE TABLE {TABLE}"))
    assert "GENERATED ALWAYS AS (concat('n', `the order`))" in shown
    spark.sql(
        f"INSERT INTO {TABLE} (id, `the order`, n, t)"
        f" VALUES (4, 1, TIMESTAMP'2026-01-02 03:00:00Z', {renamed})"
    )
    assert spark.sql(f"{values} WHERE id = 4") == before[:1]
    spark.sql(f"UPDATE {TABLE} SET `the order` = 4 WHERE id = 4")
    assert spark.sql(f"SELECT twice, tag FROM {TABLE} WHERE id = 4") == [[8, "n4"]]


def test_a_table_like_another_computes_its_columns_in_the_same_time_zone(spark: SparkShell) -> None:
    spark.sql("SET spark.sql.session.timeZone = Asia/Tokyo")
    try:
        spark.sql(f"CREATE TABLE colonnade.made.l LIKE {TABLE}")
        spark.sql(
            "INSERT INTO colonnade.made.l (n, at) VALUES (1, TIMESTAMP'2026-06-02 03:00:00Z')"
        )
        found = spark.sql("SELECT twice, day, tag FROM colonnade.made.l")
    finally:
        spark.sql("RESET spark.sql.session.timeZone")
    assert found == [[2, "2026-06-01", "n1"]]
    assert colonnade.open(path(spark, "l")).generated == colonnade.open(path(spark)).generated


def test_the_statement_that_makes_a_table_is_shown_with_its_expressions(spark: SparkShell) -> None:
    columns = (
        "n INT, `a b` STRING COMMENT ', x',"
        " t STRING GENERATED ALWAYS AS (concat(`a b`, ',')) COMMENT 'a, b',"
        " i INTERVAL DAY TO SECOND GENERATED ALWAYS AS (make_dt_interval(n, 1)),"
        " d DECIMAL(11,0) GENERATED ALWAYS AS (CAST(n AS DECIMAL(11,0))),"
        " s STRUCT<`x)`: INT, y: DECIMAL(9,2)> GENERATED ALWAYS AS"
        " (named_struct('x)', n, 'y', 1.5BD))"
    )
    spark.sql(f"CREATE TABLE colonnade.made.c1 ({columns}, CONSTRAINT positive CHECK (n > 0))")
    shown = spark.sql("SHOW CREATE TABLE colonnade.made.c1")[0][0]
    spark.sql(shown.replace("made.c1", "made.c2").split("LOCATION")[0])
    spark.sql("INSERT INTO colonnade.made.c2 (n, `a b`) VALUES (1, 'z')")
    assert spark.sql("SELECT t, d FROM colonnade.made.c2") == [["z,", "1"]]
    first, second = (colonnade.open(path(spark, name)) for name in ("c1", "c2"))
    assert first.generated == second.generated
    assert first._state.schema == second._state.schema


@pytest.mark.spark_compat
def test_a_table_has_generated_and_identity_columns(spark: SparkShell) -> None:
    spark.sql(
        "CREATE TABLE colonnade.made.i (id BIGINT GENERATED ALWAYS AS IDENTITY, n INT,"
        " twice BIGINT GENERATED ALWAYS AS (n * 2L))"
    )
    spark.sql("INSERT INTO colonnade.made.i (n) VALUES (5), (6)")
    spark.sql("UPDATE colonnade.made.i SET n = n + 1 WHERE n = 5")
    spark.sql(
        "MERGE INTO colonnade.made.i t USING (SELECT explode(array(2L, 9L)) AS k) s ON t.id = s.k"
        " WHEN MATCHED THEN UPDATE SET n = 8 WHEN NOT MATCHED THEN INSERT (n) VALUES (9)"
    )
    rows = spark.sql("SELECT n, twice, id FROM colonnade.made.i ORDER BY n, id")
    assert sorted(row[2] for row in rows[:2]) == [1, 2]
    assert [row[:2] for row in rows] == [[6, 12], [8, 16], [9, 18]]
    assert "'id'" in spark.refusal("UPDATE colonnade.made.i SET n = 1, id = 7")


def test_a_table_made_from_a_query_has_plain_columns(spark: SparkShell) -> None:
    spark.sql(f"CREATE TABLE colonnade.made.q AS SELECT n, twice FROM {TABLE}")
    spark.sql("INSERT INTO colonnade.made.q VALUES (1, 5)")
    assert colonnade.open(path(spark, "q")).generated == {}


def test_a_table_of_python_is_written_by_spark_and_back(spark: SparkShell) -> None:
    columns = pa.schema({"n": pa.int32(), "at": pa.timestamp("us", "UTC"), "day": pa.date32()})
    table = colonnade.create(path(spark, "p"), columns, generated={"day": "CAST(at AS DATE)"})
    spark.sql("INSERT INTO colonnade.made.p (n, at) VALUES (1, TIMESTAMP'2026-06-02 03:00:00Z')")
    moment = datetime(2026, 6, 3, 23, tzinfo=timezone.utc)
    table.append(
        pa.table({"n": pa.array([2], pa.int32()), "at": pa.array([moment], columns[1].type)})
    )
    spark.sql("UPDATE colonnade.made.p SET at = at + INTERVAL '2' HOUR")
    days = spark.sql("SELECT n, day FROM colonnade.made.p ORDER BY n")
    assert days == [[1, str(date(2026, 6, 2))], [2, str(date(2026, 6, 4))]]
