"""Read conditions and values from users: SQL text in Spark's dialect, or what `col` builds.

Grammar: docs/predicates.md
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import NameReference, SchemaField, TableSchema
from colonnade.tableformat.predicate.builder import ColumnBuilder, as_predicate
from colonnade.tableformat.predicate.expressions import Operand, Predicate
from colonnade.tableformat.predicate.row_values import RowValue

Where = str | Predicate | ColumnBuilder
"""The forms of a condition."""


def parse_predicate(where: Where) -> Predicate:
    """Read a predicate in Spark SQL. A predicate that was built with `col` is returned unchanged.

    Raises InvalidInputError with one sentence for text that is not a predicate. For SQL that
    predicates do not support, the sentence names the unsupported part. Costs well under a
    millisecond for a short text, and once in a process about a quarter of a second.
    """
    if isinstance(where, str):
        predicate: Predicate = _grammar().read_predicate(where)
        return predicate
    built = as_predicate(where)
    if built is None:
        raise InvalidInputError(f"where must be SQL text or built by col(), not {where!r}.")
    return built


def parse_value(text: str) -> Operand | Predicate:
    """Read a value in Spark SQL: a column, a literal, or a condition, whose value is boolean.

    Raises the errors of `parse_predicate`.
    """
    value: Operand | Predicate = _grammar().read_value(text)
    return value


def parse_row_value(text: str, schema: TableSchema, time_zone: str) -> RowValue:
    """Read an expression of Spark SQL over the columns of a schema with ids.

    Times are taken apart in `time_zone`. Raises InvalidInputError that names the part that only
    Spark can evaluate, and NotFoundError for an unknown column.
    """
    grammar = importlib.import_module("colonnade.tableformat.predicate.grammar.values")
    value: RowValue = grammar.read_row_value(text, schema, time_zone)
    return value


def reads_whole(text: str, column: SchemaField) -> bool:
    """Return whether SQL text may read a nested column, or a nested value in it, as one value.

    Text that reads only fields or elements of other types does not, and neither does `IS NULL`.
    Returns True where the text cannot be read.
    """
    module = importlib.import_module("colonnade.tableformat.predicate.grammar.whole_values")
    found: bool = module.read_whole(text, column)
    return found


def references(
    text: str, schema: TableSchema, columns: Collection[int]
) -> tuple[NameReference, ...]:
    """Return where SQL text names columns, and fields inside them, in ascending order.

    `columns` are the ids of all columns that it reads. Returns nothing where the text may mean
    something else by a name: if only Spark can read it, or if it gives names of its own.
    """
    module = importlib.import_module("colonnade.tableformat.predicate.grammar.names")
    found: tuple[NameReference, ...] = module.references(text, schema, columns)
    return found


def _grammar() -> Any:
    """Return the grammar, which is imported when SQL is first read.

    Importing the SQL library takes as long as starting the rest of a planner. Most planners and
    programs never read SQL.
    """
    return importlib.import_module("colonnade.tableformat.predicate.grammar.predicates")
