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
        case _:
            return any(found == storage_type(form) for form in field.as_stored())


def _are_forms(found: pa.DataType, fields: Sequence[SchemaField]) -> bool:
    known = {str(form.id): form for field in fields for form in field.as_stored()}
    names = {each.name for each in found}
    twice = any(sum(str(each) in names for each in f.ids) > 1 for f in fields if f.earlier)
    return (
        not twice
        and len(names) == found.num_fields
        and all(name.isdecimal() for name in names)
        and all(_is_named(each, known[each.name]) for each in found if each.name in known)
    )


def _is_named(found: pa.Field, form: SchemaField) -> bool:
    if isinstance(form.type, str):
        return bool(found.type == storage_type(form))
    return is_form(found.type, form)


def places_in(struct: pa.DataType, fields: Sequence[SchemaField]) -> list[int | None]:
    """Return where a stored struct has each field, under its id or an earlier one.

    The place of a field that the struct does not have is None.
    """
    places = {each.name: at for at, each in enumerate(struct)}
    ids = ([str(each) for each in field.ids] for field in fields)
    return [next((places[each] for each in names if each in places), None) for names in ids]
