"""`colonnade.Table`: delete, update and merge, what they count, and that they run again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.t"


class Rows:
    """A table of ids 0 to 9 whose `v` is ten times the id, and a frame of ids 8 to 11."""

    def __init__(self, shell: SparkShell) -> None:
        self.shell = shell
        self.path = str(shell.folder / "warehouse" / "db" / "t")
        self.table = f"colonnade.Table.forPath(spark, {self.path!r})"
        self.source = "spark.range(8, 12).selectExpr('id', '-1 AS v').alias('s')"

    def run(self, call: str) -> dict[str, int]:
        """What a method of the table counted, without what is zero or hard to foresee."""
        counted: dict[str, int] = self.shell.run(f"{self.table}.{call}.metrics()")
        return {name: n for name, n in counted.items() if n and name != "bytes_written"}

    def merge(self, clauses: str, condition: str = "'t.id = s.id'") -> dict[str, int]:
        return self.run(f"alias('t').merge({self.source}, {condition}){clauses}.execute()")

    def refusal(self, call: str) -> str:
        return self.shell.refused_run(f"{self.table}.{call}")

    def values(self) -> dict[int, Any]:
        return {row[0]: row[1] for row in self.shell.sql(f"SELECT * FROM {TABLE} ORDER BY id")}

    def meddle(self, action: str, at: int | None = None) -> None:
        """Make `meddle(id)` true. It acts on the table in each call, or in those of one id."""
        body = f"(colonnade.open({self.path!r}).{action}, True)[1]"
        if at is not None:
            body = f"id != {at} or {body}"
        self.shell.run(f"spark.udf.register('meddle', lambda id: {body}, 'boolean') and None")


database = kept_database(
    "db",
    f"CREATE TABLE {TABLE} (id BIGINT NOT NULL, v INT)",
    f"INSERT INTO {TABLE} SELECT id, id * 10 FROM range(10)",
)


@pytest.fixture
def rows(database: KeptDatabase) -> Rows:
    return Rows(database.ready())


def test_rows_are_deleted_by_text_or_column_and_counted(rows: Rows) -> None:
    one = {"rows_deleted": 1, "rowsets_touched": 1}
    assert rows.run("delete('v = 30 -- not 40')") == one
    assert rows.run("delete((F.col('id') == 4) & ~F.col('v').isin(1, 2))") == one
    assert rows.run("alias('x').delete('x.id = 5 OR false')") == one
    assert rows.run("delete('v < 0')") == {}
    assert [*rows.values()] == [0, 1, 2, 6, 7, 8, 9]
    assert rows.run("delete()") == {"rows_deleted": 7, "rowsets_touched": 1}
    assert rows.values() == {}


def test_rows_are_updated_as_they_were_and_counted(rows: Rows) -> None:
    moved = {"rows_updated": 2, "rowsets_touched": 1}
    assert rows.run("update('id < 2', {'v': 'v + id', 'id': 'id + 100'})") == moved
    values = "{'v': F.when(F.col('id') == 2, F.lit(None)).otherwise(F.col('v') + 1)}"
    assert rows.run(f"update(F.col('id').between(2, 3), set={values})") == moved
    assert {n: v for n, v in rows.values().items() if n > 99 or n < 4} == {
        2: None,
        3: 31,
        100: 0,
        101: 11,
    }
    assert rows.run("update(set={'`v`': '0'})")["rows_updated"] == 10
    assert {*rows.values().values()} == {0}


def test_history_has_the_counts(rows: Rows) -> None:
    rows.run("update('id < 2', {'v': '0'})")
    history = f"{rows.table}.history(1).select('operation', 'operationMetrics')"
    ((operation, metrics),) = rows.shell.run(history)
    assert operation == "UPDATE"
    assert metrics["numUpdatedRows"] == "2"
    assert metrics["numTouchedFiles"] == "1"
    assert int(metrics["numAddedBytes"]) > 0


def test_a_merge_has_every_clause_of_the_builder(rows: Rows) -> None:
    counted = rows.merge(
        ".whenMatchedDelete('s.id = 8')"
        ".whenMatchedUpdate(F.col('t.v') > 1, {'v': F.col('s.v') - 1})"
        ".whenNotMatchedInsert('s.id = 10', {'id': 's.id', 'v': F.lit(5)})"
        ".whenNotMatchedInsertAll()"
        ".whenNotMatchedBySourceUpdate('t.id < 2', {'v': 't.v + 1'})"
        ".whenNotMatchedBySourceDelete(F.col('t.id') > 5)",
        "F.col('t.id') == F.col('s.id')",
    )
    assert counted == {
        "rows_deleted": 3,
        "rows_updated": 3,
        "rows_inserted": 2,
        "rowsets_touched": 1,
    }
    assert rows.values() == {0: 1, 1: 11, 2: 20, 3: 30, 4: 40, 5: 50, 9: -2, 10: 5, 11: -1}
    assert rows.merge(".whenMatchedUpdateAll('t.v = -2')")["rows_updated"] == 1
    assert rows.values()[9] == -1


def test_a_statement_that_met_another_one_runs_again(rows: Rows) -> None:
    rows.meddle("update({'v': '-5'}, 'id = 3 AND v >= 0')")
    assert rows.run("update('id = 3 AND meddle(id)', {'v': 'v - 1'})")["rows_updated"] == 1
    assert rows.values()[3] == -6
    append = "upsert(__import__('pyarrow').table({'id': [11], 'v': [0]}, schema), 'id')"
    schema = f"colonnade.open({rows.path!r}).schema"
    rows.meddle(append.replace("schema", schema))
    inserted = rows.merge(".whenNotMatchedInsertAll('meddle(s.id)')")
    assert inserted == {"rows_inserted": 1}  # 10; the other writer inserted 11
    assert rows.values()[11] == 0


def test_statements_on_different_rows_at_once_all_succeed(rows: Rows) -> None:
    """As SQL, which does not run again: none of them is a conflict."""
    pool = "__import__('concurrent.futures', fromlist=['x']).ThreadPoolExecutor(8)"
    statement = f"spark.sql(f'DELETE FROM {TABLE} WHERE id = {{n}} AND v >= 0')"
    rows.shell.run(f"len([*{pool}.map(lambda n: {statement}, range(8))])")
    assert [*rows.values()] == [8, 9]


def test_a_conflict_that_does_not_end_is_told_as_one(rows: Rows) -> None:
    rows.meddle("update({'v': 'v'}, 'id = 3')")
    tries = (
        "setattr(__import__('colonnade.spark_ext.table.statements', fromlist=['x']), 'TRIES', %d)"
    )
    rows.shell.run(tries % 2)
    try:
        text = rows.refusal("update('id = 3 AND meddle(id)', {'v': 'v - 1'})")
    finally:
        rows.shell.run(tries % 10)
    assert re.match(r"Row 0 of RowSet \d of table 't' changed in epoch \d \(update\)", text)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("delete(3)", "A condition must be text or a Column, not 3."),
        ("delete('nope = 1')", "`nope` cannot be resolved"),
        ("delete(F.udf(lambda i: True, 'boolean')('id'))", "in SQL"),
        ("update('id = 1')", "Give the values by column"),
        ("update('id = 1', {'v': 1})", "The value of column 'v' must be text or a Column"),
        ("update('id = 1', {1: 'v'})", "must be text, not 1"),
        ("update('id = 1', {'v': '1', 'V': '2'})", "INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS"),
        ("merge(3, 'true')", "The source of a merge must be a DataFrame, not 3."),
        ("merge({s}, 't.id = s.id').execute()", "This merge has no clause"),
        ("merge({s}, 'true').whenMatchedUpdateAll().execute()", "MERGE_CARDINALITY_VIOLATION"),
        ("merge({s}, 'id = s.id').whenMatchedDelete().execute()", "`id` is ambiguous"),
    ],
)
def test_an_impossible_call_is_refused_and_nothing_changes(
    rows: Rows, call: str, words: str
) -> None:
    before = colonnade.open(rows.path).epoch
    assert words in rows.refusal(call.replace("{s}", rows.source))
    assert colonnade.open(rows.path).epoch == before
    assert rows.shell.sql("SHOW VIEWS LIKE 'colonnade_source*'") == []


@pytest.fixture
def wide(rows: Rows) -> Iterator[Rows]:
    """Rows of ten columns. An update replaces columns however few bytes that saves."""
    columns = ", ".join(f"rand({i}) AS c{i}" for i in range(8))
    rows.shell.sql(f"DROP TABLE {TABLE}")
    rows.shell.sql(
        f"CREATE TABLE {TABLE} AS SELECT id, CAST(id AS STRING) AS s, {columns} FROM range(6000)"
    )
    rows.shell.sql("SET spark.colonnade.replaceColumnsBytes = 0")
    yield rows
    rows.shell.sql("RESET spark.colonnade.replaceColumnsBytes")


def test_an_update_of_most_rows_writes_the_columns_that_it_sets(wide: Rows) -> None:
    wide.run("delete('id < 3')")
    wide.shell.sql(f"CACHE TABLE {TABLE}")
    done = wide.run("alias('t').update('t.id >= 100', {'c1': 'id', 's': 'upper(t.s)'})")
    assert done["rows_updated"] == 5900
    assert done["rowsets_in_place"] == done["rowsets_touched"] > 0
    assert done["bytes_in_place"] < 100_000
    assert wide.shell.sql(f"SELECT count(*) FROM {TABLE} WHERE c1 = id") == [[5900]]
    wide.shell.run("spark.catalog.clearCache()")
    found = f"SELECT count(*), count_if(c1 = id), min(c1) < 1, max(c1) FROM {TABLE}"
    assert wide.shell.sql(found) == [[5997, 5900, True, 5999.0]]
    assert "rowsets_in_place" not in wide.run("update('id % 100 = 7', {'c2': '2'})")
    assert wide.run("update(set={'c2': '1', 'c3': 'DEFAULT'})")["rowsets_in_place"] > 0
    assert wide.run("update(set={'c2': F.lit(None), 'C4': 'c1'})")["rows_updated"] == 5997
    found = f"SELECT count(c2), count_if(c4 <=> c1), count(c3) FROM {TABLE}"
    assert wide.shell.sql(found) == [[0, 5997, 0]]
    assert "CANNOT_SAFELY_CAST" in wide.refusal("update(set={'c2': \"'7'\"})")


def test_updates_in_place_at_once_run_again_until_each_of_them_counts(wide: Rows) -> None:
    wide.run("update(set={'c1': '0'})")
    pool = "__import__('concurrent.futures', fromlist=['x']).ThreadPoolExecutor(3)"
    update = f"{wide.table}.update(set={{'c1': 'c1 + 1'}}).rowsets_in_place"
    assert all(wide.shell.run(f"[*{pool}.map(lambda n: {update}, range(3))]"))
    assert wide.shell.sql(f"SELECT DISTINCT c1 FROM {TABLE}") == [[3.0]]
