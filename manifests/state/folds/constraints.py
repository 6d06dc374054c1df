"""The fold of a table's constraints. Pure.

Spec: docs/spec/operations.md#constraints
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model.constraints import find_constraint
from colonnade.manifests.model.operations import (
    AddCheck,
    DropCheck,
)
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState


def with_check(epoch: int, state: TableState, operation: AddCheck) -> TableState:
    """Return a table with one more constraint. Raises CorruptionError."""
    after = replace(state, constraints=(*state.constraints, operation.constraint))
    check_constraints(epoch, after)
    return after


def without_check(epoch: int, state: TableState, operation: DropCheck) -> TableState:
    """Return a table without a constraint. Raises CorruptionError if it has no such constraint."""
    kept = tuple(each for each in state.constraints if each.name != operation.name)
    if len(kept) == len(state.constraints):
        refuse(epoch, f"drops constraint {operation.name!r}, which {state.name!r} does not have")
    return replace(state, constraints=kept)


def check_constraints(epoch: int, state: TableState) -> None:
    """Check that names differ, and that the columns of constraints exist. Raises CorruptionError.

    Every writer must be able to evaluate the constraints of a table.
    """
    if not state.constraints:
        return
    ids = {field.id for field in state.schema.fields}
    for at, each in enumerate(state.constraints):
        if find_constraint(state.constraints[:at], each.name):
            refuse(epoch, f"gives table {state.name!r} two constraints named {each.name!r}")
        if not ids.issuperset(each.columns):
            refuse(
                epoch,
                f"leaves constraint {each.name!r} of table {state.name!r} without a column that"
                " it reads",
            )
