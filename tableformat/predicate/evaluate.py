"""Evaluate a predicate on rows, as Spark does.

NaN is equal to itself and greater than every number. Negative zero equals zero. Text and binary are
ordered by their bytes. A comparison with NULL is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.bound import (
    BoundAnd,
    BoundColumn,
    BoundCompare,
    BoundCompareColumns,
    BoundConstant,
    BoundIn,
    BoundIsNan,
    BoundIsNull,
    BoundLike,
    BoundNode,
    BoundOr,
    BoundPredicate,
    BoundStartsWith,
    BoundTruth,
    StorageValue,
    node_may_fail,
)
from colonnade.tableformat.predicate.expressions import TRUE_FOR_NAN, Operator
from colonnade.tableformat.predicate.values.compare_arrays import COMPARE, compare_arrays
from colonnade.tableformat.predicate.values.row_value import on_rows
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.stored_value import booleans, to_array, to_scalar


def evaluate(predicate: BoundPredicate, batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return TRUE, FALSE or NULL for every row.

    Requires a batch with the columns of the predicate, with the names and types of
    `arrow_types.arrow_schema`. Raises InvalidInputError for a missing column, and if the predicate
    `may_fail`, for a row whose values it cannot compute. A part of AND is computed for rows alone
    that no earlier part makes FALSE, and a part of OR for those that none makes TRUE.
    """
    return _evaluate(predicate.root, batch)


def evaluate_shown(
    predicate: BoundPredicate, batch: pa.RecordBatch, shown: NDArray[np.bool_] | None
) -> pa.BooleanArray:
    """Evaluate as `evaluate`, but without errors for rows that are not `shown` (None: all are).

    The result for these rows is arbitrary.
    """
    if shown is None or not predicate.may_fail:
        return evaluate(predicate, batch)
    return on_rows(partial(evaluate, predicate), batch, booleans(shown))


def _evaluate(node: BoundNode, batch: pa.RecordBatch) -> pa.BooleanArray:
    match node:
        case BoundConstant(value):
            if value is None:
                return pa.nulls(batch.num_rows, pa.bool_())
            return booleans(np.full(batch.num_rows, value, np.bool_))
        case BoundAnd(parts):
            return _combined(pc.and_kleene, parts, batch, decided=False)
        case BoundOr(parts):
            return _combined(pc.or_kleene, parts, batch, decided=True)
        case BoundTruth(value, negated, if_null):
            truth = value.compute(batch)
            truth = pc.invert(truth) if negated else truth
            return truth if if_null is None else pc.fill_null(truth, if_null)
        case BoundIsNull(column, negated):
            return (pc.is_valid if negated else pc.is_null)(_array(column, batch))
        case BoundCompare(column, operator, value):
            return _compare(_array(column, batch), operator, value)
        case BoundCompareColumns(left, operator, right):
            return compare_arrays(_array(left, batch), operator, _array(right, batch))
        case BoundIsNan(column, negated):
            found = pc.is_nan(_array(column, batch))
        case BoundIn(column, values, negated):
            found = _is_in(_array(column, batch), values)
        case BoundStartsWith(column, prefix, negated):
            found = pc.starts_with(_array(column, batch), pattern=prefix)
        case BoundLike(column, regex, _, negated):
            found = pc.match_substring_regex(_array(column, batch), pattern=regex)
    return pc.invert(found) if negated else found


def _combined(
    combine: Callable[..., pa.BooleanArray],
    parts: Sequence[BoundNode],
    batch: pa.RecordBatch,
    *,
    decided: bool,
) -> pa.BooleanArray:
    """Combine parts, of which one that may fail sees no row that earlier ones have `decided`."""
    found = _evaluate(parts[0], batch)
    for part in parts[1:]:
        if node_may_fail(part):
            same = found if decided else pc.invert(found)
            open_rows = pc.invert(pc.fill_null(same, False))
            more = on_rows(partial(_evaluate, part), batch, open_rows)
        else:
            more = _evaluate(part, batch)
        found = combine(found, more)
    return found


def _array(column: BoundColumn, batch: pa.RecordBatch) -> pa.Array:
    """Return the values of a column. A float becomes a double, because Spark compares doubles."""
    index = batch.schema.get_field_index(column.path[0])
    if index < 0:
        raise InvalidInputError(f"Column {column.path[0]!r} of the predicate is not in the batch.")
    array = batch.column(index)
    if len(column.path) > 1:
        array = pc.struct_field(array, list(column.path[1:]))
    return array.cast(pa.float64()) if pa.types.is_float32(array.type) else array


def _compare(array: pa.Array, operator: Operator, value: StorageValue) -> pa.BooleanArray:
    result = pc.call_function(COMPARE[operator], [array, to_scalar(value, array.type)])
    if pa.types.is_float64(array.type) and operator in TRUE_FOR_NAN:
        return pc.or_(result, pc.is_nan(array))
    return result


def _is_in(array: pa.Array, values: tuple[StorageValue, ...]) -> pa.BooleanArray:
    members = [*values]
    if 0.0 in values and pa.types.is_float64(array.type):
        # `is_in` compares hashes, which differ for 0.0 and -0.0, though they are equal.
        members.append(-0.0)
    found = pc.is_in(array, value_set=to_array(members, array.type))
    return pc.if_else(pc.is_valid(array), found, pa.nulls(1, pa.bool_())[0])
