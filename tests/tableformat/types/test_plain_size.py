"""Rows are divided by the size of their plain form."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.types.conform import conform, conform_batches
from colonnade.tableformat.types.plain_size import largest_part
from tests.large_tables import TableMaker
from tests.strategies import identical
from tests.tableformat.types.nested import map_of, struct_of

LIMIT = 5000
TEXTS = [None if i % 9 == 0 else "é" * (i % 300) for i in range(400)]
LISTS = [None if i % 7 == 0 else [f"{i}"] * (i % 60) for i in range(400)]


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
