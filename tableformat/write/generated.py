"""Generated columns of rows that are written without Spark: filled where NULL, checked elsewhere.

Spark fills and checks its rows by itself. Here Colonnade evaluates the expressions that it knows,
and an expression that only Spark can evaluate refuses every write of rows.
Spec: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.generated import expression_of, generated_fields, sources_of
from colonnade.manifests.model.schema import (
    INTEGERS,
    Generation,
    SchemaField,
    TableSchema,
    type_text,
)
from colonnade.tableformat.predicate.bind import bind_value
from colonnade.tableformat.predicate.sql import parse_value
from colonnade.tableformat.predicate.values.row_value import RowValue
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conversion import convert
from colonnade.tableformat.types.value_checks import check_values
from colonnade.tableformat.write.constraints import shown_values


@dataclass(frozen=True, slots=True)
class BoundGeneration:
    """A generated column `field` of the table named `table`, whose expression is resolved."""

    table: str
    field: SchemaField
    text: str
    value: RowValue
    sources: tuple[str, ...]

    def fill(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows with the column computed where it is NULL.

        Requires rows that conform to the column and to those that it reads. Raises
        InvalidInputError that names the column and the values of a row that has another value.
        """
        at = rows.schema.get_field_index(self.field.name)
        given, computed = rows.column(at), self._compute(rows)
        if given.null_count < len(given):
            same = pc.fill_null(pc.equal(given, computed), False)
            wrong = pc.index(pc.or_(same, pc.is_null(given)), pa.scalar(False)).as_py()
            if wrong >= 0:
                raise self._differs(rows, wrong)
        return rows.set_column(at, rows.schema.field(at), computed)

    def _compute(self, rows: pa.RecordBatch) -> pa.Array:
        try:
            array = convert(self.value.compute(rows), self.field, self.field.name)
            check_values(array, self.field, self.field.name)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"{self._title} cannot be computed: {error.message.rstrip('.')}; no row was"
                " written."
            ) from error
        return array

    def _differs(self, rows: pa.RecordBatch, row: int) -> InvalidInputError:
        return InvalidInputError(
            f"{self._title} has another value in a row with"
            f" {shown_values(rows, row, (*self.sources, self.field.name))}; no row was written."
            " Leave the column out, or give NULL, and it is computed."
        )

    @property
    def _title(self) -> str:
        return f"Column {self.field.name!r} of table {self.table!r}, generated as {self.text},"


def bind_generations(table: str, schema: TableSchema) -> tuple[BoundGeneration, ...]:
    """Resolve the generated columns of the table named `table`.

    Raises InvalidInputError that names a column which only Spark can compute.
    """
    return tuple(_bind(table, field, schema) for field in generated_fields(schema))


def filled_rows(
    batches: Iterable[pa.RecordBatch], generations: Sequence[BoundGeneration]
) -> Iterator[pa.RecordBatch]:
    """Yield conformed batches with generated columns. Raises the errors of `fill`."""
    for batch in batches:
        yield fill_rows(batch, generations)


def fill_rows(rows: pa.RecordBatch, generations: Iterable[BoundGeneration]) -> pa.RecordBatch:
    """Return conformed rows with generated columns. Raises the errors of `BoundGeneration.fill`."""
    for each in generations:
        rows = each.fill(rows)
    return rows


def bind_expression(field: SchemaField, generation: Generation, schema: TableSchema) -> RowValue:
    """Resolve the expression of a generated column.

    Raises InvalidInputError for an expression that only Spark can evaluate, or of a type that the
    column does not hold, or for an unknown column.
    """
    text = expression_of(generation, schema)
    value = bind_value(parse_value(text), schema, generation.time_zone)
    if not (isinstance(value.type, str) and _holds(field, value.type)):
        raise InvalidInputError(
            f"Its type {type_text(field.type)} does not hold all values of type"
            f" {type_text(value.type)}; cast the expression."
        )
    return value


def _bind(table: str, field: SchemaField, schema: TableSchema) -> BoundGeneration:
    assert field.generated is not None
    text = expression_of(field.generated, schema)
    try:
        value = bind_expression(field, field.generated, schema)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"Rows cannot be written to table {table!r} without Spark, because only Spark can"
            f" compute its column {field.name!r}, generated as {text}; write them"
            f" with Spark. {error.message}"
        ) from error
    names = tuple(each.name for each in sources_of(field, schema))
    return BoundGeneration(table, field, text, value, names)


def _holds(field: SchemaField, kind: str) -> bool:
    if not isinstance(field.type, str):
        return False
    if kind in INTEGERS and field.type in INTEGERS:
        return INTEGERS.index(kind) <= INTEGERS.index(field.type)
    texts = ("string", "char(", "varchar(")
    both_text = field.type.startswith(texts) and kind.startswith(texts)
    return field.type == kind or (both_text and " collate " not in field.type + kind)
