"""A table of points that the tests of this folder alter."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.schema import (
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.tableformat.table.alteration import (
    AddColumn,
)
from colonnade.tableformat.table.table import ArrowTable

STRUCT = StructType(
    fields=(SchemaField(name="x", type="int", nullable=False), SchemaField(name="y", type="int"))
)
SCHEMA = TableSchema(
    fields=(
        SchemaField(name="id", type="long", nullable=False),
        SchemaField(name="name", type="string"),
        SchemaField(name="point", type=STRUCT),
    )
)


def rows(*ids: int) -> pa.Table:
    points = [{"x": i, "y": None} for i in ids]
    struct = pa.struct({"x": pa.int32(), "y": pa.int32()})
    names = [f"n{i}" for i in ids]
    return pa.table({"id": ids, "name": names, "point": pa.array(points, struct)})


def read(table: ArrowTable, epoch: int | None = None) -> list[dict[str, object]]:
    found: list[dict[str, object]] = table.scan(epoch=epoch).to_arrow().to_pylist()
    return found


def added(name: str, data_type: str = "int", **options: object) -> AddColumn:
    return AddColumn(SchemaField(name=name, type=data_type), **options)  # type: ignore[arg-type]


def columns_of(data: pa.Table) -> dict[str, pa.ChunkedArray]:
    return dict(zip(data.column_names, data.columns, strict=True))
