"""Arrow data of more than 2 GiB in one array is written piece by piece, in every physical form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.types.conform import conform, conform_batches
from colonnade.tableformat.types.plain_size import largest_part
from tests.compaction_tables import new
from tests.large_tables import TableMaker
from tests.strategies import identical

LIMIT = 5000
TEXTS = [None if i % 9 == 0 else "é" * (i % 300) for i in range(400)]
LISTS = [None if i % 7 == 0 else [f"{i}"] * (i % 60) for i in range(400)]


def struct_of(array: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([array, pa.nulls(len(array), pa.int8())], ["text", "n"])


def map_of(array: pa.Array) -> pa.Array:
    ends = pa.array(range(len(array) + 1), pa.int32())
    return pa.MapArray.from_arrays(ends, pa.array([7] * len(array)), array)


def overlapping(array: pa.Array) -> pa.Array:
    """Lists of three neighbours each."""
    starts = pa.array(range(len(array) - 2), pa.int32())
    return pa.ListViewArray.from_arrays(starts, pa.array([3] * (len(array) - 2), pa.int32()), array)


FORMS: dict[str, Callable[[], pa.Array]] = {
    "text": lambda: pa.array(TEXTS),
    "large text": lambda: pa.array(TEXTS, pa.large_string()),
    "views": lambda: pa.array(TEXTS, pa.string_view()),
    "bytes": lambda: pa.array(TEXTS).cast(pa.large_binary()),
    "fixed bytes": lambda: pa.array([b"x" * 90] * 400, pa.binary(90)),
    "dictionary": lambda: pa.array(["x" * 900, "y", None, "z" * 500] * 100).dictionary_encode(),
    "dictionary of large text": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 0] * 100, pa.int8()), pa.array(["x" * 900, "y"], pa.large_string())
    ),
    "runs": lambda: pc.run_end_encode(pa.array(["x" * 900] * 30 + ["y"] * 370)),
    "struct": lambda: struct_of(pa.array(TEXTS, pa.large_string())),
    "map": lambda: map_of(pa.array(TEXTS, pa.large_string())),
    "list": lambda: pa.array(LISTS),
    "large list": lambda: pa.array(LISTS, pa.large_list(pa.large_string())),
    "list views": lambda: pa.array(LISTS, pa.list_view(pa.string())),
    "overlapping list views": lambda: overlapping(pa.array(TEXTS)),
    "fixed lists": lambda: pa.array([["abc", None, "d"]] * 3000, pa.list_(pa.string(), 3)),
    "list of structs": lambda: pa.ListArray.from_arrays(
        pa.array(range(0, 401, 4), pa.int32()), struct_of(pa.array(TEXTS))
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("start", [0, 11])
def test_rows_are_divided_until_each_piece_is_small_or_a_row(form: str, start: int) -> None:
    array = FORMS[form]().slice(start)
    batch = pa.record_batch([array], ["a"])
    schema = schema_from_arrow(batch.schema)
    whole = conform(batch, schema)
    pieces = list(conform_batches([batch], schema, part_limit=LIMIT))
    assert len(pieces) > 1
    for piece in pieces:
        assert piece.num_rows == 1 or largest_part(piece.column(0)) <= LIMIT
    joined = pa.Table.from_batches(pieces, arrow_schema(schema)).combine_chunks().to_batches()
    assert identical(joined[0], whole)


@pytest.mark.parametrize("seed", range(10))
def test_random_rows_are_the_same_in_pieces(seed: int) -> None:
    maker = TableMaker(seed)
    schema = maker.schema(columns=4)
    table = maker.rows(schema, 300)
    [whole] = table.combine_chunks().to_batches()
    batches = maker.other_form(table).to_batches()
    pieces = list(conform_batches(batches, schema, part_limit=200))
    assert len(pieces) >= len(batches)
    joined = pa.Table.from_batches(pieces, arrow_schema(schema)).combine_chunks().to_batches()
    assert identical(joined[0], whole)


def huge(values: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Return some values after one of 3 GiB, whose memory is never touched."""
    first = 3 * 2**30
    data = np.zeros(first + 1000, np.uint8)
    ends = [0, first]
    for value in values:
        ends.append(ends[-1] + len(value or b""))
        data[ends[-2] : ends[-1]] = list(value or b"")
    valid = pa.array([True] + [each is not None for each in values]).buffers()[1]
    buffers = [valid, pa.py_buffer(np.array(ends, np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(values) + 1, buffers)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("wrap", [lambda a: a, struct_of, map_of], ids=["plain", "struct", "map"])
def test_values_beyond_2_gib_of_one_array_are_written(
    kind: pa.DataType, wrap: Callable[[pa.Array], pa.Array]
) -> None:
    values: list[Any] = [b"abc", None, b"", "é".encode()]
    rows = pa.table({"a": wrap(huge(values, kind)).slice(1)})
    table = new(schema_from_arrow(rows.schema))
    table.append(rows)
    found = table.scan().to_arrow()["a"].to_pylist()
    shown = [v if v is None or pa.types.is_large_binary(kind) else v.decode() for v in values]
    assert found == pa.table({"a": wrap(pa.array(shown))})["a"].to_pylist()


def test_a_value_of_more_than_2_gib_is_refused() -> None:
    rows = pa.table({"a": huge([b"abc"], pa.large_binary())})
    table = new(schema_from_arrow(rows.schema))
    with pytest.raises(InvalidInputError, match="'a' has a value of 3221225472 bytes"):
        table.append(rows)
    assert table.scan().to_arrow().num_rows == 0


def _offsets(*numbers: int) -> pa.Buffer:
    return pa.py_buffer(np.array(numbers, np.int32))


def _lists(arrow: pa.DataType, *offsets: int) -> pa.Array:
    below = pa.array([1, 2, 3], pa.int32())
    if pa.types.is_map(arrow):
        below = pa.StructArray.from_arrays([pa.array(["a", "b", "c"]), below], ["key", "value"])
    ends = _offsets(*offsets)
    return pa.Array.from_buffers(arrow, len(offsets) - 1, [None, ends], children=[below])


def _texts(arrow: pa.DataType, *offsets: int) -> pa.Array:
    data = pa.py_buffer(b"abcdef")
    return pa.Array.from_buffers(arrow, len(offsets) - 1, [None, _offsets(*offsets), data])


def _picks(*indices: int) -> pa.Array:
    numbers = pa.array(indices, pa.int32())
    return pa.DictionaryArray.from_arrays(numbers, pa.array(["a"]), safe=False)


INTS, MAP = pa.list_(pa.int32()), pa.map_(pa.string(), pa.int32())

INVALID: dict[str, tuple[Callable[[], pa.Array], pa.DataType]] = {
    "lists that descend": (lambda: _lists(INTS, 0, 3, 2), INTS),
    "lists beyond their elements": (lambda: _lists(INTS, 0, 5, 2), INTS),
    "lists before their elements": (lambda: _lists(INTS, 0, -1, 2), INTS),
    "maps that descend": (lambda: _lists(MAP, 0, 3, 2), MAP),
    "text that descends": (lambda: _texts(pa.string(), 0, 5, 2), pa.string()),
    "bytes that descend": (lambda: _texts(pa.binary(), 0, 5, 2), pa.binary()),
    "bytes beyond their end": (lambda: _texts(pa.binary(), 0, 9, 2), pa.binary()),
    "an index beyond its values": (lambda: _picks(0, 7), pa.string()),
    "an index before its values": (lambda: _picks(0, -1), pa.string()),
}


@pytest.mark.parametrize("name", INVALID)
@pytest.mark.parametrize("nested", [False, True])
def test_arrays_whose_offsets_lead_nowhere_are_refused_and_not_stored(
    name: str, nested: bool
) -> None:
    """Such values once became unreadable rows, or ended the process."""
    make, arrow = INVALID[name]
    array = make()
    if nested:
        array = pa.StructArray.from_arrays([array], ["x"])
        arrow = pa.struct([("x", arrow)])
    schema = schema_from_arrow(pa.schema([("a", arrow)]))
    batch = pa.RecordBatch.from_arrays([array], ["a"])
    with pytest.raises(InvalidInputError, match="Column 'a' is not a valid Arrow array"):
        list(conform_batches([batch], schema))
