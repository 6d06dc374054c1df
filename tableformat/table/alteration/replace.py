"""Replace all columns of a table by a list of columns; those that stay keep ids and values. Pure.

Spec: docs/spec/types.md#replaced-tables
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.model.columns.check import check_schema
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.columns.widening import widens
from colonnade.manifests.model.schema import (
    DataType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.public import public
from colonnade.tableformat.table.alteration.attributes import CommentColumn, RenameColumn
from colonnade.tableformat.table.alteration.columns import AddColumn, DropColumn
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.not_null import SetNotNull
from colonnade.tableformat.table.alteration.paths import (
    FieldNames,
    Fields,
    dotted,
    find,
    with_field,
    with_fields,
)
from colonnade.tableformat.table.alteration.widen import WidenColumn
from colonnade.tableformat.types.input.column_types import as_table_schema


@public
@dataclass(frozen=True, slots=True)
class ReplaceColumns(Alteration):
    """Give a table these columns, in this order, in place of all columns that it has.

    A column stays if the list has its name, in any case, with its type or with a type that it
    widens to. It keeps its id and values. It also keeps what it has of NOT NULL, default, identity
    and generation, and its metadata unless the list states other metadata. It takes the comment of
    the list. A field of a struct stays by the same rule, and so a struct always does. Other columns
    are dropped, and the rest of the list is added. The columns may be given as `create` takes them.
    """

    columns: tuple[SchemaField, ...]
    replaced: tuple[str, ...] | None = None
    """The columns that the user knows of; another column of the table is a conflict."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", as_table_schema(self.columns).fields)

    def __str__(self) -> str:
        return f"replace columns by {', '.join(column.name for column in self.columns)}"

    def _apply(self, draft: Draft) -> None:
        """Edit the draft. Raises the errors of the alterations that drop, add and widen columns.

        Raises ConflictError if the table has other columns than `replaced`.
        """
        if self.replaced is not None and set(self.replaced) != set(draft.schema.names):
            raise ConflictError(
                f"The columns of table {draft.table.name!r} have changed since the statement was"
                " planned; read the table again and repeat it."
            )
        check_schema(TableSchema(fields=self.columns))
        _replace(draft, (), self.columns)


def _replace(draft: Draft, parent: FieldNames, wanted: Fields) -> None:
    """Give the table, or the struct that `parent` leads to, the wanted fields."""
    by_name = {field.name.casefold(): field for field in wanted}
    for own in _fields(draft, parent):
        field = by_name.get(own.name.casefold())
        if field is None or not _stays(own.type, field.type):
            DropColumn((*parent, own.name))._apply(draft)
    kept = {own.name.casefold() for own in _fields(draft, parent)}
    for field in wanted:
        if field.name.casefold() in kept:
            _keep(draft, parent, field)
        else:
            AddColumn(field, parent=parent)._apply(draft)
    place = {name: index for index, name in enumerate(by_name)}
    draft.schema = with_fields(
        draft.schema,
        parent,
        lambda fields: tuple(sorted(fields, key=lambda field: place[field.name.casefold()])),
    )


def _fields(draft: Draft, parent: FieldNames) -> Fields:
    return find(draft.schema, parent).children() if parent else draft.schema.fields


def _stays(own: DataType, wanted: DataType) -> bool:
    """Return whether a column of type `own` keeps its id when it gets the type `wanted`."""
    if isinstance(own, str) or isinstance(wanted, str):
        return own == wanted or widens(own, wanted)
    if own.type != wanted.type:
        return False
    pairs = zip(_children(own), _children(wanted), strict=True)
    return isinstance(own, StructType) or all(_stays(a.type, b.type) for a, b in pairs)


def _children(nested: DataType) -> Fields:
    """Return the element of an array, key and value of a map, and nothing for a struct."""
    inside = SchemaField(name="any", type=nested).children()
    return () if isinstance(nested, StructType) else inside


def _keep(draft: Draft, parent: FieldNames, wanted: SchemaField) -> None:
    """Make a column or field what the list says of it."""
    path = (*parent, wanted.name)
    own = find(draft.schema, path)
    _check_rules(own, wanted, path)
    if own.name != wanted.name:
        RenameColumn((*parent, own.name), wanted.name)._apply(draft)
    if own.comment != wanted.comment:
        CommentColumn(path, wanted.comment)._apply(draft)
    if wanted.metadata is not None:
        stated = {"metadata": wanted.metadata}
        draft.schema = with_field(draft.schema, path, lambda own: own.model_copy(update=stated))
    if own.nullable and not wanted.nullable:
        SetNotNull(path)._apply(draft)
    if isinstance(wanted.type, str) or own.type == VOID:
        WidenColumn(path, wanted.type)._apply(draft)
    elif isinstance(wanted.type, StructType):
        _replace(draft, path, wanted.type.fields)
    else:
        for child in wanted.children():
            _keep(draft, path, child)


def _check_rules(own: SchemaField, wanted: SchemaField, path: FieldNames) -> None:
    """Refuse a list that states another rule for the values of a column that stays."""
    for rule in ("default", "identity", "generated"):
        stated = getattr(wanted, rule)
        if stated is not None and stated != getattr(own, rule):
            raise InvalidInputError(
                f"Column {dotted(path)!r} stays, and its {rule} rule cannot be replaced; leave the"
                " rule out of the list of columns."
            )
