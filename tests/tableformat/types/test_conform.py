"""Whatever the physical form, the same values arrive; whatever cannot arrive is named."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from decimal import Decimal
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
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import (
    arrow_schema,
    map_entries,
    schema_from_arrow,
    to_storage,
)
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.text_form import has_lengths
from tests.strategies import batches, identical, schemas


def _schema(text: str, nullable: bool = True) -> TableSchema:
    return TableSchema(fields=(SchemaField(id=1, name="a", type=text, nullable=nullable),))


def _batch(array: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array], names=["a"])


def _refusal(array: pa.Array, schema: TableSchema) -> str:
    with pytest.raises(InvalidInputError) as caught:
        conform(_batch(array), schema)
    return caught.value.message


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


@settings(max_examples=150)
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
    assert conform(_batch(outer), schema)["a"].to_pylist() == [{"x": 1}, None, None]
    visible = pa.StructArray.from_arrays([inner], ["x"], mask=pa.array([False, False, True]))
    assert _refusal(visible, schema) == "Column 'a.x' is NOT NULL, but the data has 1 NULL."


def test_bytes_under_a_null_need_not_be_convertible() -> None:
    seconds = pa.array([1_000, 1, 1], pa.timestamp("ns"))
    mask = pa.array([False, True, True])
    outer = pa.StructArray.from_arrays([seconds], ["x"], mask=mask)
    child = SchemaField(name="x", type="timestamp_ntz")
    schema = TableSchema(fields=(SchemaField(name="a", type=StructType(fields=(child,))),))
    assert conform(_batch(outer), schema)["a"].null_count == 2
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), seconds, mask=mask[:2])
    array = ArrayType(element=child.model_copy(update={"name": "element"}))
    schema = TableSchema(fields=(SchemaField(name="a", type=array),))
    assert conform(_batch(lists), schema)["a"].null_count == 1


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
def test_forms_arrive_whatever_they_are_nested_in(array: pa.Array, expected: list[Any]) -> None:
    schema = assign_ids(schema_from_arrow(pa.schema([("a", array.type)])), 1)[0]
    conformed = conform(_batch(array), schema)
    conformed.validate(full=True)
    assert conformed["a"].to_pylist() == expected


def test_empty_lists_with_sliced_values_can_be_joined_with_other_lists() -> None:
    numbers = pa.array(range(8))
    parts = [pa.StructArray.from_arrays([each], ["x"]) for each in (numbers[8:], numbers[:2])]
    lists = [pa.ListArray.from_arrays(pa.array([0, len(each)], pa.int32()), each) for each in parts]
    schema = assign_ids(schema_from_arrow(pa.schema([("a", lists[0].type)])), 1)[0]
    stored = [to_storage(conform(_batch(each), schema), schema)[0] for each in lists]
    assert [len(each) for each in pa.concat_arrays(stored).to_pylist()] == [0, 2]


def test_fixed_size_lists_keep_their_nulls() -> None:
    array = pa.array([[1, 2], None, [3, None], [5, 6]], pa.list_(pa.int8(), 2))
    element = SchemaField(name="element", type="long")
    schema = TableSchema(fields=(SchemaField(name="a", type=ArrayType(element=element)),))
    assert conform(_batch(array[1:]), schema)["a"].to_pylist() == [None, [3, None], [5, 6]]


def test_the_null_type_is_null_of_any_type() -> None:
    assert conform(_batch(pa.nulls(2)), _schema("variant"))["a"].null_count == 2
    assert "'a' is NOT NULL" in _refusal(pa.nulls(2), _schema("int", nullable=False))


def test_half_a_variant_is_refused() -> None:
    variant = arrow_schema(_schema("variant")).field("a").type
    half = pa.array([{"value": None, "metadata": b"\x01"}], variant)
    assert _refusal(half, _schema("variant")).startswith("Column 'a.value' is NOT NULL")


def test_one_sentence_lists_every_wrong_column() -> None:
    schema = TableSchema(fields=tuple(SchemaField(name=name, type="int") for name in "abc"))
    batch = pa.RecordBatch.from_arrays([pa.array([1], pa.int32())] * 4, names=["B", "b", "x", "a"])
    with pytest.raises(InvalidInputError) as caught:
        conform(batch, schema)
    assert caught.value.message == (
        "The data lacks 'c' and has the unknown 'x' and has more than once 'B';"
        " give every field exactly once."
    )


def test_wrong_fields_of_a_struct_are_named_with_their_column() -> None:
    child = SchemaField(name="x", type="int")
    schema = TableSchema(fields=(SchemaField(name="a", type=StructType(fields=(child,))),))
    found = _refusal(pa.array([{"y": 1}]), schema)
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
        (pa.int32(), "double"),
        (pa.int64(), "decimal(38,0)"),
        (pa.uint64(), "decimal(19,0)"),
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
        (pa.date32(), "timestamp_ntz"),
        (pa.int64(), "interval day to second"),
        (pa.month_day_nano_interval(), "interval month"),
        (pa.list_(pa.int8()), "int"),
        (pa.struct([("value", pa.int8()), ("metadata", pa.binary())]), "variant"),
    ],
    ids=str,
)
def test_types_alone_decide_what_may_be_written(arrow: pa.DataType, text: str) -> None:
    """Even without a row, so that a job is refused before it writes any."""
    message = _refusal(pa.array([], arrow), _schema(text))
    assert "Column 'a" in message
    assert text in message or text == "variant"


@pytest.mark.parametrize(
    ("array", "text", "part"),
    [
        (pa.array([2**63], pa.uint64()), "long", "9223372036854775808"),
        (pa.array([1_001], pa.timestamp("ns", "Asia/Tokyo")), "timestamp", "1001"),
        (pa.array([-1], pa.timestamp("ns")), "timestamp_ntz", "-1"),
        (pa.array([2**62], pa.timestamp("s")), "timestamp_ntz", "out of bounds"),
        (pa.array([1], pa.duration("ns")), "interval day to second", "would lose data: 1"),
        (pa.array([Decimal("1.25")]), "decimal(10,1)", "data loss"),
        (pa.array([Decimal("1234.5")]), "decimal(4,1)", "does not fit in precision 4"),
        (pa.array([-1], pa.int64()).view(pa.date64()), "date", "would lose data: -1"),
        (pa.array([1], pa.time64("us")), "time(3)", "cannot hold 1000 nanoseconds"),
        (pa.array([-1], pa.time64("ns")), "time(9)", "cannot hold -1 nanoseconds"),
        (pa.array([86_400 * 10**9], pa.time64("ns")), "time(9)", "cannot hold 86400"),
        (pa.array([13], pa.int32()), "interval year", "cannot hold 13 months"),
        (pa.array([90], pa.duration("s")), "interval minute", "cannot hold 90000000 microsec"),
        (pa.array(["abc", "日本語x"]), "varchar(3)", "a value of 4 characters"),
        (pa.array(["ab", "abcd"]).dictionary_encode(), "char(3)", "a value of 4 characters"),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_kept_is_refused(array: pa.Array, text: str, part: str) -> None:
    message = _refusal(array, _schema(text))
    assert message.startswith("Column 'a' ")
    assert text in message
    assert part in message


@pytest.mark.parametrize(
    ("array", "text", "expected"),
    [
        (pa.array([1.25]).cast(pa.decimal128(10, 4)), "decimal(5,2)", Decimal("1.25")),
        (pa.array([2**64 - 1], pa.uint64()), "decimal(20,0)", Decimal(2**64 - 1)),
        (pa.array([5], pa.uint64()), "long", 5),
        (pa.array([86_400_000], pa.date64()), "date", datetime.date(1970, 1, 2)),
        (pa.array(["日本語"]), "varchar(3)", "日本語"),
        (pa.array([14], pa.uint16()), "interval month", 14),
        (pa.array([b"0123456789abcdef"], pa.uuid()), "binary", b"0123456789abcdef"),
        (pa.array(['{"x": 1}'], pa.json_()), "string", '{"x": 1}'),
    ],
    ids=str,
)
def test_a_value_that_fits_is_kept(array: pa.Array, text: str, expected: Any) -> None:
    assert conform(_batch(array), _schema(text))["a"][0].as_py() == expected


def _nested_in_every_way(text: str) -> TableSchema:
    """A column of each nesting that has values of a primitive type at its bottom."""
    leaf = SchemaField(name="x", type=text)
    element = SchemaField(name="element", type=text)
    key = SchemaField(name="key", type=text, nullable=False)
    value = SchemaField(name="value", type=ArrayType(element=element))
    columns: dict[str, DataType] = {
        "plain": text,
        "array": ArrayType(element=element),
        "map": MapType(key=key, value=value),
        "struct": StructType(fields=(leaf,)),
    }
    fields = tuple(SchemaField(name=name, type=each) for name, each in columns.items())
    return assign_ids(TableSchema(fields=fields), 1)[0]


@pytest.mark.parametrize(
    ("given_text", "char", "varchar"),
    [
        ("é", "é  ", "é"),
        ("日本語", "日本語", "日本語"),
        ("ab    ", "ab ", "ab "),
        ("", "   ", ""),
        ("     ", "   ", "   "),
    ],
)
def test_char_and_varchar_have_their_spaces_at_every_depth(
    given_text: str, char: str, varchar: str
) -> None:
    for type_text, stored in (("char(3)", char), ("varchar(3)", varchar)):
        schema = _nested_in_every_way(type_text)

        def row(text: str) -> dict[str, Any]:
            return {
                "plain": text,
                "array": [text, None],
                "map": [(text, [text])],
                "struct": {"x": text},
            }

        empty = dict.fromkeys(schema.names)
        rows = [row("xyz"), empty, row(given_text), row("xyz")]
        for exact in (True, False):
            layout = arrow_schema(schema)
            if not exact:
                layout = pa.schema([field.remove_metadata() for field in layout])
            found = conform(pa.RecordBatch.from_pylist(rows, layout).slice(1, 2), schema)
            assert found.schema.equals(arrow_schema(schema), check_metadata=True)
            assert found.to_pylist() == [empty, row(stored)]


def test_one_long_varchar_does_not_fill_up_the_short_ones_beside_it() -> None:
    """With their spaces, all of them would take 10 GB."""
    longest = "b" * 1_000_000
    texts = ["a"] * 5_000 + [None, longest + "  "] + ["c "] * 5_000
    batch = pa.RecordBatch.from_arrays([pa.array(texts)], ["a"])
    found = conform(batch, _schema("varchar(1000000)"))
    assert found.column(0).to_pylist() == [*texts[:5_001], longest, *texts[5_002:]]


@pytest.mark.parametrize("arrow", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_text_that_is_not_utf8_is_refused(arrow: pa.DataType) -> None:
    array = pa.array([b"ok", b"\xc3\x28"]).view(pa.string()).cast(arrow)
    assert "'a' holds no valid string" in _refusal(array, _schema("string"))


def test_a_decimal_of_more_digits_than_its_type_is_refused() -> None:
    raw = pa.array([10**6]).cast(pa.decimal128(19, 0))
    array = pa.Array.from_buffers(pa.decimal128(3, 0), 1, raw.buffers())
    assert "'a' holds no valid decimal(3,0)" in _refusal(array, _schema("decimal(3,0)"))


def test_a_table_of_many_chunks_and_dictionaries_becomes_one_batch() -> None:
    values: tuple[list[str | None], ...] = (["x"], [], ["y", None, "x"])
    chunks = [pa.array(each, pa.string()).dictionary_encode() for each in values]
    table = pa.table({"a": pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string()))})
    assert conform(table, _schema("string"))["a"].to_pylist() == ["x", "y", None, "x"]


def test_a_map_without_pairs_needs_no_type_of_its_keys() -> None:
    keys = pa.array([]).dictionary_encode()
    array = pa.MapArray.from_arrays(pa.array([0, 0], pa.int32()), keys, pa.array([], pa.int64()))
    schema = schema_from_arrow(pa.schema([("a", pa.map_(pa.string(), pa.int64()))]))
    assert conform(_batch(array), assign_ids(schema, 1)[0]).column(0).to_pylist() == [[]]
