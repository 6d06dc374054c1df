"""Types go to Arrow and back, and the storage form has ids instead of names."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import ArrayType, SchemaField, TableSchema, assign_ids, walk
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow, storage_type
from tests.strategies import PRIMITIVES, schemas


def _unassigned(schema: TableSchema) -> TableSchema:
    """What Arrow carries of a schema: no ids, and no metadata of columns."""

    def forget(field: SchemaField) -> SchemaField:
        nested = field.with_children(forget(child) for child in field.children())
        return nested.model_copy(update={"id": 0, "metadata": None})

    return TableSchema(fields=tuple(forget(field) for field in schema.fields))


def _table(text: str) -> TableSchema:
    return TableSchema(fields=(SchemaField(id=1, name="a", type=text),))


def _found(arrow: pa.DataType) -> object:
    return schema_from_arrow(pa.schema([("a", arrow)])).fields[0].type


@given(schemas())
def test_a_schema_survives_the_way_through_arrow(schema: TableSchema) -> None:
    assert schema_from_arrow(arrow_schema(schema)) == _unassigned(schema)


@given(schemas())
def test_a_schema_survives_an_arrow_file(schema: TableSchema) -> None:
    stored = pa.ipc.read_schema(arrow_schema(schema).serialize())
    assert schema_from_arrow(stored) == _unassigned(schema)


@given(schemas())
def test_storage_names_ids_and_promises_nothing_about_null(schema: TableSchema) -> None:
    renamed = TableSchema(
        fields=tuple(
            _rename_children(field.model_copy(update={"comment": "x"})) for field in schema.fields
        )
    )
    for before, after in zip(schema.fields, renamed.fields, strict=True):
        assert storage_type(before) == storage_type(after)


def _rename_children(field: SchemaField) -> SchemaField:
    return field.with_children(
        _rename_children(child).model_copy(
            update={"name": child.name + "_", "nullable": not child.nullable}
        )
        for child in field.children()
    )


@pytest.mark.parametrize("text", PRIMITIVES)
def test_only_what_arrow_cannot_say_is_in_metadata(text: str) -> None:
    field = arrow_schema(_table(text)).field("a")
    stated = text.startswith(("char", "varchar", "string ", "interval year", "interval month"))
    stated |= text.startswith(("time(", "interval")) and text not in (
        "time(9)",
        "interval day to second",
    )
    assert (field.metadata or {}) == ({b"colonnade.type": text.encode()} if stated else {})


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.uint8(), "short"),
        (pa.uint16(), "int"),
        (pa.uint32(), "long"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.float16(), "float"),
        (pa.decimal32(9, 2), "decimal(9,2)"),
        (pa.decimal64(18, 0), "decimal(18,0)"),
        (pa.decimal256(38, 38), "decimal(38,38)"),
        (pa.decimal128(5, -2), "decimal(7,0)"),
        (pa.decimal128(2, 5), "decimal(5,5)"),
        (pa.string_view(), "string"),
        (pa.large_string(), "string"),
        (pa.dictionary(pa.int8(), pa.string_view()), "string"),
        (pa.run_end_encoded(pa.int32(), pa.int8()), "byte"),
        (pa.binary(16), "binary"),
        (pa.binary_view(), "binary"),
        (pa.large_binary(), "binary"),
        (pa.date64(), "date"),
        (pa.timestamp("ns"), "timestamp_ntz"),
        (pa.timestamp("s", "Europe/Berlin"), "timestamp"),
        (pa.time32("ms"), "time(6)"),
        (pa.time64("us"), "time(6)"),
        (pa.time64("ns"), "time(9)"),
        (pa.duration("ns"), "interval day to second"),
        (pa.json_(), "string"),
        (pa.uuid(), "binary"),
    ],
    ids=str,
)
def test_arrow_types_of_other_libraries_have_a_column_type(
    arrow: pa.DataType, expected: str
) -> None:
    assert _found(arrow) == expected


@pytest.mark.parametrize(
    "arrow",
    [
        pa.list_(pa.int8()),
        pa.large_list(pa.int8()),
        pa.list_(pa.int8(), 3),
        pa.list_view(pa.int8()),
        pa.large_list_view(pa.int8()),
    ],
    ids=str,
)
def test_every_list_is_an_array(arrow: pa.DataType) -> None:
    assert _found(arrow) == ArrayType(element=SchemaField(name="element", type="byte"))


@pytest.mark.parametrize(
    ("arrow", "named"),
    [
        (pa.month_day_nano_interval(), "month_day_nano_interval"),
        (pa.sparse_union([pa.field("x", pa.int8())]), "sparse_union"),
        (pa.bool8(), "bool8"),
        (pa.decimal256(39, 0), "decimal256(39, 0)"),
    ],
    ids=str,
)
def test_a_type_that_cannot_be_stored_is_refused_by_path_and_type(
    arrow: pa.DataType, named: str
) -> None:
    nested = pa.list_(pa.struct([pa.field("b", arrow)]))
    with pytest.raises(InvalidInputError) as caught:
        schema_from_arrow(pa.schema([("m", pa.map_(pa.string(), nested))]))
    assert "'m.value.element.b'" in caught.value.message
    assert named in caught.value.message


def test_an_unknown_extension_is_not_quietly_stored_as_its_bytes() -> None:
    field = pa.field("g", pa.binary(), metadata={"ARROW:extension:name": "geoarrow.wkb"})
    with pytest.raises(InvalidInputError, match=r"'g'.*'geoarrow\.wkb'"):
        schema_from_arrow(pa.schema([field]))


@pytest.mark.parametrize(
    ("arrow", "stated", "reason"),
    [
        (pa.int64(), "char(3)", "is that of long"),
        (pa.list_(pa.int8()), "char(3)", "is that of array"),
        (pa.string(), "char(0)", "does not know"),
        (pa.string(), "geography", "does not know"),
    ],
)
def test_metadata_that_contradicts_its_column_is_refused(
    arrow: pa.DataType, stated: str, reason: str
) -> None:
    field = pa.field("a", arrow, metadata={"colonnade.type": stated})
    with pytest.raises(InvalidInputError, match=reason):
        schema_from_arrow(pa.schema([field]))


def test_every_nested_field_of_storage_has_its_id() -> None:
    schema, _ = assign_ids(
        schema_from_arrow(
            pa.schema([("a", pa.map_(pa.string(), pa.list_(pa.struct([("x", pa.int8())]))))])
        ),
        5,
    )
    assert [field.id for field in walk(schema.fields)] == [5, 6, 7, 8, 9]
    expected = pa.map_(
        pa.field("6", pa.string(), nullable=False),
        pa.field("7", pa.list_(pa.field("8", pa.struct([pa.field("9", pa.int8())])))),
    )
    stored = storage_type(schema.fields[0])
    assert stored == expected
    assert (stored.key_field.name, stored.item_field.name) == ("6", "7")
