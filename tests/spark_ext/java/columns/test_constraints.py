"""CHECK constraints in SQL: Spark checks each statement, however its rows are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import InvalidInputError
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLE = "colonnade.rules.t"
ROWS: list[list[object]] = [[1, 1, "one"], [2, None, "two"], [3, 30, None]]


STATEMENTS = (
    f"CREATE TABLE {TABLE} (id BIGINT, n INT, name STRING,"
    " CONSTRAINT positive CHECK (n > 0)) USING colonnade",
    f"INSERT INTO {TABLE} VALUES (1, 1, 'one'), (2, NULL, 'two'), (3, 30, NULL)",
    f"ALTER TABLE {TABLE} ADD CONSTRAINT short CHECK (octet_length(name) < 9)",
)


database = kept_database("rules", *STATEMENTS)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With a table of `ROWS` and two constraints; our predicates can evaluate only the first."""
    return database.ready()


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "rules" / "t"


def rows(spark: SparkShell) -> list[list[object]]:
    return spark.sql(f"SELECT * FROM {TABLE} ORDER BY id")


def frame(row: str) -> str:
    return f"spark.sql('SELECT * FROM VALUES {row} AS t(id, n, name)')"


SQL = {
    "INSERT": "INSERT INTO {t} VALUES {bad}",
    "INSERT OVERWRITE": "INSERT OVERWRITE {t} VALUES {bad}",
    "REPLACE WHERE": "INSERT INTO {t} REPLACE WHERE id = 9 VALUES {bad}",
    "UPDATE": "UPDATE {t} SET n = {n}, name = {name} WHERE id = 1",
    "MERGE that updates": (
        "MERGE INTO {t} t USING (SELECT 1L AS k) s ON t.id = s.k"
        " WHEN MATCHED THEN UPDATE SET n = {n}, name = {name}"
    ),
    "MERGE that inserts": (
        "MERGE INTO {t} t USING (SELECT 9L AS k) s ON t.id = s.k"
        " WHEN NOT MATCHED THEN INSERT (id, n, name) VALUES (s.k, {n}, {name})"
    ),
    "MERGE that does everything": (
        "MERGE INTO {t} t USING (SELECT explode(array(1L, 2L, 9L)) AS k) s ON t.id = s.k"
        " WHEN MATCHED AND t.id = 2 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET n = 5"
        " WHEN NOT MATCHED THEN INSERT (id, n, name) VALUES (s.k, {n}, {name})"
    ),
}
CODE = {
    "writeTo append": "{df}.writeTo('{t}').append()",
    "writeTo overwrite": "{df}.writeTo('{t}').overwrite(F.col('id') == 9)",
    "writeTo partitions": "{df}.writeTo('{t}').overwritePartitions()",
    "saveAsTable append": "{df}.write.mode('append').saveAsTable('{t}')",
    "saveAsTable overwrite": (
        "{df}.write.format('colonnade').mode('overwrite').saveAsTable('{t}')"
    ),
    "insertInto": "{df}.write.insertInto('{t}')",
    "save append": "{df}.write.format('colonnade').mode('append').save('{path}')",
    "save overwrite": "{df}.write.format('colonnade').mode('overwrite').save('{path}')",
    "Table.update": (
        "colonnade.Table.forPath(spark, '{path}').update("
        "'id = 1', {{'n': '{n}', 'name': \"{name}\"}})"
    ),
    "Table.merge": (
        "colonnade.Table.forPath(spark, '{path}').alias('t').merge({df}.alias('s'), 't.id = s.id')"
        ".whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()"
    ),
}


BAD = [("short", (5, "'much too long'")), ("positive", (0, "'x'"))]


def on_roads() -> Iterator[Any]:
    """Each road, with one of the constraints always, and with the other one in long runs."""
    for at, road in enumerate((*SQL, *CODE)):
        for turn, (name, bad) in enumerate(BAD[:1] if OLDER else BAD):
            often = OLDER or at % len(BAD) == turn
            marks = () if often else pytest.mark.long
            yield pytest.param(road, name, bad, marks=marks, id=f"{road}-{name}")


