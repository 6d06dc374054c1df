"""Columns that Spark fills at real sizes: nested, beside deleted rows, in many blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.store import LocalStore
from tests.compaction_tables import new
from tests.large_changes import content
from tests.large_tables import TableMaker, same_rows
from tests.spark_ext.java.large.test_rewritten_in_the_large import check
from tests.spark_ext.java.read_tool import TYPES, ReadTool
from tests.spark_ext.java.spark_shell import SparkShell

LARGE, SMALL = 75_000, 5_000


def nullable(field: SchemaField) -> SchemaField:
    """The field without NOT NULL in it, which the name of a type in SQL cannot say."""
    kind: DataType = field.type
    match kind:
        case ArrayType(element=element):
            kind = ArrayType(element=nullable(element))
        case MapType(key=key, value=value):
            inside = nullable(key).model_copy(update={"nullable": False})
            kind = MapType(key=inside, value=nullable(value))
        case StructType(fields=fields):
            kind = StructType(fields=tuple(map(nullable, fields)))
    return field.model_copy(update={"type": kind, "nullable": True})


def with_column(rows: pa.Table, name: str, values: pa.ChunkedArray) -> pa.Table:
    at = rows.schema.get_field_index(name)
    if at < 0:
        return rows.append_column(pa.field(name, values.type), values)
    return rows.set_column(at, rows.schema.field(at), values)


def masked(values: pa.ChunkedArray, nulls: NDArray[np.bool_]) -> pa.ChunkedArray:
    taken = values.combine_chunks().take(pa.array(np.arange(len(values)), mask=nulls))
    return pa.chunked_array([taken])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_both_readers_read_what_spark_has_filled(
    seed: int, spark_shell: SparkShell, tool: ReadTool, tmp_path: Path
) -> None:
    maker = TableMaker(seed, TYPES)
    schema = maker.schema(columns=2)
    while not any(field.children() for field in schema.fields):
        schema = maker.schema(columns=2)
    id_, *others = schema.fields
    schema = TableSchema(fields=(id_, *map(nullable, others)))
    table = new(schema, (), LocalStore(str(tmp_path)))
    parts = [maker.rows(schema, LARGE), maker.rows(schema, SMALL, first=LARGE)]
    for part in parts:
        table.append(part)
    wanted = pa.concat_tables(parts)
    few = ", ".join(map(str, range(0, LARGE, 700)))
    found = table.delete(f"id BETWEEN 1000 AND 2999 OR id IN ({few})", count_rows=True)
    assert (found.rows_deleted or 0) > 2000
    ids = np.array(wanted["id"])
    deleted = ((ids >= 1000) & (ids < 3000)) | ((ids < LARGE) & (ids % 700 == 0))
    wanted = wanted.filter(pa.array(~deleted))

    spark_shell.sql("SET spark.sql.timeType.enabled = true")
    place = f"{tmp_path}/t"
    opened = f"colonnade.Table.forPath(spark, {place!r})"
    types = f"spark.read.format('colonnade').load({place!r}).schema"
    for name in ("c0", "c1"):
        kind = f"{types}[{name!r}].dataType"
        done = spark_shell.run(f"{opened}.addColumn('of_{name}', {kind}, {name!r}).metrics()")
        assert (done["rows_updated"], done["rowsets_in_place"]) == (wanted.num_rows, 2)
        wanted = with_column(wanted, f"of_{name}", wanted[name])
    table.refresh()
    check(tool, tmp_path, table, wanted, "computed columns")

    where = "id < 500 OR id % 3 = 0"
    done = spark_shell.run(f"{opened}.backfill('of_c0', 'NULL', {where!r}).metrics()")
    ids = np.array(wanted["id"])
    changed = (ids < 500) | (ids % 3 == 0)
    assert done["rows_updated"] == changed.sum()
    spark_shell.run(f"{opened}.backfill('n', 'CAST(id % 1000 AS INT)').metrics()")
    wanted = with_column(wanted, "of_c0", masked(wanted["of_c0"], changed))
    wanted = with_column(wanted, "n", pa.chunked_array([pa.array(ids % 1000, pa.int32())]))
    table.refresh()
    check(tool, tmp_path, table, wanted, "filled columns")

    assert table.delete("n < 300").rows_deleted == (ids % 1000 < 300).sum()
    wanted = wanted.filter(pa.array(ids % 1000 >= 300))
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert same_rows(content(table).sort_by("id"), wanted.sort_by("id"))
    assert not table.verify(4).findings
