"""Conditions and values as users give them: SQL text in Spark's dialect, or what `col` builds.

Grammar: docs/predicates.md
"""

from __future__ import annotations

import importlib
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.builder import ColumnBuilder, as_predicate
from colonnade.tableformat.predicate.expressions import Operand, Predicate

Where = str | Predicate | ColumnBuilder
"""What a condition may be given as."""


def parse_predicate(where: Where) -> Predicate:
    """Read a predicate in Spark SQL; one that was built by `col` is returned as it is.

    Raises InvalidInputError in one sentence for text that is no predicate, and for a part of SQL
    that predicates do not support, naming it. Costs well under a millisecond for a short text, and
    a quarter of a second once in a process.
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

    Raises InvalidInputError as `parse_predicate`.
    """
    value: Operand | Predicate = _grammar().read_value(text)
    return value


def _grammar() -> Any:
    """The grammar, imported when SQL is first read.

    The SQL library takes as long to import as all the rest of a planner that has started, and most
    planners and programs never read SQL.
    """
    return importlib.import_module("colonnade.tableformat.predicate.sql_grammar")
