"""Whatever the physical form, the same values arrive; whatever cannot arrive is named."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.storage_form import map_entries, to_storage
from colonnade.tableformat.types.text_form import has_lengths
from tests.examples_of import examples
from tests.strategies import batches, identical, schemas
from tests.tableformat.types.arrays import batch_of, refusal_of, schema_of


def _disguise(array: pa.Array, rng: random.Random) -> pa.Array:
    """Return the values in another physical form."""
    if pa.types.is_map(array.type):
        return _disguise_map(array, rng)
    if pa.types.is_list(array.type):
        return _disguise_list(array, rng)
    if pa.types.is_struct(array.type):
        names = [field.name.swapcase() for field in array.type]
        order = rng.sample(range(len(names)), len(names))
        flat = array.flatten()
        return pa.StructArray.from_arrays(
            [_disguise(flat[i], rng) for i in order],
            names=[names[i] for i in order],
            mask=array.is_null(),
        )
    return _disguise_primitive(array, rng)


def _disguise_list(array: pa.Array, rng: random.Random) -> pa.Array:
    kind = rng.choice((pa.list_, pa.large_list, pa.list_view, pa.large_list_view))
    values = _disguise(array.flatten(), rng)
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    large = kind in (pa.large_list, pa.large_list_view)
    offsets = pa.array(offsets, pa.int64() if large else pa.int32())
    if kind in (pa.list_view, pa.large_list_view):
        cls = pa.LargeListViewArray if large else pa.ListViewArray
        sizes = pa.array(lengths, offsets.type)
        return cls.from_arrays(offsets[:-1], sizes, values, mask=array.is_null())
    cls = pa.LargeListArray if large else pa.ListArray
    return cls.from_arrays(offsets, values, mask=array.is_null())


def _disguise_map(array: pa.Array, rng: random.Random) -> pa.Array:
    entries = map_entries(array)
    keys, values = (_disguise(part, rng) for part in entries.flatten().flatten())
    lengths = entries.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.MapArray.from_arrays(offsets, keys, values, mask=array.is_null())


_OTHER_FORMS: dict[pa.DataType, tuple[pa.DataType, ...]] = {
    pa.string(): (pa.large_string(), pa.string_view()),
    pa.binary(): (pa.large_binary(), pa.binary_view()),
    pa.timestamp("us", "UTC"): (pa.timestamp("us", "Asia/Tokyo"), pa.timestamp("us", "+01:00")),
    pa.int64(): (pa.uint32(), pa.uint64(), pa.int8()),
    pa.int32(): (pa.int16(), pa.uint16()),
    pa.int16(): (pa.int8(), pa.uint8()),
    pa.float64(): (pa.float32(),),
    pa.date32(): (pa.date64(),),
    pa.timestamp("us"): (pa.timestamp("s"), pa.timestamp("ns")),
    pa.duration("us"): (pa.duration("ms"), pa.duration("ns")),
    pa.time64("ns"): (pa.time64("us"), pa.time32("s")),
}


def _disguise_primitive(array: pa.Array, rng: random.Random) -> pa.Array:
    forms = _OTHER_FORMS.get(array.type, ())
    if pa.types.is_decimal(array.type):
        forms = (pa.decimal256(array.type.precision + 1, array.type.scale),)
    if forms and rng.random() < 0.6:
        try:
            other = array.cast(rng.choice(forms))
        except pa.ArrowInvalid:
            return array
        back = other.cast(array.type)
        return other if identical(back, array) else array
    if rng.random() < 0.3 and not pa.types.is_floating(array.type):
        return array.dictionary_encode()
    if rng.random() < 0.4:
        return pc.run_end_encode(array)
    return array


@settings(max_examples=examples(150))
@given(st.data())
def test_every_physical_form_arrives_as_the_same_values(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    batch = data.draw(batches(schema))
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    order = rng.sample(range(batch.num_columns), batch.num_columns)
    disguised = pa.RecordBatch.from_arrays(
        [_disguise(batch.column(i), rng) for i in order],
        names=[schema.names[i].swapcase() for i in order],
    )
    start = data.draw(st.integers(0, batch.num_rows))
    conformed = conform(disguised.slice(start), schema)
    conformed.validate(full=True)
    assert conformed.schema.equals(arrow_schema(schema), check_metadata=True)
    assert identical(conformed, batch.slice(start))


@given(st.data())
def test_conforming_data_is_returned_unchanged(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    batch = data.draw(batches(schema))
    found = conform(batch, schema)
    # The spaces of char and varchar are looked at again.
    assert identical(found, batch) if any(map(has_lengths, schema.fields)) else found is batch
    tables = [pa.Table.from_batches([batch, batch]), arrow_schema(schema).empty_table()]
    for table in tables:
        assert pa.Table.from_batches([conform(table, schema)]).num_rows == table.num_rows


@given(st.data())
def test_a_null_that_is_not_allowed_is_found_at_any_depth(data: st.DataObject) -> None:
    """Data of a schema that allows NULL everywhere fits a stricter one or names a path of it."""
    strict = data.draw(schemas())
    free = TableSchema(fields=tuple(_allow_null(field) for field in strict.fields))
    batch = data.draw(batches(free))
    paths = _null_paths(batch, strict)
    if not paths:
        both = to_storage(conform(batch, strict), strict), to_storage(batch, free)
        assert all(map(identical, *both))
        return
    with pytest.raises(InvalidInputError, match="is NOT NULL, but the data has") as caught:
        conform(batch, strict)
    assert caught.value.message.split("'")[1] in paths


def _allow_null(field: SchemaField) -> SchemaField:
    free = field.with_children(_allow_null(child) for child in field.children())
    return free if field.name == "key" else free.model_copy(update={"nullable": True})


def _null_paths(batch: pa.RecordBatch, schema: TableSchema) -> set[str]:
    """A slow, obvious model of the check: where NULL is but must not be, value by value."""
    return {
        path
        for field, column in zip(schema.fields, batch.columns, strict=True)
        for value in column
        for path in _null_paths_of(value, field, field.name)
    }


def _null_paths_of(value: Any, field: SchemaField, path: str) -> Iterator[str]:
    if not value.is_valid:
        if not field.nullable:
            yield path
        return
    match field.type:
        case StructType(fields=fields):
            parts = [(value[i], child) for i, child in enumerate(fields)]
        case MapType(key=key, value=item):
            parts = [(entry[i], (key, item)[i]) for entry in value.values for i in range(2)]
        case ArrayType(element=element):
            parts = [(each, element) for each in value.values]
        case _:
            parts = []
    for part, child in parts:
        yield from _null_paths_of(part, child, f"{path}.{child.name}")


def test_bytes_under_a_null_break_no_promise() -> None:
    inner = pa.array([1, None, None], pa.int32())
    outer = pa.StructArray.from_arrays([inner], ["x"], mask=pa.array([False, True, True]))
    child = SchemaField(name="x", type="int", nullable=False)
    schema = TableSchema(fields=(SchemaField(name="a", type=StructType(fields=(child,))),))
    assert conform(batch_of(outer), schema)["a"].to_pylist() == [{"x": 1}, None, None]
    visible = pa.StructArray.from_arrays([inner], ["x"], mask=pa.array([False, False, True]))
    assert (
        refusal_of(visible, schema)
        == "Column 'a.x' is NOT NULL, but the data has 1 NULL; give a value in each row."
    )


def test_bytes_under_a_null_need_not_be_convertible() -> None:
    seconds = pa.array([1_000, 1, 1], pa.timestamp("ns"))
    mask = pa.array([False, True, True])
    outer = pa.StructArray.from_arrays([seconds], ["x"], mask=mask)
    child = SchemaField(name="x", type="timestamp_ntz")
    schema = TableSchema(fields=(SchemaField(name="a", type=StructType(fields=(child,))),))
    assert conform(batch_of(outer), schema)["a"].null_count == 2
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), seconds, mask=mask[:2])
    array = ArrayType(element=child.model_copy(update={"name": "element"}))
    schema = TableSchema(fields=(SchemaField(name="a", type=array),))
    assert conform(batch_of(lists), schema)["a"].null_count == 1


def _hiding(values: pa.Array) -> pa.Array:
    """Return `values` in lists. The list before the last is NULL and hides its values."""
    offsets = pa.array([0, 1, len(values) - 1, len(values) - 1], pa.int32())
    return pa.ListArray.from_arrays(offsets, values, mask=pa.array([False, True, False]))


_LONG = [f"no. {number}, longer than a view's own bytes" for number in range(3)]
_RUNS = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(_LONG[:2]))
_CODES = pa.array([1, None, 0], pa.uint8())
_VIEWS = pa.array(_LONG, pa.string_view())


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.DictionaryArray.from_arrays(_CODES, _RUNS), [_LONG[0], None, _LONG[0]]),
        (pa.RunEndEncodedArray.from_arrays([1, 4], _RUNS[1:]), [_LONG[0], *[_LONG[1]] * 3]),
        (
            pa.DictionaryArray.from_arrays(
                _CODES, pa.ExtensionArray.from_storage(pa.json_(pa.string_view()), _VIEWS)
            ),
            [_LONG[1], None, _LONG[0]],
        ),
        (
            pa.DictionaryArray.from_arrays(_CODES, pa.StructArray.from_arrays([_VIEWS], ["s"])),
            [{"s": _LONG[1]}, None, {"s": _LONG[0]}],
        ),
        (
            _hiding(pa.ExtensionArray.from_storage(pa.json_(pa.string_view()), _VIEWS)),
            [[_LONG[0]], None, []],
        ),
        (
            _hiding(pa.DictionaryArray.from_arrays(_CODES, pa.array(["x", None]))),
            [[None], None, []],
        ),
        (
            pa.ListViewArray.from_arrays(
                pa.array([2, 0], pa.int32()),
                pa.array([1, 2], pa.int32()),
                pa.DictionaryArray.from_arrays(_CODES, _VIEWS),
            ),
            [[_LONG[0]], [_LONG[1], None]],
        ),
        (
            pa.MapArray.from_arrays(pa.array([0, 1, 3], pa.int32()), _VIEWS, _RUNS)[1:],
            [[(_LONG[1], _LONG[0]), (_LONG[2], _LONG[1])]],
        ),
        (
            pa.FixedSizeListArray.from_arrays(_RUNS, 1)[1:],
            [[_LONG[0]], [_LONG[1]]],
        ),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else "",
)
def test_every_arrow_form_of_a_value_is_accepted_at_any_depth(
    array: pa.Array, expected: list[Any]
) -> None:
    schema = assign_ids(schema_from_arrow(pa.schema([("a", array.type)])), 1)[0]
    conformed = conform(batch_of(array), schema)
    conformed.validate(full=True)
    assert conformed["a"].to_pylist() == expected


def test_empty_lists_with_sliced_values_can_be_joined_with_other_lists() -> None:
    numbers = pa.array(range(8))
    parts = [pa.StructArray.from_arrays([each], ["x"]) for each in (numbers[8:], numbers[:2])]
    lists = [pa.ListArray.from_arrays(pa.array([0, len(each)], pa.int32()), each) for each in parts]
    schema = assign_ids(schema_from_arrow(pa.schema([("a", lists[0].type)])), 1)[0]
    stored = [to_storage(conform(batch_of(each), schema), schema)[0] for each in lists]
    assert [len(each) for each in pa.concat_arrays(stored).to_pylist()] == [0, 2]


def test_fixed_size_lists_keep_their_nulls() -> None:
    array = pa.array([[1, 2], None, [3, None], [5, 6]], pa.list_(pa.int8(), 2))
    element = SchemaField(name="element", type="long")
    schema = TableSchema(fields=(SchemaField(name="a", type=ArrayType(element=element)),))
    assert conform(batch_of(array[1:]), schema)["a"].to_pylist() == [None, [3, None], [5, 6]]


def test_the_null_type_is_null_of_any_type() -> None:
    assert conform(batch_of(pa.nulls(2)), schema_of("variant"))["a"].null_count == 2
    assert "'a' is NOT NULL" in refusal_of(pa.nulls(2), schema_of("int", nullable=False))


def test_half_a_variant_is_refused() -> None:
    variant = arrow_schema(schema_of("variant")).field("a").type
    half = pa.array([{"value": None, "metadata": b"\x01"}], variant)
    assert refusal_of(half, schema_of("variant")).startswith("Column 'a.value' is NOT NULL")


def test_one_sentence_lists_every_wrong_column() -> None:
    schema = TableSchema(fields=tuple(SchemaField(name=name, type="int") for name in "abc"))
    batch = pa.RecordBatch.from_arrays([pa.array([1], pa.int32())] * 4, names=["B", "b", "x", "a"])
    with pytest.raises(InvalidInputError) as caught:
        conform(batch, schema)
    assert caught.value.message == (
        "The data lacks 'c' and has the unknown 'x' and has more than once 'B';"
        " give what is missing and correct or leave out what is unknown and give each field once."
    )


def test_wrong_fields_of_a_struct_are_named_with_their_column() -> None:
    child = SchemaField(name="x", type="int")
    schema = TableSchema(fields=(SchemaField(name="a", type=StructType(fields=(child,))),))
    found = refusal_of(pa.array([{"y": 1}]), schema)
    assert found.startswith("Column 'a' lacks 'x' and has the unknown 'y'")


def test_columns_are_found_in_any_order_and_case() -> None:
    schema = TableSchema(fields=tuple(SchemaField(name=name, type="long") for name in "ab"))
    batch = pa.RecordBatch.from_arrays([pa.array([2]), pa.array([1])], names=["B", "A"])
    assert conform(batch, schema).to_pydict() == {"a": [1], "b": [2]}


_NAIVE = pa.timestamp("us")
_INSTANT = pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("arrow", "text"),
    [
        (pa.int64(), "int"),
        (pa.uint32(), "int"),
        (pa.uint8(), "byte"),
        (pa.int64(), "double"),
        (pa.int32(), "float"),
        (pa.int64(), "decimal(38,20)"),
        (pa.uint64(), "decimal(18,0)"),
        (pa.float64(), "float"),
        (pa.float64(), "decimal(10,2)"),
        (pa.binary(), "string"),
        (pa.string(), "binary"),
        (pa.string(), "int"),
        (pa.int8(), "boolean"),
        (pa.bool8(), "boolean"),
        (_NAIVE, "timestamp"),
        (_INSTANT, "timestamp_ntz"),
        (_NAIVE, "date"),
        (pa.date32(), "timestamp"),
        (pa.int64(), "interval day to second"),
        (pa.month_day_nano_interval(), "interval month"),
        (pa.list_(pa.int8()), "int"),
        (pa.struct([("value", pa.int8()), ("metadata", pa.binary())]), "variant"),
    ],
    ids=str,
)
def test_types_alone_decide_what_may_be_written(arrow: pa.DataType, text: str) -> None:
    """Even without a row, so that a job is refused before it writes any."""
    message = refusal_of(pa.array([], arrow), schema_of(text))
    assert "Column 'a" in message
    assert text in message or text == "variant"


@pytest.mark.parametrize("arrow", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text_that_is_not_utf8_is_refused(arrow: pa.DataType) -> None:
    array = pa.array([b"ok", b"\xc3\x28"]).view(pa.string()).cast(arrow)
    assert "'a' has an invalid string" in refusal_of(array, schema_of("string"))


def test_a_table_of_many_chunks_and_dictionaries_becomes_one_batch() -> None:
    values: tuple[list[str | None], ...] = (["x"], [], ["y", None, "x"])
    chunks = [pa.array(each, pa.string()).dictionary_encode() for each in values]
    table = pa.table({"a": pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))})
    assert conform(table, schema_of("string"))["a"].to_pylist() == ["x", "y", None, "x"]


def test_a_map_without_pairs_needs_no_type_of_its_keys() -> None:
    keys = pa.array([]).dictionary_encode()
    array = pa.MapArray.from_arrays(pa.array([0, 0], pa.int32()), keys, pa.array([], pa.int64()))
    schema = schema_from_arrow(pa.schema([("a", pa.map_(pa.string(), pa.int64()))]))
    assert conform(batch_of(array), assign_ids(schema, 1)[0]).column(0).to_pylist() == [[]]
