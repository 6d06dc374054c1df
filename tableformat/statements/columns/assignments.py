"""The values that an update sets: `{"price": "price * 2", "note": "NULL", "code": col("old")}`.

Text is SQL, as wherever Spark users write SET. A text value is a literal in quotes, `"'text'"`. A
function computes values of rows. Every other Python value means itself.
Grammar: docs/expressions.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import ColumnBuilder, Predicate
from colonnade.tableformat.predicate.bind import bind_value
from colonnade.tableformat.predicate.builder import as_column
from colonnade.tableformat.predicate.expressions import Call, Column
from colonnade.tableformat.predicate.sql import parse_value
from colonnade.tableformat.predicate.values.row_value import RowValue
from colonnade.tableformat.statements.columns.assigned_value import assignable, by_function
from colonnade.tableformat.statements.columns.constant_value import constant_value
from colonnade.tableformat.types.arrow_types import arrow_schema, arrow_type
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.conversion import convert
from colonnade.tableformat.types.default_values import default_values
from colonnade.tableformat.write.generated import (
    BoundGeneration,
    bind_generations,
    fill_rows,
)
from colonnade.tableformat.write.identity import check_settable


@dataclass(frozen=True, slots=True)
class ConstantValue:
    """One value for every row, in the column's Arrow type."""

    scalar: Any


Value = RowValue | ConstantValue


@dataclass(frozen=True, slots=True)
class Assignments:
    """New values for columns of a table, by column id.

    `generations` are the generated columns that the new values change. They have NULL in `values`,
    unless the update sets them, and are filled.
    """

    schema: TableSchema
    values: Mapping[int, Value]
    generations: tuple[BoundGeneration, ...] = ()

    @property
    def column_ids(self) -> frozenset[int]:
        """The columns that the new values are computed from."""
        read = set[int]()
        for value in self.values.values():
            if isinstance(value, RowValue):
                read |= value.columns
        for each in self.generations:
            read |= each.value.columns.difference(self.values)
        return frozenset(read)

    @property
    def targets(self) -> TableSchema:
        """The columns that get new values."""
        return TableSchema(fields=tuple(f for f in self.schema.fields if f.id in self.values))

    def of(self, fields: Sequence[SchemaField]) -> Assignments:
        """Return what is set in some columns, as assignments to these columns alone."""
        ids = {field.id for field in fields}
        return Assignments(
            TableSchema(fields=tuple(fields)),
            {column: value for column, value in self.values.items() if column in ids},
            tuple(each for each in self.generations if each.field.id in ids),
        )

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows after the update, with all columns of the table.

        A generated column that is not set has NULL, until it is filled. Raises InvalidInputError
        that names the column for a value that it cannot hold.
        """
        columns = [
            evaluated(self.values[field.id], batch)
            if field.id in self.values
            else pa.nulls(batch.num_rows)
            if field.generated is not None
            else batch.column(batch.schema.get_field_index(field.name))
            for field in self.schema.fields
        ]
        return conform(pa.RecordBatch.from_arrays(columns, self.schema.names), self.schema)

    def compute(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return new values of the columns `targets` for rows that have the columns `column_ids`.

        Raises the errors of `apply`.
        """
        targets = self.targets
        columns = [evaluated(self.values[field.id], batch) for field in targets.fields]
        rows = conform(pa.RecordBatch.from_arrays(columns, targets.names), targets)
        kept = {each for g in self.generations for each in g.value.columns.difference(self.values)}
        for field in self.schema.fields:
            if field.id in kept:
                index = batch.schema.get_field_index(field.name)
                rows = rows.append_column(batch.schema.field(index), batch.column(index))
        return fill_rows(rows, self.generations).select(targets.names)


def parse_assignments(
    given: Mapping[str, Any], schema: TableSchema, table: str = "the table"
) -> Assignments:
    """Parse what an update of the table named `table` sets, by column name.

    Raises InvalidInputError when no column is set, when a column is unknown or set twice, and when
    only a part of a column is set. Raises it for a value of another type, and for SQL that only
    Spark evaluates. Raises it for an identity column that users may not set, and for a generated
    column that only Spark can compute.
    """
    if not isinstance(given, Mapping) or not given:
        raise InvalidInputError(f"An update takes a dict of values by column, not {given!r}.")
    values = assigned_values(given, schema, schema)
    changed = tuple(
        each
        for each in bind_generations(table, schema)
        if each.field.id in values or not each.value.columns.isdisjoint(values)
    )
    nulls = {each.field.id: _null(each.field) for each in changed}
    return Assignments(schema, {**nulls, **values}, changed)


