"""Fold columns, properties, comment, name, constraints and key of a table: all but its rows.

The last values of identity columns are folded here, too. Pure.
Spec: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model.operations import (
    AddCheck,
    AddRangeTombstone,
    AlterSchema,
    DrawIdentity,
    DropCheck,
    ForgetRangeTombstones,
    RenameTable,
    Restore,
    SetComment,
    SetLifetimes,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
)
from colonnade.manifests.state.folds.columns import altered, restored
from colonnade.manifests.state.folds.constraints import (
    check_constraints,
    with_check,
    without_check,
)
from colonnade.manifests.state.folds.identity import drawn
from colonnade.manifests.state.folds.lifetimes import check_lifetimes, with_lifetimes
from colonnade.manifests.state.folds.primary_key import check_key, with_key
from colonnade.manifests.state.folds.properties import with_properties
from colonnade.manifests.state.folds.range_tombstones import check_tombstones, with_tombstone
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.sort_order import check_fits, with_order, with_restored_order

TableOperation = (
    AlterSchema
    | SetSortOrder
    | SetProperties
    | SetComment
    | RenameTable
    | Restore
    | AddCheck
    | DropCheck
    | SetPrimaryKey
    | SetLifetimes
    | AddRangeTombstone
    | ForgetRangeTombstones
    | DrawIdentity
)
"""The operations that change what a table is, and not which tables or rows there are."""


def altered_table(epoch: int, state: TableState, operation: TableOperation) -> TableState:
    """Return a table after an operation of an epoch. Raises CorruptionError.

    Requires: no other table has the new name.
    """
    match operation:
        case AlterSchema():
            state = altered(epoch, state, operation)
            check_constraints(epoch, state)
            check_key(epoch, state)
            check_tombstones(epoch, state)
            check_lifetimes(epoch, state)
        case Restore():
            state = restored(epoch, with_restored_order(epoch, state, operation), operation)
            if operation.sort_order_id is not None:
                check_fits(epoch, state, state.sort_key)
            if operation.constraints is not None:
                state = replace(state, constraints=operation.constraints)
            check_constraints(epoch, state)
            key = operation.primary_key
            state = with_key(epoch, state, state.primary_key if key is None else key)
            # A restored RowSet has been cleaned of every earlier tombstone.
            state = replace(state, range_tombstones=())
            check_lifetimes(epoch, state)
        case AddCheck():
            state = with_check(epoch, state, operation)
        case DropCheck():
            state = without_check(epoch, state, operation)
        case SetPrimaryKey():
            state = with_key(epoch, state, operation.columns)
            check_lifetimes(epoch, state)
            check_tombstones(epoch, state)
        case SetLifetimes():
            state = with_lifetimes(epoch, state, operation)
        case AddRangeTombstone() | ForgetRangeTombstones():
            state = with_tombstone(epoch, state, operation)
        case DrawIdentity():
            state = drawn(epoch, state, operation)
        case SetSortOrder():
            state = with_order(epoch, state, operation)
            check_lifetimes(epoch, state)
        case SetProperties():
            after = with_properties(state.stored_properties, operation)
            state = replace(state, stored_properties=after)
        case SetComment():
            state = replace(state, comment=operation.comment)
        case RenameTable():
            state = replace(state, name=operation.name)
    return state
