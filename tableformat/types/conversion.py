"""Convert Arrow data in any physical form to the one form that Colonnade uses, without loss.

The types alone decide whether a conversion is allowed, with three exceptions. The values decide for
uint64 to long, for decimals that lose digits, and for times and durations finer than the table's.
Spec: docs/spec/types.md#what-may-be-written
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.columns.widening import widens
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    decimal_digits,
)
from colonnade.tableformat.types.arrow_types import (
    VARIANT_FIELDS,
    arrow_type,
    base_type,
    is_list,
    type_name,
)
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.plain_form import plain_form
from colonnade.tableformat.types.sound_arrays import validity
from colonnade.tableformat.types.storage_form import map_entries, relabel
from colonnade.tableformat.types.text_form import fit_lengths, has_lengths

_SHOWN = 20
"""The most names of each kind that an error lists."""

_TO_SHORT = frozenset({pa.int8(), pa.uint8(), pa.int16()})
_TO_INT = _TO_SHORT | {pa.uint16(), pa.int32()}
_TO_FLOAT = frozenset({pa.float16(), pa.float32()})
_TEXT = frozenset({pa.string(), pa.large_string(), pa.string_view()})
_LARGE = frozenset({pa.large_string(), pa.large_binary()})
_BYTES = frozenset({pa.binary(), pa.large_binary(), pa.binary_view()})

_ACCEPTED: dict[str, Callable[[pa.DataType], bool]] = {
    "boolean": pa.types.is_boolean,
    "byte": pa.types.is_int8,
    "short": _TO_SHORT.__contains__,
    "int": _TO_INT.__contains__,
    "long": (_TO_INT | {pa.uint32(), pa.int64(), pa.uint64()}).__contains__,
    "float": _TO_FLOAT.__contains__,
    "double": (_TO_FLOAT | {pa.float64()}).__contains__,
    "string": _TEXT.__contains__,
    "binary": lambda found: found in _BYTES or pa.types.is_fixed_size_binary(found),
    "date": pa.types.is_date,
    "timestamp": lambda found: pa.types.is_timestamp(found) and found.tz is not None,
    "timestamp_ntz": lambda found: pa.types.is_timestamp(found) and found.tz is None,
    "time": pa.types.is_time,
    "interval year to month": _TO_INT.__contains__,
    "interval day to second": pa.types.is_duration,
}


def convert(array: pa.Array, field: SchemaField, path: str) -> pa.Array:
    """Return the values of `array` as the Arrow type of `field`.

    Copies nothing when only labels differ, unless a char or varchar may need other spaces. `path`
    names the column in errors. Raises InvalidInputError when the type does not fit, and when a
    value cannot be kept exactly.
    """
    target = arrow_type(field)
    found = array.type
    if _differ_in_labels_only(found, target) and not has_lengths(field):
        return relabel(array, target)
    try:
        if field.type == VOID:
            return _only_nulls(array, path)
        # The conversion itself copies a top-level view, so `plain_form` would copy it twice.
        plain = array if found in _TEXT | _BYTES else plain_form(array)
        if pa.types.is_null(plain.type):
            return pa.nulls(len(array), target)
        return _convert_plain(plain, field, path)
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"Column {path!r} cannot be converted from {found} to {type_name(field.type)} without"
            f" loss: {error}."
        ) from error


def _only_nulls(array: pa.Array, path: str) -> pa.Array:
    """Return the NULLs of a void column. Raises InvalidInputError for any other value."""
    # Dictionaries and run-ends have NULLs that they do not count.
    if plain_form(array).null_count < len(array):
        raise InvalidInputError(
            f"Column {path!r} is void, so it holds only NULL, but the data holds {array.type};"
            " give the column a type first, by ALTER COLUMN … TYPE or by evolving it with the"
            " rows (evolve, mergeSchema)."
        )
    return pa.nulls(len(array))


def _convert_plain(array: pa.Array, field: SchemaField, path: str) -> pa.Array:
    target, found = arrow_type(field), array.type
    match field.type:
        case ArrayType(element=element) if is_list(found):
            return _convert_lists(array, target, element, f"{path}.element")
        case MapType() as pair if pa.types.is_map(found):
            return _convert_map(array, target, pair, path)
        case StructType(fields=fields) if pa.types.is_struct(found):
            return _convert_struct(array, target, fields, path)
        case "variant" if pa.types.is_struct(found):
            return _convert_struct(array, target, VARIANT_FIELDS, path)
        case str() as text if accepts(field, found):
            return fit_lengths(_signed(_from_zero(array), target).cast(target), text, path)
    raise InvalidInputError(_mismatch(field, found, path))


def _signed(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return unsigned numbers as `long` for a decimal that has the digits of a `long`.

    Arrow compares the digits of types, and not of values.
    """
    if not pa.types.is_uint64(array.type) or not pa.types.is_decimal(target):
        return array
    return array.cast(pa.int64()) if target.precision - target.scale < 20 else array


def _from_zero(array: pa.Array) -> pa.Array:
    """Return the same values, with the offsets of large text beginning at 0.

    Arrow compares the last offset with the limit, so it would refuse a small slice at the end of
    more than 2 GiB of text.
    """
    if array.type not in _LARGE or not len(array):
        return array
    _, ends, data = array.buffers()
    offsets = np.frombuffer(ends, np.int64)[array.offset : array.offset + len(array) + 1]
    if offsets[-1] <= np.iinfo(np.int32).max:
        return array
    first, length = int(offsets[0]), int(offsets[-1] - offsets[0])
    buffers = [validity(array), pa.py_buffer(offsets - first), data.slice(first, length)]
    return pa.Array.from_buffers(array.type, len(array), buffers, array.null_count)


