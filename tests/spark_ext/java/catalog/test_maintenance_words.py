"""OPTIMIZE, VACUUM, RESTORE, DESCRIBE HISTORY and DESCRIBE DETAIL, as in Delta Lake."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.spark_ext import maintenance_road
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.maintenance import Sql, check_refusals, names, walk

ROOT = Path(__file__).parents[4]

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]


class Row(dict[str, Any]):
    """A row of a statement, which is also a list of values."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())


@pytest.fixture
def sql(spark_shell: SparkShell) -> Iterator[Sql]:
    """Runs a statement. There is a database `colonnade.words`."""
    spark_shell.sql("CREATE NAMESPACE colonnade.words")

    def run(text: str) -> list[Any]:
        rows = spark_shell.run(f"[row.asDict(True) for row in spark.sql({text!r}).collect()]")
        return [Row(row) for row in rows]

    yield run
    spark_shell.sql("USE spark_catalog.default")
    spark_shell.sql("DROP NAMESPACE colonnade.words CASCADE")


@pytest.mark.parametrize("kind", names(Path("folder")))
def test_each_statement_serves_a_table_by_each_kind_of_name(
    kind: str, sql: Sql, spark_shell: SparkShell
) -> None:
    created, named = names(spark_shell.folder, "words")[kind]
    walk(sql, created, named)
    sql(f"DROP TABLE {created}")


def test_a_name_leads_where_it_leads_in_a_query(sql: Sql) -> None:
    sql("CREATE TABLE colonnade.words.here (id BIGINT) USING colonnade")
    sql("CREATE TABLE spark_catalog.default.here (id BIGINT) USING colonnade")
    sql("INSERT INTO spark_catalog.default.here SELECT id FROM range(5)")
    rows = "SELECT count(*) FROM here"
    for current in ("spark_catalog.default", "colonnade.words"):
        sql(f"USE {current}")
        [detail] = sql("DESCRIBE DETAIL here")
        [[count]] = sql(rows)
        assert detail["numRows"] == count
    sql("DROP TABLE spark_catalog.default.here")


def test_a_statement_that_colonnade_does_not_serve_ends_in_one_sentence(
    sql: Sql, spark_shell: SparkShell
) -> None:
    sql("CREATE TABLE colonnade.words.t (id BIGINT, name STRING) USING colonnade")
    check_refusals(spark_shell.refusal, "colonnade.words.t")
    for statement in ("OPTIMIZE nowhere", "VACUUM '/nowhere'", "REORG TABLE parquet.`/nowhere`"):
        refusal = spark_shell.refusal(statement)
        word = statement.split()[0]
        assert f"{word} names no table of Colonnade here, and nothing else in this" in refusal
    refusal = spark_shell.refusal("CONVERT TO DELTA parquet.`/nowhere`")
    assert "copy it by CREATE TABLE t USING colonnade AS SELECT" in refusal
    unbound = "spark.sql('OPTIMIZE colonnade.words.t WHERE id = :id', args={'other': 200})"
    assert ":id" in spark_shell.refused_run(unbound)


def test_parameters_stand_for_values_and_names(sql: Sql, spark_shell: SparkShell) -> None:
    sql("CREATE TABLE colonnade.words.p (id BIGINT, day DATE, name STRING)")
    days = "DATE '2026-01-30', 'it\\'s'), (2, DATE '2026-01-31', 'b'"
    sql(f"INSERT INTO colonnade.words.p VALUES (1, {days})")
    sql("INSERT INTO colonnade.words.p VALUES (3, DATE '2026-03-01', 'c')")
    sql("INSERT INTO colonnade.words.p VALUES (4, DATE '2026-03-01', 'd')")
    name = {"t": "colonnade.words.p"}

    def run(text: str, args: object) -> list[list[Any]]:
        code = f"spark.sql({text!r}, args={args!r})"
        return spark_shell.run(code.replace("datetime.date", "__import__('datetime').date"))

    def groups(where: str, args: object) -> int:
        [[_, metrics]] = run(f"OPTIMIZE IDENTIFIER(:t) FULL WHERE {where}", args)
        return int(metrics[0]) + int(metrics[1])

    assert groups("day = :d AND id = 1", name | {"d": date(2027, 1, 30)}) == 0
    assert groups("name = :n AND id > :i", name | {"n": "it's \\ :i ?", "i": 9}) == 0
    [[_, metrics]] = run(
        "OPTIMIZE colonnade.words.p FULL WHERE day >= ? AND id <> ?", [date(2026, 3, 1), 7]
    )
    assert metrics[:2] == [1, 2]
    history = "DESCRIBE HISTORY IDENTIFIER(:t) LIMIT :n"
    assert [row[0] for row in run(history, name | {"n": 2})] == [5, 4]
    restored = "RESTORE IDENTIFIER(:t) TO VERSION AS OF :v"
    assert run(restored, name | {"v": 3})[0][-1] == 3
    late = "RESTORE IDENTIFIER(:t) TO TIMESTAMP AS OF :at::timestamp"
    assert run(late, name | {"at": "2100-01-01 00:00:00"})[0][-1] == 6
    assert run("VACUUM IDENTIFIER(?) RETAIN ? HOURS DRY RUN", [name["t"], 168.5]) == []
    sentence = spark_shell.refused_run(f"spark.sql({restored!r}, args={name | {'v': 'no tag'}!r})")
    assert "no tag" in sentence


def test_other_statements_are_left_to_sparks_own_parser(sql: Sql, spark_shell: SparkShell) -> None:
    sql("CREATE TABLE history (detail INT, optimize INT) USING parquet")
    sql("CREATE TEMPORARY VIEW here AS SELECT 1 AS one")
    sql("CREATE TABLE colonnade.words.here (id BIGINT)")
    assert [row["col_name"] for row in sql("DESCRIBE history")] == ["detail", "optimize"]
    assert sql("DESCRIBE history detail")[0]["info_value"] == "detail"
    assert "'OPTIMIZE'" not in spark_shell.refusal("OPTIMIZE here")
    assert sql("-- OPTIMIZE t\nSELECT optimize FROM history") == []
    sql("DROP VIEW here")
    sql("DROP TABLE history")


def test_variables_are_replaced_and_texts_mean_what_they_say(sql: Sql) -> None:
    sql("CREATE TABLE colonnade.words.`it's` (id BIGINT, name STRING)")
    sql("INSERT INTO colonnade.words.`it's` VALUES (1, 'a\\'b')")
    sql("SET words.table = it's")
    [done] = sql("OPTIMIZE colonnade.words.`${words.table}` WHERE name = 'a'' FULL' /* ; */ ;; ")
    assert done["metrics"]["numGroups"] == 0
    [row] = sql("DESCRIBE HISTORY colonnade.words.`it's` LIMIT 1")
    assert row["version"] == 2


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("port_of_connect")
@pytest.mark.parametrize(
    "kind",
    [
        "connect",
        pytest.param(
            "delta",
            marks=pytest.mark.skipif(
                not pyspark.__version__.startswith("4.1."), reason="Delta Lake is for pyspark 4.1"
            ),
        ),
    ],
)
def test_each_statement_is_served_in_other_sessions(kind: str, tmp_path: Path) -> None:
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, maintenance_road.__file__, kind, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=850,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stdout[-8000:]
