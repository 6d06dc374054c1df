"""Build and query Bloom filters, which say whether a block may hold a value.

A filter may say yes wrongly, but never no. It is Parquet's split-block filter over XXH64 of the
stored values. Its `32 * z` bytes are z buckets of eight little-endian 32-bit words. A value sets
one bit in each word of one bucket.

    hash     63 ........ 32 | 31 .......... 0
                          picks a bucket | picks eight bits in it, each with its own salt

Spec: docs/spec/rowset.md#bloom-filters
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh64_intdigest

from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.rowset.column import Order, StoredColumn
from colonnade.tableformat.rowset.encodings.integers import as_integers

Hashes = NDArray[np.uint64]

BUCKET_BYTES = 32

FILTER_LIMIT = 64 * 2**20
"""The most bytes of a filter."""

BITS_PER_VALUE = 10
"""The bits for each distinct value. With ten bits, about one answer in a hundred is wrong."""

_SALTS = np.array(
    [
        0x47B6137B,
        0x44974D91,
        0x8824AD5B,
        0xA2B7289D,
        0x705495C7,
        0x2DF1424B,
        0x9EFC4947,
        0x5C6BFB31,
    ],
    np.uint32,
)

_PRIME_1, _PRIME_2, _PRIME_3, _PRIME_4, _PRIME_5 = np.array(
    [
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    ],
    np.uint64,
)


def encode_filter(array: pa.Array, column: StoredColumn) -> bytes:
    """Return the filter of some rows of a column, sized for about 1 % wrong answers.

    NULL and NaN are not in the filter, because the index counts them. Requires rows in the column's
    storage type, and a type that has filters (`manifests/model/columns/bloom.py`).
    """
    hashes = np.unique(hash_rows(array, column))
    bucket_count = max(1, -(-BITS_PER_VALUE * len(hashes) // (8 * BUCKET_BYTES)))
    bits = np.zeros(8 * BUCKET_BYTES * bucket_count, np.bool_)
    buckets, places = _places(hashes, bucket_count)
    for word in range(8):
        bits[8 * BUCKET_BYTES * buckets + 32 * word + places[word]] = True
    return np.packbits(bits, bitorder="little").tobytes()


def is_filter_length(length: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which lengths are valid; a block without a filter has length 0."""
    fits = (length >= 0) & (length <= FILTER_LIMIT) & (length % BUCKET_BYTES == 0)
    return np.asarray(fits)


def members(data: bytes | memoryview, hashes: Hashes) -> NDArray[np.bool_]:
    """Return which hashes may be in a filter. Requires a positive multiple of 32 bytes."""
    words = np.frombuffer(data, "<u4").reshape(-1, 8)
    buckets, places = _places(hashes, len(words))
    found = words[buckets].T >> places & 1
    return np.asarray(found.all(axis=0))


def _places(hashes: Hashes, bucket_count: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the bucket of each hash, and the bit that it sets in each of the eight words."""
    buckets = (hashes >> np.uint64(32)) * np.uint64(bucket_count) >> np.uint64(32)
    places = hashes.astype(np.uint32) * _SALTS[:, None] >> np.uint32(27)
    return buckets.astype(np.int64), places


def hash_values(values: Sequence[Bound]) -> Hashes:
    """Return the hashes of values in the storage form of predicates. Requires that none is NaN."""
    return np.array([xxh64_intdigest(_bytes_of(value)) for value in values], np.uint64)


def _bytes_of(value: Bound) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    if isinstance(value, float):
        return struct.pack("<d", value + 0.0)  # -0.0 becomes 0.0
    width = 8 if -(2**63) <= value < 2**63 else 16
    return value.to_bytes(width, "little", signed=True)


def hash_rows(array: pa.Array, column: StoredColumn) -> Hashes:
    """Return the hashes of all rows except NULL and NaN, equal to those of `hash_values`.

    Numbers are hashed all at once, about ten times as fast as one at a time.
    """
    if array.null_count:
        array = array.drop_null()
    match column.order:
        case Order.INTEGER:
            integers = np.asarray(as_integers(array)).astype(np.int64)
            return _hash_words(integers.view(np.uint64))
        case Order.FLOAT:
            floats = np.asarray(array)
            return _hash_words((floats[~np.isnan(floats)].astype(np.float64) + 0.0).view(np.uint64))
        case Order.DECIMAL:
            return _hash_decimals(array)
        case _:
            values = array.cast(pa.binary()).to_pylist()
            return np.fromiter(map(xxh64_intdigest, values), np.uint64, len(values))


def _hash_decimals(array: pa.Array) -> Hashes:
    if not len(array):
        return np.zeros(0, np.uint64)
    words = np.frombuffer(array.buffers()[1], np.int64)
    low, high = words[2 * array.offset :][: 2 * len(array)].reshape(-1, 2).T
    unsigned = low.view(np.uint64), high.view(np.uint64)
    return np.asarray(np.where(low >> 63 == high, _hash_words(unsigned[0]), _hash_words(*unsigned)))


def _hash_words(*words: NDArray[np.uint64]) -> Hashes:
    """Return the XXH64 of values that each have the same number of 64-bit words, at most three."""
    hashes: Hashes = np.full(len(words[0]), _PRIME_5 + np.uint64(8 * len(words)))
    for word in words:
        hashes ^= _rotated(word * _PRIME_2, 31) * _PRIME_1
        hashes = _rotated(hashes, 27) * _PRIME_1 + _PRIME_4
    hashes = (hashes ^ hashes >> np.uint64(33)) * _PRIME_2
    hashes = (hashes ^ hashes >> np.uint64(29)) * _PRIME_3
    return hashes ^ hashes >> np.uint64(32)


def _rotated(values: NDArray[np.uint64], count: int) -> NDArray[np.uint64]:
    return values << np.uint64(count) | values >> np.uint64(64 - count)
