"""CAST of values, as Spark's ANSI mode has it: a value that the type cannot hold is an error.

Times are of UTC, or of the time zone of a generated column where a time becomes a date.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import INTEGERS
from colonnade.tableformat.predicate.grammar.casts import cast_literal
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.values.decimal_arrays import (
    decimals_of,
    integers_of,
    rescaled,
    truncated,
)
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    arrow_of,
    computed,
    exact,
    literal_of,
    mapped,
    scalar_of,
    unsupported,
    valid_mask,
)
from colonnade.tableformat.predicate.values.types import (
    FLOATS,
    TIMES,
    digits_of,
    is_decimal,
    is_interval,
    is_number,
)
from colonnade.tableformat.predicate.values.zones import (
    UTC,
    check_zone,
    instants,
    is_utc,
    local_times,
)
from colonnade.tableformat.types.compute import pc

_BITS = {"byte": 7, "short": 15, "int": 31, "long": 63}
_FROM_TEXT = ("boolean", "date", "timestamp", "timestamp_ntz", "binary")

Apply = Callable[[pa.Array], pa.Array]


def cast(value: RowValue, target: str, time_zone: str = UTC) -> RowValue:
    """Return a value in another type. Raises InvalidInputError for a cast that is not supported."""
    found = value.text
    if found == target:
        return value
    if found == VOID:
        nothing = pa.scalar(None, arrow_of(target))
        return computed(target, (value,), lambda array: pa.repeat(nothing, len(array)))
    if is_interval(found) and is_interval(target):
        return _same_interval(value, target)
    if found == "timestamp":
        check_zone(time_zone)
    apply = _cast(found, target, time_zone)
    if apply is None:
        raise unsupported(f"CAST of {found} to {target}")
    return computed(target, (value,), apply, may_fail=_may_fail(found, target))


def _same_interval(value: RowValue, target: str) -> RowValue:
    """Return a literal interval in the type that states its units."""
    if value.literal is None:
        raise unsupported(f"CAST of {value.text} to {target}")
    return computed(target, (value,), lambda array: array)


def _may_fail(found: str, target: str) -> bool:
    if found in INTEGERS and target in INTEGERS:
        return INTEGERS.index(target) < INTEGERS.index(found)
    return not (found in (*INTEGERS, "boolean") and target in (*FLOATS, "string"))


def _cast(found: str, target: str, zone: str) -> Apply | None:
    """Return what converts arrays of one type to another, or None."""
    kind = arrow_of(target) if not is_interval(target) else None
    if found == "string":
        return _from_text(target, zone)
    if found == "boolean" and is_number(target):
        whole = _to_number("byte", target)
        return lambda array: whole(array.cast(pa.int8())) if whole else array.cast(kind)
    if found == "boolean" and target == "string":
        return lambda array: array.cast(pa.string())
    if is_number(found) and target == "boolean":
        return lambda array: pc.not_equal(array, pa.scalar(0, array.type))
    if is_number(found) and is_number(target):
        return _to_number(found, target) or (lambda array: exact(array.cast, kind))
    if target == "string":
        return _to_text(found, zone)
    return _of_times(found, target, zone)


def _to_number(found: str, target: str) -> Apply | None:
    kind = arrow_of(target)
    if is_decimal(target):
        precision, scale = digits_of(target)
        if found in FLOATS:
            return lambda array: _float_to_decimal(array, precision, scale)
        own = digits_of(found)[1]
        return lambda array: decimals_of(
            rescaled(integers_of(array), scale - own), valid_mask(array), precision, scale
        )
    if is_decimal(found):
        if target in FLOATS:
            # Arrow does not round a decimal to the nearest float, but it rounds its text correctly.
            return lambda array: array.cast(pa.string()).cast(kind)
        own = digits_of(found)[1]
        return lambda array: exact(
            pa.array, truncated(integers_of(array), 10**own), kind, mask=~valid_mask(array)
        )
    if found in FLOATS and target in INTEGERS:
        return lambda array: _truncated(array, target)
    if target in FLOATS:
        return lambda array: array.cast(kind, safe=False)
    return None


def _truncated(array: pa.Array, target: str) -> pa.Array:
    limit, valid = 2.0 ** _BITS[target], valid_mask(array)
    values = array.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False)
    # A double cannot tell 2**63 - 1 from 2**63, which Spark takes for the greatest long.
    most = limit if target == "long" else limit - 1
    if not ((np.floor(values) <= most) & (np.ceil(values) >= -limit)).all():
        raise InvalidInputError(f"A number does not fit the type {target}.")
    if target != "long":
        return pa.array(np.trunc(values).astype(np.int64), mask=~valid).cast(arrow_of(target))
    top = values >= limit
    numbers = np.trunc(np.where(top, 0, values)).astype(np.int64)
    return pa.array(np.where(top, 2**63 - 1, numbers), pa.int64(), mask=~valid)


def _float_to_decimal(array: pa.Array, precision: int, scale: int) -> pa.Array:
    numbers = array.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        raise InvalidInputError(f"A number does not fit the type decimal({precision},{scale}).")
    found = np.array([_unscaled(repr(each), scale) for each in numbers.tolist()], object)
    return decimals_of(found, valid_mask(array), precision, scale)


def _unscaled(text: str, scale: int) -> int:
    sign, digits, exponent = Decimal(text).as_tuple()
    number = int("".join(map(str, digits)))
    places: int = scale + int(exponent)
    if places < -400:
        return 0
    if places >= 0:
        number *= int(10**places)
    else:
        number = (2 * number + 10**-places) // (2 * 10**-places)
    return -number if sign else number


def _from_text(target: str, zone: str) -> Apply | None:
    known = is_number(target) or target in _FROM_TEXT or target.startswith("time(")
    if not known or (target == "timestamp" and not is_utc(zone)):
        return None
    kind = arrow_of(target)

    def parsed(text: str) -> Any:
        literal = cast_literal(Literal(Kind.STRING, text), target)
        return scalar_of(literal, target)

    return lambda array: _of_scalars(array, kind, parsed)


def _of_scalars(array: pa.Array, kind: pa.DataType, function: Callable[[Any], Any]) -> pa.Array:
    encoded = array.dictionary_encode()
    scalars = [function(each).cast(kind) for each in encoded.dictionary.to_pylist()]
    return pa.array(scalars, kind).take(encoded.indices)


def _to_text(found: str, zone: str) -> Apply | None:
    if found in INTEGERS:
        return lambda array: array.cast(pa.string())
    if is_decimal(found):
        return lambda array: mapped(array, pa.string(), lambda each: f"{each:f}")
    if found == "date":
        return lambda array: local_times(array, found, zone).cast(pa.date32()).cast(pa.string())
    if found in TIMES:
        return lambda array: _without_zeros(local_times(array, found, zone).cast(pa.string()))
    return None


def _without_zeros(texts: pa.Array) -> pa.Array:
    """Return times as Spark writes them, without zeros at the end of fractions of seconds."""
    return pc.replace_substring_regex(texts, pattern=r"\.?0+$", replacement="")


def _of_times(found: str, target: str, zone: str) -> Apply | None:
    if found in TIMES and target == "date":
        return lambda array: local_times(array, found, zone).cast(pa.date32(), safe=False)
    if found == "timestamp" and target == "timestamp_ntz":
        return lambda array: local_times(array, found, zone)
    if not is_utc(zone):
        return None
    if found == "timestamp_ntz" and target == "timestamp":
        return lambda array: array.view(pa.int64()).view(arrow_of(target))
    if found == "date" and target in TIMES:
        return lambda array: instants(array).view(pa.int64()).view(arrow_of(target))
    return None


def folded(value: RowValue) -> Literal | None:
    """Return the literal that an expression without columns is, or None if it has none.

    One that cannot be computed has none, and neither has one of a nested type.
    """
    if value.columns or not isinstance(value.type, str) or is_interval(value.type):
        return value.literal
    one = pa.RecordBatch.from_arrays([pa.array([0])], names=[""])
    try:
        return literal_of(value.compute(one), value.type)
    except InvalidInputError:
        return None
