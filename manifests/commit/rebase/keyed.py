"""Rows that a change adds to a table with a primary key, compared right before its slot.

A row whose key is taken meets the row that has the key. Concurrent writers may have added, changed
or moved that row, so only the state right before the slot says which one it is.
Spec: docs/spec/conflicts.md#primary-keys
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.commit.change import AddedRows, DeletedRows, KeyedRows
from colonnade.manifests.commit.rebase.carried import Carried, Targets
from colonnade.manifests.commit.rebase.replaced_rows import Origins
from colonnade.manifests.commit.rebase.targets import ChangedRows, RowSetAt, TargetRowSet, all_rows
from colonnade.manifests.commit.spill import spill
from colonnade.manifests.model.codec import encoded_length
from colonnade.manifests.model.operations import AddRowSet, Operation
from colonnade.manifests.state.snapshot import Snapshot

_ANY_ROWS = 2**32


def resolved(carried: Carried, head: Snapshot) -> Carried:
    """Return a change, followed up to `head`, with the rows that it adds to its keyed tables.

    Reads keys, and stores long vectors and segments. The result is valid for the slot after `head`
    only, because the rows that have the keys are looked for again before each slot. Raises the
    errors of `KeyedRows.resolve`, StoreError.
    """
    if not carried.change.keyed:
        return carried
    for each in carried.change.keyed:
        carried = _with_keyed(carried, each, head)
    if carried.writer.previews:
        return carried
    change = spill(carried.log.store, carried.change, carried.log.limits)
    return replace(carried, change=change)


def _with_keyed(carried: Carried, keyed: KeyedRows, head: Snapshot) -> Carried:
    change, table = carried.change, keyed.table
    found = keyed.resolve(head, _leaving(carried, table))
    others = tuple(op for op in change.ops if not (isinstance(op, AddRowSet) and op.table == table))
    ops = (*others, *_added(carried, table, found.added, others))
    change = replace(change, ops=ops, metrics={**change.metrics, **found.metrics})
    origins = {**carried.origins, table: _origins(carried, table, found.added)}
    return replace(
        carried,
        change=change,
        targets=_with_rows(carried, found.rows),
        origins={key: each for key, each in origins.items() if any(o.data for o in each)},
    )


def _origins(carried: Carried, table: str, added: Sequence[AddedRows]) -> Origins:
    """Return which rows the added rows replace; those that are left out replace none."""
    ops = [op for op in carried.change.ops if isinstance(op, AddRowSet) and op.table == table]
    stated = zip(ops, carried.origins.get(table, ()), strict=False)
    known = {op.rowset.object: origins for op, origins in stated}
    return tuple(
        (each.origins or known.get(each.rowset.object) or RowOrigins(each.rowset.rows)).without(
            each.deleted
        )
        for each in added
    )


def _leaving(carried: Carried, table: str) -> Mapping[int, FrozenBitMap]:
    """Return the rows that the change deletes from a table at the head, by RowSet id."""
    whole = carried.overwritten.get(table, FrozenBitMap())
    rows = {number: each.rows for number, each in carried.targets.get(table, {}).items()}
    return {**rows, **{number: all_rows(_ANY_ROWS) for number in whole}}


def _added(
    carried: Carried, table: str, added: Sequence[AddedRows], others: Sequence[Operation]
) -> list[AddRowSet]:
    partial = [each for each in added if each.deleted]
    if partial:
        taken = encoded_length([AddRowSet(table=table, rowset=each.rowset) for each in added])
        carried.writer.begin(taken + encoded_length(others), len(partial))
    return [
        AddRowSet(
            table=table,
            rowset=each.rowset,
            vector=carried.writer.write(table, each.rowset.object, each.deleted, None)
            if each.deleted
            else None,
        )
        for each in added
    ]


def _with_rows(carried: Carried, rows: Sequence[DeletedRows]) -> Targets:
    """Return what the change does to RowSets of the head, with further deleted rows."""
    targets = {table: dict(each) for table, each in carried.targets.items()}
    for deleted in rows:
        rowset, of_table = deleted.rowset, targets.setdefault(deleted.table, {})
        target = of_table.get(rowset.id)
        if target is None:
            vector = rowset.vector
            gone = carried.vectors.rows(deleted.table, vector)
            target = TargetRowSet(RowSetAt(rowset.id, rowset.entry.rows, gone, vector), ())
        wanted = all_rows(rowset.entry.rows) if deleted.rows is None else deleted.rows
        fresh = FrozenBitMap(wanted) - target.found.deleted - target.rows
        of_table[rowset.id] = target.with_change(ChangedRows(deleted.kind, fresh))
    return targets
