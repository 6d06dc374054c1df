"""Text that is not valid UTF-8 is refused by column and row, or replaced."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.conform import conform, conform_batches

REPLACE = {"invalid-text": "replace"}
PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(text.encode() for text in ("a", "é", "€", "😀", "\0", "\ufffd", "\ud7ff", "\ue000")),
    *(b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe0\x9f"),
]
"""Every byte, code points of each length and beginnings of them, surrogates, overlong forms."""


def bad(rng: random.Random, pieces: int = 4) -> bytes:
    return b"".join(rng.choices(PIECES, k=rng.randrange(pieces)))


def nested_rows(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Rows of `BYTES`: a map has keys that are valid, and one that may not be."""
    return [
        {
            "s": rng.choice((None, bad(rng))),
            "a": rng.choice((None, [bad(rng), None, bad(rng)])),
            "st": rng.choice((None, {"x": bad(rng), "n": n})),
            "m": rng.choice((None, [(b"k", bad(rng)), (b"l" + bad(rng), None)])),
            "deep": [{"y": [(n, [bad(rng)])]}, None, {"y": None}],
        }
        for n in range(count)
    ]


def nested_type(text: pa.DataType) -> pa.Schema:
    deep = pa.list_(pa.struct([("y", pa.map_(pa.int64(), pa.list_(text)))]))
    return pa.schema(
        [
            ("s", text),
            ("a", pa.list_(text)),
            ("st", pa.struct([("x", text), ("n", pa.int64())])),
            ("m", pa.map_(text, text)),
            ("deep", deep),
        ]
    )


def decoded(value: Any) -> Any:
    """What Python's decoder makes of all bytes in a value."""
    match value:
        case bytes():
            return value.decode("utf-8", "replace")
        case dict():
            return {name: decoded(each) for name, each in value.items()}
        case list() | tuple():
            return type(value)(map(decoded, value))
        case _:
            return value


