"""Deletion vectors say of any stretch of rows which are still there."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError, InvalidInputError
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    decode_deletion_vector,
    encode_deletion_vector,
    hold_deletion_vector,
    read_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.store import MemoryStore
from tests.examples_of import examples

JOB = "0123456789abcdef"
ROWS = st.frozensets(st.one_of(st.integers(0, 300), st.integers(65_400, 65_700)), min_size=1)


@settings(max_examples=examples(150), deadline=None)
@given(ROWS, st.integers(0, 65_800), st.integers(0, 400))
def test_masks_agree_with_a_set_of_rows(rows: frozenset[int], first: int, count: int) -> None:
    store = MemoryStore()
    vector = DeletionVector.of(rows)
    entry = write_deletion_vector(store, "t/", JOB, vector)
    found = read_deletion_vector(store, "t/", entry, 65_800)
    assert found == vector
    assert entry.cardinality == found.cardinality == len(rows)
    expected = [row not in rows for row in range(first, first + count)]
    assert found.keep_mask(first, count).tolist() == expected
    assert found.count_between(first, count) == expected.count(False)
    gone = [row for row, live in enumerate(expected) if not live]
    assert found.numbers_between(first, count).tolist() == gone


def test_large_vectors_are_objects_and_small_ones_are_in_the_log() -> None:
    store = MemoryStore()
    small = write_deletion_vector(store, "t/", JOB, DeletionVector.of(range(100_000)))
    assert small.data is not None
    assert not list(store.list(""))
    large = write_deletion_vector(store, "t/", JOB, DeletionVector.of(range(0, 100_000, 2)))
    assert large.data is None
    assert [each.name for each in store.list("")] == [f"t/{large.object}.dv"]
    assert read_deletion_vector(store, "t/", large, 100_000).cardinality == 50_000


def test_the_last_row_of_the_largest_rowset_can_be_deleted() -> None:
    vector = DeletionVector.of([2**32 - 1])
    assert vector.keep_mask(2**32 - 2, 2).tolist() == [True, False]


def test_bytes_are_portable_roaring() -> None:
    data = encode_deletion_vector(DeletionVector.of([1, 2, 9]))
    # Cookie, one container, its key and cardinality - 1, its offset, its values.
    assert data == struct.pack("<IIHHIHHH", 12346, 1, 0, 2, 16, 1, 2, 9)


@pytest.mark.parametrize("data", [b"", b"\0\0\0", b"no bitmap"])
def test_bytes_that_are_no_bitmap_are_named_even_when_their_checksum_holds(data: bytes) -> None:
    entry = hold_deletion_vector(JOB, DeletionVector.of([1, 2, 9]))
    wrong = entry.model_copy(update={"check": byte_check(data)})
    with pytest.raises(CorruptionError, match=r"^v is not a Roaring bitmap\.$"):
        decode_deletion_vector(data, wrong, 10, "v")


def test_an_empty_vector_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least one row"):
        write_deletion_vector(MemoryStore(), "t/", JOB, DeletionVector.of([]))
