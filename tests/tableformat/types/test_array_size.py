"""The size of an array counts exactly its rows, and the bitmaps of NULL structs."""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.types.array_size import array_bytes


def test_a_slice_counts_its_own_rows() -> None:
    numbers = pa.array(range(1000), pa.int64())
    assert array_bytes(numbers) == 8000
    assert array_bytes(numbers.slice(10, 5)) == 40


def test_structs_that_are_null_count_a_bit_each_at_every_depth() -> None:
    inner = pa.StructArray.from_arrays(
        [pa.array([1] * 16, pa.int64())], ["n"], mask=pa.array([True] + [False] * 15)
    )
    outer = pa.StructArray.from_arrays([inner], ["s"], mask=pa.array([False] * 15 + [True]))
    plain = pa.StructArray.from_arrays([pa.array([1] * 16, pa.int64())], ["n"])
    assert array_bytes(plain) == 128
    assert array_bytes(inner) == 128 + 2
    assert array_bytes(outer) == 128 + 2 + 2


def test_lists_of_structs_count_the_structs_of_their_rows() -> None:
    structs = pa.array([[{"n": 1}, None], [], [{"n": 2}] * 6], pa.list_(pa.struct([("n", "int8")])))
    last = structs.slice(2)
    assert array_bytes(last) == array_bytes(pa.array([[{"n": 2}] * 6], structs.type))
