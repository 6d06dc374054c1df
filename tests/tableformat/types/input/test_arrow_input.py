"""Whatever has an Arrow interface is read as record batches, and all else is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.types.input.arrow_input import record_batches

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


class Stream:
    """Anything that offers a C stream, as polars does."""

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return TABLE.__arrow_c_stream__(schema)


class Array:
    """Anything that offers a C array."""

    def __arrow_c_array__(self, schema: object = None) -> object:
        return TABLE.to_batches()[0].__arrow_c_array__(schema)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TABLE,
        lambda: TABLE.to_batches()[0],
        lambda: TABLE.to_reader(max_chunksize=1),
        Stream,
        Array,
    ],
)
def test_every_kind_of_input_has_the_same_rows(make: Any) -> None:
    assert pa.Table.from_batches(record_batches(make())) == TABLE


@pytest.mark.parametrize("empty", [TABLE.slice(0, 0), TABLE.schema.empty_table().to_reader()])
def test_input_without_rows_still_tells_its_columns(empty: Any) -> None:
    batches = list(record_batches(empty))
    assert sum(batch.num_rows for batch in batches) == 0
    assert batches[0].schema == TABLE.schema


@pytest.mark.parametrize("wrong", ["text", None, 7, {1, 2}])
def test_an_object_without_an_arrow_interface_is_refused_by_its_type(wrong: object) -> None:
    with pytest.raises(InvalidInputError, match=f"type {type(wrong).__name__} offers no Arrow"):
        next(record_batches(wrong))


def test_an_error_of_the_reader_of_a_user_passes_through() -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise ZeroDivisionError("mine")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, failing())
    batches = record_batches(reader)
    assert next(batches).num_rows == 3
    with pytest.raises(ZeroDivisionError, match="mine"):
        next(batches)
