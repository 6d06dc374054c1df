"""Identity columns in Spark: each statement that adds or changes rows, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark

NAMES = ("colonnade.numbered.t", "spark_catalog.default.numbered")
ALWAYS = "id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), v STRING"


@pytest.fixture(
    params=NAMES[:1] if OLDER else [NAMES[0], pytest.param(NAMES[1], marks=pytest.mark.long)]
)
def named(spark_shell: SparkShell, request: pytest.FixtureRequest) -> Iterator[str]:
    """A table whose ids are 10, 15, and so on, in two catalogs."""
    name: str = request.param
    spark_shell.sql("CREATE DATABASE IF NOT EXISTS colonnade.numbered")
    spark_shell.sql(f"CREATE TABLE {name} ({ALWAYS}) USING colonnade")
    yield name
    spark_shell.sql(f"DROP TABLE {name}")


@pytest.fixture
def table(spark_shell: SparkShell) -> Iterator[str]:
    """The name of a table to make."""
    spark_shell.sql("CREATE DATABASE IF NOT EXISTS colonnade.numbered")
    yield "colonnade.numbered.u"
    spark_shell.sql("DROP TABLE IF EXISTS colonnade.numbered.u")


def path(spark: SparkShell, name: str) -> str:
    places = {NAMES[0]: "warehouse/numbered/t", NAMES[1]: "spark/numbered"}
    return str(spark.folder / places.get(name, "warehouse/numbered/u"))


def rows(spark: SparkShell, name: str) -> list[list[Any]]:
    return spark.sql(f"SELECT * FROM {name} ORDER BY id")


@pytest.mark.spark_compat
def test_each_road_that_adds_rows_gives_them_the_next_values(
    spark_shell: SparkShell, named: str
) -> None:
    spark, place = spark_shell, path(spark_shell, named)
    spark.sql(f"INSERT INTO {named} (v) VALUES ('a'), ('b')")
    spark.sql(f"INSERT INTO {named} VALUES (DEFAULT, 'c'), (NULL, 'd')")
    spark.sql(f"INSERT INTO {named} BY NAME SELECT 'e' AS v")
    frame = "spark.range({}, {}).selectExpr('string(id) AS v')"
    spark.run(f"{frame.format(0, 1)}.writeTo('{named}').append()")
    save = ".write.mode('append').format('colonnade')"
    spark.run(f"{frame.format(1, 2)}{save}.saveAsTable('{named}')")
    spark.run(f"{frame.format(2, 3)}{save}.save('{place}')")
    source = "USING (SELECT 'f' AS k) ON v = k"
    spark.sql(f"MERGE INTO {named} {source} WHEN NOT MATCHED THEN INSERT (v) VALUES (k)")
    colonnade.open(place).append(pa.table({"v": ["g"]}))
    expected = [[10 + 5 * at, each] for at, each in enumerate("abcde012fg")]
    assert rows(spark, named) == expected
    assert colonnade.open(place).next_identities == {"id": 60}
    spark.sql(f"INSERT OVERWRITE {named} (v) SELECT 'h'")
    assert rows(spark, named) == [[60, "h"]]
    over = ".write.mode('overwrite').format('colonnade')"
    spark.run(f"{frame.format(3, 5)}{over}.saveAsTable('{named}')")
    assert rows(spark, named) == [[65, "3"], [70, "4"]]
    spark.run(f"{frame.format(5, 6)}{over}.save('{place}')")
    assert rows(spark, named) == [[75, "5"]]
    chosen = f"spark.range(3).selectExpr('id', 'string(id) AS v'){over}"
    for write in (f"{chosen}.saveAsTable('{named}')", f"{chosen}.save('{place}')"):
        assert "GENERATED ALWAYS AS IDENTITY" in spark.refused_run(write)
    assert rows(spark, named) == [[75, "5"]]


@pytest.mark.spark_compat
def test_rows_that_statements_change_keep_their_values(spark_shell: SparkShell, table: str) -> None:
    spark = spark_shell
    spark.sql(f"CREATE TABLE {table} ({ALWAYS})")
    spark.sql(f"INSERT INTO {table} (v) VALUES ('a'), ('b'), ('c')")
    spark.sql(f"UPDATE {table} SET v = upper(v) WHERE id > 10")
    spark.sql(
        f"MERGE INTO {table} USING (SELECT 'B' AS k UNION ALL SELECT 'x') ON v = k"
        " WHEN MATCHED THEN UPDATE SET v = 'merged' WHEN NOT MATCHED THEN INSERT (v) VALUES (k)"
        " WHEN NOT MATCHED BY SOURCE AND id > 15 THEN UPDATE SET v = 'left'"
    )
    spark.sql(f"DELETE FROM {table} WHERE id = 10")
    assert rows(spark, table) == [[15, "merged"], [20, "left"], [25, "x"]]
    colonnade.open(path(spark, table)).optimize().executeCompaction()
    assert rows(spark, table) == [[15, "merged"], [20, "left"], [25, "x"]]


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_only_the_table_gives_values_of_an_always_column(
    spark_shell: SparkShell, table: str
) -> None:
    spark = spark_shell
    spark.sql(f"CREATE TABLE {table} ({ALWAYS})")
    spark.sql(f"INSERT INTO {table} (v) VALUES ('a')")
    merge = f"MERGE INTO {table} t USING (SELECT 'a' AS v, 7L AS id) s ON t.v = s.v"
    for refused in (
        f"INSERT INTO {table} VALUES (7, 'b')",
        f"INSERT OVERWRITE {table} VALUES (10, 'b')",
        f"{merge} AND false WHEN NOT MATCHED THEN INSERT *",
        f"UPDATE {table} SET id = 7",
        f"UPDATE {table} SET id = id + 5, v = 'b'",
        f"UPDATE {table} SET id = DEFAULT",
        f"{merge} WHEN MATCHED THEN UPDATE SET *",
        f"{merge} WHEN MATCHED AND s.id = 0 THEN UPDATE SET v = 'c'"
        " WHEN MATCHED THEN UPDATE SET id = 7",
        f"{merge} AND false WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = 7",
    ):
        message = spark.refusal(refused)
        assert "COLONNADE_INVALID_INPUT" in message, refused
        assert "'id'" in message, refused
        assert "GENERATED ALWAYS AS IDENTITY" in message, refused
    spark.sql(f"UPDATE {table} SET id = id, v = 'same'")
    assert rows(spark, table) == [[10, "same"]]
    spark.sql(f"{merge} WHEN MATCHED THEN DELETE")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT 'same' AS v) s ON t.v = s.v WHEN MATCHED THEN DELETE"
    )
    assert rows(spark, table) == []


def test_later_values_never_meet_those_that_users_give(spark_shell: SparkShell, table: str) -> None:
    spark = spark_shell
    spark.sql(f"CREATE TABLE {table} (id INT GENERATED BY DEFAULT AS IDENTITY, v STRING)")
    spark.sql(f"INSERT INTO {table} VALUES (2, 'a'), (5, 'b')")
    spark.sql(f"INSERT INTO {table} (v) VALUES ('c')")
    spark.sql(f"INSERT INTO {table} VALUES (9, 'd'), (NULL, 'e')")
    spark.sql(f"UPDATE {table} SET id = 20 WHERE v = 'a'")
    assert "NOT NULL" in spark.refusal(f"UPDATE {table} SET id = NULL WHERE v = 'a'")
    spark.sql(
        f"MERGE INTO {table} USING (SELECT 'f' AS k) ON v = k"
        " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (30, k)"
    )
    spark.sql(f"INSERT INTO {table} (v) VALUES ('g')")
    values = [[5, "b"], [6, "c"], [9, "d"], [10, "e"], [20, "a"], [30, "f"], [31, "g"]]
    assert rows(spark, table) == values


def test_no_task_brings_a_value_that_another_task_got(spark_shell: SparkShell, table: str) -> None:
    spark = spark_shell
    spark.sql(f"CREATE TABLE {table} (id INT GENERATED BY DEFAULT AS IDENTITY, v INT)")
    both = "VALUES (CAST(NULL AS INT), 1), (1, 2) AS s(id, v)"
    split = f"spark.sql('SELECT * FROM {both}').repartition(2, F.col('v'))"
    epoch = colonnade.open(path(spark, table)).epoch
    tasks = spark.run(f"{split}.select(F.spark_partition_id()).distinct().count()")
    message = spark.refused_run(f"{split}.writeTo('{table}').append()")
    assert "the value 1 in identity column 'id'" in message
    assert tasks == 2
    assert colonnade.open(path(spark, table)).next_identities == {"id": 2}
    assert rows(spark, table) == []
    assert colonnade.open(path(spark, table)).epoch == epoch + 1


def test_a_type_that_has_no_more_values_is_an_error_and_nothing_is_written(
    spark_shell: SparkShell, table: str
) -> None:
    spark = spark_shell
    columns = "id INT GENERATED ALWAYS AS IDENTITY (START WITH -2147483548 INCREMENT BY -50)"
    spark.sql(f"CREATE TABLE {table} ({columns}, v STRING)")
    message = spark.refusal(f"INSERT INTO {table} (v) SELECT string(id) FROM range(4)")
    assert "COLONNADE_INVALID_INPUT" in message
    assert "Identity column 'id'" in message
    assert "widen the column" in message
    assert rows(spark, table) == []
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN id TYPE BIGINT")
    spark.sql(f"INSERT INTO {table} (v) VALUES ('a'), ('b')")
    assert rows(spark, table) == [[-2147483748, "b"], [-2147483698, "a"]]


def test_many_rows_get_values_once_in_any_arrangement(spark_shell: SparkShell, table: str) -> None:
    spark = spark_shell
    for arranged in ("CLUSTER BY (id)", "PARTITIONED BY (bucket(4, id))", "PARTITIONED BY (p)"):
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        columns = "id BIGINT GENERATED BY DEFAULT AS IDENTITY, p INT, v STRING"
        spark.sql(f"CREATE TABLE {table} ({columns}) {arranged}")
        many = "spark.range(5000).selectExpr('int(id % 3) AS p', 'repeat(\"x\", 50) AS v')"
        spark.run(f"{many}.repartition(3).writeTo('{table}').append()")
        spark.sql(f"INSERT INTO {table} VALUES (NULL, 1, 'new'), (100000, 2, 'given')")
        spark.sql(
            f"MERGE INTO {table} USING (SELECT 2 AS k UNION ALL SELECT 9) ON p = k AND v = 'given'"
            " WHEN MATCHED THEN UPDATE SET v = 'moved'"
            " WHEN NOT MATCHED THEN INSERT (p, v) VALUES (k, 'missing')"
        )
        counts = spark.sql(f"SELECT count(*), count(DISTINCT id), min(id) FROM {table}")
        assert counts == [[5003, 5003, 1]]
        assert colonnade.verify(path(spark, table)).is_sound
        assert spark.sql(f"SELECT id > 100000 FROM {table} WHERE v = 'missing'") == [[True]]


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_spark_shows_and_copies_the_identity_column(spark_shell: SparkShell, named: str) -> None:
    spark, copy = spark_shell, named + "_copy"
    spark.sql(f"INSERT INTO {named} (v) VALUES ('a')")
    detail = f"colonnade.Table.forPath(spark, '{path(spark, named)}').detail()"
    assert spark.run(f"{detail}.selectExpr('identityColumns.id')") == [[15]]
    spark.sql(f"CREATE TABLE {copy} USING colonnade AS SELECT * FROM {named}")
    spark.sql(f"INSERT INTO {copy} VALUES (1, 'plain')")
    assert rows(spark, copy) == [[1, "plain"], [10, "a"]]
    spark.sql(f"DROP TABLE {copy}")


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_table_like_another_one_begins_anew(spark_shell: SparkShell) -> None:
    spark = spark_shell
    spark.sql(f"CREATE TABLE first_numbered ({ALWAYS}) USING colonnade")
    spark.sql("INSERT INTO first_numbered (v) VALUES ('a')")
    for using, like in (("colonnade", [[10, "b"]]), ("parquet", [[None, "b"]])):
        spark.sql(f"CREATE TABLE like_numbered LIKE first_numbered USING {using}")
        spark.sql("INSERT INTO like_numbered (v) VALUES ('b')")
        assert rows(spark, "like_numbered") == like
        spark.sql("DROP TABLE like_numbered")
    spark.sql("DROP TABLE first_numbered")


def test_a_restore_gives_no_value_again(spark_shell: SparkShell, table: str) -> None:
    spark, place = spark_shell, path(spark_shell, table)
    spark.sql(f"CREATE TABLE {table} ({ALWAYS})")
    spark.sql(f"INSERT INTO {table} (v) VALUES ('a')")
    epoch = colonnade.open(place).epoch
    spark.sql(f"INSERT INTO {table} (v) VALUES ('b')")
    colonnade.open(place).restore(epoch=epoch)
    spark.sql(f"INSERT INTO {table} (v) VALUES ('c')")
    assert rows(spark, table) == [[10, "a"], [20, "c"]]


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_impossible_declarations_are_refused(spark_shell: SparkShell, table: str) -> None:
    spark = spark_shell
    identity = "GENERATED ALWAYS AS IDENTITY"
    assert "starts with 3000000000, which is no int" in spark.refusal(
        f"CREATE TABLE {table} (id INT {identity} (START WITH 3000000000), v INT)"
    )
    assert "identity columns" in spark.refusal(
        f"CREATE TABLE spark_catalog.default.other (id INT {identity}, v INT) USING parquet"
    )
    spark.sql(
        f"CREATE TABLE {table} (id INT {identity}, v INT) TBLPROPERTIES (sortKey = 'id desc')"
    )
    assert "against the order of its values" in spark.refusal(f"INSERT INTO {table} (v) VALUES (1)")


@pytest.mark.spark_compat
def test_a_constraint_sees_the_values_that_rows_get(spark_shell: SparkShell, table: str) -> None:
    spark = spark_shell
    spark.sql(
        f"CREATE TABLE {table} (id INT GENERATED BY DEFAULT AS IDENTITY, v STRING, c CHAR(3),"
        " CONSTRAINT low CHECK (nvl(ID, 99) < 6 OR c = 'x'), CONSTRAINT own CHECK (v <> 'bad'))"
    )
    spark.sql(f"INSERT INTO {table} (v, c) SELECT 'a', 'q' FROM range(3)")
    frame = "spark.sql(\"SELECT 'b' v, '{0}' c\")"
    spark.run(f"{frame.format('q')}.writeTo('{table}').append()")
    spark.sql(f"UPDATE {table} SET v = 'c' WHERE id = 2")
    merge = (
        f"MERGE INTO {table} t USING (SELECT 4 k, '{{0}}' c UNION ALL SELECT 9, '{{0}}') s"
        " ON t.id = s.k WHEN MATCHED THEN UPDATE SET c = s.c"
        " WHEN NOT MATCHED THEN INSERT (v, c) VALUES ('m', s.c)"
    )
    spark.sql(merge.format("q"))
    before = rows(spark, table)
    assert [row[:2] for row in before] == [[1, "a"], [2, "c"], [3, "a"], [4, "b"], [5, "m"]]
    for statement in (
        f"INSERT INTO {table} (v, c) VALUES ('d', 'q')",
        f"INSERT INTO {table} VALUES (7, 'd', 'q')",
        f"UPDATE {table} SET id = 6 WHERE id = 1",
        f"INSERT OVERWRITE {table} (v, c) VALUES ('d', 'q')",
        merge.format("r"),
    ):
        said = spark.refusal(statement)
        assert "CHECK constraint low" in said, said
    assert "CHECK constraint low" in spark.refused_run(
        f"{frame.format('q')}.write.format('colonnade').mode('append').save('{path(spark, table)}')"
    )
    assert "own" in spark.refusal(f"INSERT INTO {table} (v, c) VALUES ('bad', 'x')")
    spark.sql(f"INSERT INTO {table} (v, c) VALUES ('e', 'x')")
    assert rows(spark, table)[:5] == before
    assert rows(spark, table)[5][1:] == ["e", "x  "]


def test_a_transaction_gives_values_in_each_statement_and_loses_those_that_it_drops(
    spark_shell: SparkShell, table: str
) -> None:
    spark = spark_shell
    spark.sql(f"CREATE TABLE {table} ({ALWAYS})")
    begin = "CALL colonnade.system.begin(database => 'numbered')"
    for end in ("rollback", "commit"):
        spark.sql(begin)
        spark.sql(f"INSERT INTO {table} (v) VALUES ('a'), ('b')")
        spark.sql(f"UPDATE {table} SET v = 'c' WHERE v = 'b'")
        spark.sql(f"INSERT INTO {table} (v) VALUES ('d')")
        spark.sql(f"CALL colonnade.system.{end}()")
    assert rows(spark, table) == [[25, "a"], [30, "c"], [35, "d"]]
