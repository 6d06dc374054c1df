"""Metadata of columns (`withMetadata`) is stored by every statement, and stays until replaced."""

from __future__ import annotations

from typing import Any

import pytest

import colonnade
from colonnade.manifests.model.columns.check import METADATA_LIMIT
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.table.alteration import DropColumn, RenameColumn
from tests.spark_ext.java.queries.read_road import OLDER
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark

OF_ID = {"unit": "«km»", "n": 7, "list": [1.0, 2.5], "more": {"metadata": {"on": True}}}
INSIDE = {"deep": [True, False]}
FRAME = (
    f"spark.range(3).select(F.col('id').alias('id', metadata={OF_ID}),"
    f" F.struct(F.col('id').alias('x', metadata={INSIDE})).alias('s'),"
    f" F.array(F.struct(F.col('id').alias('y', metadata={INSIDE}))).alias('a', metadata={OF_ID}))"
)
EXPECTED = {"id": OF_ID, "s": {}, "s.x": INSIDE, "a": OF_ID, "a.y": INSIDE}
NAMES = ("spark_catalog.default.metadata_{}", "colonnade.metadata.{}")


def found(spark: SparkShell, frame: str) -> dict[str, Any]:
    """The metadata of columns and of the fields inside them, by dotted names."""

    def below(data_type: Any, path: str) -> dict[str, Any]:
        if isinstance(data_type, str):
            return {}
        if data_type["type"] == "array":
            return below(data_type["elementType"], path)
        metadata = {}
        for field in data_type["fields"]:
            name = path + field["name"]
            metadata[name] = field["metadata"]
            metadata |= below(field["type"], name + ".")
        return metadata

    return below(spark.run(f"{frame}.schema.jsonValue()"), "")


ROADS = {
    "save by name": f"{FRAME}.write.format('colonnade').saveAsTable('NAME')",
    "create": f"{FRAME}.writeTo('NAME').using('colonnade').create()",
    "replace": f"{FRAME}.writeTo('NAME').using('colonnade').createOrReplace()",
    "ctas": "spark.sql('CREATE TABLE NAME USING colonnade AS SELECT * FROM with_metadata')",
    "rtas": "spark.sql('CREATE OR REPLACE TABLE NAME USING colonnade"
    " AS SELECT * FROM with_metadata')",
}


@pytest.mark.parametrize("named", NAMES[:1] if OLDER else NAMES)
@pytest.mark.spark_compat
def test_every_statement_that_creates_a_table_stores_metadata(
    spark_shell: SparkShell, named: str
) -> None:
    spark_shell.sql("CREATE DATABASE IF NOT EXISTS colonnade.metadata")
    spark_shell.run(f"{FRAME}.createOrReplaceTempView('with_metadata')")
    for number, road in enumerate(ROADS.values()):
        name = named.format(f"t{number}")
        spark_shell.run(road.replace("NAME", name))
        assert found(spark_shell, f"spark.table('{name}')") == EXPECTED, road
        spark_shell.sql(f"DROP TABLE {name}")


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_saved_path_keeps_it_until_its_columns_are_replaced(spark_shell: SparkShell) -> None:
    place = "folder + '/column-metadata'"
    read = f"spark.read.format('colonnade').load({place})"

    def save(frame: str, mode: str) -> None:
        spark_shell.run(f"{frame}.write.format('colonnade').mode('{mode}').save({place})")

    save(FRAME, "append")
    assert found(spark_shell, read) == EXPECTED
    bare = FRAME.replace(str(OF_ID), "{}").replace(str(INSIDE), "{'other': 1}")
    for mode in ("append", "overwrite"):
        save(bare, mode)
        assert found(spark_shell, read) == EXPECTED
    spark_shell.run(
        f"{bare}.write.format('colonnade').mode('overwrite').option('overwriteSchema', True)"
        f".save({place})"
    )
    other = {"other": 1}
    assert found(spark_shell, read) == {"id": {}, "s": {}, "s.x": other, "a": {}, "a.y": other}
    before = f"spark.read.format('colonnade').option('versionAsOf', 3).load({place})"
    assert found(spark_shell, before) == EXPECTED


@pytest.mark.matrix
@pytest.mark.parametrize("named", NAMES[:1] if OLDER else NAMES)
@pytest.mark.spark_compat
def test_overwriting_by_name_replaces_it_with_the_columns_only(
    spark_shell: SparkShell, named: str
) -> None:
    name, other = named.format("overwritten"), {"other": 1}
    spark_shell.sql("CREATE DATABASE IF NOT EXISTS colonnade.metadata")
    spark_shell.run(f"{FRAME}.writeTo('{name}').using('colonnade').create()")
    bare = FRAME.replace(str(OF_ID), "{}").replace(str(INSIDE), str(other))
    write = f"{bare}.write.format('colonnade').mode('overwrite')"
    spark_shell.run(f"{write}.saveAsTable('{name}')")
    assert found(spark_shell, f"spark.table('{name}')") == EXPECTED
    spark_shell.run(f"{write}.option('overwriteSchema', True).saveAsTable('{name}')")
    now = found(spark_shell, f"spark.table('{name}')")
    assert now == {"id": {}, "s": {}, "s.x": other, "a": {}, "a.y": other}
    spark_shell.sql(f"DROP TABLE {name}")


