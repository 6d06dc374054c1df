"""What a predicate says about some columns alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields

from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.predicate.bind import resolve
from colonnade.tableformat.predicate.expressions import (
    FALSE,
    TRUE,
    And,
    Column,
    Not,
    Or,
    Predicate,
)


def implied(predicate: Predicate, schema: TableSchema, columns: Collection[int]) -> Predicate:
    """Return a predicate that reads only `columns`, by id, and is TRUE wherever `predicate` is.

    `schema` has all columns of the predicate. Conditions on other columns become TRUE, or FALSE
    below a NOT, so the result may be TRUE for more rows. Raises as `bind`.
    """
    return _without(predicate, schema, frozenset(columns), TRUE)


def _without(
    predicate: Predicate, schema: TableSchema, columns: frozenset[int], other: Predicate
) -> Predicate:
    """Return the predicate with `other` in place of each condition that reads other columns."""
    match predicate:
        case And(parts) | Or(parts):
            kept = tuple(_without(each, schema, columns, other) for each in parts)
            return type(predicate)(kept)
        case Not(part):
            return Not(_without(part, schema, columns, FALSE if other is TRUE else TRUE))
        case _:
            read = {resolve(column, schema).id for column in _columns(predicate)}
            return predicate if read <= columns else other


def _columns(condition: Predicate) -> Iterator[Column]:
    """Yield the columns of a condition that has no parts, also if its truth is constant."""
    parts = (getattr(condition, field.name) for field in fields(condition))  # type: ignore[arg-type]
    return (each for each in parts if isinstance(each, Column))
