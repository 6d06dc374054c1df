"""Columns that deleted ranges name stay unchanged until the rows of the ranges are removed.

Guide: docs/range-deletes.md
"""

from __future__ import annotations

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState


def check_ranges(table: TableState, schema: TableSchema) -> None:
    """Refuse other columns for a table if a deleted range names one that changes.

    A range of its static values counts, too. Raises InvalidInputError that names the column.
    """
    if table.statics is not None:
        check_ranges(table.statics, schema)
    named = {side.column for each in table.range_tombstones for one in each.regions for side in one}
    after = {field.id: field for field in schema.fields}
    for field in table.schema.fields:
        if field.id not in named:
            continue
        kept = after.get(field.id)
        if kept is None or kept.nullable:
            raise InvalidInputError(
                f"Column {field.name!r} of table {table.name!r} cannot be dropped, widened or made"
                " nullable, because a range of it was deleted whose rows are still stored; compact"
                " the table first, which removes them."
            )