@pytest.mark.spark_compat
def test_metadata_survives_every_statement_that_does_not_set_it(spark_shell: SparkShell) -> None:
    name = "metadata_kept"
    spark_shell.run(f"{FRAME}.write.format('colonnade').saveAsTable('{name}')")
    for change in (
        f"ALTER TABLE {name} RENAME COLUMN id TO key",
        f"ALTER TABLE {name} ALTER COLUMN key COMMENT 'a key'",
        f"ALTER TABLE {name} ALTER COLUMN s.x COMMENT 'inside'",
        f"ALTER TABLE {name} ADD COLUMN note STRING FIRST",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('k' = 'v')",
        f"DELETE FROM {name} WHERE key = 1",
        f"UPDATE {name} SET note = 'n' WHERE key = 0",
        f"INSERT OVERWRITE {name} SELECT * FROM {name}",
    ):
        spark_shell.sql(change)
    found_now = found(spark_shell, f"spark.table('{name}')")
    renamed = {"note": {}, "key": {**OF_ID, "comment": "a key"}}
    expected = {**renamed, "s": {}, "s.x": {**INSIDE, "comment": "inside"}}
    assert found_now == {**expected, "a": OF_ID, "a.y": INSIDE}
    assert found(spark_shell, f"spark.sql('SELECT * FROM {name} VERSION AS OF 1')") == EXPECTED
    spark_shell.sql(f"CREATE OR REPLACE TABLE {name} (id INT) USING colonnade")
    assert found(spark_shell, f"spark.table('{name}')") == {"id": {}}
    spark_shell.sql(f"DROP TABLE {name}")


def test_metadata_is_restored_with_its_state(spark_shell: SparkShell) -> None:
    place = spark_shell.folder / "metadata-restored"
    spark_shell.run(f"{FRAME}.write.format('colonnade').save('{place}')")
    table = colonnade.open(place)
    table.alter(RenameColumn(("id",), "key"), DropColumn(("a",)))
    table.restore(epoch=1)
    read = f"spark.read.format('colonnade').load('{place}')"
    assert found(spark_shell, read) == EXPECTED


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_metadata_that_spark_adds_for_itself_is_not_stored(spark_shell: SparkShell) -> None:
    place = "folder + '/metadata-of-spark'"
    frame = (
        "spark.sql(\"SELECT CAST('ab' AS VARCHAR(3)) AS v, timestamp'2026-01-01' AS t\")"
        ".select('v', 't', F.window('t', '1 hour'), F.lit(1).alias('one'))"
    )
    assert any(found(spark_shell, frame).values())
    spark_shell.run(f"{frame}.write.format('colonnade').save({place})")
    table = colonnade.open(spark_shell.folder / "metadata-of-spark")
    assert [field.metadata for field in table._state.schema.fields] == [None] * 4


def test_too_much_of_it_is_refused_naming_the_column(spark_shell: SparkShell) -> None:
    place = "folder + '/metadata-too-large'"
    frame = f"spark.range(1).withMetadata('id', {{'k': 'x' * {METADATA_LIMIT}}})"
    said = spark_shell.refused_run(f"{frame}.write.format('colonnade').save({place})")
    assert "COLONNADE_INVALID_INPUT" in said
    assert f"at most {METADATA_LIMIT} are allowed; column 'id' has" in said
    assert not (spark_shell.folder / "metadata-too-large").exists()


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("source", "target"),
    [("colonnade", "colonnade"), ("parquet", "colonnade"), ("colonnade", "parquet")],
)
@pytest.mark.spark_compat
def test_a_table_like_another_one_has_its_metadata(
    spark_shell: SparkShell, source: str, target: str
) -> None:
    spark_shell.run(f"{FRAME}.write.format('{source}').saveAsTable('metadata_source')")
    spark_shell.sql(f"CREATE TABLE metadata_like LIKE metadata_source USING {target}")
    assert found(spark_shell, "spark.table('metadata_like')") == EXPECTED
    for name in ("metadata_source", "metadata_like"):
        spark_shell.sql(f"DROP TABLE {name}")


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_table_with_metadata_that_spark_cannot_hold_is_read(spark_shell: SparkShell) -> None:
    told = '{"held":[{"a":[]}],"mixed":[1,2.5],"lists":[[1]],"none":[null],"null":null}'
    column = SchemaField(name="id", type="long", metadata=told)
    place = spark_shell.folder / "metadata-of-python"
    colonnade.create(place, TableSchema(fields=(column,)))
    read = f"spark.read.format('colonnade').load('{place}')"
    assert found(spark_shell, read) == {"id": {"held": [{"a": []}], "null": None}}
