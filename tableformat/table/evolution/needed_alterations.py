"""Which alterations let a table hold columns that rows or a statement bring along. Pure.

A new column or field comes last, and is nullable. A type widens at any depth. Nothing is dropped,
moved or made narrower. Spec: docs/spec/types.md#evolution-by-writing
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.columns.widening import common_type, evolved_type, widens
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    type_text,
)
from colonnade.tableformat.table.alteration import AddColumn, Alteration, WidenColumn
from colonnade.tableformat.table.alteration.paths import FieldNames, dotted, find, names_of
from colonnade.tableformat.types.arrow_types import (
    arrow_type,
    check_fields,
    is_list,
    schema_from_arrow,
)
from colonnade.tableformat.types.conversion import accepts

Given: TypeAlias = pa.Field | SchemaField
"""A column, or a field inside one, that rows or a statement bring along."""


def evolving_changes(schema: TableSchema, given: pa.Schema) -> tuple[Alteration, ...]:
    """Return the changes that let columns hold the values of given ones; none if they can already.

    Raises InvalidInputError for a new column or field whose type no table can have.
    """
    changes: list[Alteration] = []
    for path, own, field in _compared(schema.fields, _columns(given)):
        if own is None:
            changes.append(AddColumn(_new_column(field), parent=path[:-1]))
        elif (wider := _wider(own, field)) is not None:
            changes.append(WidenColumn(path, wider))
    return tuple(changes)


def asked_changes(
    schema: TableSchema, asked: Iterable[Alteration], *, exact: bool
) -> tuple[Alteration, ...]:
    """Return the new columns and types of a statement that the table does not have yet.

    A concurrent writer may have added the column, or widened the type further. With `exact` each
    column must get the very type that is asked for, because the statement insists on it. Raises
    InvalidInputError that names the column.
    """
    left: list[Alteration] = []
    for change in asked:
        path, wanted = _asked(change)
        top = _found(schema, path)
        if top is None:
            left.append(change)
            continue
        for at, own, field in _compared((top,), [(top.name, wanted)], path[:-1]):
            if own is None:
                left.append(AddColumn(field, parent=at[:-1]))
            elif (wider := _asked_type(own, field.type, at, exact)) is not None:
                left.append(WidenColumn(at, wider))
    return tuple(left)


def merged_changes(
    schema: TableSchema, given: Iterable[SchemaField], *, by_name: bool
) -> tuple[Alteration, ...]:
    """Return the changes that let columns hold the values of given ones, as far as there are any.

    Columns are matched by name, or else by position. A column widens to a type that
    has the values of both. If there is none, its type stays: the statement may cast the values.
    """
    columns = tuple(given) if by_name else tuple(_renamed(schema.fields, tuple(given)))
    changes: list[Alteration] = []
    for path, own, field in _compared(schema.fields, [(each.name, each) for each in columns]):
        if own is None:
            new = field.model_copy(update={"name": path[-1], "nullable": True})
            changes.append(AddColumn(new, parent=path[:-1]))
        elif (wider := evolved_type(own.type, field.type)) is not None:
            changes.append(WidenColumn(path, wider))
    return tuple(changes)


def missing_fields(
    schema: TableSchema, given: Iterable[SchemaField], *, by_name: bool
) -> list[str]:
    """Return the paths of fields that a table has inside its columns, and given columns lack.

    A whole column may be missing. Columns are matched as in `merged_changes`.
    """
    columns = tuple(given) if by_name else tuple(_renamed(schema.fields, tuple(given)))
    names = {column.name.casefold() for column in columns}
    own = [(field.name, field) for field in schema.fields if field.name.casefold() in names]
    return [dotted(path) for path, found, _ in _compared(columns, own) if found is None]


def _renamed(fields: Sequence[SchemaField], given: Sequence[SchemaField]) -> Iterator[SchemaField]:
    """Give the fields at the same positions, at any depth, the names that a table has there."""
    for own, each in zip(fields, given, strict=False):
        named = each.model_copy(update={"name": own.name})
        same = (kind := _nesting(own)) is not None and kind == _nesting(each)
        yield named.with_children(_renamed(own.children(), each.children())) if same else named
    yield from given[len(fields) :]


def unknown_columns(schema: TableSchema, given: pa.Schema) -> list[int]:
    """Return the positions of the given columns that a table does not have."""
    known = {name.casefold() for name in schema.names}
    return [index for index, name in enumerate(given.names) if name.casefold() not in known]


def unknown_fields(schema: TableSchema, given: pa.Schema) -> list[str]:
    """Return the paths of given columns, and of fields inside known ones, that a table lacks."""
    compared = _compared(schema.fields, _columns(given))
    return [dotted(path) for path, own, _ in compared if own is None]


def _columns(given: pa.Schema) -> list[tuple[str, Given]]:
    check_fields(given)
    return [(field.name, field) for field in given]


def _compared(
    fields: Iterable[SchemaField], given: Iterable[tuple[str, Given]], above: FieldNames = ()
) -> Iterator[tuple[FieldNames, SchemaField | None, Given]]:
    """Yield each given field that is new or has no children to compare, and the table's field.

    A new field comes as a whole, with None for the table's field. The names that lead to a field
    are those of the table, where it has them.
    """
    known = {field.name.casefold(): field for field in fields}
    for name, field in given:
        own = known.get(name.casefold())
        if own is None:
            yield (*above, name), None, field
        elif (kind := _nesting(own)) is not None and kind == _nesting(field):
            yield from _compared(own.children(), _children(field), (*above, own.name))
        else:
            yield (*above, own.name), own, field


def _nesting(field: Given) -> type | None:
    """Return what kind of nested type a field has; None for a primitive type."""
    if isinstance(field, SchemaField):
        return None if isinstance(field.type, str) else type(field.type)
    found = _plain(field.type)
    if pa.types.is_struct(found):
        return StructType
    if pa.types.is_map(found):
        return MapType
    return ArrayType if is_list(found) else None


def _children(field: Given) -> list[tuple[str, Given]]:
    if isinstance(field, SchemaField):
        return [(child.name, child) for child in field.children()]
    found = _plain(field.type)
    if pa.types.is_struct(found):
        return [(child.name, child) for child in found]
    if pa.types.is_map(found):
        return [("key", found.key_field), ("value", found.item_field)]
    return [("element", found.value_field)]


def _plain(found: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary or of run-ends."""
    while pa.types.is_dictionary(found) or pa.types.is_run_end_encoded(found):
        found = found.value_type
    return found


