"""Guard keys that a statement inserts against RowSets that concurrent writers added since.

A statement inserts a key because no row had it. A concurrent writer may have added the same key.

Spec: docs/spec/conflicts.md#keys
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from colonnade.manifests.commit.change import KeyGuard
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.find import read_keys
from colonnade.tableformat.keys.key_set import KeySet


def guard_keys(
    store: ObjectStore,
    table: TableState,
    columns: TableSchema,
    inserted: Callable[[], KeySet],
    buried: Callable[[], KeySet] | None = None,
) -> KeyGuard:
    """Return a guard that makes a commit fail if a concurrent writer has added one of the keys.

    The keys, which are values of `columns`, are computed once, and only if a concurrent writer has
    added RowSets. `buried` are the keys that no concurrent writer may have deleted with a
    tombstone; by default, they are those that are `inserted`.
    """

    # Each epoch of a concurrent writer asks again, and millions of keys take seconds.
    inserted = cache(inserted)
    buried = cache(buried) if buried else inserted

    def meets(rowsets: Sequence[LiveRowSet]) -> list[LiveRowSet]:
        rows = [each for each in rowsets if not each.has_tombstones]
        met = _holding(store, table, rows, inserted()) if rows else []
        tombstones = [each for each in rowsets if each.has_tombstones]
        if not tombstones:
            return met
        return met + _holding(store, table, tombstones, buried())

    return KeyGuard(table.id, meets, frozenset(field.id for field in columns.fields))


def guard_any(table: TableState) -> KeyGuard:
    """Return a guard that makes a commit fail if a concurrent writer has added any RowSet."""
    none = frozenset[int]()  # it reads no column
    return KeyGuard(table.id, lambda rowsets: [each for each in rowsets if each.entry.rows], none)


def _holding(
    store: ObjectStore, table: TableState, rowsets: Sequence[LiveRowSet], keys: KeySet
) -> list[LiveRowSet]:
    """Return the RowSets that hold one of the keys, in live or deleted rows."""
    view = View.stored(table, rowsets)
    return [
        each
        for each in view.rowsets
        if len(keys.codes[-1])
        and any((keys.find(b) >= 0).any() for _, b in read_keys(store, view, each, keys))
    ]
