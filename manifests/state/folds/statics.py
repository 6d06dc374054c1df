"""The fold of static columns: a table and its table of static values agree after every epoch. Pure.

Spec: docs/spec/static-columns.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import (
    problem_of,
    statics_id,
    statics_schema,
)
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState

Find = Callable[[TableId], TableState | None]
"""Finds a table of a state by its id."""


def whole_table(table: TableState, find: Find) -> TableState:
    """Return a table together with its table of static values in the same state."""
    if not table.partition_key:
        return table
    return replace(table, statics=find(statics_id(table.id)))


def joined(tables: Mapping[TableId, TableState | None]) -> dict[TableId, TableState | None]:
    """Return changed tables, each with the table of its static values if that is among them."""
    changed = dict(tables)
    for key, table in tables.items():
        statics = None if table is None else tables.get(statics_id(key))
        if table is not None and table.partition_key and statics is not None:
            changed[key] = replace(table, statics=statics)
    return changed


def check_statics(epoch: int, table: TableState) -> None:
    """Check that a table and its table of static values agree. Raises CorruptionError."""
    problem = problem_of(table.schema, table.partition_key)
    if problem is not None:
        refuse(epoch, f"leaves table {table.name!r} with wrong static columns: {problem}")
    statics, key = table.statics, table.partition_key
    if not key:
        return
    if statics is None or (statics.statics_of, statics.primary_key) != (table.id, key):
        refuse(epoch, f"leaves table {table.name!r} without a table of its static values")
    if statics.schema != statics_schema(table.schema, key):
        refuse(epoch, f"gives table {table.name!r} and its static values different columns")


def check_owner(epoch: int, statics: TableState, find: Find) -> None:
    """Check that the table exists that a table of static values belongs to.

    Raises CorruptionError.
    """
    owner = statics.statics_of
    if owner is not None and (find(owner) is None or statics.id != statics_id(owner)):
        refuse(epoch, f"leaves the static values {statics.name!r} without their table")
