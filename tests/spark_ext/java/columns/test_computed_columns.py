"""A column that Spark computes has a value in every row, also beside other writers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.t"
TYPES = {
    "flag": ("boolean", "id % 2 = 0"),
    "small": ("tinyint", "CAST(id AS TINYINT)"),
    "real": ("float", "CAST(id / 3 AS FLOAT)"),
    "price": ("decimal(20,3)", "CAST(id / 7 AS DECIMAL(20,3))"),
    "wide": ("decimal(38,10)", "CAST(id AS DECIMAL(38,10))"),
    "data": ("binary", "CAST(s AS BINARY)"),
    "day": ("date", "date_add(DATE '2020-01-01', CAST(id AS INT))"),
    "at": ("timestamp", "timestamp_micros(id * 1000001)"),
    "local": ("timestamp_ntz", "TIMESTAMP_NTZ '2020-01-01 00:00:00' + make_dt_interval(id)"),
    "span": ("interval day to second", "make_dt_interval(id, 1, 2, 3)"),
    "months": ("interval year to month", "make_ym_interval(CAST(id AS INT), 1)"),
    "list": ("array<string>", "array(s, NULL)"),
    "map": ("map<string,bigint>", "map('k', id)"),
}


SELECT = "SELECT id, id * 10, concat('a', id) FROM range"
database = kept_database(
    "db",
    f"CREATE TABLE {TABLE} (id BIGINT NOT NULL, v INT, s STRING)",
    f"INSERT INTO {TABLE} {SELECT}(0, 10)",
    f"INSERT INTO {TABLE} {SELECT}(100, 104)",
    f"DELETE FROM {TABLE} WHERE id IN (0, 4, 9, 101)",
)


@pytest.fixture
def shell(database: KeptDatabase) -> SparkShell:
    return database.ready()


LIVE = [1, 2, 3, 5, 6, 7, 8, 100, 102, 103]


def path(shell: SparkShell) -> Path:
    return shell.folder / "warehouse" / "db" / "t"


def rows(shell: SparkShell, columns: str = "*") -> list[list[Any]]:
    """The rows as Spark has them, after Python has read the same."""
    found = shell.sql(f"SELECT {columns} FROM {TABLE} ORDER BY id")
    if columns != "*" and "(" not in columns:
        names = [name.strip() for name in columns.split(",")]
        python = colonnade.open(path(shell)).scan(names).to_arrow().sort_by("id").to_pylist()
        assert [[*row.values()] for row in python] == found
    return found


def test_a_column_is_added_with_values_of_other_columns(shell: SparkShell) -> None:
    before = shell.sql(f"SELECT * FROM {TABLE} ORDER BY id")
    epoch = colonnade.open(path(shell)).epoch
    call = "'db.t', 'w', 'bigint NOT NULL COMMENT \"why\"', 'v * 2 + id'"
    [[at, updated, rowsets, size]] = shell.sql(f"CALL colonnade.system.add_column({call})")
    assert (at, updated, rowsets) == (epoch + 1, 10, 2)
    assert 0 < size < 10_000
    assert rows(shell, "id, w") == [[i, 21 * i] for i in LIVE]
    assert ["w", "bigint", "why"] in shell.sql(f"DESCRIBE {TABLE}")
    assert shell.sql(f"SELECT * FROM {TABLE} VERSION AS OF {epoch} ORDER BY id") == before
    assert colonnade.open(path(shell)).verify(depth=4).is_sound


def test_a_column_is_filled_where_a_condition_is_true(shell: SparkShell) -> None:
    table = f"colonnade.Table.forPath(spark, {str(path(shell))!r})"
    shell.run(f"{table}.addColumn('u', 'string', 'upper(s)', comment=\"it's\") and None")
    done = shell.run(f"{table}.backfill('U', 'concat(u, v)', 'id % 2 = 1 AND u > \"A\"').metrics()")
    assert (done["rows_updated"], done["rowsets_in_place"]) == (5, 2)
    wanted = [[i, f"A{i}{i * 10}" if i % 2 else f"A{i}"] for i in LIVE]
    assert rows(shell, "id, u") == wanted
    none = shell.run(f"{table}.backfill('u', 'NULL', 'id > 7000').metrics()")
    assert not any(none.values())
    subquery = f"id IN (SELECT max(id) FROM {TABLE})"
    shell.sql(f"CALL colonnade.system.backfill('db.t', 'u', 'NULL', '{subquery}')")
    assert rows(shell, "id, u")[-2:] == [wanted[-2], [103, None]]
    assert colonnade.open(path(shell)).history(1)[0].parameters["where"] == subquery


def test_a_column_of_every_type_has_the_values_of_its_expression(shell: SparkShell) -> None:
    kind = ",".join(f"{name}:{kind}" for name, (kind, _) in TYPES.items())
    value = ", ".join(f"'{name}', {value}" for name, (_, value) in TYPES.items())
    nested = f"named_struct({value})"
    quoted = nested.replace("'", "\\'")
    shell.sql(f"CALL colonnade.system.add_column('db.t', 'all', 'struct<{kind}>', '{quoted}')")
    shell.sql("CALL colonnade.system.add_column('db.t', 'c', 'char(5)', 's')")
    same = f"count_if(to_json(all) <=> to_json({nested}) AND length(c) = 5)"
    assert shell.sql(f"SELECT {same}, count(*) FROM {TABLE}") == [[10, 10]]
    # Spark reads a char column through one more step of the plan.
    shell.sql("CALL colonnade.system.add_column('db.t', 'd', 'string', 'concat(c, \".\")')")
    shell.sql("CALL colonnade.system.backfill('db.t', 'c', 'upper(c)', 'id < 3')")
    assert rows(shell, "id, c, d")[1:3] == [[2, "A2   ", "a2   ."], [3, "a3   ", "a3   ."]]
    assert colonnade.open(path(shell)).verify(depth=4).is_sound


def test_rows_that_come_and_go_during_the_job_are_right(shell: SparkShell) -> None:
    opened = f"colonnade.open({str(path(shell))!r})"
    acts = (
        "append(__import__('pyarrow').table({'id': [5000, 5001]}))",
        "delete('id = 6')",
        "optimize().executeCompaction()",
    )
    body = f"id != 5 or bool([{', '.join(f'{opened}.{act}' for act in acts)}])"
    shell.run(f"spark.udf.register('meddle', lambda id: {body}, 'boolean') and None")
    value = "IF(meddle(id), id + 1, NULL)"
    shell.sql(f"CALL colonnade.system.add_column('db.t', 'next', 'bigint NOT NULL', '{value}')")
    found = rows(shell, "id, next")
    # The function is computed again for rows that were compacted, and then appends again.
    assert {i for i, _ in found} == {*LIVE, 5000, 5001} - {6}
    assert found == [[i, i + 1] for i, _ in found]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("'s', 'int', '1'", "'s'"),
        ("'n', 'int', 's'", "Column 'n' is INT and cannot be computed as STRING"),
        ("'n', 'int', 'zz'", "`zz`"),
        ("'n', 'int', 'sum(v)'", "GROUP BY"),
        ("'n', 'int', 'row_number() OVER (ORDER BY id)'", "from the columns of one row"),
        ("'n', 'int', 'explode(array(1))'", "from the columns of one row"),
        ("'n', 'int NOT NULL', 'IF(id = 1, NULL, 1)'", "NOT NULL"),
        ("'n', 'tinyint', 'id * 1000'", "CAST_OVERFLOW"),
        ("'n', 'char(2)', 's'", "EXCEED_LIMIT_LENGTH"),
        ("'n', 'no', '1'", "no"),
        ("'', 'int', '1'", "name"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(
    shell: SparkShell, arguments: str, says: str
) -> None:
    before = colonnade.open(path(shell)).epoch
    assert says in shell.refusal(f"CALL colonnade.system.add_column('db.t', {arguments})")
    assert colonnade.open(path(shell)).epoch == before


def test_a_fill_is_refused_in_a_transaction_and_with_a_random_condition(
    shell: SparkShell,
) -> None:
    refused = shell.refusal("CALL colonnade.system.backfill('db.t', 'v', '1', 'rand() > 0.5')")
    assert "must be deterministic" in refused
    assert "does not exist" in shell.refusal("CALL colonnade.system.backfill('db.t', 'z', '1')")
    shell.sql("CALL colonnade.system.begin('db')")
    try:
        refused = shell.refusal("CALL colonnade.system.backfill('db.t', 'v', '1')")
        assert "within a transaction" in refused
    finally:
        shell.sql("CALL colonnade.system.rollback()")
