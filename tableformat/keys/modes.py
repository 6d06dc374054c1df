"""Merge modes: how the values that the rows of one key have in a column become one value. Pure.

A mode receives the values of many keys at once. The values of a key are next to each other, and in
the order in which they count. `starts` has the first position of each key. So a mode is one pass
over arrays.
Spec: docs/spec/keys.md#merge-modes
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, decimal_digits
from colonnade.tableformat.keys.ranks import distinct_codes, ranks
from colonnade.tableformat.types.chosen_rows import chosen_rows
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.storage_form import map_entries, relabel

Starts = NDArray[np.int64]
"""The position of the first value of each key. Each key has at least one value."""

_MOST_BYTES = 2**31 - 1
"""The most bytes of text in an array."""

Named = Callable[[int], str]
"""Describes the key of a number, for an error: `id = 7`."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A merge mode. `concat` puts the `separator` between texts."""

    name: str = "replace"
    separator: str = ""

    @property
    def takes_sides(self) -> bool:
        """Whether newer values win over older ones; the other modes count each value once."""
        return self.name in ("replace", "coalesce", "map")

    @property
    def changes_alone(self) -> bool:
        """Whether even a value that meets no other one may change."""
        return self.name in ("map", "union")


REPLACE = Mode()


def merged(
    mode: Mode, values: pa.Array, starts: Starts, field: SchemaField, named: Named
) -> pa.Array:
    """Return one value for each key, of the same Arrow type as `values`.

    Requires a mode that `fits` the column, and values that conform to it. Raises InvalidInputError
    that names column and key when a sum leaves the range of the type.
    """
    if not len(starts):
        return values.slice(0, 0)
    match mode.name:
        case "replace":
            return chosen_rows(values, _ends(values, starts) - 1)
        case "coalesce" | "first":
            return _taken(values, _valid(values, starts, last=mode.name == "coalesce"))
        case "min" | "max":
            return _taken(values, _extreme(values, starts, greatest=mode.name == "max"))
        case "add":
            return _sums(values, starts, field, named)
        case "list":
            return _lists(values, starts)
        case "union":
            return _unions(values, starts)
        case "map":
            return _maps(values, starts)
        case "concat":
            return _texts(values, starts, mode.separator, field, named)
    raise AssertionError(f"unknown mode {mode.name}")


def is_ordered(field: SchemaField) -> bool:
    """Return whether values of a column compare as their stored values do."""
    text = field.type
    return isinstance(text, str) and text not in ("variant", "void") and " collate " not in text


def fits(mode: str, field: SchemaField) -> bool:
    """Return whether a column can have a mode."""
    match mode:
        case "replace" | "coalesce" | "first":
            return True
        case "min" | "max":
            return is_ordered(field)
        case "add":
            text = str(field.type)
            numbers = ("byte", "short", "int", "long", "float", "double")
            return text in numbers or decimal_digits(text) is not None
        case "concat":
            return str(field.type).startswith(("string", "varchar("))
        case "list":
            return isinstance(field.type, ArrayType)
        case "union":
            return isinstance(field.type, ArrayType) and is_ordered(field.type.element)
        case "map":
            return isinstance(field.type, MapType) and is_ordered(field.type.key)
    return False


NAMES = ("replace", "coalesce", "add", "min", "max", "first", "list", "union", "map", "concat")
"""The modes that a column may have."""


def _ends(values: pa.Array, starts: Starts) -> Starts:
    return np.append(starts[1:], len(values))


def _owners(values: pa.Array, starts: Starts) -> Starts:
    """Return the number of the key that each value belongs to."""
    return np.repeat(np.arange(len(starts)), _ends(values, starts) - starts)


def _taken(values: pa.Array, at: pa.Array) -> pa.Array:
    """Return the values at some positions; NULL has no position."""
    return values.take(at) if at.null_count else chosen_rows(values, np.asarray(at))


