"""Columns that are named as those that Spark is offered beside a table's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

TABLE = "colonnade.names.t"
ROWS = [[n, f"r{n}", n * 10, -n] for n in range(6)]


@pytest.fixture
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    """With a database `colonnade.names`."""
    spark_shell.sql("CREATE DATABASE colonnade.names")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.names CASCADE")


@pytest.fixture(
    params=[
        ("_rowset", "_row", "_epoch"),
        pytest.param(("_RowSet", "_ROW", "_Epoch"), marks=pytest.mark.long),
    ]
)
def names(spark: SparkShell, request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """Columns of `colonnade.names.t`, whose two RowSets hold `ROWS`."""
    names: tuple[str, str, str] = request.param
    rowset, row, epoch = names
    columns = f"{rowset} BIGINT, {row} STRING, {epoch} INT, v BIGINT"
    spark.sql(f"CREATE TABLE {TABLE} ({columns}) CLUSTER BY ({rowset}) ")
    for first in (0, 3):
        values = f"id AS {rowset}, concat('r', id) AS {row}, int(id * 10) AS {epoch}, -id AS v"
        spark.sql(f"INSERT INTO {TABLE} SELECT {values} FROM range({first}, {first + 3})")
    return names


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "names" / "t"


def rows(spark: SparkShell) -> list[list[object]]:
    return spark.sql(f"SELECT * FROM {TABLE} ORDER BY v DESC")


def test_a_column_of_the_table_hides_the_one_that_spark_is_offered(
    spark: SparkShell, names: tuple[str, str, str]
) -> None:
    assert rows(spark) == ROWS
    assert spark.sql(f"SELECT _row FROM {TABLE} WHERE _epoch = 20 AND _rowset < 3") == [["r2"]]
    assert spark.sql(f"SELECT max(_row), sum(_epoch) FROM {TABLE}") == [["r5", 150]]
    assert spark.sql(f"SELECT _row FROM {TABLE} ORDER BY _epoch DESC LIMIT 1") == [["r5"]]
    grouped = f"SELECT _rowset % 2, count(*) FROM {TABLE} GROUP BY ALL ORDER BY 1"
    assert spark.sql(grouped) == [[0, 3], [1, 3]]
    handlers = f"SELECT count(DISTINCT _row_handler) FROM {TABLE}"
    assert spark.sql(handlers) == [[6]]
    found = colonnade.open(path(spark)).scan(where=f"{names[1]} = 'r4'").to_arrow()
    assert found.to_pylist() == [dict(zip((*names, "v"), ROWS[4], strict=True))]


def test_every_statement_changes_rows_by_columns_of_such_names(
    spark: SparkShell, names: tuple[str, str, str]
) -> None:
    spark.sql(f"DELETE FROM {TABLE} WHERE _row = 'r1'")
    spark.sql(f"DELETE FROM {TABLE} WHERE _row LIKE '%0' AND v + 1 > 0")
    spark.sql(f"UPDATE {TABLE} SET _row = 'new', _epoch = _epoch + 1 WHERE _rowset = 2 AND v < 0")
    source = (
        "SELECT 3 AS _rowset, 'merged' AS _row, 7 AS _epoch, -3 AS v UNION ALL SELECT 9, 'x', 9, -9"
    )
    spark.sql(
        f"MERGE INTO {TABLE} t USING ({source}) s ON t._rowset = s._rowset AND t._epoch > s._epoch"
        " WHEN MATCHED AND t._row = 'r3' THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        " WHEN NOT MATCHED BY SOURCE AND t._epoch = 50 THEN DELETE"
    )
    expected = [[2, "new", 21, -2], [3, "merged", 7, -3], [4, "r4", 40, -4], [9, "x", 9, -9]]
    assert rows(spark) == expected
    spark.sql(f"INSERT INTO {TABLE} (v, _row) VALUES (-10, 'y')")
    spark.sql(f"INSERT OVERWRITE {TABLE} SELECT * FROM {TABLE} WHERE _row <> 'y'")
    assert rows(spark) == expected
    frame = f"spark.sql(\"SELECT 4L _rowset, 'z' _row, 40 _epoch, -4L v\").writeTo('{TABLE}')"
    spark.run(f"{frame}.overwrite(F.col('_epoch') == 40)")
    assert rows(spark)[2] == [4, "z", 40, -4]
    merge = f"MERGE INTO {TABLE} t USING (SELECT 1) ON t._row_handler = 1"
    refusal = spark.refusal(f"{merge} WHEN MATCHED THEN UPDATE SET v = 1")
    assert "cannot name the columns _row_handler that" in refusal


@pytest.mark.matrix
def test_maintenance_and_python_keep_columns_of_such_names(
    spark: SparkShell, names: tuple[str, str, str]
) -> None:
    spark.sql(f"DELETE FROM {TABLE} WHERE _row = 'r5'")
    spark.sql("CALL colonnade.system.compact('names.t', options => 'min-rowsets=2')")
    table = colonnade.open(path(spark))
    assert spark.sql(f"SELECT count(*) FROM {TABLE}.rowsets") == [[1]]
    table.update({names[2]: "1"}, f"{names[1]} = 'r0'")
    row = dict(zip((*names, "v"), [7, "r7", 70, -7], strict=True))
    table.append(pa.Table.from_pylist([row], table.scan().to_arrow().schema))
    table.upsert(table.scan(where=f"{names[0]} = 7").to_arrow(), names[0])
    assert rows(spark) == [[0, "r0", 1, 0], *ROWS[1:5], [7, "r7", 70, -7]]
    assert table.verify().is_sound


@pytest.mark.matrix
def test_columns_get_and_lose_such_names_and_older_states_keep_theirs(spark: SparkShell) -> None:
    spark.sql(f"CREATE TABLE {TABLE} AS SELECT id FROM range(3)")
    before = colonnade.open(path(spark)).epoch
    spark.sql(f"ALTER TABLE {TABLE} ADD COLUMN _row STRING")
    spark.sql(f"UPDATE {TABLE} SET _row = concat('r', id) WHERE _row IS NULL")
    spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN id TO _EPOCH")
    assert spark.sql(f"SELECT _row, _epoch FROM {TABLE} ORDER BY 1") == [
        ["r0", 0],
        ["r1", 1],
        ["r2", 2],
    ]
    places = f"SELECT id, _row FROM {TABLE} VERSION AS OF {before} ORDER BY id"
    assert spark.sql(places) == [[0, 0], [1, 1], [2, 2]]
    spark.sql(f"ALTER TABLE {TABLE} DROP COLUMN _row")
    assert spark.sql(f"SELECT sum(_row) FROM {TABLE}") == [[3]]


@pytest.mark.matrix
def test_an_update_that_replaces_columns_finds_its_rows_beside_such_names(
    spark: SparkShell,
) -> None:
    wide = ", ".join(f"rand({i}) AS c{i}" for i in range(8))
    spark.sql(f"CREATE TABLE {TABLE} AS SELECT id AS _rowset, id AS _row, {wide} FROM range(6000)")
    spark.sql("SET spark.colonnade.replaceColumnsBytes = 0")
    update = f"colonnade.Table.forName(spark, '{TABLE}').update"
    done = spark.run(
        f"{update}('_row >= 100', {{'c1': '_row', '_rowset': '_rowset + 1'}}).metrics()"
    )
    spark.sql("RESET spark.colonnade.replaceColumnsBytes")
    assert (done["rows_updated"], done["rowsets_in_place"]) == (5900, 1)
    found = f"SELECT count_if(c1 = _row), sum(_rowset - _row) FROM {TABLE}"
    assert spark.sql(found) == [[5900, 5900]]
