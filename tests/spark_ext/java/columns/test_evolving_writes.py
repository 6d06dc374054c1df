"""Writes of DataFrames bring new columns where a user asks for it, leave them out, or are refused.

Each way to write is tried, because Spark compares the columns of each in its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLE = "colonnade.grow.t"
WAYS = {
    "save": ".write.format('colonnade'){o}.mode('append').save('{path}')",
    "saveAsTable": ".write{o}.mode('append').saveAsTable('{t}')",
    "writeTo": ".writeTo('{t}'){o}.append()",
    "insertInto": ".write{o}.insertInto('{t}')",
}
OVERWRITES = {
    "save": ".write.format('colonnade'){o}.mode('overwrite').save('{path}')",
    "writeTo where": ".writeTo('{t}'){o}.overwrite(F.col('id') < 9)",
    "writeTo partitions": ".writeTo('{t}'){o}.overwritePartitions()",
    "insertInto": ".write{o}.insertInto('{t}', overwrite=True)",
}
MERGE = ".option('mergeSchema', True)"
IGNORE = ".option('ignoreUnknownColumns', True)"


@pytest.fixture(scope="module")
def database(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE colonnade.grow")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.grow CASCADE")


@pytest.fixture
def spark(database: SparkShell) -> SparkShell:
    """With a table `colonnade.grow.t` of one row. Its column `s` is a struct with the field `a`."""
    database.sql(f"DROP TABLE IF EXISTS {TABLE}")
    database.sql(f"CREATE TABLE {TABLE} (id BIGINT, v INT, s STRUCT<a: INT>) USING colonnade")
    database.sql(f"INSERT INTO {TABLE} VALUES (1, 10, named_struct('a', 1))")
    return database


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "grow" / "t"


def write(spark: SparkShell, way: str, options: str, select: str) -> str:
    return f'spark.sql("{select}")' + way.format(t=TABLE, path=path(spark), o=options)


def rows(spark: SparkShell) -> list[list[object]]:
    found = spark.sql(f"SELECT * FROM {TABLE} ORDER BY id")
    python = colonnade.open(path(spark)).scan().to_arrow().sort_by("id").to_pylist()
    structs = [{**row, "s": None if row["s"] is None else [*row["s"].values()]} for row in python]
    assert [[*row.values()] for row in structs] == found
    return found


MORE = "SELECT 2L id, 3000000000L v, named_struct('a', 5L, 'b', 'x') s, 'new' n"


@pytest.mark.parametrize("way", WAYS)
def test_an_append_adds_columns_and_fields_and_widens_types(spark: SparkShell, way: str) -> None:
    code = write(spark, WAYS[way], MERGE, MORE)
    spark.run(code)
    assert rows(spark) == [
        [1, 10, [1, None], None],
        [2, 3 * 10**9, [5, "x"], "new"],
    ]
    spark.run(code)
    entries = list(colonnade.open(path(spark)).history())[:3]
    assert [entry.operation for entry in entries] == ["append"] * 3
    assert ["changes" in entry.parameters for entry in entries] == [False, True, False]


@pytest.mark.parametrize("way", [*OVERWRITES][:2] if OLDER else OVERWRITES)
def test_an_overwrite_adds_columns_and_keeps_those_of_the_table(
    spark: SparkShell, way: str
) -> None:
    spark.run(write(spark, OVERWRITES[way], MERGE, MORE))
    assert rows(spark) == [[2, 3 * 10**9, [5, "x"], "new"]]


@pytest.mark.parametrize("way", [*WAYS][: 1 if OLDER else 3])
def test_unknown_columns_are_left_out_only_where_that_is_asked_for(
    spark: SparkShell, way: str
) -> None:
    select = "SELECT 'new' n, 7 v, 2L id, named_struct('a', 5) s, 1 more"
    spark.run(write(spark, WAYS[way], IGNORE, select))
    assert rows(spark) == [[1, 10, [1]], [2, 7, [5]]]


MANY = "SELECT 2L id, 7 v, named_struct('a', 5) s, 'new' n"
WITH = f"WITH w AS ({MANY})"
FRAMES = {
    **{f"append by {way}": call for way, call in WAYS.items()},
    **{f"overwrite by {way}": call for way, call in OVERWRITES.items()},
}
"""Writes of one column too many."""


@pytest.mark.parametrize("name", FRAMES)
def test_a_column_too_many_is_refused_and_changes_nothing(spark: SparkShell, name: str) -> None:
    before = colonnade.open(path(spark)).epoch
    spark.refused_run(write(spark, FRAMES[name], "", MANY))
    assert rows(spark) == [[1, 10, [1]]]
    assert colonnade.open(path(spark)).epoch == before


NESTED = "colonnade.grow.nested"
FIELDS = {
    "of a struct": "named_struct('x', 2, 'n', 3) s",
    "of a struct in a struct": "named_struct('d', named_struct('x', 2, 'n', 3)) deep",
    "of structs in a list": "array(named_struct('x', 2, 'n', 3)) l",
    "of the values of a map": "map('k', named_struct('x', 2, 'n', 3)) m",
    "of the keys of a map": "map(named_struct('x', 2, 'n', 3), 1) km",
}


@pytest.fixture(scope="module")
def nested(database: SparkShell) -> SparkShell:
    """With a table that has a struct `x` in each of its columns but the first."""
    database.sql(
        f"CREATE TABLE {NESTED} (id BIGINT, s STRUCT<x: INT>, deep STRUCT<d: STRUCT<x: INT>>,"
        " l ARRAY<STRUCT<x: INT>>, m MAP<STRING, STRUCT<x: INT>>, km MAP<STRUCT<x: INT>, INT>)"
    )
    return database


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_too_many_is_refused_and_changes_nothing(nested: SparkShell, name: str) -> None:
    value = FIELDS[name]
    column = value.split()[-1]
    rows = f"SELECT 2L id, {value}"
    full = "SELECT 2L, " + ", ".join(
        value if each == column else "NULL" for each in ["s", "deep", "l", "m", "km"]
    )
    for way in ("writeTo", "saveAsTable"):
        nested.refused_run(f'spark.sql("{rows}")' + WAYS[way].format(t=NESTED, path="", o=""))
    nested.refused_run(f'spark.sql("{full}").write.insertInto("{NESTED}")')
    for insert in (
        f"INSERT INTO {NESTED} BY NAME {rows}",
        f"INSERT INTO {NESTED} (id, {column}) {rows}",
        f"INSERT INTO {NESTED} {full}",
    ):
        nested.refusal(insert)
    assert nested.sql(f"SELECT count(*) FROM {NESTED}") == [[0]]


@pytest.mark.matrix
def test_fields_of_other_names_fit_by_position(spark: SparkShell) -> None:
    spark.sql(f"INSERT INTO {TABLE} (s, id) VALUES (struct(5), 2)")
    spark.sql(f"INSERT INTO {TABLE} SELECT 3L, 7, struct(6)")
    assert rows(spark)[1:] == [[2, None, [5]], [3, 7, [6]]]


def test_a_field_too_many_is_an_error_where_unknown_columns_are_left_out(
    spark: SparkShell,
) -> None:
    select = "SELECT 2L id, named_struct('a', 5, 'b', 6) s, 1 more"
    spark.refused_run(write(spark, WAYS["writeTo"], IGNORE, select))
    assert rows(spark) == [[1, 10, [1]]]


INSERTS = {
    "by position": f"INSERT INTO {TABLE} {MANY}",
    "by name": f"INSERT INTO {TABLE} BY NAME {MANY}",
    "of a list": f"INSERT INTO {TABLE} (id, n) VALUES (2, 'new')",
    "of values": f"INSERT INTO {TABLE} SELECT * FROM VALUES (2, 7, NULL, 'new') AS x (a, b, c, n)",
    "below WITH": f"{WITH} INSERT INTO {TABLE} BY NAME SELECT * FROM w",
    "of WITH": f"INSERT INTO {TABLE} {WITH} SELECT * FROM w",
    "that overwrites": f"INSERT OVERWRITE {TABLE} {MANY}",
    "that replaces rows": f"INSERT INTO {TABLE} REPLACE WHERE id = 2 {MANY}",
}


@pytest.mark.parametrize("name", INSERTS)
def test_an_insert_of_a_column_too_many_is_refused_and_changes_nothing(
    spark: SparkShell, name: str
) -> None:
    before = colonnade.open(path(spark)).epoch
    spark.refusal(INSERTS[name])
    assert rows(spark) == [[1, 10, [1]]]
    assert colonnade.open(path(spark)).epoch == before


@pytest.mark.matrix
def test_rows_that_are_narrower_or_lack_columns_still_fit(spark: SparkShell) -> None:
    spark.run(write(spark, WAYS["writeTo"], MERGE, MORE))
    fewer = "SELECT 3 id, NULL v, named_struct('b', 'y', 'a', 6) s"
    spark.run(write(spark, WAYS["writeTo"], MERGE, fewer))
    assert rows(spark)[2:] == [[3, None, [6, "y"], None]]


def test_the_setting_of_a_session_acts_as_the_option(spark: SparkShell) -> None:
    spark.sql("SET spark.colonnade.mergeSchema = true")
    try:
        spark.run(write(spark, WAYS["saveAsTable"], "", MORE))
        assert len(rows(spark)[0]) == 4
        off = ".option('mergeSchema', False)"
        more = f"{MORE}, 1 z"
        said = spark.refused_run(write(spark, WAYS["saveAsTable"], off, more))
        assert "TOO_MANY_DATA_COLUMNS" in said
        assert len(rows(spark)[0]) == 4
    finally:
        spark.sql("RESET spark.colonnade.mergeSchema")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("way", "options", "select", "said"),
    [
        ("saveAsTable", MERGE, "SELECT 1L id, 1 v, array(NULL) n", "'n.element' is void"),
        ("saveAsTable", MERGE, "SELECT 1L id, 'x' v, 1 n", "v"),
        ("saveAsTable", MERGE + IGNORE, "SELECT 1L id", "exclude each other"),
        ("insertInto", IGNORE, "SELECT 1L id, 1 v, NULL s, 1 n", "matched by name"),
        ("save", ".option('mergeSchema', 'maybe')", "SELECT 1L id", "mergeSchema"),
    ],
)
def test_an_impossible_evolution_is_refused_and_the_rows_stay(
    spark: SparkShell, way: str, options: str, select: str, said: str
) -> None:
    assert said in spark.refused_run(write(spark, WAYS[way], options, select))
    assert rows(spark)[0][:2] == [1, 10]
    assert len(rows(spark)) == 1


REFUSED = {
    "a type that cannot be cast": ("SELECT 2L id, 'x' v, NULL s, 1 n", "v"),
    "a column that is missing": ("SELECT 1 v, NULL s, 1 n", "id"),
    "a NULL in a task": ("SELECT IF(rand() < 2, NULL, 2L) id, 1 v, NULL s, 1 n", "NULL"),
    "a number that is too large": ("SELECT 2L id, 1e12D v, NULL s, 1 n", ""),
    "a row against a constraint": ("SELECT 2L id, 200 v, NULL s, 1 n", "small"),
}


def test_a_write_that_is_refused_brings_no_column(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ALTER COLUMN id SET NOT NULL")
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT small CHECK (v < 100)")
    before = colonnade.open(path(spark)).epoch
    spark.sql("SET spark.colonnade.mergeSchema = true")
    try:
        for select, said in REFUSED.values():
            for way in ("saveAsTable", "insertInto"):
                if way == "saveAsTable" or "2L id" in select:
                    assert said in spark.refused_run(write(spark, WAYS[way], "", select))
            assert said in spark.refusal(f"INSERT INTO {TABLE} BY NAME {select}")
        spark.sql(f"EXPLAIN INSERT INTO {TABLE} BY NAME SELECT 2L id, 1 n")
    finally:
        spark.sql("RESET spark.colonnade.mergeSchema")
    assert colonnade.open(path(spark)).epoch == before


@pytest.mark.matrix
def test_a_write_brings_columns_to_the_table_that_its_rows_come_from(spark: SparkShell) -> None:
    frame = f"spark.table('{TABLE}').selectExpr('id + 1 AS id', '3000000000L AS v', 's', '1 AS n')"
    spark.run(f"{frame}.writeTo('{TABLE}').option('mergeSchema', True).append()")
    assert rows(spark) == [[1, 10, [1], None], [2, 3 * 10**9, [1], 1]]
    frame = f"spark.table('{TABLE}').selectExpr('*', 'id AS m')"
    spark.run(f"{frame}.writeTo('{TABLE}').option('mergeSchema', True).overwrite(F.lit(True))")
    assert rows(spark) == [[1, 10, [1], None, 1], [2, 3 * 10**9, [1], 1, 2]]
    spark.sql("SET spark.colonnade.mergeSchema = true")
    try:
        spark.sql(f"INSERT OVERWRITE {TABLE} BY NAME SELECT id, v, 'new' AS k FROM {TABLE}")
    finally:
        spark.sql("RESET spark.colonnade.mergeSchema")
    found = spark.sql(f"SELECT id, v, k FROM {TABLE} ORDER BY id")
    assert found == [[1, 10, "new"], [2, 3 * 10**9, "new"]]


@pytest.mark.matrix
def test_a_transaction_refuses_new_columns(spark: SparkShell) -> None:
    spark.sql("CALL colonnade.system.begin(database => 'grow')")
    try:
        refusal = spark.refused_run(write(spark, WAYS["writeTo"], MERGE, MORE))
    finally:
        spark.sql("CALL colonnade.system.rollback()")
    assert "transaction" in refusal
    assert rows(spark) == [[1, 10, [1]]]
