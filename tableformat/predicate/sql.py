"""Read conditions and values from users: SQL text, what `col` builds, or expressions of Arrow.

Every condition passes through `parse_predicate`. SQL is that of Spark's dialect.
Grammar: docs/predicates.md
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import NameReference, SchemaField, TableSchema
from colonnade.tableformat.predicate.builder import ColumnBuilder, as_predicate
from colonnade.tableformat.predicate.expressions import MOST_LEVELS, Operand, Predicate, depth_of
from colonnade.tableformat.types.compute import pc

Parameters = Sequence[Any] | Mapping[str, Any]
"""The values of the parameters of a text: of each `?` in their order, or of `:name` by its name."""


Where = str | tuple[str, Parameters] | Predicate | ColumnBuilder
"""The forms of a condition, besides expressions of Arrow. pyarrow has no type for those.

A text may have parameters, which are given beside it in a tuple.
"""


def parse_predicate(where: Where) -> Predicate:
    """Return the predicate of SQL text, of an expression of Arrow, or that was built with `col`.

    An expression of Arrow means what the same condition in SQL means. A parameter is a value and
    never SQL, whatever its text is: `("name = ?", ["O'Neil"])`.

    Raises InvalidInputError with one sentence for what is not a predicate. For SQL that predicates
    do not support, the sentence names the unsupported part. Raises it for a parameter without a
    value, for a value without a parameter, and for conditions of more than 100 levels. Costs well
    under a millisecond for a short text, and once in a process about a quarter of a second.
    """
    match where:
        case (str() as text, Mapping() | list() | tuple() as parameters):
            predicate: Predicate = _grammar().read_predicate(text, parameters)
            return predicate
        case str():
            predicate = _grammar().read_predicate(where)
            return predicate
    built = as_predicate(where)
    if built is None and isinstance(where, pc.Expression):
        module = importlib.import_module("colonnade.tableformat.predicate.foreign.arrow")
        built = module.from_arrow(where)
    if built is None:
        raise InvalidInputError(
            "where must be SQL text, a tuple of SQL text and its parameters, built by col(), or an"
            f" expression of Arrow, not {where!r}."
        )
    if depth_of(built) > MOST_LEVELS:
        raise InvalidInputError("The predicate is nested too deeply; flatten it.")
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
