"""A list of columns replaces all columns: what stays keeps ids and values, and the rest is new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, ConflictError, InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    walk,
)
from colonnade.tableformat.table.alteration import (
    AddConstraint,
    Alteration,
    ReplaceColumns,
    SetDefault,
    SetSortKey,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.tableformat.table.alteration.points import STRUCT, read, rows


def field(name: str, data_type: DataType = "int", **others: object) -> SchemaField:
    return SchemaField(name=name, type=data_type, **others)  # type: ignore[arg-type]


def struct(*fields: SchemaField) -> StructType:
    return StructType(fields=fields)


def replaced(*columns: SchemaField, known: Sequence[str] | None = None) -> ReplaceColumns:
    return ReplaceColumns(columns, None if known is None else tuple(known))


def ids(table: ArrowTable) -> dict[str, int]:
    return {each.name: each.id for each in table._state.schema.fields}


def test_columns_that_stay_keep_ids_and_values_and_the_others_are_new(table: ArrowTable) -> None:
    first, before = table.epoch, ids(table)
    point = struct(field("z"), field("Y", "long"), field("x", "int", nullable=False))
    table.alter(
        replaced(field("new", "string"), field("POINT", point), field("id", "long", comment="key"))
    )
    assert table.epoch == first + 1
    assert read(table) == [
        {"new": None, "POINT": {"z": None, "Y": None, "x": i}, "id": i} for i in (1, 2)
    ]
    after = ids(table)
    assert (after["id"], after["POINT"]) == (before["id"], before["point"])
    assert after["new"] not in before.values()
    [key] = [each for each in table._state.schema.fields if each.name == "id"]
    assert (key.comment, key.nullable) == ("key", False)
    assert read(table, epoch=first) == rows(1, 2).to_pylist()
    assert table.history(1)[0].parameters["changes"] == "replace columns by new, POINT, id"


def test_a_column_that_stays_takes_the_metadata_that_the_list_states(table: ArrowTable) -> None:
    key, other = '{"unit":"m"}', '{"unit":"km"}'
    x = field("x", "int", nullable=False, metadata=key)
    for wanted, kept in ((key, key), (None, key), (other, other)):
        point = struct(x.model_copy(update={"metadata": wanted}), field("y", "long"))
        table.alter(replaced(field("id", "long", metadata=wanted), field("point", point)))
        found = {each.name: each.metadata for each in walk(table._state.schema.fields)}
        assert (found["id"], found["x"]) == (kept, kept)
    assert [row["id"] for row in read(table)] == [1, 2]


def test_a_type_that_widens_keeps_its_values_and_another_one_does_not(table: ArrowTable) -> None:
    table.alter(SetSortKey(()))
    wider = field("id", "decimal(20,1)")
    table.alter(replaced(wider, field("name", "int"), field("point", STRUCT)))
    assert [str(row["id"]) for row in read(table)] == ["1.0", "2.0"]
    assert [row["name"] for row in read(table)] == [None, None]
    assert read(table)[0]["point"] == {"x": 1, "y": None}
    assert table.verify(4).is_sound


def test_fields_inside_arrays_and_maps_stay_by_the_same_rule(tmp_path: Path) -> None:
    pair = pa.struct({"a": pa.int32(), "b": pa.string()})
    schema = pa.schema(
        {"l": pa.list_(pair), "m": pa.map_(pa.int32(), pair), "n": pa.list_(pa.int8())}
    )
    table = colonnade.create(tmp_path / "t", schema)
    row = {"l": [{"a": 1, "b": "b"}, None], "m": [(1, {"a": 2, "b": "c"})], "n": [3]}
    table.append(pa.Table.from_pylist([row], schema))
    numbers = {each.id for each in walk(table._state.schema.fields)}

    def values(*fields: SchemaField) -> SchemaField:
        return SchemaField(name="element", type=struct(*fields))

    wanted = struct(field("a", "long"), field("c", "string"))
    table.alter(
        replaced(
            field("n", ArrayType(element=SchemaField(name="element", type="string"))),
            field("l", ArrayType(element=values(field("b", "string"), field("a")))),
            field(
                "m",
                MapType(
                    key=SchemaField(name="key", type="int", nullable=False),
                    value=SchemaField(name="value", type=wanted),
                ),
            ),
        )
    )
    assert read(table) == [
        {"n": None, "l": [{"b": "b", "a": 1}, None], "m": [(1, {"a": 2, "c": None})]}
    ]
    kept = {each.id for each in walk(table._state.schema.fields)} & numbers
    assert len(kept) == 8  # l, its element and its two fields; m, its key, its value and field a
    table.append(
        pa.Table.from_pylist([{"n": ["x"], "m": [(5, {"a": 2**40, "c": "d"})]}], table.schema)
    )
    assert read(table)[1] == {"n": ["x"], "l": None, "m": [(5, {"a": 2**40, "c": "d"})]}
    assert table.verify(4).is_sound


@pytest.mark.parametrize(
    ("before", "columns", "known", "said"),
    [
        ((), (), None, "at least one column"),
        ((), (field("name", "string"),), None, "'id' cannot be dropped: the table is sorted by it"),
        ((), (field("id", "string"),), None, "'id' cannot be dropped: the table is sorted by it"),
        ((), (field("id", "long"), field("ID")), None, "ID"),
        ((), (field("id", "long"), field("n", nullable=False)), None, "'n' cannot be added as NOT"),
        ((), (field("id", "long"),), ("id", "name"), "have changed since the statement"),
        (
            (AddConstraint("named", "name <> ''"),),
            (field("id", "long"),),
            None,
            "named",
        ),
    ],
)
def test_a_list_that_the_table_cannot_have_is_refused_and_changes_nothing(
    table: ArrowTable,
    before: tuple[Alteration, ...],
    columns: tuple[SchemaField, ...],
    known: tuple[str, ...] | None,
    said: str,
) -> None:
    if before:
        table.alter(*before)
    epoch = table.epoch
    with pytest.raises(ColonnadeError, match=said) as refusal:
        table.alter(replaced(*columns, known=known))
    assert isinstance(refusal.value, ConflictError if known else InvalidInputError)
    table.refresh()
    assert table.epoch == epoch


def test_a_column_that_stays_keeps_its_default_and_takes_no_other(table: ArrowTable) -> None:
    table.alter(SetDefault("name", "'none'"))
    named = table._state.schema.field("name")
    table.alter(replaced(field("id", "long"), field("name", "string")))
    table.append(pa.table({"id": [3]}))
    assert read(table)[-1] == {"id": 3, "name": "none"}
    assert named.default is not None
    other = named.model_copy(
        update={"default": named.default.model_copy(update={"sql": "'other'", "value": "other"})}
    )
    with pytest.raises(InvalidInputError, match="'name' stays, and its default"):
        table.alter(replaced(field("id", "long"), other))
