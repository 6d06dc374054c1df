"""Every operation that alters a table: what it does, what must hold then, what it conflicts with.

The fold, the rules of conflicts and the table of `docs/spec/conflicts.md` are made from these rows.
Pure. Spec: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

from colonnade.manifests.model.operations import (
    AddCheck,
    AddRangeTombstone,
    AlterSchema,
    DrawIdentity,
    DropCheck,
    ForgetRangeTombstones,
    Operation,
    RenameTable,
    Restore,
    SetComment,
    SetLifetimes,
    SetPartitionLayout,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
    TableOperation,
)
from colonnade.manifests.state.folds.columns import (
    altered,
    restored,
    with_layout,
)
from colonnade.manifests.state.folds.identity import drawn
from colonnade.manifests.state.folds.range_tombstones import check_tombstones, with_tombstone
from colonnade.manifests.state.folds.rules import (
    check_constraints,
    check_key,
    check_lifetimes,
    with_properties,
    without_check,
)
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.sort_order import check_fits, with_order, with_restored_order


class Clash(Enum):
    """The other alterations that an alteration conflicts with, as the specification says it.

    The design is what must fit together: columns, keys, partitions, constraints and lifetimes.
    """

    DESIGN = "every operation on the design"
    PROPERTIES = (
        "one of the same property; it is on the design if it"
        " [names a column](operations.md#properties-that-name-a-column)"
    )
    KIND = "another one"
    ROWS = "[changes of rows](#tables-and-columns)"


class Alteration(NamedTuple):
    """What an operation does to a table.

    `fold` returns the table after an operation of an epoch, and `checks` are about this table. Both
    raise CorruptionError. `changes` are the fields of `TableState` that may differ then.
    """

    fold: Callable[[int, TableState, Any], TableState]
    changes: tuple[str, ...]
    clash: Clash
    checks: tuple[Callable[[int, TableState], None], ...] = ()


def _restored(epoch: int, state: TableState, operation: Restore) -> TableState:
    state = restored(epoch, with_restored_order(epoch, state, operation), operation)
    if operation.sort_order_id is not None:
        check_fits(epoch, state, state.sort_key)
    if operation.constraints is not None:
        state = replace(state, constraints=operation.constraints)
    if operation.primary_key is not None:
        state = replace(state, primary_key=operation.primary_key)
    # A restored RowSet has been cleaned of every earlier tombstone.
    return replace(state, range_tombstones=())


_COLUMNS = ("schema", "schema_id", "next_column_id")
_LAYOUT = ("partition_layouts", "partition_layout_id")
_ORDER = ("sort_orders", "sort_order_id")

ALTERATIONS: Mapping[type[TableOperation], Alteration] = {
    AlterSchema: Alteration(
        altered,
        _COLUMNS,
        Clash.DESIGN,
        (check_constraints, check_key, check_tombstones, check_lifetimes),
    ),
    SetPartitionLayout: Alteration(with_layout, _LAYOUT, Clash.DESIGN, (check_lifetimes,)),
    SetSortOrder: Alteration(with_order, _ORDER, Clash.DESIGN, (check_lifetimes,)),
    SetPrimaryKey: Alteration(
        lambda _, state, operation: replace(state, primary_key=operation.columns),
        ("primary_key",),
        Clash.DESIGN,
        (check_key, check_lifetimes, check_tombstones),
    ),
    SetLifetimes: Alteration(
        lambda _, state, operation: replace(state, lifetimes=operation.lifetimes),
        ("lifetimes",),
        Clash.DESIGN,
        (check_lifetimes,),
    ),
    AddCheck: Alteration(
        lambda _, state, op: replace(state, constraints=(*state.constraints, op.constraint)),
        ("constraints",),
        Clash.DESIGN,
        (check_constraints,),
    ),
    DropCheck: Alteration(without_check, ("constraints",), Clash.DESIGN),
    Restore: Alteration(
        _restored,
        (*_COLUMNS, *_LAYOUT, *_ORDER, "constraints", "primary_key", "range_tombstones"),
        Clash.DESIGN,
        (check_constraints, check_key, check_lifetimes),
    ),
    SetProperties: Alteration(with_properties, ("stored_properties",), Clash.PROPERTIES),
    SetComment: Alteration(
        lambda _, state, operation: replace(state, comment=operation.comment),
        ("comment",),
        Clash.KIND,
    ),
    RenameTable: Alteration(
        lambda _, state, operation: replace(state, name=operation.name), ("name",), Clash.KIND
    ),
    AddRangeTombstone: Alteration(with_tombstone, ("range_tombstones",), Clash.ROWS),
    ForgetRangeTombstones: Alteration(with_tombstone, ("range_tombstones",), Clash.ROWS),
    DrawIdentity: Alteration(drawn, ("identities",), Clash.ROWS),
}
"""The operations that change what a table is, and not which tables or rows there are."""


def clash_of(operation: TableOperation) -> Clash:
    """Return what an operation on a table conflicts with; one on rows is compared by its rows."""
    alteration = ALTERATIONS.get(type(operation))
    return Clash.ROWS if alteration is None else alteration.clash


def altered_table(epoch: int, state: TableState, operation: TableOperation) -> TableState:
    """Return a table after an alteration in an epoch. Raises CorruptionError.

    Requires: no other table has the new name.
    """
    alteration = ALTERATIONS[type(operation)]
    state = alteration.fold(epoch, state, operation)
    for check in alteration.checks:
        check(epoch, state)
    return state


def is_altered(before: TableState, after: TableState, planned: Iterable[Operation]) -> bool:
    """Return whether a table was altered so that alterations planned before may not follow.

    Range tombstones and values of identity columns, which statements on rows also change, do not
    count.
    """
    own = {type(operation) for operation in planned}
    rows, concerned = set[str](), set[str]()
    for kind, (_, changes, clash, _) in ALTERATIONS.items():
        if clash is Clash.ROWS:
            rows.update(changes)
        elif clash is not Clash.KIND or kind in own:
            concerned.update(changes)
    return any(getattr(before, each) != getattr(after, each) for each in concerned - rows)
