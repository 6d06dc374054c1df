"""Read conditions and values from users: SQL text in Spark's dialect, or what `col` builds.

Grammar: docs/predicates.md
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import NameReference, SchemaField, TableSchema
from colonnade.tableformat.predicate.builder import ColumnBuilder, as_predicate
from colonnade.tableformat.predicate.expressions import Operand, Predicate

Parameters = Sequence[Any] | Mapping[str, Any]
"""The values of the parameters of a text: of each `?` in their order, or of `:name` by its name."""

Where = str | tuple[str, Parameters] | Predicate | ColumnBuilder
"""The forms of a condition. A text may have parameters, which are given beside it in a tuple."""


def parse_predicate(where: Where) -> Predicate:
    """Read a predicate in Spark SQL. A predicate that was built with `col` is returned unchanged.

    A parameter is a value and never SQL, whatever its text is: `("name = ?", ["O'Neil"])`.
    Raises InvalidInputError with one sentence for text that is not a predicate. For SQL that
    predicates do not support, the sentence names the unsupported part. Raises it for a parameter
    without a value, and for a value without a parameter. Costs well under a
    millisecond for a short text, and once in a process about a quarter of a second.
    """
    match where:
        case (str() as text, Mapping() | list() | tuple() as parameters):
            predicate: Predicate = _grammar().read_predicate(text, parameters)
            return predicate
        case str():
            predicate = _grammar().read_predicate(where)
            return predicate
    built = as_predicate(where)
    if built is None:
        raise InvalidInputError(
            "where must be SQL text, a tuple of SQL text and its parameters, or built by col(),"
            f" not {where!r}."
        )
    return built


def text_of(where: Where) -> str:
    """Return a condition as SQL text, for people. Raises the errors of `parse_predicate`."""
    return where if isinstance(where, str) else str(parse_predicate(where))


def parse_value(text: str) -> Operand | Predicate:
    """Read a value in Spark SQL: what a function makes of others, or a condition, which is boolean.

    Raises the errors of `parse_predicate`.
    """
    value: Operand | Predicate = _grammar().read_value(text)
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
