"""Defaults of columns: the value that a user states, as the log stores it. Pure.

A default is SQL text, whose value is stored beside it if each statement would find the same one.
Spec: docs/spec/types.md#defaults
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.schema import ColumnDefault, SchemaField, type_text
from colonnade.tableformat.predicate.expressions import Constant
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.sql import parse_value
from colonnade.tableformat.statements.columns.constant_value import constant_value
from colonnade.tableformat.table.design.default_sql import default_sql
from colonnade.tableformat.types.conversion import convert
from colonnade.tableformat.types.stored_value import stored_value
from colonnade.tableformat.types.value_checks import check_values

DEFAULT_LIMIT = 2**16
"""The most bytes of a default's text and value: each change of columns repeats them."""


@dataclass(frozen=True, slots=True)
class SqlDefault:
    """A default that Spark has checked: its SQL text, and the value that the text has now."""

    sql: str
    now: Literal


def added_with_default(column: SchemaField, given: Any) -> SchemaField:
    """Return a column to add, whose default is its initial value, too. None removes both.

    Raises the errors of `with_default`.
    """
    if given is None:
        return column.model_copy(update={"default": None, "initial": None})
    default, now = _read(column, given)
    return column.model_copy(update={"default": default, "initial": now})


def with_default(column: SchemaField, given: Any) -> SchemaField:
    """Return a column with a default; NULL removes it from a nullable column.

    Raises InvalidInputError that names the column. Reasons: a value that the column cannot have,
    SQL that is not a literal, NULL in a NOT NULL column, a default that is too long.
    """
    return column.model_copy(update={"default": _read(column, given)[0]})


def widened_default(before: SchemaField, after: SchemaField) -> SchemaField:
    """Return a column that has widened, with the text of a default that still has its value.

    A text may mean another value in the wider type: a double has more digits of 0.1 than a float,
    and spaces fill up a char only.
    """
    default, known = after.default, before.default
    if default is None or default.value is None or known is None or known.value is None:
        return after
    if _constant_text(after, default.sql) == default.value:
        return after
    restated = default_sql(str(before.type), known.value)
    return after.model_copy(update={"default": default.model_copy(update={"sql": restated})})


def _read(column: SchemaField, given: Any) -> tuple[ColumnDefault | None, str | None]:
    """Return the default, and the value that it has now. Both are None for NULL."""
    if column.identity is not None:
        raise InvalidInputError(
            f"Column {column.name!r} is an identity column and cannot have a default; leave"
            " the default out."
        )
    if not isinstance(column.type, str) or column.type == "variant":
        raise InvalidInputError(
            f"Column {column.name!r} is {type_text(column.type)} and cannot have a default: only"
            " columns of other types than array, map, struct and variant can."
        )
    if isinstance(given, SqlDefault):
        sql, now = given.sql, _fitted(column, given.now)
        constant = _constant_text(column, sql) == now
    else:
        sql, value = (given, _literal(column, given)) if isinstance(given, str) else ("", given)
        now, constant = _fitted(column, value), True
    if now is None:
        if not column.nullable:
            raise InvalidInputError(
                f"Column {column.name!r} is NOT NULL and cannot have the default NULL; give a"
                " value, or leave the default out."
            )
        return None, None
    sql = sql or default_sql(column.type, now)
    if len(sql.encode()) + len(now.encode()) > DEFAULT_LIMIT:
        raise InvalidInputError(
            f"The default of column {column.name!r} has more than {DEFAULT_LIMIT} bytes; shorten"
            " it."
        )
    return ColumnDefault(sql=sql, value=now if constant else None), now


def _fitted(column: SchemaField, value: object) -> str | None:
    """Return a value as the log stores it. Raises InvalidInputError for one that does not fit."""
    scalar = constant_value(value, column)
    if not scalar.is_valid:
        return None
    array = convert(pa.repeat(scalar, 1), column, column.name)
    check_values(array, column, column.name)
    return encode_value(stored_value(array), column.type)


def _literal(column: SchemaField, sql: str) -> Literal:
    refusal = InvalidInputError(
        f"The default {sql!r} of column {column.name!r} is not a literal; set it with Spark's SQL,"
        " or write text in quotes."
    )
    try:
        value = parse_value(sql)
    except InvalidInputError as error:
        raise refusal from error
    if isinstance(value, Constant):
        return Literal(Kind.NULL if value.value is None else Kind.BOOLEAN, value.value)
    if not isinstance(value, Literal):
        raise refusal
    return value


def _constant_text(column: SchemaField, sql: str) -> str | None:
    """Return the value of SQL text that is a literal, as the log stores it; else None."""
    with suppress(InvalidInputError):
        return _fitted(column, _literal(column, sql))
    return None