@pytest.mark.parametrize(("road", "name", "bad"), list(on_roads()))
def test_no_road_writes_a_row_that_a_constraint_does_not_allow(
    spark: SparkShell, road: str, name: str, bad: tuple[int, str]
) -> None:
    before = colonnade.open(path(spark)).epoch
    number, text = bad
    row = f"(9L, {number}, {text})"
    if road in SQL:
        refusal = spark.refusal(SQL[road].format(t=TABLE, bad=row, n=number, name=text))
    else:
        quoted = frame(row).replace("'", '"', 1)[:-2] + '")'
        code = CODE[road].format(df=quoted, t=TABLE, path=path(spark), n=number, name=text)
        refusal = spark.refused_run(code)
    assert name in refusal
    assert colonnade.open(path(spark)).epoch == before


def test_rows_that_are_allowed_land_on_each_road(spark: SparkShell) -> None:
    spark.sql(f"INSERT INTO {TABLE} VALUES (4, NULL, NULL)")
    spark.sql(f"UPDATE {TABLE} SET n = n + 1 WHERE id = 1")
    spark.sql(SQL["MERGE that does everything"].format(t=TABLE, n=7, name="'nine'"))
    spark.sql(f"DELETE FROM {TABLE} WHERE id = 4")
    assert rows(spark) == [[1, 5, "one"], [3, 30, None], [9, 7, "nine"]]


FILLS = {
    "all rows": ("positive", "'n', '0'"),
    "some rows": ("positive", "'n', 'n - 1', 'n = 1'"),
    "one that only Spark evaluates": ("short", "'name', 'repeat(name, 4)', 'id = 2'"),
    "several columns": ("pair", "'n', 'id + 19', 'id = 2'"),
    "the other column": ("pair", "'id', 'id - 10'"),
    "a field": ("inside", "'s', 'named_struct(\"a\", n)'"),
    "by chance": ("positive", "'n', 'CAST(0 * rand() AS INT)'"),
    "a char": ("letter", "'f', '\"x\"'"),
    "not null": ("NOT NULL", "'k', 'IF(id = 2, NULL, 1)'"),
}


