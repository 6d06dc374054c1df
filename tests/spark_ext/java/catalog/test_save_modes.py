"""Data frames are saved in every mode with the meaning that users of Delta know.

A misspelled URL is refused in each mode, and makes no folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

FRAME = "spark.sql('SELECT 1L AS id, \\'a\\' AS name UNION ALL SELECT 2L, \\'b\\'')"


def save(name: str, mode: str | None = None, frame: str = FRAME, options: str = "") -> str:
    chosen = "" if mode is None else f".mode('{mode}')"
    return f"{frame}.write.format('colonnade'){chosen}{options}.save(folder + '/{name}')"


def ids(spark: SparkShell, name: str) -> list[int]:
    """What Arrow reads, and that Spark reads the same."""
    found = colonnade.open(spark.folder / name).scan().to_arrow()["id"].to_pylist()
    code = f"spark.read.format('colonnade').load(folder + '/{name}').select('id')"
    assert [row[0] for row in spark.run(code)] == found
    return sorted(found)


@pytest.mark.parametrize("mode", [None, "error", "errorifexists", "ignore", "append", "overwrite"])
def test_every_mode_creates_a_table_that_is_not_there_in_one_epoch(
    spark_shell: SparkShell, mode: str | None
) -> None:
    name = f"new-{mode}"
    spark_shell.run(save(name, mode))
    assert ids(spark_shell, name) == [1, 2]
    table = colonnade.open(spark_shell.folder / name)
    assert table.epoch == 1
    assert all(field.nullable for field in table.schema)


def test_modes_differ_where_there_is_a_table(spark_shell: SparkShell) -> None:
    spark_shell.run(save("old"))
    for mode in (None, "error", "errorifexists"):
        assert "ALREADY_EXISTS" in spark_shell.refused_run(save("old", mode))
    spark_shell.run(save("old", "ignore"))
    assert ids(spark_shell, "old") == [1, 2]
    spark_shell.run(save("old", "append"))
    assert ids(spark_shell, "old") == [1, 1, 2, 2]
    spark_shell.run(save("old", "overwrite", FRAME + ".limit(1)"))
    assert ids(spark_shell, "old") == [1]
    assert colonnade.open(spark_shell.folder / "old").epoch == 3


def test_columns_are_matched_by_name_and_refused_before_any_data_is_written(
    spark_shell: SparkShell,
) -> None:
    spark_shell.run(save("columns"))
    spark_shell.run(save("columns", "append", FRAME + ".selectExpr('name', 'id + 2 AS ID')"))
    assert ids(spark_shell, "columns") == [1, 2, 3, 4]
    for frame, sentence in {
        ".withColumn('x', F.lit(1))": "too many data columns",
        ".selectExpr('id', 'name AS x')": "INCOMPATIBLE_DATA_FOR_TABLE",
        ".selectExpr('id', 'array(name) AS name')": "Cannot safely cast `name`",
    }.items():
        assert sentence in spark_shell.refused_run(save("columns", "append", FRAME + frame))
    assert colonnade.open(spark_shell.folder / "columns").epoch == 2


def test_options_are_understood_or_refused(spark_shell: SparkShell) -> None:
    options = ".option('sortKey', 'id desc').option('userMetadata', 'note')"
    spark_shell.run(save("options", "append", options=options))
    assert ids(spark_shell, "options") == [1, 2]
    table = colonnade.open(spark_shell.folder / "options")
    assert table._state.sort_key[0].descending
    assert table.history()[0].parameters["userMetadata"] == "note"
    for given, sentence in {
        ".option('maxRecordPerFile', 5)": "did you mean maxRecordsPerFile?",
        ".option('where', 'id > 5')": "Option where is not for writing",
        ".option('sortKey', 'name')": "exists and is sorted differently",
    }.items():
        text = spark_shell.refused_run(save("options", "append", options=given))
        assert text.startswith("[COLONNADE_INVALID_INPUT] ")
        assert sentence in text


def test_a_table_is_overwritten_by_rows_read_from_it(spark_shell: SparkShell) -> None:
    spark_shell.run(save("self"))
    own = "spark.read.format('colonnade').load(folder + '/self').where('id = 2')"
    spark_shell.run(save("self", "overwrite", own))
    assert ids(spark_shell, "self") == [2]


def test_a_table_that_is_read_must_exist_at_its_epoch(spark_shell: SparkShell) -> None:
    def load(name: str, options: str = "") -> str:
        read = f"spark.read.format('colonnade'){options}.load(folder + '/{name}')"
        return spark_shell.refused_run(read)

    assert "/nothing is not a Colonnade database or table; check the path" in load("nothing")
    spark_shell.run(save("read"))
    assert load("read", ".option('epoch', 9)").startswith("[COLONNADE_NOT_FOUND] Epoch 9 of ")
    assert "did not exist yet" in load("read", ".option('timestampAsOf', '2001-01-01')")
    both = ".option('versionAsOf', 1).option('timestampAsOf', '2001-01-01')"
    assert "exclude each other" in load("read", both)
    assert "'foo' is unknown" in load("read", ".option('foo', 9)")


def test_an_earlier_epoch_is_read_by_an_option(spark_shell: SparkShell) -> None:
    spark_shell.run(save("travel"))
    spark_shell.run(save("travel", "append"))
    for option in ("versionAsOf", "epoch"):
        read = f"spark.read.format('colonnade').option('{option}', 1).load(folder + '/travel')"
        assert spark_shell.run(f"{read}.count()") == 2


def test_a_frame_is_written_by_write_to(spark_shell: SparkShell) -> None:
    table = "'colonnade.written.t'"
    spark_shell.sql("CREATE DATABASE colonnade.written")
    spark_shell.run(f"{FRAME}.writeTo({table}).tableProperty('k', 'v').create()")
    assert "ALREADY_EXISTS" in spark_shell.refused_run(f"{FRAME}.writeTo({table}).create()")
    spark_shell.run(f"{FRAME}.writeTo({table}).append()")
    assert ids(spark_shell, "warehouse/written/t") == [1, 1, 2, 2]
    spark_shell.run(f"{FRAME}.writeTo({table}).overwrite(F.lit(True))")
    assert ids(spark_shell, "warehouse/written/t") == [1, 2]
    spark_shell.run(f"{FRAME}.limit(1).writeTo({table}).createOrReplace()")
    assert ids(spark_shell, "warehouse/written/t") == [1]
    spark_shell.run(f"{FRAME}.writeTo({table}).replace()")
    assert ids(spark_shell, "warehouse/written/t") == [1, 2]
    assert spark_shell.sql("SELECT count(*) FROM colonnade.written.t VERSION AS OF 1") == [[2]]


def test_a_table_is_saved_by_name(spark_shell: SparkShell) -> None:
    for mode, expected in (("error", 2), ("append", 4), ("ignore", 4), ("overwrite", 2)):
        spark_shell.run(f"{FRAME}.write.mode('{mode}').saveAsTable('colonnade.default.saved')")
        assert len(ids(spark_shell, "warehouse/default/saved")) == expected


OTHER = FRAME + ".selectExpr('name AS ID', 'id AS n')"


@pytest.mark.parametrize("save_by", ["save", "saveAsTable"])
def test_overwriting_may_replace_the_columns_along_with_the_rows(
    spark_shell: SparkShell, save_by: str
) -> None:
    spark, table = spark_shell, "colonnade.default.widened"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT NOT NULL, name STRING) CLUSTER BY (id) COMMENT 'cm'"
        " TBLPROPERTIES ('retention.hours' = '500')"
    )
    spark.run(f"{FRAME}.writeTo('{table}').append()")
    path = f"{spark.folder}/warehouse/default/widened"

    def overwrite(frame: str, options: str = ", overwriteSchema='TRUE'") -> str:
        target = path if save_by == "save" else table
        options = f".options(userMetadata='note'{options})"
        return f"{frame}.write.format('colonnade').mode('overwrite'){options}.{save_by}('{target}')"

    sentence = {
        "save": "INCOMPATIBLE_DATA_FOR_TABLE",
        "saveAsTable": "set the option overwriteSchema",
    }[save_by]
    assert sentence in spark.refused_run(overwrite(OTHER, ""))
    lacking = spark.refused_run(overwrite(OTHER + ".drop('ID')"))
    assert "is arranged by 'id', which the new columns lack" in lacking
    before = colonnade.open(path).epoch
    spark.run(overwrite(OTHER))
    assert colonnade.open(path).epoch == before + 1
    assert spark.sql(f"SELECT * FROM {table} ORDER BY n") == [["a", 1], ["b", 2]]
    assert spark.sql(f"SELECT * FROM {table} VERSION AS OF {before} ORDER BY 1") == [
        [1, "a"],
        [2, "b"],
    ]
    [[created]] = spark.sql(f"SHOW CREATE TABLE {table}")
    for part in ("(ID)", "COMMENT 'cm'", "'retention.hours' = '500'", "ID STRING"):
        assert part in created
    state = colonnade.open(path)._state
    assert state.sort_key[0].column == state.schema.field("ID").id
    append = overwrite(OTHER).replace("overwrite')", "append')", 1)
    assert "overwriteSchema needs a write of mode overwrite" in spark.refused_run(append)
    spark.run(f"colonnade.Table.forPath(spark, '{path}').restoreToVersion({before})")
    assert spark.sql(f"SELECT * FROM {table} ORDER BY id") == [[1, "a"], [2, "b"]]
    spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize(
    ("name", "using"), [("colonnade.default.kept", ""), ("kept", "USING colonnade")]
)
def test_overwriting_a_table_by_name_keeps_what_it_is(
    spark_shell: SparkShell, name: str, using: str
) -> None:
    def overwrite(changed: str) -> str:
        write = ".write.format('colonnade').mode('overwrite')"
        return f"{FRAME}{changed}{write}.saveAsTable('{name}')"

    spark_shell.sql(
        f"CREATE TABLE {name} (id BIGINT NOT NULL COMMENT 'c', name STRING) {using}"
        " CLUSTER BY (id) COMMENT 'cm' TBLPROPERTIES ('retention.hours' = '500')"
    )
    design = spark_shell.sql(f"SHOW CREATE TABLE {name}")
    spark_shell.run(overwrite(".selectExpr('name', 'cast(id AS INT) AS ID')"))
    for frame, sentence in {
        ".select('id')": "has a column name that the rows lack, and an overwrite keeps",
        ".withColumn('x', F.lit(1))": "has no column x, and an overwrite keeps",
        ".selectExpr('nullif(id, 1) AS id', 'name')": "NOT_NULL_ASSERT_VIOLATION",
    }.items():
        assert sentence in spark_shell.refused_run(overwrite(frame))
    assert spark_shell.sql(f"SELECT * FROM {name} ORDER BY id") == [[1, "a"], [2, "b"]]
    assert spark_shell.sql(f"SHOW CREATE TABLE {name}") == design
    spark_shell.sql(f"CREATE OR REPLACE TABLE {name} {using} AS SELECT 1 AS one")
    assert spark_shell.sql(f"SELECT * FROM {name}") == [[1]]
    spark_shell.sql(f"DROP TABLE {name}")


@pytest.mark.parametrize("path", ["s3a:/bucket/y", "dbfs:/x", "s3:bucket/y", "s3a:y"])
def test_a_path_that_begins_like_a_url_makes_no_folder_and_no_table(
    spark_shell: SparkShell, path: str
) -> None:
    before = sorted(map(str, spark_shell.folder.rglob("*")))
    meant = "begins like a URL but is not one; write "
    for code in (
        f"{FRAME}.write.format('colonnade').save('{path}')",
        f"{FRAME}.write.format('colonnade').mode('overwrite').save('{path}')",
        f"spark.read.format('colonnade').load('{path}')",
    ):
        assert f"[COLONNADE_INVALID_INPUT] {path} {meant}" in spark_shell.refused_run(code)
    if "/" in path:
        for statement in (
            f"CREATE TABLE colonnade.`{path}` (id INT)",
            f"SELECT * FROM colonnade.`{path}`",
        ):
            assert meant in spark_shell.refusal(statement)
        assert meant in spark_shell.refusal(f"CREATE DATABASE colonnade.`{path}`")
    if ":/" in path:  # Spark itself refuses any other LOCATION
        typo = f"CREATE TABLE typo (id INT) USING colonnade LOCATION '{path}'"
        assert meant in spark_shell.refusal(typo)
    assert sorted(map(str, spark_shell.folder.rglob("*"))) == before
    assert not Path(path.split("/")[0]).exists()


def test_a_file_name_may_have_a_colon_inside(spark_shell: SparkShell) -> None:
    for name in ("a:b", "C:/c", "run:1/d"):
        spark_shell.run(save(name, "overwrite"))
        assert ids(spark_shell, name) == [1, 2]
        relative = os.path.relpath(spark_shell.folder / name)
        assert spark_shell.run(f"spark.read.format('colonnade').load('{relative}').count()") == 2
    spark_shell.run(save("file", "overwrite").replace("folder + '/", "'file:' + folder + '/"))
    assert ids(spark_shell, "file") == [1, 2]


def test_a_folder_of_parquet_files_stays_what_it_is(spark_shell: SparkShell) -> None:
    spark_shell.run(f"{FRAME}.write.save(folder + '/parquet')")
    folder = spark_shell.folder / "parquet"
    before = sorted(folder.rglob("*"))
    for mode in ("overwrite", "append", "error"):
        sentence = spark_shell.refused_run(save("parquet", mode))
        assert "holds data of another format, such as " in sentence
    refused = spark_shell.refusal(f"CREATE TABLE colonnade.`{folder}` (id INT)")
    assert "give Colonnade a folder of its own" in refused
    assert sorted(folder.rglob("*")) == before
