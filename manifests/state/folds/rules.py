"""What holds of the parts of a table after every epoch, and the folds of two parts. Pure.

The fold does not see rows: writers answer for it that no two rows share a key.
Spec: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model import lifetimes, primary_key
from colonnade.manifests.model.columns.properties import missing
from colonnade.manifests.model.constraints import find_constraint
from colonnade.manifests.model.operations import DropCheck, SetProperties
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState


def with_properties(_: int, state: TableState, operation: SetProperties) -> TableState:
    """Return a table with other properties. One that is removed and set is set."""
    before, removed = state.stored_properties.items(), operation.remove
    kept = {name: text for name, text in before if name not in removed}
    return replace(state, stored_properties={**kept, **operation.set})


def check_properties(epoch: int, state: TableState) -> None:
    """Check that a table has the columns that its properties name. Raises CorruptionError."""
    for name, column in missing(state.stored_properties, state.schema):
        refuse(
            epoch,
            f"leaves table {state.name!r} with the property {name!r}, which names a column"
            f" {column}, which the table does not have",
        )


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


def check_key(epoch: int, state: TableState) -> None:
    """Check that the columns of a table can have its primary key. Raises CorruptionError."""
    problem = primary_key.problem_of(state.primary_key, state.schema)
    if problem is not None:
        refuse(epoch, f"leaves table {state.name!r} with a wrong primary key: {problem}")


def check_lifetimes(epoch: int, state: TableState) -> None:
    """Check that the columns of a table can have its lifetimes. Raises CorruptionError."""
    lives, key, order = state.lifetimes, state.primary_key, state.sort_key
    if lives is None:
        return
    problem = lifetimes.problem_of(lives, state.schema, key, order, state.partition_fields)
    if problem is not None:
        refuse(epoch, f"leaves table {state.name!r} with wrong lifetimes: {problem}")
