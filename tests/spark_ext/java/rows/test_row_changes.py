"""DELETE, UPDATE and MERGE through Spark: which rows change, what is read for it, who conflicts."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.kept import KeptDatabase, kept_database
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.t"


SELECT = "SELECT id, concat('n', id), id * 10 FROM range"
database = kept_database(
    "db",
    f"CREATE TABLE {TABLE} (id BIGINT NOT NULL, name STRING, v INT)",
    f"INSERT INTO {TABLE} {SELECT}(0, 10)",
    f"INSERT INTO {TABLE} {SELECT}(10, 20)",
)


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With a table `colonnade.db.t` of ids 0 to 9 and 10 to 19, each a RowSet; `v` is ten times."""
    return database.ready()


def path(spark: SparkShell) -> Path:
    return spark.folder / "warehouse" / "db" / "t"


def table(spark: SparkShell) -> colonnade.ArrowTable:
    return colonnade.open(path(spark))


def ids(spark: SparkShell) -> list[int]:
    return [row[0] for row in spark.sql(f"SELECT id FROM {TABLE} ORDER BY id")]


def last(spark: SparkShell) -> tuple[str, dict[str, int]]:
    """What history says of the newest epoch, without what is zero."""
    entry = table(spark).history(1)[0]
    return entry.operation, {
        name: count for name, count in entry.metrics.items() if count and name != "bytes_written"
    }


def meddle(spark: SparkShell, action: str) -> str:
    """The name of a function that is true, and first does something else to the table."""
    body = f"(colonnade.open({str(path(spark))!r}).{action}, True)[1]"
    spark.run(f"spark.udf.register('meddle', lambda id: {body}, 'boolean') and None")
    return "meddle"


def test_a_delete_reads_its_condition_and_takes_the_rows_from_where_they_are(
    spark: SparkShell,
) -> None:
    statement = f"DELETE FROM {TABLE} WHERE name LIKE '%5'"
    (plan,) = spark.sql(f"EXPLAIN {statement}")[0]
    assert "struct<name:string,_row_handler:bigint>" in plan
    spark.sql(statement)
    assert ids(spark) == [n for n in range(20) if n not in (5, 15)]
    assert last(spark) == ("delete", {"rows_deleted": 2, "rowsets_touched": 2})
    assert len(table(spark).scan().to_arrow()) == 18


def test_rowsets_that_the_log_decides_are_deleted_unread(spark: SparkShell) -> None:
    statement = f"DELETE FROM {TABLE} WHERE id >= 10"
    assert "BatchScan" not in spark.sql(f"EXPLAIN {statement}")[0][0]
    spark.sql(statement)
    assert table(spark).history(1)[0].rowsets_dropped == 1
    assert ids(spark) == [*range(10)]
    assert last(spark) == ("delete", {"rows_deleted": 10, "rowsets_touched": 1})
    spark.sql(f"DELETE FROM {TABLE}")
    assert ids(spark) == []
    assert last(spark) == ("delete", {"rows_deleted": 10, "rowsets_touched": 1})


