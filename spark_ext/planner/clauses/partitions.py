"""Partition layouts in messages, and as the table format has them."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.schema import TableSchema
from colonnade.spark_ext.planner.messages.clauses import LayoutField


def described_layout(
    fields: Sequence[PartitionField], schema: TableSchema
) -> tuple[LayoutField, ...]:
    """Return a table's layout with the names of its columns in `schema`."""
    return tuple(
        LayoutField(
            transform=field.transform,
            column=(schema.by_id(field.column).name,),
            argument=field.argument,
        )
        for field in fields
    )


def layout_texts(fields: Sequence[LayoutField]) -> tuple[str, ...]:
    """Convert the transforms of a statement to texts of fields, such as `days(ts)`.

    Raises InvalidInputError for a transform of anything except one top-level column.
    """
    return tuple(map(_text, fields))


def _text(field: LayoutField) -> str:
    if len(field.column) > 1:
        raise InvalidInputError(
            f"A table is partitioned by whole columns, not by {field.transform} of"
            f" {'.'.join(field.column)}."
        )
    quoted = f"`{field.column[0].replace('`', '``')}`"
    argument = "" if field.argument is None else f"{field.argument}, "
    return f"{field.transform}({argument}{quoted})"
