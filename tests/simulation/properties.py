"""The model of properties that name a column: they mean the same column whatever it is called.

A column that is dropped takes along the properties for it. If a restore brings it back, it brings
those that it had in the restored state. The model takes what the log states of each column by its
first id, and compares it with what the epoch before, and the restored one, stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colonnade.manifests.model.columns.properties import column_of, columns_of
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    Operation,
    Restore,
    SetProperties,
)
from colonnade.manifests.model.schema import TableSchema


@dataclass(frozen=True)
class Stated:
    """The properties of a table, and the first ids of its columns."""

    properties: Mapping[str, str] = field(default_factory=dict)
    columns: frozenset[str] = frozenset()

    def after(self, op: Operation) -> Stated:
        """What an operation on the table leaves."""
        match op:
            case CreateTable():
                return Stated(op.properties, _ids(op.table_schema))
            case AlterSchema() | Restore() if op.table_schema is not None:
                return replace(self, columns=_ids(op.table_schema))
            case SetProperties():
                kept = {k: text for k, text in self.properties.items() if k not in op.remove}
                return replace(self, properties={**kept, **op.set})
        return self

    def carried(self, columns: frozenset[str], then: Stated | None = None) -> dict[str, str]:
        """The properties with these columns, some of which may come back from `then`."""
        kept = self._for(columns | {None})
        return kept if then is None else {**kept, **then._for(columns - self.columns)}

    def _for(self, columns: frozenset[str | None] | frozenset[str]) -> dict[str, str]:
        return {name: text for name, text in self.properties.items() if column_of(name) in columns}


AllStated = Mapping[str, Stated]
"""What the log states of every table that there ever was, by its id."""


def stated_after(history: Sequence[AllStated], last: AllStated, change: Epoch) -> AllStated:
    """What is stated after a change. Raises AssertionError where a property means other columns.

    `history` has what was stated after each earlier epoch.
    """
    found = dict(last)
    for op in change.ops:
        table = getattr(op, "table", "")
        if isinstance(op, CreateTable | AlterSchema | Restore | SetProperties):
            found[table] = found.get(table, Stated()).after(op)
    for table, now in found.items():
        for name, text in now.properties.items():
            assert columns_of(name, text) <= now.columns, f"{name} of {table} names no column"
        if now != (before := last.get(table, now)) and not _sets_properties(change):
            then = history[int(change.parameters["epoch"])] if change.operation == "restore" else {}
            wanted = before.carried(now.columns, then.get(table))
            assert now.properties == wanted, f"properties of {table} mean other columns"
    return found


def _sets_properties(change: Epoch) -> bool:
    return "properties " in change.parameters.get("changes", "")


def _ids(schema: TableSchema) -> frozenset[str]:
    return frozenset(str(each.id) for each in schema.fields)
