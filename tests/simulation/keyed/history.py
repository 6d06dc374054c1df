"""The primary keys, properties and deleted keys that the log states, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from colonnade.manifests.model.columns.properties import by_name
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    CreateTable,
    Restore,
    SetPrimaryKey,
    SetProperties,
)
from colonnade.manifests.model.schema import TableSchema


@dataclass(frozen=True)
class KeyFacts:
    """The primary key of a table, by the first ids of its columns, and its stated properties."""

    key: tuple[int, ...] = ()
    properties: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    schema: TableSchema = field(default=TableSchema(fields=()), compare=False)

    @property
    def named(self) -> Mapping[str, str]:
        """The properties with the names of columns, which these tables do not change."""
        return by_name(self.properties, self.schema)

    @property
    def on_duplicate(self) -> str:
        """What a plain write does with a key that is there."""
        return self.properties.get("onDuplicate", "error")


AllFacts = Mapping[str, KeyFacts]
"""The facts of every table by its name."""


def facts_after(history: Sequence[AllFacts], names: Mapping[str, str], epoch: Epoch) -> AllFacts:
    """The facts after an epoch; `names` of tables are by their ids."""
    found = dict(history[-1]) if history else {}
    for op in epoch.ops:
        match op:
            case CreateTable():
                key, stated = op.primary_key or (), dict(op.properties)
                found[op.name] = KeyFacts(key, stated, op.table_schema)
            case SetPrimaryKey():
                name = names[op.table]
                found[name] = replace(found[name], key=op.columns)
            case SetProperties():
                name = names[op.table]
                kept = {k: v for k, v in found[name].properties.items() if k not in op.remove}
                found[name] = replace(found[name], properties={**kept, **op.set})
            case Restore() if op.primary_key is not None:
                name = names[op.table]
                then = history[op.epoch][name].key
                assert then == op.primary_key, f"{name} was restored with another key"
                found[name] = replace(found[name], key=then)
            case Restore():
                name = names[op.table]
                same = history[op.epoch][name].key == found[name].key
                assert same, f"{name} was restored without its key"
    return found


Deletions = Mapping[str, Mapping[int, int]]
"""By the name of each table: its deleted keys, each with the time of its newest deletion."""


def deletions_after(
    history: Sequence[Deletions],
    names: Mapping[str, str],
    epoch: Epoch,
    landed: Iterable[tuple[str, Iterable[int], int]],
) -> Deletions:
    """The deletions that tables remember after an epoch, in which keys `landed` as deleted.

    Each of these has the table, the keys and the time. Nothing is forgotten while a key lasts.
    """
    found = dict(history[-1]) if history else {}
    for op in epoch.ops:
        match op:
            case CreateTable():
                found[op.name] = {}
            case SetPrimaryKey():
                found[names[op.table]] = {}
            case Restore():
                found[names[op.table]] = history[op.epoch][names[op.table]]
    for name, keys, at in landed:
        known = found[name]
        found[name] = {**known, **{k: max(at, known.get(k, at)) for k in keys}}
    return found
