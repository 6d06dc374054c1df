"""The forms that blocks may have of a column with fields inside it. Pure.

Fields inside a column are added, dropped, moved and widened. No RowSet is written again. So a
block may lack fields of the table, and have fields that the table has dropped. Its stream names
each field of a struct by its id. The element of a list, and key and value of a map, have their
place.
Spec: docs/spec/types.md#fields-inside-a-column
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from colonnade.manifests.model.columns.widening import widens
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, StructType
from colonnade.tableformat.types.arrow_types import storage_type


def is_form(found: pa.DataType, field: SchemaField) -> bool:
    """Return whether a block may have this type for a column, or for a field inside it."""
    match field.type:
        case StructType(fields=fields):
            return pa.types.is_struct(found) and _are_forms(found, fields)
        case ArrayType(element=element):
            return pa.types.is_list(found) and is_form(found.value_type, element)
        case MapType(key=key, value=value):
            is_map = pa.types.is_map(found)
            return is_map and is_form(found.key_type, key) and is_form(found.item_type, value)
        case wanted:
            return found == storage_type(field) or widens(_type_of(found), wanted)


def _are_forms(found: pa.DataType, fields: Sequence[SchemaField]) -> bool:
    known = {str(field.id): field for field in fields}
    names = {each.name for each in found}
    return (
        len(names) == found.num_fields
        and all(name.isdecimal() for name in names)
        and all(is_form(each.type, known[each.name]) for each in found if each.name in known)
    )


def _type_of(found: pa.DataType) -> str:
    """Return the type whose values a stream has that may be narrower than those of the table.

    Types that do not widen are not told apart.
    """
    if pa.types.is_decimal128(found):
        return f"decimal({found.precision},{found.scale})"
    return _NARROW.get(found, "")


_NARROW = {
    pa.int8(): "byte",
    pa.int16(): "short",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.date32(): "date",
}


def places_in(struct: pa.DataType, fields: Sequence[SchemaField]) -> list[int | None]:
    """Return where a stored struct has each field.

    The place of a field that the struct does not have is None.
    """
    places = {each.name: at for at, each in enumerate(struct)}
    return [places.get(str(field.id)) for field in fields]
