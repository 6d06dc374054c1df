"""Decimals as arrays of integers, and back. 12.50 of `decimal(9,2)` is 1250.

Integers of at most 18 digits are computed by numpy, and others by Python, so that no digit is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError

Integers = NDArray[Any]
"""Integers of 64 bits, or Python's in an array of objects."""

SAFE_DIGITS = 18
"""The most digits whose integers have 64 bits."""

_LOW = 2**64 - 1


def integers_of(array: pa.Array) -> Integers:
    """Return the integers that store decimals or whole numbers; 0 for NULL."""
    if not pa.types.is_decimal(array.type):
        filled = array.cast(pa.int64()).fill_null(0)
        return np.asarray(filled.to_numpy(zero_copy_only=False))
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)
    low, high = words[array.offset : array.offset + len(array)].T
    if array.type.precision <= SAFE_DIGITS:
        found: Integers = low.copy()
    else:
        found = high.astype(object) * 2**64 + low.view(np.uint64).astype(object)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return found


def decimals_of(
    numbers: Integers, valid: NDArray[np.bool_], precision: int, scale: int
) -> pa.Array:
    """Return decimals of these integers, NULL where they are not valid.

    Raises InvalidInputError for a valid integer with more digits than the type.
    """
    numbers = np.where(valid, numbers, 0)
    if len(numbers) and (np.abs(numbers) >= 10**precision).any():
        raise InvalidInputError(
            f"A result has more digits than its type decimal({precision},{scale}) holds."
        )
    words = np.empty((len(numbers), 2), np.uint64)
    words[:, 0] = (numbers & _LOW).astype(np.uint64) if numbers.dtype == object else numbers
    words[:, 1] = (
        (numbers >> 64 & _LOW).astype(np.uint64) if numbers.dtype == object else (numbers >> 63)
    )
    buffers = [pa.array(valid).buffers()[1], pa.py_buffer(words)]
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(numbers), buffers)


def as_objects(numbers: Integers) -> Integers:
    """Return integers of any size."""
    return numbers if numbers.dtype == object else numbers.astype(object)


def rescaled(numbers: Integers, places: int) -> Integers:
    """Multiply integers by a power of ten, or divide them by one and round half away from zero."""
    if places >= 0:
        return as_objects(numbers) * 10**places if places else numbers
    return divided(as_objects(numbers), 10**-places)


def divided(numerators: Integers, denominators: Any) -> Integers:
    """Divide integers, and round half away from zero. Requires positive denominators."""
    halves = 2 * np.abs(numerators) + denominators
    found: Integers = np.sign(numerators) * (halves // (2 * denominators))
    return found


def truncated(numerators: Integers, denominators: Any) -> Integers:
    """Divide integers towards zero. Requires denominators that are not zero."""
    signs = np.sign(numerators) * np.sign(denominators)
    found: Integers = signs * (np.abs(numerators) // np.abs(denominators))
    return found
