"""What a predicate says about some columns alone."""

from __future__ import annotations

from collections.abc import Collection

from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.predicate.bind import resolve
from colonnade.tableformat.predicate.expressions import (
    FALSE,
    TRUE,
    And,
    Not,
    Or,
    Predicate,
    columns_of,
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
            read = {resolve(column, schema).id for column in columns_of(predicate)}
            return predicate if read <= columns else other
