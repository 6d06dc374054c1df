"""Change the type of a column to a wider one. Pure.

Spec: docs/spec/types.md#widening
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.default import decode_value, widened_values
from colonnade.manifests.model.columns.identity import wider_numbers
from colonnade.manifests.model.columns.widening import LAST_DAY, may_overflow, widens, wider_types
from colonnade.manifests.model.schema import (
    DataType,
    SchemaField,
    TableSchema,
    assign_ids,
    type_text,
)
from colonnade.manifests.public import public
from colonnade.manifests.state.partition_widening import keeps_partitions, partitioned_types
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.paths import (
    FieldPath,
    dotted,
    find,
    names_of,
    with_field,
)
from colonnade.tableformat.table.alteration.stored_values import TimestampHolds
from colonnade.tableformat.table.design.defaults import widened_default
from colonnade.tableformat.types.input.column_types import as_data_type


@public
@dataclass(frozen=True, slots=True)
class WidenColumn(Alteration):
    """Change the type of a column or field to one that holds all its values, such as int to `long`.

    A void column may get any type. No file is written again. Existing rows are converted when they
    are read. The type may be given in any form that a column of a new table may have.
    """

    path: FieldPath
    type: DataType

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", as_data_type(self.type, dotted(names_of(self.path))))

    def __str__(self) -> str:
        return f"widen column {dotted(self.path)} to {type_text(self.type)}"

    def _apply(self, draft: Draft) -> None:
        names = names_of(self.path)
        found = find(draft.schema, names)
        if found.type == self.type:
            return
        _check_widens(found, self.type, dotted(names))
        _check_numbered(found, self.type)
        if len(names) == 1:
            _check_place(found, str(self.type), draft)
        if may_overflow(found.type, self.type):
            _check_values(found, dotted(names))
            if found.id < draft.table.next_column_id:
                draft.demand(found.id, TimestampHolds())
        wider = _wider(draft, found, self.type)
        draft.schema = with_field(draft.schema, names, lambda _: wider)


def _wider(draft: Draft, found: SchemaField, wanted: DataType) -> SchemaField:
    """Return a field with a wider type. Fields inside it, which a void column gets, are new."""
    wider = found.model_copy(update={"type": wanted, **widened_values(found, wanted)})
    wider = widened_default(found, wider)
    inside, draft.next_id = assign_ids(TableSchema(fields=wider.children()), draft.next_id)
    return wider.with_children(inside.fields)


def _check_widens(column: SchemaField, wanted: DataType, path: str) -> None:
    if widens(column.type, wanted):
        return
    old, new = type_text(column.type), type_text(wanted)
    wider = wider_types(column.type)
    can = f"it can become {wider}; or" if wider else "it has no wider type;"
    raise InvalidInputError(
        f"The type of column {path!r} cannot be changed from {old} to {new}: {can} add a column of"
        " the other type."
    )


def _check_numbered(column: SchemaField, wanted: DataType) -> None:
    """Refuse a type that cannot be the type of an identity column."""
    if column.identity is None or wanted in (wider := wider_numbers(column)):
        return
    can = f"can become {' or '.join(wider)}" if wider else "has no wider type"
    raise InvalidInputError(
        f"The type of column {column.name!r} cannot be changed from {type_text(column.type)} to"
        f" {type_text(wanted)}: it is an identity column, which {can}."
    )


def _check_values(column: SchemaField, path: str) -> None:
    """Refuse a date as the default or initial value that no timestamp can hold."""
    texts = (column.initial, None if column.default is None else column.default.value)
    days = [int(decode_value(text, column)) for text in texts if text is not None]
    if any(abs(day) > LAST_DAY for day in days):
        raise InvalidInputError(
            f"The type of column {path!r} cannot be changed to timestamp_ntz: its default is, or"
            " was, a date that no timestamp can hold; add a column of the other type."
        )


def _check_place(column: SchemaField, wanted: str, draft: Draft) -> None:
    """Refuse to widen a column whose rows would then belong to other partitions."""
    layouts = (*draft.table.partition_layouts, draft.layout or ())
    for field in {each for layout in layouts for each in layout if each.column == column.id}:
        if keeps_partitions(field.transform, str(column.type), wanted):
            continue
        kept = partitioned_types(field.transform, str(column.type))
        can = f"it can become {kept}" if kept else "it has no wider type that keeps them"
        raise InvalidInputError(
            f"The type of column {column.name!r} cannot be changed from {column.type} to {wanted}:"
            f" the table is, or was, partitioned by {field.transform} of it, and rows would belong"
            f" to other partitions; {can}."
        )
