"""Refuse epochs that say which rows were replaced where none can be. Pure.

Spec: docs/spec/operations.md#replaced-rows
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    DropRowSet,
    Operation,
    ReplaceRows,
)
from colonnade.manifests.state.folds.refusal import refuse


def check_replaced_rows(epoch: int, operations: Sequence[Operation]) -> None:
    """Check the operations of an epoch that say which rows were replaced. Raises CorruptionError.

    Cost: nothing for an epoch without them.
    """
    for at, operation in enumerate(operations):
        if not isinstance(operation, ReplaceRows):
            continue
        table = operation.table
        before, after = (
            [each for each in part if getattr(each, "table", None) == table]
            for part in (operations[:at], operations[at + 1 :])
        )
        if not any(isinstance(each, AddRowSet | AddRowSets) for each in before):
            refuse(epoch, f"replaces rows of table {table} without adding any")
        if not any(map(_moves, before)):
            refuse(epoch, f"replaces rows of table {table} without moving any")
        if any(isinstance(each, _ROWS) for each in after):
            refuse(epoch, f"adds or deletes rows of table {table} after it said which it replaces")
        if any(isinstance(each, Compaction) or _overwrites(each) for each in before):
            refuse(epoch, f"replaces rows of table {table} that it compacts or overwrites")


_ROWS = AddRowSet | AddRowSets | AddDeletionVector | DropRowSet | Compaction | ReplaceRows


def _moves(operation: Operation) -> bool:
    return isinstance(operation, AddDeletionVector | DropRowSet) and operation.kind in (
        "update",
        "merge",
    )


def _overwrites(operation: Operation) -> bool:
    return isinstance(operation, DropRowSet) and operation.kind is None
