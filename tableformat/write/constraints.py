"""The constraints of a table, evaluated on rows that are written without Spark.

Spark evaluates constraints by itself. Here our own predicates do, and a constraint that they cannot
express refuses every write of rows.
Spec: docs/spec/operations.md#constraints
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.predicate import BoundPredicate, bind, evaluate, parse_predicate
from colonnade.tableformat.predicate.values.zones import SESSION
from colonnade.tableformat.types.compute import pc

_SHOWN = 100
"""The most characters of a value that an error shows."""


@dataclass(frozen=True, slots=True)
class BoundConstraint:
    """A constraint of the table named `table`, whose columns are resolved."""

    table: str
    constraint: CheckConstraint
    text: str
    condition: BoundPredicate
    columns: tuple[str, ...]

    def check(self, rows: pa.RecordBatch) -> None:
        """Refuse rows that the constraint does not allow. NULL is allowed, as in SQL.

        Requires rows that conform to the table's columns, or at least to those of the condition.
        Raises InvalidInputError that names the constraint and the values of one row.
        """
        try:
            met = evaluate(self.condition, rows)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"Constraint {self.constraint.name!r} of table {self.table!r}, CHECK"
                f" ({self.text}), cannot be computed: {error.message.rstrip('.')}; no row was"
                " written."
            ) from error
        row = pc.index(met, pa.scalar(False)).as_py()
        if row >= 0:
            raise self.violated(rows, row, "no row was written")

    def violated(self, rows: pa.RecordBatch, row: int, outcome: str) -> InvalidInputError:
        """Return the error for a row whose condition is FALSE; `outcome` ends its sentence."""
        values = shown_values(rows, row, self.columns)
        return InvalidInputError(
            f"Constraint {self.constraint.name!r} of table {self.table!r}, CHECK"
            f" ({self.text}), does not hold for a row with {values or 'any values'};"
            f" {outcome}."
        )


def bind_constraints(
    table: str, constraints: Sequence[CheckConstraint], schema: TableSchema
) -> tuple[BoundConstraint, ...]:
    """Resolve the constraints of the table named `table`.

    Raises InvalidInputError that names a constraint which only Spark can evaluate.
    """
    return tuple(_bind(table, each, schema) for each in constraints)


def checked_rows(
    batches: Iterable[pa.RecordBatch], rules: Sequence[BoundConstraint]
) -> Iterator[pa.RecordBatch]:
    """Yield conformed batches after each constraint was checked on them.

    Raises the errors of `BoundConstraint.check`.
    """
    for batch in batches:
        check_rows(batch, rules)
        yield batch


def check_rows(rows: pa.RecordBatch, rules: Iterable[BoundConstraint]) -> None:
    """Check constraints on rows. Raises the errors of `BoundConstraint.check`."""
    for rule in rules:
        rule.check(rows)


def can_evaluate(constraints: Sequence[CheckConstraint], schema: TableSchema) -> bool:
    """Return whether our predicates can express all constraints."""
    try:
        bind_constraints("", constraints, schema)
    except InvalidInputError:
        return False
    return True


def are_decided_by(
    constraints: Iterable[CheckConstraint], schema: TableSchema, columns: Collection[int]
) -> bool:
    """Return whether new values of some columns decide every constraint that reads one of them.

    If so, an update can replace these columns and read no other column for the check.
    """
    read = ({field.id for field in each.fields(schema)} for each in constraints)
    return all(ids.isdisjoint(columns) or ids.issubset(columns) for ids in read)


def decided_by(
    rules: Iterable[BoundConstraint], columns: Collection[int]
) -> tuple[BoundConstraint, ...]:
    """Return the constraints that read at least one column, and all their columns are given."""
    read = ((each, each.condition.column_ids) for each in rules)
    return tuple(each for each, ids in read if ids and ids.issubset(columns))


def _bind(table: str, constraint: CheckConstraint, schema: TableSchema) -> BoundConstraint:
    text = constraint.text(schema)
    try:
        condition = bind(parse_predicate(text), schema, SESSION)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"Rows cannot be written to table {table!r} without Spark, because only Spark can check"
            f" its constraint {constraint.name!r}, CHECK ({text}); write them with Spark."
            f" {error.message}"
        ) from error
    ids = condition.column_ids
    names = tuple(field.name for field in schema.fields if field.id in ids)
    return BoundConstraint(table, constraint, text, condition, names)


def shown_values(rows: pa.RecordBatch, row: int, columns: Iterable[str]) -> str:
    """Return the values of a row in some columns, for an error: `a = 1, b = NULL`."""
    return ", ".join(
        f"{name} = {_shown(rows.column(rows.schema.get_field_index(name))[row])}"
        for name in columns
    )


def _shown(value: pa.Scalar) -> str:
    try:
        python = value.as_py()
    except (ValueError, OverflowError):  # a date or time that Python cannot represent
        return str(value.cast(pa.string()))
    text = repr(python) if isinstance(python, str | bytes) else str(python)
    if python is None:
        text = "NULL"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
