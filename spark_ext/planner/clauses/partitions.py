"""Partition layouts in the JSON between Java and Python; columns are given by name.

A field is `{"transform": "bucket", "column": "id", "argument": 16}`; a list of them is a layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.schema import TableSchema


def described_layout(fields: Sequence[PartitionField], schema: TableSchema) -> list[dict[str, Any]]:
    """Convert a table's layout to JSON, with the names of its columns in `schema`."""
    return [
        {
            "transform": field.transform,
            "column": schema.by_id(field.column).name,
            "argument": field.argument,
        }
        for field in fields
    ]


def layout_texts(fields: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Convert the transforms of a statement to texts of fields, such as `days(ts)`.

    Raises InvalidInputError for a transform of anything except one top-level column.
    """
    return tuple(map(_text, fields))


def _text(field: Mapping[str, Any]) -> str:
    column = field["column"]
    if not isinstance(column, str):
        raise InvalidInputError(
            f"A table is partitioned by whole columns, not by {field['transform']} of {column}."
        )
    quoted = f"`{column.replace('`', '``')}`"
    argument = "" if field.get("argument") is None else f"{field['argument']}, "
    return f"{field['transform']}({argument}{quoted})"
