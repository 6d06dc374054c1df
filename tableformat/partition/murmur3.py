"""Murmur3 for x86, 32 bits, seed 0, of many values at once: the hash of `bucket`.

Spec: docs/spec/partitions.md#bucket
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Hashes = NDArray[np.uint32]

_C1 = np.uint32(0xCC9E2D51)
_C2 = np.uint32(0x1B873593)


def hash_integers(values: NDArray[np.int64]) -> Hashes:
    """Hash each integer as its 8 bytes, little-endian."""
    words = np.ascontiguousarray(values, "<i8").view("<u4").reshape(-1, 2)
    found: Hashes = np.zeros(len(words), np.uint32)
    for word in (words[:, 0], words[:, 1]):
        found = _with_word(found, word)
    return _finished(found, np.full(len(words), 8, np.uint32))


def hash_bytes(array: pa.Array) -> Hashes:
    """Hash each value of a binary array by its bytes. Requires that none is NULL."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset :][: len(array) + 1]
    starts, lengths = offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64)
    # A word may be read beyond the end of its value. The excess bytes are masked.
    data = np.frombuffer((array.buffers()[2] or pa.py_buffer(b"")).to_pybytes() + b"\0" * 4, "u1")
    found = np.zeros(len(array), np.uint32)
    # With the longest values first, the values that still have a word are always a prefix.
    order = np.argsort(-lengths, kind="stable")
    counts = lengths[order] // 4
    for word in range(int(counts[0]) if len(counts) else 0):
        rows = order[: int(np.searchsorted(-counts, -word, side="left"))]
        found[rows] = _with_word(found[rows], _words(data, starts[rows] + 4 * word))
    rest = lengths % 4
    tail = _words(data, starts + lengths - rest) & ((np.uint32(1) << (8 * rest).astype("u4")) - 1)
    found ^= _mixed(tail.astype(np.uint32))
    return _finished(found, lengths.astype(np.uint32))


def _words(data: NDArray[np.uint8], places: NDArray[np.int64]) -> Hashes:
    """Return the four bytes at each position as a little-endian number."""
    found = np.zeros(len(places), np.uint32)
    for byte in range(4):
        found |= data[places + byte].astype(np.uint32) << np.uint32(8 * byte)
    return found


def _with_word(found: Hashes, word: Hashes) -> Hashes:
    return _rotated(found ^ _mixed(word), 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _mixed(word: Hashes) -> Hashes:
    return _rotated(word * _C1, 15) * _C2


def _rotated(values: Hashes, bits: int) -> Hashes:
    return (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))


def _finished(found: Hashes, lengths: Hashes) -> Hashes:
    found = found ^ lengths
    found = (found ^ (found >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    found = (found ^ (found >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return found ^ (found >> np.uint32(16))
