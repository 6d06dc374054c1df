"""The tree of a predicate whose columns are resolved, in normal form.

The tree has no NOT: a node has a `negated` flag, or an opposite node. So pruning only needs to know
where a node may be TRUE. This is sound in three-valued logic, because a node and its negation are
NULL for the same rows. Values are storage values: integers for every type that is stored as an
integer (decimals are unscaled), and floats for float and double. A value is never NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.values.row_value import RowValue

StorageValue = bool | int | float | str | bytes


@dataclass(frozen=True, slots=True)
class BoundColumn:
    """A column of a table, or a field of a struct column; `type` is empty for a nested type.

    `id` is the id of the top-level column. Statistics exist only for a path of one name.
    """

    id: int
    path: tuple[str, ...]
    type: str

    def __str__(self) -> str:
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class BoundConstant:
    """One truth value for every row; None is NULL."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class BoundCompare:
    """A column compared with a value; NULL where the column is NULL."""

    column: BoundColumn
    operator: Operator
    value: StorageValue


@dataclass(frozen=True, slots=True)
class BoundCompareColumns:
    """Two columns compared; NULL where either is NULL."""

    left: BoundColumn
    operator: Operator
    right: BoundColumn


@dataclass(frozen=True, slots=True)
class BoundIn:
    """A column equals one of some distinct, ascending values; NULL where the column is NULL."""

    column: BoundColumn
    values: tuple[StorageValue, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class BoundIsNull:
    """A column is NULL. The result is never NULL."""

    column: BoundColumn
    negated: bool = False


@dataclass(frozen=True, slots=True)
class BoundIsNan:
    """A column is NaN; NULL where the column is NULL."""

    column: BoundColumn
    negated: bool = False


@dataclass(frozen=True, slots=True)
class BoundStartsWith:
    """A string begins with a prefix; NULL where the string is NULL."""

    column: BoundColumn
    prefix: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class BoundLike:
    """A string matches `regex`, which implies that it begins with `prefix`; NULL for NULL."""

    column: BoundColumn
    regex: str
    prefix: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class BoundAnd:
    """The conjunction of all parts, in three-valued logic."""

    parts: tuple[BoundNode, ...]


@dataclass(frozen=True, slots=True)
class BoundOr:
    """The disjunction of all parts, in three-valued logic."""

    parts: tuple[BoundNode, ...]


@dataclass(frozen=True, slots=True)
class BoundTruth:
    """A computed value of type boolean, which no bounds decide.

    Where it is NULL, the node is `if_null`.
    """

    value: RowValue
    negated: bool = False
    if_null: bool | None = None


BoundNode = (
    BoundConstant
    | BoundCompare
    | BoundCompareColumns
    | BoundIn
    | BoundIsNull
    | BoundIsNan
    | BoundStartsWith
    | BoundLike
    | BoundTruth
    | BoundAnd
    | BoundOr
)


@dataclass(frozen=True, slots=True)
class BoundPredicate:
    """A predicate whose columns are resolved in a table."""

    root: BoundNode

    @property
    def column_ids(self) -> frozenset[int]:
        """The ids of the top-level columns that evaluation and pruning read."""
        return frozenset(_column_ids(self.root))

    @property
    def may_fail(self) -> bool:
        """Whether evaluation raises InvalidInputError for a row whose values it cannot compute."""
        return node_may_fail(self.root)


def node_may_fail(node: BoundNode) -> bool:
    """Return whether a part of a predicate may fail (see `BoundPredicate.may_fail`)."""
    match node:
        case BoundAnd(parts) | BoundOr(parts):
            return any(map(node_may_fail, parts))
        case BoundTruth(value):
            return value.may_fail
    return False


def compared_columns(predicate: BoundPredicate) -> frozenset[int]:
    """Return the ids of the columns that it compares with others, or computes values from."""
    return frozenset(_compared(predicate.root))


def _compared(node: BoundNode) -> Iterator[int]:
    match node:
        case BoundAnd(parts) | BoundOr(parts):
            for part in parts:
                yield from _compared(part)
        case BoundCompareColumns(left, _, right):
            yield from (left.id, right.id)
        case BoundTruth(value):
            yield from value.columns


def _column_ids(node: BoundNode) -> Iterator[int]:
    match node:
        case BoundAnd(parts) | BoundOr(parts):
            for part in parts:
                yield from _column_ids(part)
        case BoundCompareColumns(left, _, right):
            yield from (left.id, right.id)
        case BoundTruth(value):
            yield from value.columns
        case BoundConstant():
            pass
        case _:
            yield node.column.id


def negate(node: BoundNode) -> BoundNode:
    """Return the node with TRUE and FALSE exchanged; NULL stays NULL."""
    match node:
        case BoundConstant(value):
            return BoundConstant(None if value is None else not value)
        case BoundCompare() | BoundCompareColumns():
            return replace(node, operator=node.operator.negated)
        case BoundAnd(parts):
            return any_of(negate(part) for part in parts)
        case BoundOr(parts):
            return all_of(negate(part) for part in parts)
        case BoundTruth(value, negated, if_null):
            return BoundTruth(value, not negated, None if if_null is None else not if_null)
        case _:
            return replace(node, negated=not node.negated)


def complement(predicate: BoundPredicate) -> BoundPredicate:
    """Return a predicate that is TRUE where `predicate` is FALSE or NULL, and FALSE elsewhere."""
    return BoundPredicate(_not_true(predicate.root))


def _not_true(node: BoundNode) -> BoundNode:
    match node:
        case BoundConstant(value):
            return BoundConstant(value is not True)
        case BoundAnd(parts):
            return any_of(_not_true(part) for part in parts)
        case BoundOr(parts):
            return all_of(_not_true(part) for part in parts)
        case BoundIsNull():
            return negate(node)
        case BoundTruth(value, negated, if_null):
            return BoundTruth(value, not negated, if_null is not True)
        case BoundCompareColumns(left, _, right):
            return any_of((negate(node), BoundIsNull(left), BoundIsNull(right)))
        case _:
            return any_of((negate(node), BoundIsNull(node.column)))


def all_of(parts: Iterable[BoundNode]) -> BoundNode:
    """Return the conjunction, simplified: parts that are always TRUE are removed."""
    kept: list[BoundNode] = []
    for part in parts:
        if part == BoundConstant(False):
            return part
        if part != BoundConstant(True):
            kept.extend(part.parts if isinstance(part, BoundAnd) else (part,))
    if len(kept) > 1:
        return BoundAnd(tuple(kept))
    return kept[0] if kept else BoundConstant(True)


def any_of(parts: Iterable[BoundNode]) -> BoundNode:
    """Return the disjunction, simplified: parts that are always FALSE are removed."""
    kept: list[BoundNode] = []
    for part in parts:
        if part == BoundConstant(True):
            return part
        if part != BoundConstant(False):
            kept.extend(part.parts if isinstance(part, BoundOr) else (part,))
    if len(kept) > 1:
        return BoundOr(tuple(kept))
    return kept[0] if kept else BoundConstant(False)
