"""Sort keys in the JSON between Java and Python; columns are given by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import TableSchema


def described_order(fields: Iterable[SortField], schema: TableSchema) -> list[dict[str, Any]]:
    """Convert the fields of a sort key to JSON, with the names of their columns in `schema`."""
    return [
        {"column": schema.by_id(field.column).name, "descending": field.descending}
        for field in fields
    ]
