"""Add and drop constraints. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.model.constraints import find_constraint
from colonnade.manifests.model.operations import AddCheck, DropCheck, Operation
from colonnade.manifests.public import public
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.design.constraints import (
    NewConstraint,
    check_constraint_name,
    check_free,
    check_needed,
)


@public
@dataclass(frozen=True, slots=True)
class AddConstraint(Alteration):
    """Add `CHECK (condition)`, which no row may make FALSE; the condition is SQL text.

    Rows that are there are checked first. `columns` are the columns that the condition reads, for a
    condition that perhaps only Spark can evaluate.
    """

    name: str
    condition: str
    columns: tuple[str, ...] | None = None

    def _apply(self, draft: Draft) -> None:
        """Add it to the constraints. Raises InvalidInputError, also for a name that is in use."""
        new = NewConstraint(self.name, self.condition, self.columns).make(draft.schema)
        check_free(new.name, draft.constraints)
        draft.constraints[new] = draft.schema

    def __str__(self) -> str:
        return f"add constraint {self.name} CHECK ({self.condition})"


@public
@dataclass(frozen=True, slots=True)
class DropConstraint(Alteration):
    """Drop a constraint. With `if_exists`, an unknown constraint is not an error."""

    name: str
    if_exists: bool = False

    def _apply(self, draft: Draft) -> None:
        """Take it from the constraints. Raises NotFoundError that lists them."""
        check_constraint_name(self.name)
        found = find_constraint(draft.constraints, self.name)
        if found is not None:
            del draft.constraints[found]
        elif not self.if_exists:
            known = ", ".join(each.name for each in draft.constraints) or "none"
            raise NotFoundError(
                f"Constraint {self.name!r} does not exist; the constraints of table"
                f" {draft.table.name!r} are: {known}."
            )

    def __str__(self) -> str:
        return f"drop constraint {self.name}"


def constraint_operations(draft: Draft) -> tuple[tuple[Operation, ...], tuple[Operation, ...]]:
    """Return the operations that drop constraints, and those that add new ones.

    A constraint is dropped before its columns are, and added after they are. Raises
    InvalidInputError that names a constraint and a column that it needs.
    """
    before, table = draft.table.constraints, draft.table.id
    for constraint, stated_for in draft.constraints.items():
        check_needed(constraint, stated_for, draft.schema)
    dropped = (each for each in before if each not in draft.constraints)
    added = (each for each in draft.constraints if each not in before)
    return (
        tuple(DropCheck(table=table, name=each.name) for each in dropped),
        tuple(AddCheck(table=table, constraint=each) for each in added),
    )