def test_a_statement_that_changes_no_row_makes_no_epoch(spark: SparkShell) -> None:
    before = table(spark).epoch
    spark.sql(f"DELETE FROM {TABLE} WHERE name = 'nobody'")
    spark.sql(f"UPDATE {TABLE} SET v = 1 WHERE id > 100")
    spark.sql(
        f"MERGE INTO {TABLE} t USING (SELECT 99 id) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    )
    assert table(spark).epoch == before


def test_an_update_sees_rows_as_they_were_and_moves_them_once(spark: SparkShell) -> None:
    statement = f"UPDATE {TABLE} t SET v = t.id, id = v + 1000 WHERE t.id IN (3, 4, 12)"
    (plan,) = spark.sql(f"EXPLAIN {statement}")[0]
    assert plan.count("BatchScan") == 1
    spark.sql(statement)
    changed = spark.sql(f"SELECT * FROM {TABLE} WHERE id >= 1000 ORDER BY id")
    assert changed == [[1030, "n3", 3], [1040, "n4", 4], [1120, "n12", 12]]
    assert len(ids(spark)) == 20
    assert last(spark) == ("update", {"rows_updated": 3, "rowsets_touched": 2})


def test_conditions_may_be_about_where_rows_are(spark: SparkShell) -> None:
    spark.sql(f"UPDATE {TABLE} SET v = -1 WHERE _row = 3 AND _rowset IN (0, 1)")
    assert last(spark) == ("update", {"rows_updated": 2, "rowsets_touched": 2})
    spark.sql(f"UPDATE {TABLE} SET v = CAST(_row AS INT) WHERE _rowset = 1 AND id = 15")
    least = f"SELECT min(_row_handler) FROM {TABLE}"
    spark.run(f"colonnade.Table.forName(spark, {TABLE!r}).update('_row_handler = 1', {{'v': '7'}})")
    spark.sql(f"DELETE FROM {TABLE} WHERE _row_handler IN ({least})")
    expected = {n: 10 * n for n in range(1, 20)} | {3: -1, 13: -1, 15: 5, 1: 7}
    assert {row[0]: row[1] for row in spark.sql(f"SELECT id, v FROM {TABLE}")} == expected


def test_conditions_may_ask_other_tables_and_the_table_itself(spark: SparkShell) -> None:
    spark.sql(f"DELETE FROM {TABLE} WHERE id IN (SELECT id + 1 FROM {TABLE} WHERE id > 15)")
    assert ids(spark) == [*range(17)]
    spark.sql(f"DELETE FROM {TABLE} WHERE v > (SELECT avg(v) FROM {TABLE})")
    assert ids(spark) == [*range(9)]
    spark.sql(
        f"UPDATE {TABLE} t SET v = -1 WHERE NOT EXISTS (SELECT 1 FROM range(5) r WHERE r.id = t.id)"
    )
    assert spark.sql(f"SELECT id FROM {TABLE} WHERE v = -1 ORDER BY id") == [[5], [6], [7], [8]]


def test_a_merge_carries_out_every_kind_of_clause_in_one_epoch(spark: SparkShell) -> None:
    before = table(spark).epoch
    spark.sql(
        f"MERGE INTO {TABLE} t USING (SELECT id, concat('m', id) AS name FROM range(5, 26, 5)) s"
        " ON t.id = s.id"
        " WHEN MATCHED AND s.id = 5 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET name = s.name"
        " WHEN NOT MATCHED AND s.id = 20 THEN INSERT (id, name) VALUES (s.id, s.name)"
        " WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 7)"
        " WHEN NOT MATCHED BY SOURCE AND t.id < 2 THEN DELETE"
        " WHEN NOT MATCHED BY SOURCE AND t.id > 17 THEN UPDATE SET v = -1"
    )
    assert table(spark).epoch == before + 1
    changed = spark.sql(f"SELECT * FROM {TABLE} WHERE id IN (10, 15) OR id > 17 ORDER BY id")
    assert changed == [
        [10, "m10", 100],
        [15, "m15", 150],
        [18, "n18", -1],
        [19, "n19", -1],
        [20, "m20", None],
        [25, None, 7],
    ]
    assert ids(spark) == [n for n in (*range(20), 20, 25) if n not in (0, 1, 5)]
    counts = {"rows_deleted": 3, "rows_updated": 4, "rows_inserted": 2, "rowsets_touched": 2}
    assert last(spark) == ("merge", counts)


def test_a_merge_that_only_inserts_is_a_merge(spark: SparkShell) -> None:
    spark.sql(
        f"MERGE INTO {TABLE} t USING (SELECT id, 'x' name, 1 v FROM range(18, 22)) s"
        " ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    )
    assert ids(spark) == [*range(22)]
    assert last(spark) == ("merge", {"rows_inserted": 2})


def test_a_frame_is_merged(spark: SparkShell) -> None:
    source = "spark.sql('SELECT id, \"f\" AS name, 0 AS v FROM range(19, 21)').alias('s')"
    spark.run(
        f"{source}.mergeInto('{TABLE}', F.expr('{TABLE}.id = s.id'))"
        ".whenMatched().updateAll().whenNotMatched().insertAll().merge()"
    )
    changed = spark.sql(f"SELECT * FROM {TABLE} WHERE id > 18 ORDER BY id")
    assert changed == [[19, "f", 0], [20, "f", 0]]


def test_a_table_with_maps_is_merged_into(spark: SparkShell) -> None:
    spark.sql("CREATE TABLE colonnade.maps (id INT, st STRUCT<m: MAP<STRING, INT>>)")
    for first in (0, 10):
        spark.sql(
            "INSERT INTO colonnade.maps SELECT id, named_struct('m', map('k', 1))"
            f" FROM range({first}, {first + 3})"
        )
    spark.sql(
        "MERGE INTO colonnade.maps t USING (VALUES (1), (99) AS (id)) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET t.st = NULL WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    )
    assert spark.sql(
        "SELECT id, st.m['k'] FROM colonnade.maps WHERE id IN (1, 2, 99) ORDER BY id"
    ) == [*([1, None], [2, 1], [99, None])]
    spark.sql("DROP TABLE colonnade.maps")


def test_tables_are_changed_by_path_and_in_sparks_own_catalog(spark: SparkShell) -> None:
    by_path = f"colonnade.`{path(spark)}`"
    spark.sql(f"DELETE FROM {by_path} WHERE id = 3")
    spark.sql(f"UPDATE {by_path} SET v = 0 WHERE id = 4")
    spark.sql(
        f"MERGE INTO {by_path} t USING (SELECT 5 id) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    )
    assert ids(spark) == [n for n in range(20) if n not in (3, 5)]
    spark.sql("CREATE TABLE own (id INT, c VARCHAR(3)) USING colonnade CLUSTER BY (id)")
    spark.sql("INSERT INTO own VALUES (3, 'a'), (1, 'b'), (2, NULL)")
    spark.sql("UPDATE own SET id = 10 - id, c = 'new' WHERE id > 1")
    spark.sql("DELETE FROM own WHERE id = 1")
    assert spark.sql("SELECT * FROM own") == [[7, "new"], [8, "new"]]
    assert "EXCEED_LIMIT_LENGTH" in spark.refusal("UPDATE own SET c = 'long' WHERE id = 7")
    spark.sql("DROP TABLE own")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM {t} WHERE nope = 1", "`nope` cannot be resolved"),
        ("DELETE FROM {t} WHERE v", "not a boolean"),
        ("DELETE FROM {t} WHERE rand() < 2", "deterministic"),
        ("UPDATE {t} SET nope = 1", "`nope` cannot be resolved"),
        ("UPDATE {t} SET v = 1, v = 2", "INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS"),
        ("UPDATE {t} SET v = 'x'", "Cannot safely cast `v`"),
        ("UPDATE {t} SET id = NULL WHERE id = 7", "NULL"),
        ("{m} WHEN MATCHED THEN UPDATE SET id = s.nope", "`s`.`nope` cannot be resolved"),
        ("{m} WHEN MATCHED AND id = 1 THEN DELETE", "`id` is ambiguous"),
        (
            "{m} WHEN NOT MATCHED THEN INSERT (name) VALUES ('x')",
            "DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION",
        ),
        ("{m} WHEN MATCHED THEN UPDATE SET name = 'x'", "MERGE_CARDINALITY_VIOLATION"),
        (
            "{m} WHEN MATCHED AND t._row = 1 THEN UPDATE SET v = 1",
            "cannot name the columns _rowset",
        ),
    ],
)
def test_an_impossible_statement_is_refused_and_nothing_changes(
    spark: SparkShell, statement: str, words: str
) -> None:
    before = table(spark).epoch
    merge = f"MERGE INTO {TABLE} t USING (SELECT 1 + id % 2 id FROM range(3)) s ON t.id = s.id"
    assert words in spark.refusal(statement.format(t=TABLE, m=merge))
    assert table(spark).epoch == before


def test_statements_on_other_rows_of_one_rowset_both_stay(spark: SparkShell) -> None:
    rival = meddle(spark, "delete('id = 3')")
    spark.sql(f"UPDATE {TABLE} SET v = -1 WHERE id = 4 AND {rival}(id)")
    assert spark.sql(f"SELECT v FROM {TABLE} WHERE id = 4") == [[-1]]
    assert ids(spark) == [n for n in range(20) if n != 3]
    # Two that delete the same row agree.
    rival = meddle(spark, "delete('id IN (5, 6)')")
    spark.sql(f"DELETE FROM {TABLE} WHERE id IN (6, 7) AND {rival}(id)")
    assert ids(spark) == [n for n in range(20) if n not in (3, 5, 6, 7)]
    assert last(spark) == ("delete", {"rows_deleted": 1, "rowsets_touched": 1})


def test_ten_deletes_and_four_merges_beside_compactions_all_commit(spark: SparkShell) -> None:
    for first in range(0, 4000, 1000):
        spark.sql(f"INSERT INTO {TABLE} SELECT id, 'x', 0 FROM range({first + 20}, {first + 1020})")
    deletes = [f"DELETE FROM {TABLE} WHERE id % 20 = {part}" for part in range(10)]
    merges = [
        f"""MERGE INTO {TABLE} t USING (
            SELECT id * 20 + {part} id FROM range(100)
            UNION ALL SELECT id + {10_000 * part} FROM range(100)) s
        ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = {part}
        WHEN NOT MATCHED THEN INSERT (id, name, v) VALUES (s.id, 'new', {part})"""
        for part in range(10, 14)
    ]
    module = "__import__('tests.spark_ext.java.rows.rivals', fromlist=['rivals'])"
    arguments = f"spark, {str(path(spark))!r}, {[*deletes, *merges]!r}"
    assert spark.run(f"{module}.run_beside_compactions({arguments})") == []
    done = [entry.operation for entry in table(spark).history()]
    assert (done.count("delete"), done.count("merge")) == (10, 4)
    assert done.count("compact") > 1
    left = {n for n in range(4020) if n % 20 >= 10}
    new = {n + 10_000 * part for n in range(100) for part in range(10, 14)}
    assert set(ids(spark)) == left | new
    changed = spark.sql(
        f"SELECT count(*), count(DISTINCT id) FROM {TABLE} WHERE v BETWEEN 10 AND 13"
    )
    assert changed == [[800, 800]]


def test_a_row_that_another_statement_took_is_a_conflict_that_names_it(spark: SparkShell) -> None:
    rival = meddle(spark, "update({'v': '-5'}, 'id = 3')")
    text = spark.refusal(f"UPDATE {TABLE} SET v = -1 WHERE id = 3 AND {rival}(id)")
    assert text.startswith("[COLONNADE_CONFLICT] Row 3 of RowSet 0 of table 't' changed in epoch 4")
    assert "(update), but 'update' was planned on epoch 3" in text
    assert spark.sql(f"SELECT v FROM {TABLE} WHERE id = 3") == [[-5]]


@pytest.mark.parametrize("clause", ["", "WHEN MATCHED THEN DELETE "])
def test_two_merges_do_not_both_insert_a_key(spark: SparkShell, clause: str) -> None:
    row = "{'id': [%d], 'name': ['r'], 'v': [None]}"
    rival = "upsert(__import__('pyarrow').table(%s, colonnade.open(%r).schema), 'id')"
    merge = (
        f"MERGE INTO {TABLE} t USING (SELECT id, 'm' name, 1 v FROM range(50, 53)) s ON t.id = s.id"
        f" {clause}WHEN NOT MATCHED AND meddle(s.id) THEN INSERT *"
    )
    meddle(spark, rival % (row % 51, str(path(spark))))
    text = spark.refusal(merge)
    assert "Keys that the statement inserts were added to table 't' in epoch 4 (upsert)" in text
    spark.sql(f"DELETE FROM {TABLE} WHERE id >= 50")
    meddle(spark, rival % (row % 60, str(path(spark))))
    spark.sql(merge)
    assert ids(spark) == [*range(20), 50, 51, 52, 60]


@pytest.mark.parametrize(
    ("join", "both"),
    [("t.id + 0 = s.id", False), ("t.id < s.id - 100", False), ("false", True)],
)
def test_a_merge_without_an_equality_conflicts_with_added_rows_unless_it_matches_nothing(
    spark: SparkShell, join: str, both: bool
) -> None:
    row = "{'id': [60], 'name': ['r'], 'v': [None]}"
    schema = f"colonnade.open({str(path(spark))!r}).schema"
    meddle(spark, f"upsert(__import__('pyarrow').table({row}, {schema}), 'id')")
    merge = (
        f"MERGE INTO {TABLE} t USING (SELECT id, 'm' name, 1 v FROM range(50, 53)) s ON {join}"
        " WHEN NOT MATCHED AND meddle(s.id) THEN INSERT *"
    )
    if both:
        spark.sql(merge)
        assert ids(spark) == [*range(20), 50, 51, 52, 60]
    else:
        assert (
            "Keys that the statement inserts were added to table 't' in epoch 4"
            in spark.refusal(merge)
        )
        assert ids(spark) == [*range(20), 60]


def test_a_serializable_table_protects_what_the_condition_reads(spark: SparkShell) -> None:
    spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES (isolation = 'serializable')")
    append = "append(__import__('pyarrow').table({'id': [%d], 'name': ['r'], 'v': [1]}, schema))"
    schema = f"colonnade.open({str(path(spark))!r}).schema"
    statement = f"DELETE FROM {TABLE} WHERE id > 17 AND meddle(id)"
    meddle(spark, append.replace("schema", schema) % 10)
    spark.sql(statement)
    meddle(spark, append.replace("schema", schema) % 30)
    assert "Rows of table 't' that the statement reads changed" in spark.refusal(
        statement.replace("17", "16")
    )