def accepts(field: SchemaField, found: pa.DataType) -> bool:
    """Return whether a column of a primitive type takes values of a plain Arrow type.

    It also takes what the types take that widen to its type, so that those who write it need not
    change when it widens.
    """
    own = str(field.type)
    return _accepts(own, found) or any(
        _accepts(each, found) for each in _NARROW if widens(each, own)
    )


_NARROW = ("byte", "short", "int", "long", "float", "date")
"""The types whose values a wider type takes that does not take them itself."""


def _accepts(text: str, found: pa.DataType) -> bool:
    if accepted := _ACCEPTED.get(base_type(text)):
        return accepted(found)
    digits = decimal_digits(text)
    if digits is None:
        return False
    precision, scale = digits
    # 20 digits hold every uint64.
    return pa.types.is_decimal(found) or (pa.types.is_uint64(found) and precision - scale >= 20)


def _convert_lists(
    array: pa.Array, target: pa.DataType, element: SchemaField, path: str
) -> pa.Array:
    # `flatten` omits what is under a NULL list, which need not be convertible.
    values = convert(array.flatten(), element, path)
    offsets = np.zeros(len(array) + 1, dtype=np.int64)
    lengths = pc.list_value_length(array).fill_null(0)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise InvalidInputError(f"Column {path!r} is too long for one batch; pass smaller ones.")
    buffers = [validity(array), pa.py_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(target, len(array), buffers, array.null_count, children=[values])


def _convert_map(array: pa.Array, target: pa.DataType, pair: MapType, path: str) -> pa.Array:
    found = array.type
    # Keys and values are matched by their position, not by their name.
    entries = relabel(
        map_entries(array),
        pa.list_(pa.struct([pa.field("key", found.key_type), pa.field("value", found.item_type)])),
    )
    entry = SchemaField(name="entries", type=StructType(fields=(pair.key, pair.value)))
    wanted = pa.list_(arrow_type(entry))
    return relabel(_convert_lists(entries, wanted, entry, path), target)


def _convert_struct(
    array: pa.Array, target: pa.DataType, fields: tuple[SchemaField, ...], path: str
) -> pa.Array:
    found = [child.name for child in array.type]
    order = match_fields(found, [field.name for field in fields], f"Column {path!r}")
    # `flatten` returns NULL for what is under a NULL struct, which need not be convertible.
    flat = array.flatten()
    children = [
        convert(flat[index], field, f"{path}.{field.name}")
        for index, field in zip(order, fields, strict=True)
    ]
    return pa.Array.from_buffers(
        target, len(array), [validity(array)], array.null_count, children=children
    )


def match_fields(found: Sequence[str], wanted: Sequence[str], what: str) -> Sequence[int]:
    """Return where each wanted name is among the names found, exactly or else ignoring case.

    Raises InvalidInputError with one sentence about `what`. It lists the names that are missing,
    unknown or present twice, at most 20 of each.
    """
    if list(found) == list(wanted):
        return range(len(wanted))
    places: dict[str, list[int]] = {}
    for index, name in enumerate(found):
        places.setdefault(name.casefold(), []).append(index)
    known = {name.casefold() for name in wanted}
    missing = [name for name in wanted if name.casefold() not in places]
    unknown = [name for name in found if name.casefold() not in known]
    repeated = [found[at[0]] for at in places.values() if len(at) > 1]
    faults = [
        (missing, "lacks", "give what is missing"),
        (unknown, "has the unknown", "correct or leave out what is unknown"),
        (repeated, "has more than once", "give each field once"),
    ]
    if met := [fault for fault in faults if fault[0]]:
        listed = " and ".join(f"{fault} {_listed(names)}" for names, fault, _ in met)
        raise InvalidInputError(f"{what} {listed}; {' and '.join(todo for *_, todo in met)}.")
    return [places[name.casefold()][0] for name in wanted]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def given_fields(
    found: Sequence[str], fields: Sequence[SchemaField], *, complete: bool = False
) -> Sequence[SchemaField]:
    """Return the columns that rows must have: those found, and all NOT NULL without a default.

    Rows that must be `complete` need all columns but generated ones.

    Names are matched exactly or else ignoring case. Rows that have no column, or an unknown one,
    must have all columns. The error then lists the missing names, which helps to correct the
    unknown one.
    """
    names = {name.casefold() for name in found}
    known = {field.name.casefold() for field in fields}
    if not names or not names <= known:
        return fields
    return [
        field
        for field in fields
        if field.name.casefold() in names
        or not (field.generated is not None if complete else field.may_be_left_out)
    ]


def _differ_in_labels_only(found: pa.DataType, target: pa.DataType) -> bool:
    """Return whether only labels differ. The names of struct fields have meaning, so they count."""
    if found.id != target.id or not pa.types.is_nested(found):
        return bool(found == target)
    if pa.types.is_map(found):
        return _differ_in_labels_only(found.key_type, target.key_type) and (
            _differ_in_labels_only(found.item_type, target.item_type)
        )
    if pa.types.is_list(found):
        return _differ_in_labels_only(found.value_type, target.value_type)
    return found.num_fields == target.num_fields and all(
        ours.name == theirs.name and _differ_in_labels_only(theirs.type, ours.type)
        for ours, theirs in zip(target, found, strict=True)
    )


def _mismatch(field: SchemaField, found: pa.DataType, path: str) -> str:
    wanted = type_name(field.type)
    hint = "; cast the data first"
    if pa.types.is_timestamp(found) and wanted == "timestamp":
        hint = "; give the timestamps a time zone, so that they are instants"
    elif pa.types.is_timestamp(found) and wanted == "timestamp_ntz":
        hint = "; remove the time zone, so that they are local times"
    return f"Column {path!r} is {wanted}, but the data holds {found}{hint}."