def _is_valid(values: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def _valid(values: pa.Array, starts: Starts, *, last: bool) -> pa.Array:
    """Return the position of the last, or first, value of each key that is not NULL."""
    valid, nowhere = _is_valid(values), -1 if last else len(values)
    at = np.where(valid, np.arange(len(values)), nowhere)
    found = (np.maximum if last else np.minimum).reduceat(at, starts)
    return pa.array(found, mask=found == nowhere)


def _extreme(values: pa.Array, starts: Starts, *, greatest: bool) -> pa.Array:
    """Return the position of the least, or greatest, value of each key; of equals the first."""
    valid = _is_valid(values)
    known = np.where(valid, ranks(values), -1 if greatest else len(values) + 1)
    best = (np.maximum if greatest else np.minimum).reduceat(known, starts)
    is_best = valid & (known == best[_owners(values, starts)])
    at = np.minimum.reduceat(np.where(is_best, np.arange(len(values)), len(values)), starts)
    return pa.array(at, mask=at == len(values))


def _sums(values: pa.Array, starts: Starts, field: SchemaField, named: Named) -> pa.Array:
    known = np.add.reduceat(_is_valid(values).astype(np.int64), starts) > 0
    if pa.types.is_decimal(values.type):
        sums, too_large = _decimal_sums(values, starts)
    elif pa.types.is_floating(values.type):
        sums, too_large = _float_sums(values, starts), np.zeros(len(starts), np.bool_)
    else:
        sums, too_large = _whole_sums(values, starts)
    if too_large.any():
        raise InvalidInputError(
            f"Column {field.name!r} has the merge mode add, and its sum for the key"
            f" {named(int(np.flatnonzero(too_large)[0]))} does not fit into {field.type}; no row"
            " was written."
        )
    return pc.if_else(pa.array(known), sums.cast(values.type), pa.scalar(None, values.type))


def _whole_sums(values: pa.Array, starts: Starts) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Return exact sums, and which of them the type cannot hold."""
    numbers = np.asarray(values.fill_null(0).cast(pa.int64()).to_numpy(), np.int64)
    # Both halves have sums of less than 64 bits for as many values as an array can have.
    low = np.add.reduceat(numbers & 0xFFFF_FFFF, starts)
    high = np.add.reduceat(numbers >> 32, starts) + (low >> 32)
    wide = (high < -(2**31)) | (high >= 2**31)
    sums = np.where(wide, 0, (high << 32) | (low & 0xFFFF_FFFF))
    half = 2 ** (values.type.bit_width - 1)
    wide |= (sums < -half) | (sums > half - 1)
    return pa.array(np.where(wide, 0, sums)), wide


def _decimal_sums(values: pa.Array, starts: Starts) -> tuple[pa.Array, NDArray[np.bool_]]:
    wide_type = pa.decimal256(76, values.type.scale)
    columns = {"key": _owners(values, starts), "value": values.cast(wide_type).fill_null(0)}
    sums = pa.table(columns).group_by("key", use_threads=False).aggregate([("value", "sum")])
    totals = sums["value_sum"].combine_chunks()
    limit = _largest(values.type)
    large = pc.or_(pc.greater(totals, limit), pc.less(totals, pc.negate(limit)))
    mask = np.asarray(large.to_numpy(zero_copy_only=False), np.bool_)
    return pc.if_else(large, pa.scalar(0, wide_type), totals), mask


def _largest(decimal: pa.DataType) -> pa.Scalar:
    digits = "9" * decimal.precision
    at = len(digits) - decimal.scale
    return pa.scalar(f"{digits[:at] or '0'}.{digits[at:]}").cast(pa.decimal256(76, decimal.scale))


def _float_sums(values: pa.Array, starts: Starts) -> pa.Array:
    """Return sums in double precision. NULL counts as -0.0, which changes no sum."""
    plain = values.fill_null(-0.0).to_numpy(zero_copy_only=False).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.add.reduceat(plain, starts)
        return pa.array(sums.astype(values.type.to_pandas_dtype()))


def _rows_of_list(lists: pa.Array) -> Starts:
    """Return for each element of the lists the row that it is in."""
    lengths = np.asarray(lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    return np.repeat(np.arange(len(lists)), lengths)


def _joined(
    lists: pa.Array, starts: Starts, elements: pa.Array, owners: Starts, arrow: pa.DataType
) -> pa.Array:
    """Return one list of elements for each key; NULL where the key has NULL alone.

    `owners` has the key of each element, in order.
    """
    offsets = np.searchsorted(owners, np.arange(len(starts) + 1))
    missing = _valid(lists, starts, last=False).is_null()
    # A list that is made NULL later would copy all elements, which may be huge.
    plain = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), elements, mask=missing)
    return relabel(plain, arrow)


def _lists(values: pa.Array, starts: Starts) -> pa.Array:
    owners = _owners(values, starts)[_rows_of_list(values)]
    return _joined(values, starts, values.flatten(), owners, values.type)


def _unions(values: pa.Array, starts: Starts) -> pa.Array:
    owners, elements = _owners(values, starts)[_rows_of_list(values)], values.flatten()
    kept = _firsts(owners, distinct_codes(elements))
    return _joined(values, starts, elements.take(pa.array(kept)), owners[kept], values.type)


def _maps(values: pa.Array, starts: Starts) -> pa.Array:
    """Return the newest entry of each map key, without those whose value is NULL."""
    lists = map_entries(values)
    owners, entries = _owners(values, starts)[_rows_of_list(lists)], lists.flatten()
    keys, items = entries.flatten()
    kept = np.sort(len(entries) - 1 - _firsts(owners[::-1], distinct_codes(keys)[::-1]))
    kept = kept[_is_valid(items)[kept]]
    joined = _joined(lists, starts, entries.take(pa.array(kept)), owners[kept], lists.type)
    return relabel(joined, values.type)


def _firsts(owners: Starts, codes: Starts) -> Starts:
    """Return the first position of each distinct pair of key and code, in order."""
    pairs = owners * (int(codes.max(initial=0)) + 1) + codes
    return np.sort(np.unique(pairs, return_index=True)[1])


def _texts(
    values: pa.Array, starts: Starts, separator: str, field: SchemaField, named: Named
) -> pa.Array:
    if len(starts) == len(values):  # no text meets another one
        return values
    valid = _is_valid(values)
    owners = _owners(values, starts)[valid]
    texts = values.drop_null()
    if texts.nbytes + len(texts) * len(separator.encode()) > _MOST_BYTES:
        longest = int(np.argmax(np.bincount(owners, pc.binary_length(texts).to_numpy())))
        raise InvalidInputError(
            f"Column {field.name!r} has the merge mode concat, and its text for the key"
            f" {named(longest)} would take more than 2 GiB; no row was written."
        )
    plain: Any = _joined(values, starts, texts, owners, pa.list_(values.type))
    return pc.binary_join(plain, separator)