def _new_column(field: pa.Field) -> SchemaField:
    [column] = schema_from_arrow(pa.schema([field])).fields
    return column.model_copy(update={"nullable": True})


def _wider(own: SchemaField, given: pa.Field) -> DataType | None:
    """Return the type that a column must widen to for given values, or None.

    None also means that no type can take the values of both. Then the conversion of the rows
    decides: it accepts, for example, any text that is not too long for a varchar.
    """
    if not isinstance(own.type, str) or pa.types.is_null(given.type):
        return None
    if pa.types.is_uint64(given.type):
        # A long takes all values below 2 to the power of 63, and few tables hold larger ones.
        return "long" if widens(own.type, "long") else None
    [column] = schema_from_arrow(pa.schema([given])).fields
    wider = evolved_type(own.type, column.type)
    if wider is None:
        return None
    if own.type == VOID:
        return wider
    new = own.model_copy(update={"type": wider})
    return wider if accepts(new, arrow_type(column)) else None


def _asked_type(
    own: SchemaField, wanted: DataType, path: FieldNames, exact: bool
) -> DataType | None:
    """Return the type that a field must widen to for a type that is asked for, or None."""
    if own.type == wanted:
        return None
    wider = evolved_type(own.type, wanted)
    if (exact and wider != wanted) or not _has_common_type(own.type, wanted):
        raise InvalidInputError(
            f"Column {dotted(path)!r} is {type_text(own.type)} and cannot become"
            f" {type_text(wanted)}; cast the column of the source to the type of the table."
        )
    return wider


def _has_common_type(own: DataType, wanted: DataType) -> bool:
    if VOID in (own, wanted):
        return True
    return isinstance(own, str) and isinstance(wanted, str) and bool(common_type(own, wanted))


def _found(schema: TableSchema, path: FieldNames) -> SchemaField | None:
    try:
        return find(schema, path)
    except NotFoundError:
        return None


def _asked(change: Alteration) -> tuple[FieldNames, SchemaField]:
    """Return the names that lead to what a change is about, and a field of the type it wants."""
    match change:
        case AddColumn():
            parent = names_of(change.parent) if change.parent else ()
            return (*parent, change.column.name), change.column
        case WidenColumn():
            names = names_of(change.path)
            return names, SchemaField(name=names[-1], type=change.type)
        case _:
            raise AssertionError(f"no schema evolution asks to {change}")