@pytest.fixture(scope="module")
def filled(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a table `filled.t` of the rows of `ROWS` and more columns and constraints."""
    table = "colonnade.filled.t"
    kept = KeptDatabase(
        spark_shell,
        "filled",
        [
            *(statement.replace(TABLE, table) for statement in STATEMENTS),
            f"ALTER TABLE {table} ADD COLUMNS (s STRUCT<a: INT>, f CHAR(3))",
            f"ALTER TABLE {table} ADD CONSTRAINT letter CHECK (f <> 'x')",
            "CALL colonnade.system.add_column('filled.t', 'k', 'int NOT NULL', '1')",
            f"ALTER TABLE {table} ADD CONSTRAINT pair CHECK (n <= id * 10 AND id > -5)",
            f"ALTER TABLE {table} ADD CONSTRAINT inside CHECK (s.a < 30)",
        ],
    )
    yield kept.ready()
    kept.drop()


@pytest.mark.matrix
@pytest.mark.parametrize(
    "fill",
    [
        *("some rows", "one that only Spark evaluates", "a field", "not null"),
        *(
            pytest.param(fill, marks=pytest.mark.long)
            for fill in ("all rows", "several columns", "the other column", "by chance", "a char")
        ),
    ],
)
def test_a_fill_gives_no_row_a_value_that_a_constraint_does_not_allow(
    filled: SparkShell, fill: str
) -> None:
    name, arguments = FILLS[fill]
    assert name in filled.refusal(f"CALL colonnade.system.backfill('filled.t', {arguments})")
    assert filled.sql("SELECT * FROM colonnade.filled.t ORDER BY id") == [
        [*row, None, None, 1] for row in ROWS
    ]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "condition",
    [
        "f IN ('x', 'xyz')",
        "'🙂' <> 'y' AND 'x' = F",
        *(
            pytest.param(condition, marks=pytest.mark.long)
            for condition in ("f = 'x'", "f NOT IN ('y', 'z')", 'NOT f = "y"')
        ),
    ],
)
def test_a_char_is_compared_on_every_road_as_queries_compare_it(
    spark: SparkShell, condition: str
) -> None:
    table = "colonnade.rules.chars"
    spark.sql(f"CREATE OR REPLACE TABLE {table} (f CHAR(3), CONSTRAINT letter CHECK ({condition}))")
    spark.sql(f"INSERT INTO {table} VALUES ('x'), ('x  '), (NULL)")
    assert spark.sql(f"SELECT count(*) FROM {table} WHERE {condition}") == [[2]]
    for statement in (
        f"INSERT INTO {table} VALUES ('y')",
        f"UPDATE {table} SET f = 'y' WHERE f = 'x'",
        f"MERGE INTO {table} USING (SELECT 'y' AS v) ON f = v"
        " WHEN NOT MATCHED THEN INSERT (f) VALUES (v)",
        "CALL colonnade.system.backfill('rules.chars', 'f', '\"y\"')",
    ):
        assert "letter" in spark.refusal(statement)
    assert spark.sql(f"SELECT count(*) FROM {table} WHERE f = 'x'") == [[2]]


@pytest.mark.matrix
def test_a_fill_of_values_that_are_allowed_lands_and_null_is(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT pair CHECK (n <= id * 10)")
    call = "CALL colonnade.system.backfill('rules.t', "
    spark.sql(f"{call} 'n', 'IF(id = 1, NULL, CAST(id * 10 AS INT))')")
    spark.sql(f"{call} 'n', 'n - 1', 'n = 20')")
    spark.sql(f"{call} 'name', 'upper(name)')")
    assert rows(spark) == [[1, None, "ONE"], [2, 19, "TWO"], [3, 30, None]]


@pytest.mark.matrix
def test_a_fill_meets_a_constraint_that_was_added_meanwhile(spark: SparkShell) -> None:
    add = f"colonnade.open({str(path(spark))!r}).alter(colonnade.AddConstraint('late', 'n < 31'))"
    body = f"bool(len(colonnade.open({str(path(spark))!r}).constraints) > 2 or [{add}])"
    spark.run(f"spark.udf.register('meddle', lambda id: {body}, 'boolean') and None")
    value = "IF(meddle(id), n + 1, NULL)"
    call = f"CALL colonnade.system.backfill('rules.t', 'n', '{value}', 'id > 1')"
    assert "'late'" in spark.refusal(call)
    assert "CHECK constraint late" in spark.refusal(call)
    assert rows(spark) == ROWS


def test_a_constraint_is_shown(spark: SparkShell) -> None:
    shown = spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    assert "CONSTRAINT positive CHECK (n > 0)" in shown
    assert "CONSTRAINT short CHECK (octet_length(name) < 9)" in shown
    described = spark.sql(f"DESCRIBE TABLE EXTENDED {TABLE}")
    assert any(row[0] == "positive" and "n > 0" in row[1] for row in described)
    [detail] = spark.run(
        f"colonnade.Table.forPath(spark, '{path(spark)}').detail().select('constraints')"
    )
    assert detail[0] == {"positive": "n > 0", "short": "octet_length(name) < 9"}
    spark.sql(f"DROP TABLE {TABLE}")
    spark.sql(shown)
    assert colonnade.open(path(spark)).constraints == detail[0]


def test_a_constraint_that_a_row_contradicts_is_not_added_and_names_the_row(
    spark: SparkShell,
) -> None:
    for condition, row in {
        "n < 20": "n = 30",  # the log alone decides this one
        "length(name) % 2 = 0 OR n IS NULL": "n = 1, name = one",
        "name IS NOT NULL": "name = NULL",
    }.items():
        text = f"ALTER TABLE {TABLE} ADD CONSTRAINT added CHECK ({condition})"
        said = f"CHECK ({condition}) does not hold for a row with {row}."
        assert said in spark.refusal(text)
        assert spark.condition(text) == "COLONNADE_INVALID_INPUT"
    assert set(colonnade.open(path(spark)).constraints) == {"positive", "short"}


@pytest.mark.matrix
def test_a_constraint_is_dropped_by_name(spark: SparkShell) -> None:
    assert "none" in spark.refusal(f"ALTER TABLE {TABLE} DROP CONSTRAINT none")
    spark.sql(f"ALTER TABLE {TABLE} DROP CONSTRAINT IF EXISTS none")
    spark.sql(f"ALTER TABLE {TABLE} DROP CONSTRAINT positive")
    spark.sql(f"INSERT INTO {TABLE} VALUES (4, -1, 'x')")
    assert len(rows(spark)) == 4


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("ADD CONSTRAINT c CHECK (rand() > 0)", "determinist"),
        ("ADD CONSTRAINT c CHECK (missing > 0)", "missing"),
        ("ADD CONSTRAINT c CHECK (_row >= 0)", "cannot read _row"),
        ("ADD CONSTRAINT c CHECK (_epoch IS NOT NULL)", "cannot read _epoch"),
        ("ADD CONSTRAINT c CHECK (n + 1)", "BOOLEAN"),
        ("ADD CONSTRAINT c CHECK (n IN (SELECT 1))", ""),
        ("ADD CONSTRAINT c CHECK (max(n) > 0)", ""),
        ("ADD CONSTRAINT POSITIVE CHECK (n > 0)", "exists already"),
        ("ADD CONSTRAINT c PRIMARY KEY (id)", "no unique or foreign keys"),
        ("ADD CONSTRAINT c UNIQUE (id)", "no unique or foreign keys"),
        ("DROP COLUMN n", "'n' cannot be dropped: the constraint 'positive'"),
        ("ALTER COLUMN name TYPE VARCHAR(3)", ""),
    ],
)
def test_a_statement_that_cannot_be_checked_or_would_break_a_constraint_is_refused(
    spark: SparkShell, statement: str, text: str
) -> None:
    before = colonnade.open(path(spark)).epoch
    assert text.casefold() in spark.refusal(f"ALTER TABLE {TABLE} {statement}").casefold()
    assert colonnade.open(path(spark)).epoch == before


@pytest.mark.matrix
def test_a_column_within_a_function_of_a_lambda_is_known_to_be_read(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT f CHECK (forall(array(0), x -> x < id))")
    assert "'f'" in spark.refusal(f"ALTER TABLE {TABLE} DROP COLUMN id")


def one(n: int) -> pa.Table:
    columns = {"id": pa.int64(), "n": pa.int32(), "name": pa.string()}
    return pa.table({"id": [4], "n": [n], "name": ["x"]}, pa.schema(list(columns.items())))


@pytest.mark.matrix
def test_a_constraint_that_only_spark_can_check_refuses_rows_without_spark(
    spark: SparkShell,
) -> None:
    table = colonnade.open(path(spark))
    with pytest.raises(InvalidInputError, match="only Spark can check its constraint 'short'"):
        table.append(one(1))
    spark.sql(f"ALTER TABLE {TABLE} DROP CONSTRAINT short")
    with pytest.raises(InvalidInputError, match="'positive'.* n = 0"):
        table.append(one(0))
    table.append(one(1))


@pytest.mark.matrix
def test_an_overwrite_of_the_columns_keeps_no_constraint_by_surprise(spark: SparkShell) -> None:
    code = (
        f"{frame('(1L, -5, 1)')}.write.format('colonnade').mode('overwrite')"
        f".option('overwriteSchema', 'true').save('{path(spark)}')"
    )
    assert "drop its constraints first" in spark.refused_run(code)
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} USING colonnade AS SELECT -5 AS n")
    assert colonnade.open(path(spark)).constraints == {}


@pytest.mark.matrix
def test_a_constraint_of_a_replaced_table_reads_its_own_column(spark: SparkShell) -> None:
    """Columns that stay keep their ids, so the ids differ from those of a table of its own."""
    spark.sql(
        f"CREATE OR REPLACE TABLE {TABLE} (name STRING, more STRUCT<x: INT NOT NULL>, n INT"
        " DEFAULT 3, extra INT, CONSTRAINT some CHECK (n < 4),"
        " CONSTRAINT short CHECK (length(name) < extra)) USING colonnade"
    )
    spark.sql(f"INSERT INTO {TABLE} (name, more, extra) VALUES ('a', struct(1), 2)")
    for bad, named in (
        ("('a', struct(1), 4, 2)", "some"),
        ("('ab', struct(1), 3, 2)", "short"),
        ("('a', struct(CAST(NULL AS INT)), 3, 2)", "non-nullable"),
    ):
        assert named in spark.refusal(f"INSERT INTO {TABLE} VALUES {bad}")
    assert "some" in spark.refusal(f"UPDATE {TABLE} SET n = 5")
    spark.sql(f"ALTER TABLE {TABLE} DROP CONSTRAINT short")
    table, more = colonnade.open(path(spark)), pa.struct([("x", pa.int32())])
    with pytest.raises(InvalidInputError, match="'some'.* n = 9"):
        table.append(pa.table({"n": pa.array([9], pa.int32()), "more": pa.array([{"x": 1}], more)}))
    assert spark.sql(f"SELECT * FROM {TABLE}") == [["a", [1], 3, 2]]


@pytest.mark.matrix
def test_a_restore_and_time_travel_keep_the_constraints_of_their_epoch(spark: SparkShell) -> None:
    before = colonnade.open(path(spark)).epoch
    spark.sql(f"ALTER TABLE {TABLE} DROP CONSTRAINT positive")
    spark.sql(f"INSERT INTO {TABLE} VALUES (4, -1, 'x')")
    assert len(spark.sql(f"SELECT * FROM {TABLE} VERSION AS OF {before}")) == 3
    spark.sql(f"CALL colonnade.system.restore('rules.t', {before})")
    assert rows(spark) == ROWS
    assert "positive" in spark.refusal(f"INSERT INTO {TABLE} VALUES (4, -1, 'x')")


@pytest.mark.matrix
def test_tables_of_other_formats_get_no_constraint_that_is_never_checked(spark: SparkShell) -> None:
    spark.refusal("CREATE TABLE plain (n INT, CONSTRAINT c CHECK (n > 0)) USING parquet")
    spark.sql("CREATE TABLE plain (n INT) USING parquet")
    try:
        spark.refusal("ALTER TABLE plain ADD CONSTRAINT c CHECK (n > 0)")
        spark.sql("CREATE TABLE ours (n INT, CONSTRAINT c CHECK (n > 0)) USING colonnade")
        assert "c" in spark.refusal("INSERT INTO ours VALUES (0)")
        spark.sql("ALTER TABLE ours DROP CONSTRAINT c")
        spark.sql("INSERT INTO ours VALUES (0)")
        spark.sql("DROP TABLE ours")
    finally:
        spark.sql("DROP TABLE plain")


def test_a_column_that_conditions_read_is_renamed_and_the_conditions_show_it(
    spark: SparkShell,
) -> None:
    spark.sql(f"ALTER TABLE {TABLE} ADD CONSTRAINT both CHECK (n < 100 OR name IS NOT NULL)")
    spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN name TO `the order`")
    spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN n TO name")
    shown = spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    assert "octet_length(`the order`) < 9" in str(shown)
    assert colonnade.open(path(spark)).constraints == {
        "positive": "`name` > 0",
        "short": "octet_length(`the order`) < 9",
        "both": "`name` < 100 OR `the order` IS NOT NULL",
    }
    spark.sql(f"INSERT INTO {TABLE} (id, name, `the order`) VALUES (4, 40, 'four')")
    for bad in ("(5, 0, 'x')", "(5, 1, '123456789')", "(5, 100, NULL)"):
        said = spark.refusal(f"INSERT INTO {TABLE} (id, name, `the order`) VALUES {bad}")
        assert "CHECK" in said
    assert "CHECK" in spark.refusal(f"UPDATE {TABLE} SET name = -1 WHERE id = 1")
    assert rows(spark) == [*ROWS, [4, 40, "four"]]
