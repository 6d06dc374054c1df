"""Arrays of numbers and of bounds in JSON. NumPy parses a million of them at once.

    {"type":"const","base":"7"}                  every element is 7
    {"type":"u16","base":"-40","data":"..."}     element = base + unsigned little-endian number
    {"type":"i64","data":"..."}                  signed 64-bit little-endian numbers
    {"type":"f64","data":"..."}                  IEEE doubles, little-endian
    {"type":"texts","values":["s:a",null]}      bounds as `statistics.py` writes them

`data` is base64. A writer chooses the narrowest type that fits. A reader accepts any type.
Spec: docs/spec/checkpoint.md#arrays
"""

from __future__ import annotations

import binascii
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_WIDTHS = (("u8", "<u1"), ("u16", "<u2"), ("u32", "<u4"))
_DTYPES = dict((*_WIDTHS, ("i64", "<i8"), ("f64", "<f8")))


class FloatArray(Model):
    """An array of doubles."""

    type: Literal["f64"] = "f64"
    data: str


class TextArray(Model):
    """An array of bounds of any kind, each written as a text with a prefix."""

    type: Literal["texts"] = "texts"
    values: tuple[str | None, ...]


StoredBounds = Annotated[IntegerArray | FloatArray | TextArray, Field(discriminator="type")]


def encode_integers(values: Integers) -> IntegerArray:
    """Write integers. Requires: at least one."""
    low, high = int(values.min()), int(values.max())
    if low == high:
        return IntegerArray(type="const", base=str(low))
    for (name, dtype), bits in zip(_WIDTHS, (8, 16, 32), strict=True):
        if high - low < 2**bits:
            data = _encode_bytes((values - low).astype(dtype).tobytes())
            return IntegerArray.model_construct(type=name, base=str(low), data=data)
    return IntegerArray(type="i64", data=_encode_bytes(values.astype("<i8").tobytes()))


def decode_integers(array: IntegerArray, count: int, name: str) -> Integers:
    """Read `count` integers of the object `name`. Raises CorruptionError."""
    base = int(array.base)
    if not -(2**63) <= base < 2**63 or (array.type == "i64" and base):
        raise CorruptionError(f"{name} is malformed: {array.base} is not a valid base of an array.")
    if array.type == "const":
        return np.broadcast_to(np.int64(base), (count,))
    values = _decode_array(array.type, array.data, count, name).astype(np.int64)
    if base and base + int(values.max(initial=0)) >= 2**63:
        raise CorruptionError(f"{name} is malformed: an array holds numbers of more than 64 bits.")
    return values + base


def decode_between(array: IntegerArray, limits: tuple[int, int], count: int, name: str) -> Integers:
    """Decode integers, and raise CorruptionError if one is outside of `limits`, ends included."""
    values = decode_integers(array, count, name)
    low, high = limits
    if int(values.min()) < low or int(values.max()) > high:
        raise CorruptionError(f"{name} is malformed: not all values are between {low} and {high}.")
    return values


def encode_floats(values: Floats) -> FloatArray:
    """Write doubles without changing a bit."""
    return FloatArray(data=_encode_bytes(values.astype("<f8").tobytes()))


def decode_floats(array: FloatArray, count: int, name: str) -> Floats:
    """Read `count` doubles of the object `name`. Raises CorruptionError, also for NaN."""
    values = _decode_array("f64", array.data, count, name).astype(np.float64)
    if np.isnan(values).any():
        raise CorruptionError(f"{name} is malformed: a bound is not a number.")
    return values


def encode_objects(objects: NDArray[np.uint8]) -> str:
    """Write object ids, given as rows of 16 bytes."""
    return _encode_bytes(objects.tobytes())


def decode_objects(text: str, count: int, name: str) -> NDArray[np.uint8]:
    """Read `count` object ids as rows of 16 bytes. Raises CorruptionError."""
    data = _decode_bytes(text, name)
    if len(data) != 16 * count:
        raise CorruptionError(f"{name} is malformed: {count} object ids have {len(data)} bytes.")
    return np.frombuffer(data, np.uint8).reshape(count, 16)


def _decode_array(type_name: str, text: str, count: int, name: str) -> NDArray[Any]:
    data = _decode_bytes(text, name)
    dtype = np.dtype(_DTYPES[type_name])
    if len(data) != count * dtype.itemsize:
        raise CorruptionError(f"{name} is malformed: an array of {count} has {len(data)} bytes.")
    return np.frombuffer(data, dtype)


def _encode_bytes(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _decode_bytes(text: str, name: str) -> bytes:
    try:
        return binascii.a2b_base64(text)
    except (ValueError, binascii.Error) as error:
        raise CorruptionError(f"{name} is malformed: an array is not in base64.") from error