def as_text(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Arrow text that was made of bytes without a check, as a program in C++ can do."""
    columns = [array.view(field.type) for array, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def nested_batch(rng: random.Random, count: int) -> tuple[pa.RecordBatch, list[dict[str, Any]]]:
    rows = nested_rows(rng, count)
    plain = pa.RecordBatch.from_pylist(rows, nested_type(pa.binary()))
    return as_text(plain, nested_type(pa.string())), [decoded(row) for row in rows]


def numbered(schema: pa.Schema) -> TableSchema:
    return assign_ids(schema_from_arrow(schema), 1)[0]


def text_of(values: list[bytes | None], kind: pa.DataType | None = None) -> pa.Array:
    return pa.array(values, pa.binary()).view(pa.string()).cast(kind or pa.string())


@pytest.mark.parametrize("seed", range(20))
def test_text_at_any_depth_is_replaced_as_python_decodes_it(seed: int) -> None:
    rng = random.Random(seed)
    batch, wanted = nested_batch(rng, 60)
    schema = numbered(batch.schema)
    start = rng.randrange(20)
    found = conform(batch.slice(start, 30), schema, "replace")
    found.validate(full=True)
    assert found.to_pylist() == wanted[start : start + 30]


FORMS = {
    "string": lambda array: array,
    "large": lambda array: array.cast(pa.large_string()),
    "view": lambda array: array.cast(pa.string_view()),
    "dictionary": lambda array: pa.DictionaryArray.from_arrays(
        pa.array(range(len(array)), pa.int32()), array
    ),
    "chunks": lambda array: pa.chunked_array([array.slice(0, 1), array.slice(1)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_arrow_text_is_refused_by_row_or_replaced(form: str) -> None:
    values = [b"ok", None, b"\xc3\x28", b"\xf0\x9f\x98"]
    data = pa.table({"a": FORMS[form](text_of(values))})
    schema = numbered(pa.schema([("a", pa.string())]))
    assert conform(data, schema, "replace")["a"].to_pylist() == decoded(values)
    with pytest.raises(InvalidInputError, match="Column 'a' has an invalid string in row 3 of"):
        conform(data, schema)


PLACES: dict[str, tuple[Any, pa.DataType, str]] = {
    "element": ([b"x", b"\xff"], pa.list_(pa.binary()), "'c.element'"),
    "field": ({"x": b"\xff"}, pa.struct([("x", pa.binary())]), "'c.x'"),
    "key": ([(b"\xff", 1)], pa.map_(pa.binary(), pa.int64()), "'c.key'"),
    "value": ([(1, b"a"), (2, b"\xff")], pa.map_(pa.int64(), pa.binary()), "'c.value'"),
    "deep": (
        [{"x": [b"a", b"\xff"]}],
        pa.list_(pa.struct([("x", pa.list_(pa.binary()))])),
        "'c.element.x.element'",
    ),
}


def with_text(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_map(kind):
        return pa.map_(with_text(kind.key_type), with_text(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(with_text(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(each.name, with_text(each.type)) for each in kind])
    return pa.string() if kind == pa.binary() else kind


@pytest.mark.parametrize("place", PLACES)
def test_a_refusal_counts_rows_through_all_batches_of_the_input(place: str) -> None:
    value, kind, path = PLACES[place]
    schema = pa.schema([("c", with_text(kind))])
    values = [None, value] if place == "field" else [[], None, value]
    last = pa.RecordBatch.from_arrays([pa.array(values, kind).view(schema[0].type)], schema=schema)
    first = pa.RecordBatch.from_arrays([pa.nulls(70_000, schema[0].type)], schema=schema)
    row = 70_000 + len(values)
    with pytest.raises(InvalidInputError, match=rf"Column {path} .* in row {row} of the input,"):
        list(conform_batches([first, last], numbered(schema)))


def test_bytes_under_a_null_are_not_a_value_and_are_not_refused() -> None:
    child = text_of([b"\xff", b"a"])
    struct = pa.StructArray.from_arrays([child], ["x"], mask=pa.array([True, False]))
    batch = pa.RecordBatch.from_arrays([struct], ["c"])
    assert conform(batch, numbered(batch.schema)).to_pylist() == [{"c": None}, {"c": {"x": "a"}}]


KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.binary(), [b"a\xff", b"a\xfe"]),
    "with the replacement itself": (pa.binary(), [b"\xff", b"\xef\xbf\xbd"]),
    "struct": (pa.struct([("x", pa.binary())]), [{"x": b"\xff"}, {"x": b"\xfe"}]),
}


@pytest.mark.parametrize("case", KEYS)
def test_keys_of_a_map_that_would_become_the_same_are_refused(case: str) -> None:
    kind, (one, other) = KEYS[case]
    plain = pa.map_(kind, pa.int64())
    schema = pa.schema([("m", with_text(plain))])

    def batch(*maps: Any) -> pa.RecordBatch:
        array = pa.array([*maps], plain).view(schema[0].type)
        return pa.RecordBatch.from_arrays([array], schema=schema)

    apart = conform(batch([(one, 1)], [(other, 2)]), numbered(schema), "replace")
    assert apart.num_rows == 2
    with pytest.raises(InvalidInputError, match="Column 'm' has a map with two keys that become"):
        conform(batch([(one, 1), (other, 2)]), numbered(schema), "replace")


def test_char_and_varchar_count_the_characters_of_what_is_stored() -> None:
    field = colonnade.SchemaField
    schema, _ = assign_ids(
        TableSchema(fields=(field(name="c", type="char(3)"), field(name="v", type="varchar(2)"))), 1
    )
    batch = pa.RecordBatch.from_arrays(
        [text_of([b"\xff", b"ab"]), text_of([b"\xe2\x82", b"xy "])], ["c", "v"]
    )
    wanted = [{"c": "\ufffd  ", "v": "\ufffd"}, {"c": "ab ", "v": "xy"}]
    assert conform(batch, schema, "replace").to_pylist() == wanted
    long = pa.RecordBatch.from_arrays([text_of([b""]), text_of([b"\xff\xff\xff"])], ["c", "v"])
    with pytest.raises(InvalidInputError, match="'v' is varchar.2., but the data has a value of 3"):
        conform(long, schema, "replace")


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    """Sorted and partitioned by text, with a Bloom filter, and a policy that replaces."""
    schema = pa.schema([("s", pa.string()), ("p", pa.string()), ("n", pa.int64())])
    properties = {**REPLACE, "bloom-filter-enabled.column.s": "true"}
    return colonnade.create(
        tmp_path / "t", schema, sort_key=["s"], partition_by=["p"], properties=properties
    )


def rows_of(values: list[bytes], part: bytes = b"p\xff", first: int = 0) -> pa.Table:
    return pa.table(
        {
            "s": text_of([*values]),
            "p": text_of([part] * len(values)),
            "n": pa.array(range(first, first + len(values)), pa.int64()),
        }
    )


def test_order_bounds_filters_and_partitions_follow_the_stored_text(
    table: ArrowTable,
) -> None:
    rng = random.Random(7)
    values = ["\U0001f600".encode(), b"\xff", b"\x80", *(bad(rng) for _ in range(300))]
    table.append(rows_of(values))
    assert table.verify().is_sound
    assert sorted(table.scan().to_arrow()["s"].to_pylist()) == sorted(decoded(values))
    assert {entry for entry in table.scan().to_arrow()["p"].to_pylist()} == {"p\ufffd"}
    found = table.scan(where="s = '\ufffd' AND p = 'p\ufffd'").to_arrow()
    assert len(found) == decoded(values).count("\ufffd") > 1
    assert len(table.scan(where="s > '\U0001f600'").to_arrow()) == sum(
        value > "\U0001f600" for value in decoded(values)
    )


def test_every_statement_that_takes_rows_replaces_text(table: ArrowTable) -> None:
    table.append(rows_of([b"a\xff"]))
    table.upsert(rows_of([b"a\xfe", b"b\xff"], first=5), "s")
    assert sorted(table.scan().to_arrow()["s"].to_pylist()) == ["a\ufffd", "b\ufffd"]
    table.overwrite(rows_of([b"c\xff"], first=9), where="s >= 'b\ufffd' AND s <= 'c\ufffd'")
    assert sorted(table.scan().to_arrow()["s"].to_pylist()) == ["a\ufffd", "c\ufffd"]
    table.overwrite_partitions(rows_of([b"d\xff"], part=b"p\xfe"))
    assert table.scan().to_arrow()["s"].to_pylist() == ["d\ufffd"]
    merge = table.merge(rows_of([b"d\xfe", b"e\xff"], first=20), "s")
    merge.when_matched_update({"n": "source.n"}).when_not_matched_insert_all().execute()
    found = sorted(table.to_pylist(["s", "n"]), key=lambda row: row["n"])
    assert found == [{"s": "d\ufffd", "n": 20}, {"s": "e\ufffd", "n": 21}]
    assert table.verify().is_sound


def test_the_property_is_checked_and_decides_from_then_on(table: ArrowTable) -> None:
    with pytest.raises(InvalidInputError, match="'invalid-text' must be .*, not 'Replace'"):
        table.alter(AlterProperties(set={"invalid-text": "Replace"}))
    with pytest.raises(InvalidInputError, match="'invalid-text' must be"):
        colonnade.create(Path(f"{table.path}-2"), table.schema, properties={"invalid-text": ""})
    table.alter(AlterProperties(set={"invalid-text": "refuse"}))
    before = table.epoch
    with pytest.raises(InvalidInputError, match="Column 's' has an invalid string in row 1 of"):
        table.append(rows_of([b"\xff"]))
    assert table.refresh().epoch == before


def test_text_that_no_array_holds_once_it_is_replaced_is_refused_by_its_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = pa.array([b"a", b"\xff"]).view(pa.string())
    batch = pa.RecordBatch.from_arrays([values], ["s"])
    schema = schema_from_arrow(batch.schema)

    def full(*_: Any) -> pa.Array:
        # Arrow raises this for a value of 716 MiB of such bytes; with it the test would need 6 GiB.
        raise pa.ArrowCapacityError("array cannot contain more than 2147483646 bytes")

    monkeypatch.setattr(pa, "array", full)
    with pytest.raises(InvalidInputError, match="'s' has a text of more than 2 GiB once"):
        conform(batch, schema, "replace")
    with pytest.raises(InvalidInputError, match="'s' has an invalid string in row 2"):
        conform(batch, schema, "refuse")
