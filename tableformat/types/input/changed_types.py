"""Types of Arrow that a table does not keep: its columns are read with another type. Pure.

Spec: docs/spec/types.md#types-of-a-table-made-from-any-arrow-schema
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField, type_text
from colonnade.tableformat.types.arrow_types import arrow_type, is_list, schema_from_arrow

_LAYOUTS = (
    frozenset((pa.lib.Type_STRING, pa.lib.Type_LARGE_STRING, pa.lib.Type_STRING_VIEW)),
    frozenset((pa.lib.Type_BINARY, pa.lib.Type_LARGE_BINARY, pa.lib.Type_BINARY_VIEW)),
)
"""Types that differ in their layout alone."""


def changed_types(fields: Iterable[pa.Field]) -> list[tuple[str, pa.DataType, str]]:
    """Return the columns, and fields inside them, that a table gives another type.

    Each comes with its path, its type in Arrow, and its type in the table. A type that only has
    another layout, such as a large string, is not among them. Raises the errors of
    `schema_from_arrow`.
    """
    given = list(fields)
    stored = schema_from_arrow(pa.schema(given)).fields
    names = {field.name: field for field in given}
    return [each for own in stored for each in _changed(own.name, names[own.name].type, own)]


def _changed(
    path: str, given: pa.DataType, own: SchemaField
) -> Iterator[tuple[str, pa.DataType, str]]:
    back = arrow_type(own)
    if given.equals(back) or any({given.id, back.id} <= each for each in _LAYOUTS):
        return
    if pa.types.is_decimal(given) and (given.precision, given.scale) == (
        getattr(back, "precision", None),
        getattr(back, "scale", None),
    ):
        return
    parts = _parts(given)
    if not parts or len(parts) != len(own.children()):
        yield path, given, type_text(own.type)
        return
    for part, child in zip(parts, own.children(), strict=True):
        yield from _changed(f"{path}.{child.name}", part, child)


def _parts(given: pa.DataType) -> list[pa.DataType]:
    """Return the types inside a type whose own layout a table keeps."""
    if pa.types.is_map(given):
        return [given.key_type, given.item_type]
    if pa.types.is_struct(given):
        return [each.type for each in given]
    if is_list(given) and not pa.types.is_fixed_size_list(given):
        return [given.value_type]
    return []
