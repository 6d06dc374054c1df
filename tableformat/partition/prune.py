"""Rule out RowSets by their partitions. Does no I/O.

Bounds already do this for all transforms that keep the order of values. So this covers
only those that scatter them, such as `bucket`.
Spec: docs/spec/partitions.md#pruning
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from colonnade.manifests.arrays.partitions import PartitionKey
from colonnade.manifests.model.entries import PartitionField, PartitionValues
from colonnade.manifests.model.partition_transforms import TRANSFORMS
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.statistics import Bound
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.partition.transforms import transformed_bounds
from colonnade.tableformat.predicate.bound import (
    BoundAnd,
    BoundColumn,
    BoundCompare,
    BoundIn,
    BoundIsNull,
    BoundNode,
    BoundOr,
    BoundPredicate,
)
from colonnade.tableformat.predicate.expressions import Operator

Test = Callable[[PartitionValues], bool]


def partition_test(
    predicate: BoundPredicate, table: TableState
) -> Callable[[PartitionKey], bool] | None:
    """Return a test of whether RowSets of a partition may match; None if all partitions may."""
    tests = [
        _test(predicate.root, fields, table.schema) for fields in ((), *table.partition_layouts)
    ]
    if not any(tests):
        return None

    def test(key: PartitionKey) -> bool:
        own = tests[key[0]]
        return own is None or own(key[1])

    return test


def _test(node: BoundNode, fields: Sequence[PartitionField], schema: TableSchema) -> Test | None:
    """Return the condition that a node puts on the partition values of a layout, or None."""
    match node:
        case BoundAnd(parts):
            tests = [test for part in parts if (test := _test(part, fields, schema))]
            return (lambda values: all(test(values) for test in tests)) if tests else None
        case BoundOr(parts):
            found = [_test(part, fields, schema) for part in parts]
            known = [test for test in found if test]
            whole = len(known) == len(found)
            return (lambda values: any(test(values) for test in known)) if whole else None
        case BoundCompare(column, Operator.EQUAL, value):
            return _is_one_of(column, (value,), fields, schema)
        case BoundIn(column, members, negated=False):
            return _is_one_of(column, members, fields, schema)
        case BoundIsNull(column, negated=negated):
            places = [place for place, _ in _scattered(column, fields)]
            return _all(lambda values, place: (values[place] is None) != negated, places)
    return None


def _is_one_of(
    column: BoundColumn,
    members: Sequence[Bound],
    fields: Sequence[PartitionField],
    schema: TableSchema,
) -> Test | None:
    wanted = {
        place: {f"i:{each}" for each in transformed_bounds(field, schema.by_id(column.id), members)}
        for place, field in _scattered(column, fields)
    }
    return _all(lambda values, place: values[place] in wanted[place], [*wanted])


def _all(test: Callable[[PartitionValues, int], bool], places: Sequence[int]) -> Test | None:
    return (lambda values: all(test(values, place) for place in places)) if places else None


def _scattered(
    column: BoundColumn, fields: Sequence[PartitionField]
) -> list[tuple[int, PartitionField]]:
    """Return the fields of a column that scatter its values, with their places in the layout."""
    return [
        (place, field)
        for place, field in enumerate(fields)
        if field.column == column.id and len(column.path) == 1
        if TRANSFORMS[field.transform].scatters
    ]
