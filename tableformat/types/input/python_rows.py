"""Rows and columns that are lists and dicts of Python, as Arrow tables. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from math import inf
from numbers import Integral, Real
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError

FLOAT_MAX = 3.4028235677973366e38
"""Numbers beyond this are not rounded to a number of type float, but to an infinity."""


def rows_table(
    rows: Sequence[Mapping[str, Any]], known: pa.Schema | None = None, names: Iterable[str] = ()
) -> pa.Table:
    """Return rows, which are dicts by column, as a table.

    Its columns are `names`, and then those of all rows, in the order in which they first come. A
    row that lacks one has NULL there. Types follow from the values, and where these do not tell
    them, from the columns `known`. Raises InvalidInputError that names the column for values that
    have no common type.
    """
    every = dict.fromkeys(chain(names, chain.from_iterable(rows)))
    if rows and not every:
        raise InvalidInputError("The rows have no columns; a row is a dict of values by column.")
    return columns_table({name: [row.get(name) for row in rows] for name in every}, known)


def columns_table(columns: Mapping[str, Any], known: pa.Schema | None = None) -> pa.Table:
    """Return columns, which are lists or arrays by name, as a table.

    Raises InvalidInputError that names the column for a name that is not text, for one value in
    place of a list, for values that have no common type, and for columns of different lengths.
    """
    arrays = [_array(name, values, known) for name, values in columns.items()]
    if len({len(each) for each in arrays}) > 1:
        lengths = {name: len(each) for name, each in zip(columns, arrays, strict=True)}
        raise InvalidInputError(
            f"The columns of the data have different numbers of values: {lengths!s:.200}."
        )
    return pa.Table.from_arrays(arrays, list(columns))


def refuse_objects(name: str, values: Any) -> None:
    """Raise InvalidInputError for a series of Polars whose values are objects of Python.

    Polars gives Arrow their addresses in memory, and says nothing.
    """
    polars = sys.modules.get("polars")
    if polars and isinstance(values, polars.Series) and values.dtype == polars.Object:
        raise InvalidInputError(
            f"Column {name!r} of the data has the Polars type Object, whose values cannot be"
            " stored; convert it to another type."
        )


def _array(name: str, values: Any, known: pa.Schema | None) -> pa.ChunkedArray:
    if not isinstance(name, str):
        raise InvalidInputError(f"The name of a column must be text, not {name!r:.100}.")
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise InvalidInputError(
            f"Column {name!r} of the data must be a list or an array of values, not"
            f" {values!r:.100}; one row is a list with one dict."
        )
    if isinstance(values, pa.ChunkedArray):
        return values
    refuse_objects(name, values)
    wanted = _known_type(name, values, known)
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values)
        found = pa.array(values, wanted)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = str(error).partition("\n")[0].rstrip(". ")
        what = "that have no common type" if wanted is None else f"that are not of type {wanted}"
        raise InvalidInputError(
            f"Column {name!r} of the data has values {what}: {reason}."
        ) from error
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found], found.type)


def _known_type(name: str, values: Any, known: pa.Schema | None) -> pa.DataType | None:
    """Return the type of a known column if Python's own values cannot tell it, or None.

    An int tells no size, and a dict may be a struct or a map. Values that Arrow would change to fit
    the type are left to tell their own type, so that they are refused later.
    """
    index = -1 if known is None else known.get_field_index(name)
    if known is None or index < 0 or hasattr(values, "type"):
        return None
    wanted = known.field(index).type
    return wanted if _is_ambiguous(wanted) and all(_fits(each, wanted) for each in values) else None


def _is_ambiguous(found: pa.DataType) -> bool:
    """Return whether Python's values cannot tell a type, or a type inside it."""
    small = pa.types.is_integer(found) and not pa.types.is_int64(found)
    number = small or pa.types.is_float32(found) or pa.types.is_decimal(found)
    inner = (found.field(at).type for at in range(found.num_fields))
    return number or pa.types.is_map(found) or any(map(_is_ambiguous, inner))


def _fits(value: Any, wanted: pa.DataType) -> bool:
    """Return whether Arrow keeps a value of Python in a type of a table, or refuses it."""
    if isinstance(value, Mapping) and pa.types.is_struct(wanted):
        return all(_fits(value.get(each.name), each.type) for each in wanted)
    if pa.types.is_map(wanted) and isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else value
        return all(
            isinstance(pair, tuple)
            and len(pair) == 2
            and _fits(pair[0], wanted.key_type)
            and _fits(pair[1], wanted.item_type)
            for pair in pairs
        )
    if pa.types.is_list(wanted) and hasattr(value, "__iter__"):
        return all(_fits(each, wanted.value_type) for each in value)
    match value:
        case datetime():
            is_local = value.tzinfo is None
            return bool(pa.types.is_timestamp(wanted)) and is_local == (wanted.tz is None)
        case bool():
            return bool(pa.types.is_boolean(wanted))
        case Integral():
            return not pa.types.is_temporal(wanted)
        case Real():
            rounds = pa.types.is_float32(wanted) and not FLOAT_MAX < abs(float(value)) < inf
            return bool(rounds or pa.types.is_float64(wanted))
        case _:
            return True
