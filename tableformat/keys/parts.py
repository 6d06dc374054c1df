"""Divide rows into parts by a hash of their keys, so that equal keys are in one part. Pure.

The keys of a large write do not fit into memory, and are compared part by part.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
        return [_text_hashes(column)]
    width = column.type.bit_width // 8
    values = np.frombuffer(buffers[1], np.uint8)[column.offset * width :][: len(column) * width]
    if width == 16:
        low, high = values.view(np.uint64).reshape(-1, 2).T
        return [low, high]
    return [values.view(f"u{width}").astype(np.uint64)]


def _text_hashes(column: pa.Array) -> Words:
    """Return a polynomial hash of the bytes of each value, and of their number."""
    offset_type = np.int64 if pa.types.is_large_string(column.type) else np.int32
    ends = np.frombuffer(column.buffers()[1], offset_type)[column.offset :][: len(column) + 1]
    ends = ends.astype(np.int64)
    lengths = np.diff(ends)
    hashes = lengths.astype(np.uint64)
    filled = np.flatnonzero(lengths)
    if not len(filled):
        return hashes
    data = np.frombuffer(column.buffers()[2], np.uint8)[ends[0] : ends[-1]].astype(np.uint64)
    starts = ends[:-1] - ends[0]
    places = np.arange(len(data)) - np.repeat(starts, lengths)
    powers = np.cumprod(np.full(int(lengths.max()), _FACTORS[0], np.uint64))
    hashes[filled] += np.add.reduceat((data + np.uint64(1)) * powers[places], starts[filled])
    return hashes
