"""Hashes of whole arrays equal the hash of each value, computed byte by byte."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from colonnade.tableformat.partition.murmur3 import hash_bytes, hash_integers

MASK = 2**32 - 1


def murmur3(data: bytes) -> int:
    """Murmur3 for x86 with 32 bits and seed 0, as its author describes it, for one value."""

    def mixed(word: int) -> int:
        word = word * 0xCC9E2D51 & MASK
        return ((word << 15 | word >> 17) & MASK) * 0x1B873593 & MASK

    found, whole = 0, len(data) - len(data) % 4
    for at in range(0, whole, 4):
        found ^= mixed(int.from_bytes(data[at : at + 4], "little"))
        found = (((found << 13 | found >> 19) & MASK) * 5 + 0xE6546B64) & MASK
    found ^= mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    found = (found ^ found >> 16) * 0x85EBCA6B & MASK
    found = (found ^ found >> 13) * 0xC2B2AE35 & MASK
    return found ^ found >> 16


def test_known_hashes_of_other_implementations() -> None:
    texts = pa.array([b"", b"foo", b"iceberg", bytes(range(4))])
    assert hash_bytes(texts).tolist() == [0, 4138058784, 1210000089, -188683207 & MASK]
    assert hash_integers(np.array([34])).tolist() == [2017239379]


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_an_integer_is_hashed_as_its_eight_bytes(values: list[int]) -> None:
    expected = [murmur3(value.to_bytes(8, "little", signed=True)) for value in values]
    assert hash_integers(np.array(values, np.int64)).tolist() == expected


@given(st.lists(st.binary(max_size=40)), st.integers(0, 3))
def test_texts_of_every_length_are_hashed_alike_whole_and_in_a_slice(
    values: list[bytes], skipped: int
) -> None:
    whole = pa.array([b"before"] * skipped + values, pa.binary())
    assert hash_bytes(whole.slice(skipped)).tolist() == [murmur3(value) for value in values]
