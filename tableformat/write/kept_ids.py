"""Keep the ids of columns where one table replaces another one of its name. Pure.

Spec: docs/spec/types.md#replaced-tables
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from colonnade.manifests.model.columns.identity import IdentityCounter, identity_columns, last_value
from colonnade.manifests.model.columns.properties import by_id, by_name
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.lifetimes import renumbered
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import (
    Generation,
    SchemaField,
    TableSchema,
    type_text,
    walk,
)
from colonnade.manifests.state.snapshot import TableState


def with_kept_ids(design: CreateTable, before: TableState) -> CreateTable:
    """Return the design of a table with the ids that the replaced table has for the same columns.

    A column is the same if it has the same name, in any case, and the same type. The fields inside
    it then keep their ids, too. An identity column continues after its last value. Every other
    column gets an id that the replaced table never gave.
    """
    ids, next_id = _new_ids(design.table_schema.fields, before)
    fields = tuple(_renumbered(field, ids) for field in design.table_schema.fields)
    schema, named = TableSchema(fields=fields), by_name(design.properties, design.table_schema)
    key = (each.model_copy(update={"column": ids[each.column]}) for each in design.sort_key)
    layout = design.partition_fields and tuple(
        each.model_copy(update={"column": ids[each.column]}) for each in design.partition_fields
    )
    constraints = design.constraints and tuple(
        each.model_copy(update=_read(each, ids)) for each in design.constraints
    )
    return design.model_copy(
        update={
            "identities": _last_values(fields, before) or None,
            "table_schema": schema,
            "properties": by_id(named, schema),
            "next_column_id": next_id,
            "sort_key": tuple(key),
            "partition_fields": layout,
            "constraints": constraints,
            "primary_key": design.primary_key and tuple(ids[each] for each in design.primary_key),
            "partition_key": design.partition_key
            and tuple(ids[each] for each in design.partition_key),
            "lifetimes": design.lifetimes and renumbered(design.lifetimes, ids),
        }
    )


def _new_ids(fields: Iterable[SchemaField], before: TableState) -> tuple[dict[int, int], int]:
    """Return the id of each field by its id in the design, and the next free id."""
    known = {field.name.casefold(): field for field in before.schema.fields}
    ids, next_id = dict[int, int](), before.next_column_id
    for field in fields:
        old = known.get(field.name.casefold())
        if old is not None and type_text(old.type) == type_text(field.type):
            ids.update(
                (new.id, same.id) for new, same in zip(walk([field]), walk([old]), strict=True)
            )
            continue
        for new in walk([field]):
            ids[new.id] = next_id
            next_id += 1
    return ids, next_id


def _last_values(fields: Iterable[SchemaField], before: TableState) -> tuple[IdentityCounter, ...]:
    """Return the last values of the kept identity columns whose start and step stay the same."""
    old = {(field.id, field.identity): field for field in identity_columns(before.schema)}
    kept = ((field, old.get((field.id, field.identity))) for field in fields if field.identity)
    last = (
        (field.id, last_value(before.identities, same)) for field, same in kept if same is not None
    )
    return tuple(IdentityCounter(column=id_, last=n) for id_, n in sorted(last) if n is not None)


def _renumbered(field: SchemaField, ids: dict[int, int]) -> SchemaField:
    nested = field.with_children(_renumbered(child, ids) for child in field.children())
    generated = field.generated and field.generated.model_copy(update=_read(field.generated, ids))
    return nested.model_copy(update={"id": ids[field.id], "generated": generated})


def _read(stated: CheckConstraint | Generation, ids: dict[int, int]) -> dict[str, Any]:
    """Return what a stored text reads, by the new ids of the columns."""
    places = (each.model_copy(update={"field": ids[each.field]}) for each in stated.references)
    columns = sorted(ids[column] for column in stated.columns)
    return {"columns": tuple(columns), "references": tuple(places)}
