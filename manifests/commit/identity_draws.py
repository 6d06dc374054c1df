"""Draws of identity values on the way to their slot. Pure.

A draw follows every epoch except the drop of its table or column, because the fold gives it the
values that come next at its slot.
Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.identity import next_value, next_values, numbers_of, spec_of
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DrawIdentity
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.folds.identity import find_identity
from colonnade.manifests.state.snapshot import Snapshot, TableState


def check_draws(change: Change, base: Snapshot, head: Snapshot) -> None:
    """Refuse a draw that the state before its slot does not allow.

    Raises InvalidInputError that names table and column if the column has too few values left.
    Raises ConflictError if a concurrent writer has dropped the column.
    """
    for operation in change.ops:
        if not isinstance(operation, DrawIdentity):
            continue
        table = head.tables.get(TableId(operation.table))
        column = None if table is None else find_identity(table, operation.column)
        if table is None or column is None:
            raise ConflictError(
                f"The identity column with the id {operation.column} was dropped after epoch"
                f" {base.epoch}, on which {change.operation!r} was planned; read the table again"
                " and repeat it."
            )
        if next_values(table.identities, column, operation.count) is None:
            raise exhausted(table, column, operation.count)


def exhausted(table: TableState, column: SchemaField, count: int) -> InvalidInputError:
    """Return the error for an identity column that has too few values left."""
    first, numbers, step = next_value(table.identities, column), numbers_of(column), spec_of(column)
    left = 0
    if first is not None:
        left = len(range(first, numbers.stop if step.step > 0 else numbers.start - 1, step.step))
    return InvalidInputError(
        f"Identity column {column.name!r} of table {table.name!r} needs {count} more values, but"
        f" its type {column.type} has {left} left; widen the column, or write to a new table."
    )


def after_own_draws(change: Change, theirs: Epoch) -> Change:
    """Return a change that expects an epoch, after an epoch that only draws values for its job.

    It expects that epoch now.
    """
    own = change.expect_epoch == theirs.epoch - 1 and all(
        isinstance(op, DrawIdentity) and op.job == change.job_id for op in theirs.ops
    )
    return replace(change, expect_epoch=theirs.epoch) if own and theirs.ops else change
