"""The option schemaEpoch: a DataFrame of one epoch with the columns of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.alteration import AddColumn, DropColumn, WidenColumn
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]


def made(path: Path) -> colonnade.ArrowTable:
    """Rows 1 and 2 in epoch 2; in epoch 3 `c` is new and `k` wider; in epoch 4 `name` is gone."""
    table = colonnade.create(path, pa.schema({"k": pa.int32(), "name": pa.string()}))
    table.append(pa.table({"k": pa.array([1, 2], pa.int32()), "name": ["a", "b"]}))
    added = AddColumn(SchemaField(name="c", type="int", nullable=False), default=5)
    table.alter(added, WidenColumn(("k",), "long"))
    table.alter(DropColumn(("name",)))
    table.append(pa.table({"k": [3], "c": pa.array([7], pa.int32())}))
    return table


def frame(path: Path, **options: object) -> str:
    given = "".join(f".option('{name}', {value!r})" for name, value in options.items())
    return f"spark.read.format('colonnade'){given}.load('{path}')"


def rows(spark: SparkShell, code: str) -> list[list[Any]]:
    return sorted(spark.run(code))


def test_a_frame_has_the_columns_of_the_epoch_that_is_named(
    spark_shell: SparkShell, tmp_path: Path
) -> None:
    spark, path = spark_shell, tmp_path / "t"
    made(path)
    old = frame(path, epoch=2, schemaEpoch=3)
    assert rows(spark, old) == [[1, "a", 5], [2, "b", 5]]
    assert spark.run(f"{old}.dtypes") == [["k", "bigint"], ["name", "string"], ["c", "int"]]
    assert rows(spark, f"{old}.where('c = 5 AND name = \"b\"').select('k')") == [[2]]
    assert rows(spark, f"{old}.where('c <> 5')") == []
    assert rows(spark, f"{old}.selectExpr('count(c)', 'min(c)', 'max(k)')") == [[2, 5, 2]]
    newest = frame(path, schemaEpoch=3)
    assert rows(spark, newest) == [[1, None, 5], [2, None, 5], [3, None, 7]]
    assert rows(spark, f"{newest}.groupBy('c').count()") == [[5, 2], [7, 1]]


def test_a_frame_shows_rows_that_are_written_later(spark_shell: SparkShell, tmp_path: Path) -> None:
    spark, path = spark_shell, tmp_path / "t"
    table = made(path)
    name = f"later_{abs(hash(path))}"
    spark.run(f"{frame(path, schemaEpoch=3)}.createOrReplaceTempView('{name}')")
    assert spark.sql(f"SELECT count(*) FROM {name}") == [[3]]
    table.append(pa.table({"k": [4]}))
    assert spark.sql(f"SELECT c, name FROM {name} WHERE k = 4") == [[5, None]]


@pytest.mark.parametrize("catalog", ["colonnade", "spark_catalog"])
def test_a_table_of_a_catalog_has_the_columns_of_the_epoch_that_is_named(
    spark_shell: SparkShell, catalog: str
) -> None:
    spark, name = spark_shell, f"{catalog}.default.columns_of"
    spark.sql(f"CREATE TABLE {name} (k INT, c CHAR(3), s STRUCT<a: INT>) USING colonnade")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'x', named_struct('a', 2))")
    for change in ("RENAME COLUMN s.a TO b", "DROP COLUMN c", "ADD COLUMN n INT DEFAULT 5"):
        spark.sql(f"ALTER TABLE {name} {change}")
    spark.sql(f"INSERT INTO {name} VALUES (2, named_struct('b', 3), 6)")
    versions = [row[0] for row in spark.sql(f"SELECT version FROM {name}.history")]
    old, new = sorted(versions)[1], max(versions)

    def read(**options: int) -> str:
        given = "".join(f".option('{each}', {value})" for each, value in options.items())
        return f"spark.read{given}.table('{name}').where('k > 0')"

    for version in ("versionAsOf", "epoch"):
        both = read(**{version: old}, schemaEpoch=new)
        assert rows(spark, both) == [[1, [2], 5]]
        assert spark.run(f"{both}.select('s.b').columns") == ["b"]
    assert rows(spark, read(schemaEpoch=old)) == [[1, None, [2]], [2, None, [3]]]
    assert rows(spark, read(epoch=old)) == [[1, "x  ", [2]]]
    joined = f"SELECT count(*) FROM {name} WITH ('schemaEpoch' = {old}) JOIN {name} USING (k)"
    assert spark.sql(joined) == [[2]]
    assert "schemaEpoch" in spark.refused_run(read(schemaEpoch=old).replace(str(old), "'x'"))
    spark.sql(f"DROP TABLE {name}")


def test_an_impossible_schema_epoch_is_refused(spark_shell: SparkShell, tmp_path: Path) -> None:
    spark, path = spark_shell, tmp_path / "t"
    made(path)
    refused = spark.refused_run(frame(path, schemaEpoch=2) + ".count()")
    assert "Column 'k' of table 't' is long at the epoch that is read" in refused
    assert "schemaEpoch" in spark.refused_run(frame(path, schemaEpoch="x"))
    assert spark.refused_run(frame(path, schemaEpoch=99))
    write = "spark.range(1).write.format('colonnade').option('schemaEpoch', 2).mode('append')"
    assert "schemaEpoch" in spark.refused_run(f"{write}.save('{path}')")
