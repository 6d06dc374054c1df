"""Arrays whose offsets lead nowhere are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.conform import conform_batches


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
