"""Find text that is not valid UTF-8 by column and row, or replace it. Does no I/O.

One U+FFFD replaces each maximal subpart, as in Python's decoder.
Spec: docs/spec/types.md#invalid-text
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, StructType, type_text
from colonnade.tableformat.types.arrow_types import base_type
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.sound_arrays import validity
from colonnade.tableformat.types.storage_form import map_entries, relabel


@lru_cache(maxsize=4096)
def holds_text(field: SchemaField) -> bool:
    """Return whether the field, or one nested in it, is text."""
    if isinstance(field.type, str):
        return base_type(field.type) == "string"
    return any(map(holds_text, field.children()))


def refuse_invalid_text(array: pa.Array, field: SchemaField, first_row: int) -> None:
    """Raise InvalidInputError that names column and row of the first value of invalid UTF-8.

    Requires an array of the field's Arrow type, which begins at row `first_row` of the input.
    """
    if (found := _first_invalid(array, field, field.name)) is not None:
        row, path, kind = found
        raise InvalidInputError(
            f"Column {path!r} has an invalid {kind} in row {first_row + row + 1} of the input,"
            " counted from 1: its bytes are not valid UTF-8. Correct the text, or set the table"
            " property invalid-text to 'replace'."
        )


def replace_invalid_text(array: pa.Array, field: SchemaField, path: str) -> pa.Array:
    """Return the values with U+FFFD in place of bytes that are not valid UTF-8.

    Returns `array` itself when all its text is valid. Requires an array of the field's Arrow type.
    `path` names the column in errors. Raises InvalidInputError when two keys of a map become equal.
    """
    if not holds_text(field):
        return array
    match field.type:
        case ArrayType(element=element):
            old = array.flatten()
            new = replace_invalid_text(old, element, f"{path}.element")
            return array if new is old else _with_values(array, new)
        case MapType(key=key, value=value):
            return _replace_in_map(array, key, value, path)
        case StructType(fields=fields):
            return _replace_in_struct(array, fields, path)
        case _:
            return array if _is_valid(array) else _decoded(array, path)


def _replace_in_struct(array: pa.Array, fields: tuple[SchemaField, ...], path: str) -> pa.Array:
    old = array.flatten()
    new = [
        replace_invalid_text(child, field, f"{path}.{field.name}")
        for child, field in zip(old, fields, strict=True)
    ]
    if all(after is before for before, after in zip(old, new, strict=True)):
        return array
    own = [validity(array)]
    return pa.Array.from_buffers(array.type, len(array), own, array.null_count, children=new)


def _replace_in_map(array: pa.Array, key: SchemaField, value: SchemaField, path: str) -> pa.Array:
    lists = map_entries(array)
    old = lists.flatten()
    new = _replace_in_struct(old, (key, value), path)
    if new is old:
        return array
    result = _with_values(lists, new)
    before, after = (_keys(each) for each in (lists, result))
    if any(len(set(ours)) < len(set(theirs)) for ours, theirs in zip(after, before, strict=True)):
        raise InvalidInputError(
            f"Column {path!r} has a map with two keys that become equal once U+FFFD replaces bytes"
            " that are not valid UTF-8; correct these keys."
        )
    return relabel(result, array.type)


def _with_values(lists: pa.Array, values: pa.Array) -> pa.Array:
    """Return the lists with `values` as their elements, in the order of `flatten`."""
    offsets = np.zeros(len(lists) + 1, np.int32)
    lengths = pc.list_value_length(lists).fill_null(0)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    own = [validity(lists), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(lists.type, len(lists), own, lists.null_count, children=[values])


def _keys(lists: pa.Array) -> list[tuple[Any, ...]]:
    """Return the keys of each map. The maps are given as lists of structs."""
    return [tuple(entry[0] for entry in entries or ()) for entries in _comparable(lists)]


def _comparable(array: pa.Array) -> list[Any]:
    """Return values that compare and hash by their bytes, whether or not these are valid text."""
    if pa.types.is_string(array.type):
        return list(_bytes(array))
    if pa.types.is_struct(array.type):
        children = [_comparable(child) for child in array.flatten()]
        return list(zip(*children, strict=True)) if children else [()] * len(array)
    if pa.types.is_map(array.type):
        return _comparable(map_entries(array))
    if pa.types.is_list(array.type):
        values = iter(_comparable(array.flatten()))
        lengths = pc.list_value_length(array).to_pylist()
        return [None if n is None else tuple(islice(values, n)) for n in lengths]
    return list(array.to_pylist())


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decoded(array: pa.Array, path: str) -> pa.Array:
    values = (None if v is None else v.decode("utf-8", "replace") for v in _bytes(array))
    try:
        return pa.array(values, pa.string())
    except pa.ArrowCapacityError as error:
        raise InvalidInputError(
            f"Column {path!r} has a text of more than 2 GiB once U+FFFD replaces bytes that are not"
            " valid UTF-8; correct the text, or shorten it."
        ) from error


def _bytes(array: pa.Array) -> list[bytes | None]:
    values: list[bytes | None] = array.cast(pa.binary()).to_pylist()
    return values


_Found = tuple[int, str, str]
"""The row, the dotted path and the type of a value."""


def _first_invalid(array: pa.Array, field: SchemaField, path: str) -> _Found | None:
    """Return where the first value is that is not valid UTF-8, or None."""
    if not holds_text(field):
        return None
    match field.type:
        case ArrayType(element=element):
            found = _first_invalid(array.flatten(), element, f"{path}.element")
            return None if found is None else _in_row(array, found)
        case MapType(key=key, value=value):
            lists = map_entries(array)
            found = _first_in_struct(lists.flatten(), (key, value), path)
            return None if found is None else _in_row(lists, found)
        case StructType(fields=fields):
            return _first_in_struct(array, fields, path)
    if _is_valid(array):
        return None
    values = enumerate(_bytes(array))
    row = next(row for row, value in values if value is not None and not _is_utf8(value))
    return row, path, type_text(field.type)


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_in_struct(array: pa.Array, fields: tuple[SchemaField, ...], path: str) -> _Found | None:
    for child, field in zip(array.flatten(), fields, strict=True):
        if (found := _first_invalid(child, field, f"{path}.{field.name}")) is not None:
            return found
    return None


def _in_row(lists: pa.Array, element: _Found) -> _Found:
    """Turn an element's position in `flatten` into the row of its list."""
    return (pc.list_parent_indices(lists)[element[0]].as_py(), *element[1:])
