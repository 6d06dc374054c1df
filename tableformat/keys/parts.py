"""Divide rows into parts by a hash of their keys, so that equal keys are in one part. Pure.

The keys of a large write do not fit into memory, and are compared part by part.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh64_intdigest

Words = NDArray[np.uint64]

PART_ROWS = 2**21
"""The approximate number of keys that are compared at once."""

_FACTORS = np.array([0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], np.uint64)
_SHIFT = np.uint64(33)


def part_count(rows: int) -> int:
    """Return how many parts rows are divided into."""
    return max(1, -(-rows // PART_ROWS))


def part_of(keys: pa.RecordBatch, parts: int) -> NDArray[np.int64]:
    """Return the part of each row, from 0 to `parts` - 1. Requires columns without NULL."""
    return np.asarray(key_hashes(keys) % np.uint64(parts), np.int64)


def key_hashes(keys: pa.RecordBatch) -> Words:
    """Return a hash of each row's key. Requires columns without NULL.

    Equal keys have equal hashes, and -0.0 is 0.0. Different keys nearly always differ.
    """
    hashes = np.zeros(keys.num_rows, np.uint64)
    for column in keys.columns:
        for words in _words(column):
            hashes = _mixed(hashes ^ words)
    return hashes


def _mixed(words: Words) -> Words:
    """Return other words: each bit depends on all bits of the given word (MurmurHash3)."""
    for factor in _FACTORS:
        words = (words ^ words >> _SHIFT) * factor
    return words ^ words >> _SHIFT


def _words(column: pa.Array) -> list[Words]:
    """Return one or two numbers for each value. Different values differ in one of them.

    The number of a text is a hash. Hashes of different texts nearly always differ.
    """
    if pa.types.is_floating(column.type):
        column = pa.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False) + 0.0)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    buffers = column.buffers()
    if len(buffers) == 3:
        texts = column.cast(pa.large_binary()).to_pylist()
        return [np.fromiter(map(xxh64_intdigest, texts), np.uint64, len(texts))]
    width = column.type.bit_width // 8
    values = np.frombuffer(buffers[1], np.uint8)[column.offset * width :][: len(column) * width]
    if width == 16:
        low, high = values.view(np.uint64).reshape(-1, 2).T
        return [low, high]
    return [values.view(f"u{width}").astype(np.uint64)]
