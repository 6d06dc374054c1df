"""Columns and fields get other names, comments and NULLs: values stay where they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import (
    ConflictError,
    InvalidInputError,
)
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    TableSchema,
)
from colonnade.tableformat.table.alteration import (
    Alteration,
    CommentColumn,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.points import STRUCT, added, columns_of, read, rows


@pytest.mark.parametrize(
    "changes",
    [
        (DropColumn(("name",)), added("name", "string")),
        (RenameColumn(("name",), "old"), added("name", "string")),
        (RenameColumn(("name",), "old"), added("Name", "string")),
        tuple(RenameColumn(("point", a), b) for a, b in (("x", "z"), ("y", "x"), ("z", "y"))),
    ],
)
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_values_never_go_to_another_column_that_got_the_name_meanwhile(
    table: ArrowTable, changes: tuple[Alteration, ...], mode: str
) -> None:
    colonnade.open(table.path).alter(*changes)
    written = pa.table(columns_of(rows(3)))
    with pytest.raises(ConflictError, match="The columns of table 'trips' changed after epoch 2"):
        getattr(table, mode)(written)
    assert [each["id"] for each in read(table)] == [1, 2]


def test_fields_of_a_struct_are_renamed_commented_and_made_nullable(table: ArrowTable) -> None:
    table.alter(
        RenameColumn(("point", "x"), "lon"),
        CommentColumn(("point", "y"), "latitude"),
        DropNotNull(("point", "lon")),
        DropNotNull(("id",)),
        MoveColumn(("point",), first=True),
    )
    assert read(table)[0] == {"point": {"lon": 1, "y": None}, "id": 1, "name": "n1"}
    point = table._state.schema.field("point")
    assert [child.comment for child in point.children()] == [None, "latitude"]
    table.append(pa.table({"id": pa.array([None], pa.int64()), "name": ["x"], "point": [None]}))
    assert len(read(table)) == 3


def test_elements_of_lists_and_maps_keep_their_names(tmp_path: Path) -> None:
    fields = (
        SchemaField(name="l", type=ArrayType(element=SchemaField(name="element", type=STRUCT))),
        SchemaField(
            name="m",
            type=MapType(
                key=SchemaField(name="key", type="int", nullable=False),
                value=SchemaField(name="value", type="int", nullable=False),
            ),
        ),
    )
    table = colonnade.create(tmp_path / "t", TableSchema(fields=fields))
    table.alter(RenameColumn(("l", "element", "x"), "z"), DropNotNull(("m", "value")))
    assert table.schema.field("l").type.value_type.field(0).name == "z"
    for path in (("l", "element"), ("m", "key")):
        with pytest.raises(InvalidInputError, match="cannot be renamed"):
            table.alter(RenameColumn(path, "x"))
    with pytest.raises(InvalidInputError, match="key of map 'm' must not be nullable"):
        table.alter(DropNotNull(("m", "key")))
