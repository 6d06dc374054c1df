"""Sort keys in messages, and as the table format has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.spark_ext.planner.messages.clauses import OrderField


def clustered_by(paths: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the sort key of a CLUSTER BY, from the names that lead to each of its columns.

    Raises InvalidInputError that names a field inside a column.
    """
    for path in paths:
        if len(path) > 1:
            raise InvalidInputError(
                f"Field {'.'.join(path)!r} cannot be in a sort key: a table is sorted by whole"
                " columns."
            )
    # Without a direction, a name that ends like one would be read as a name and a direction.
    return tuple(f"{name} asc" for (name,) in paths)


def described_order(fields: Iterable[SortField], schema: TableSchema) -> tuple[OrderField, ...]:
    """Return the fields of a sort key with the names of their columns in `schema`."""
    return tuple(
        OrderField(column=schema.by_id(field.column).name, descending=field.descending)
        for field in fields
    )
