"""CHECK constraints: conditions that no row of a table may make FALSE.

A constraint holds for a row when its condition is TRUE or NULL. The log keeps the condition as SQL
text in Spark's dialect, and the ids of the columns that it reads.
Spec: docs/spec/operations.md#constraints
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import StringConstraints

from colonnade.manifests.model.columns.stated_sql import present_text
from colonnade.manifests.model.entries import ColumnNumber
from colonnade.manifests.model.schema import Model, NameReferences, SchemaField, TableSchema

ConstraintName = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class CheckConstraint(Model):
    """A condition on rows, as SQL text.

    `columns` are the ids of the top-level columns that the condition reads. `sql` is the condition
    as it was stated. It names columns at `references`; without any, its columns keep their names.
    """

    name: ConstraintName
    sql: Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
    columns: tuple[ColumnNumber, ...]
    references: NameReferences = ()

    def text(self, schema: TableSchema) -> str:
        """Return the condition with the present names of the columns that it reads."""
        return present_text(self.sql, self.references, schema)

    def __str__(self) -> str:
        return f"{self.name} CHECK ({self.sql})"

    def fields(self, schema: TableSchema) -> tuple[SchemaField, ...]:
        """Return the columns that the condition reads, in the order of the schema."""
        ids = set(self.columns)
        return tuple(field for field in schema.fields if field.id in ids)


def find_constraint(constraints: Iterable[CheckConstraint], name: str) -> CheckConstraint | None:
    """Return the constraint with a name, in any case; None if there is none."""
    folded = name.casefold()
    return next((each for each in constraints if each.name.casefold() == folded), None)
