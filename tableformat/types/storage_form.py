"""Arrays of the user form as arrays of the storage form, and back, without a copy.

Spec: docs/spec/types.md
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from colonnade.tableformat.types.sound_arrays import sound


class _Labelled:
    """An array presented under another type of the same layout, through Arrow's C data interface.

    The C data interface describes types and buffers in two structures. The one for buffers has no
    names, so it fits any type of the same layout.
    """

    def __init__(self, array: pa.Array, data_type: pa.DataType) -> None:
        self._array = array
        self._type = data_type

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._type.__arrow_c_schema__(), self._array.__arrow_c_array__()[1]


def relabel(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Return the same buffers under a type that differs only in names, nullability and metadata.

    Copies nothing. Raises TypeError when the layouts differ.
    """
    if array.type.equals(data_type, check_metadata=True):
        return array
    if not same_layout(array.type, data_type):
        raise TypeError(f"{array.type} cannot be read as {data_type}")
    return pa.array(_Labelled(sound(array), data_type))


def same_layout(left: pa.DataType, right: pa.DataType) -> bool:
    """Return whether two types differ at most in the labels of their nested fields.

    A map has the layout of the list of its entries.
    """
    if pa.types.is_map(left) or pa.types.is_map(right):
        left, right = _as_list(left), _as_list(right)
    if left.id != right.id or not (pa.types.is_struct(left) or pa.types.is_list(left)):
        return bool(left == right)
    return left.num_fields == right.num_fields and all(
        same_layout(left.field(i).type, right.field(i).type) for i in range(left.num_fields)
    )


def _as_list(arrow: pa.DataType) -> pa.DataType:
    if not pa.types.is_map(arrow):
        return arrow
    return pa.list_(pa.field("entries", pa.struct([arrow.key_field, arrow.item_field])))


def map_entries(array: pa.Array) -> pa.Array:
    """Return a map as the list of its entries, which are structs of key and value.

    Copies nothing.
    """
    return relabel(array, _as_list(array.type))


def to_storage(batch: pa.RecordBatch, schema: TableSchema) -> list[pa.Array]:
    """Return the columns of a batch in the storage form. Copies nothing.

    Requires a batch that `conform` made for `schema`, whose fields have ids.
    """
    return [
        relabel(array, storage_type(field))
        for array, field in zip(batch.columns, schema.fields, strict=True)
    ]


def from_storage(arrays: Sequence[pa.Array], schema: TableSchema) -> pa.RecordBatch:
    """Return a batch in the user form from the stored columns of `schema`. Copies nothing.

    Raises CorruptionError that names the column when an array does not have its storage type.
    """
    target = arrow_schema(schema)
    columns = []
    for array, field, shown in zip(arrays, schema.fields, target, strict=True):
        try:
            columns.append(relabel(array, shown.type))
        except TypeError as error:
            raise CorruptionError(
                f"Column {field.name!r} (id {field.id}) is stored as {array.type}, but its type"
                f" needs {storage_type(field)}."
            ) from error
    return pa.RecordBatch.from_arrays(columns, schema=target)