def assigned_values(
    given: Mapping[str, Any], targets: TableSchema, schema: TableSchema
) -> dict[int, Value]:
    """Return the values of columns of a table by id; they are computed from rows of a schema.

    Raises the errors of `parse_assignments`, apart from those of generated columns.
    """
    values: dict[int, Value] = {}
    computed: dict[int, Value] = {}
    for name, value in given.items():
        field = assigned_field(name, targets)
        if field.id in values:
            raise InvalidInputError(f"Column {field.name!r} is set more than once; set it once.")
        found = values[field.id] = assigned_value(value, field, schema)
        if isinstance(found, RowValue) and not callable(value):
            computed[field.id] = found
    check_settable(tuple(each for each in targets.fields if each.id in values))
    if computed:
        # Computed on no rows, this checks the types alone, whichever rows will be found.
        nothing = pa.RecordBatch.from_pylist([], arrow_schema(schema))
        Assignments(targets, computed).compute(nothing)
    return values


def _null(field: SchemaField) -> ConstantValue:
    return ConstantValue(pa.scalar(None, arrow_type(field)))


def assigned_field(name: str, schema: TableSchema) -> SchemaField:
    """Return the column to set. Raises InvalidInputError for an unknown one."""
    if not isinstance(name, str):
        raise InvalidInputError(f"The column to set is given by its name, not as {name!r}.")
    try:
        return schema.field(name)
    except NotFoundError as error:
        raise InvalidInputError(
            f"{error.message} Only whole columns can be set, not fields inside them."
        ) from error


def assigned_value(value: object, field: SchemaField, schema: TableSchema) -> Value:
    """Return a value that a column gets, which is computed from rows of a schema.

    Raises InvalidInputError that names the column.
    """
    match parsed := stated_value(value, field):
        case Column((name,)) if name.upper() == "DEFAULT" and not _has(schema, name):
            return ConstantValue(convert(default_values(field, 1), field, field.name)[0])
        case Column() | Predicate() | Call():
            return _computed(parsed, field, schema)
        case _ if callable(parsed):
            return by_function(parsed, field, schema.fields)
        case _:
            return ConstantValue(constant_value(parsed, field))


def stated_value(value: object, field: SchemaField) -> object:
    """Return an expression that a value is; a function, or another value of Python, is itself.

    Raises InvalidInputError that names the column.
    """
    if isinstance(value, ColumnBuilder):
        return as_column(value)
    if not isinstance(value, str):
        return value
    try:
        return parse_value(value)
    except InvalidInputError as error:
        raise _not_set(field, error) from error


def _has(schema: TableSchema, name: str) -> bool:
    return name.casefold() in {each.casefold() for each in schema.names}


def _computed(value: Column | Predicate | Call, field: SchemaField, schema: TableSchema) -> Value:
    try:
        bound = bind_value(value, schema)
        found = assignable(bound, field) if isinstance(value, Call) else bound
    except InvalidInputError as error:
        raise _not_set(field, error) from error

    def compute(batch: pa.RecordBatch) -> pa.Array:
        try:
            return found.compute(batch)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"Column {field.name!r} cannot be computed: {error.message.rstrip('.')}; no row was"
                " written."
            ) from error

    return replace(found, compute=compute) if found.may_fail else found


def _not_set(field: SchemaField, error: InvalidInputError) -> InvalidInputError:
    return InvalidInputError(
        f"Column {field.name!r} cannot be set: {error.message} Write text in quotes."
    )


def evaluated(value: Value, batch: pa.RecordBatch) -> pa.Array:
    """Return a value for each row of a batch."""
    if isinstance(value, ConstantValue):
        return pa.repeat(value.scalar, batch.num_rows)
    return value.compute(batch)
