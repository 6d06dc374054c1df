"""Empty arrays with an uninitialised offset, as Spark 4.1 sends them, are made sound."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

from colonnade.spark_ext.source.empty_arrays import with_sound_arrays

GARBAGE = pa.py_buffer(struct.pack("<i", -189_153_672))


def unsound(data_type: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(data_type, 0, [None, GARBAGE, pa.py_buffer(b"")])


def empty_lists(child: pa.Array) -> pa.Array:
    offsets = pa.py_buffer(struct.pack("<3i", 0, 0, 0))
    field = pa.field("element", child.type)
    return pa.Array.from_buffers(pa.list_(field), 2, [None, offsets], children=[child])


def empty_maps(child: pa.Array) -> pa.Array:
    entries = pa.StructArray.from_arrays(
        [child, pa.array([], pa.int32())],
        fields=[pa.field("key", child.type, nullable=False), pa.field("value", pa.int32())],
    )
    offsets = pa.py_buffer(struct.pack("<3i", 0, 0, 0))
    map_type = pa.map_(entries.type.field(0), entries.type.field(1))
    validity = pa.py_buffer(b"\x01")
    return pa.Array.from_buffers(map_type, 2, [validity, offsets], children=[entries])


CASES = {
    "top": unsound(pa.string()),
    "binary": unsound(pa.binary()),
    "list": empty_lists(unsound(pa.string())),
    "list of lists": empty_lists(
        pa.Array.from_buffers(
            pa.list_(pa.string()), 0, [None, GARBAGE], children=[unsound(pa.string())]
        )
    ),
    "map": empty_maps(unsound(pa.string())),
    "struct": pa.StructArray.from_arrays(
        [pa.array([1, 2]), empty_lists(unsound(pa.string()))],
        ["x", "y"],
        mask=pa.array([False, True]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_unsound_empty_array_becomes_valid_and_keeps_its_values(name: str) -> None:
    batch = pa.record_batch({"c": CASES[name]})
    with pytest.raises(pa.ArrowInvalid, match="offset"):
        batch.validate(full=True)
    sound = with_sound_arrays(batch)
    sound.validate(full=True)
    assert sound.schema.equals(batch.schema, check_metadata=True)
    assert [row["c"] for row in sound.to_pylist()] == {
        "list": [[], []],
        "list of lists": [[], []],
        "map": [[], None],
        "struct": [{"x": 1, "y": []}, None],
    }.get(name, [])


def test_a_sound_batch_is_not_copied() -> None:
    batch = pa.record_batch({"s": ["a", None], "l": [["x"], []], "n": [{"a": 1}, None]})
    assert with_sound_arrays(batch) is batch
