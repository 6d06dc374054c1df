"""Erase rows for good: delete them, compact their files, and remove every state that has them.

A DELETE only hides rows; their bytes stay in files that earlier epochs name, and small RowSets in
these epochs themselves. `erase` also removes these files and epochs. It then searches every kept
state for rows that match, so that the result is checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.ids import TableId, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddRangeTombstone,
    AddRowSet,
    AddRowSets,
    Compaction,
    ReplaceColumn,
    Restore,
)
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.vacuum.dropped_entries import (
    anchors_with_remains,
    caches_have_remains,
    epochs_with_remains,
)
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum, vacuum
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.compaction.tombstones import erase_tombstones
from colonnade.tableformat.keys.static_parts import refuse_static
from colonnade.tableformat.keys.tombstones import certain, tombstone_schema
from colonnade.tableformat.predicate import Predicate, Where, bind, parse_predicate, text_of
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.scan.selection import stored_matches
from colonnade.tableformat.statements.delete import evaluate_delete
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.table.table import ArrowTable

_RUNS = 5
"""The most vacuums of an erasure."""

FILL = "erase"
"""The operation of epochs that only fill a block of slots, so that a vacuum can free the block."""


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What an erasure did, and what still keeps some of the rows.

    `checked_epochs` is the number of searched states. `held_by` has a sentence for each tag, pin,
    lease or retention that keeps a state with such rows. The sentence says what to do. `held_by`
    is empty when no state has such a row. In a dry run, the numbers say what would be done now:
    `rows_deleted` counts the rows that a reader sees, and `rowsets_rewritten` the RowSets of the
    newest state with such a row, live or deleted, or with such a tombstone. `held_by` then also
    tells of files of removed epochs that may have such rows and that an erasure would delete.
    """

    rows_deleted: int
    rowsets_rewritten: int
    files_removed: int
    epochs_removed: int
    checked_epochs: int
    held_by: tuple[str, ...]
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a plain value that converts to JSON."""
        return asdict(self)

    def __str__(self) -> str:
        counts = (
            f"{self.rows_deleted} rows, {'rewrite' if self.dry_run else 'rewrote'}"
            f" {self.rowsets_rewritten} RowSets, {'remove' if self.dry_run else 'removed'}"
            f" {self.files_removed} files and {self.epochs_removed} epochs."
        )
        if self.dry_run:
            return "\n".join((f"Would delete {counts}", *self.held_by))
        done = f"Deleted {counts}"
        if not self.held_by:
            return f"{done} None of the {self.checked_epochs} readable epochs holds such a row."
        return "\n".join((done, "Such rows are still held:", *self.held_by))


def erase(
    table: ArrowTable, where: Where, *, all_tables: bool = False, dry_run: bool = False
) -> ErasureReport:
    """Erase the rows that meet `where` from the table, its history and its files.

    Rows that were deleted or replaced before, or have expired, are erased, too. Removes every
    earlier epoch that no tag, pin, lease or consumer keeps, ignoring the retention of the table. To
    remove their files, it fills their block of slots with empty epochs, at most one less than the
    block has. It does so up to four times while other writers commit to the table; after that,
    `held_by` names the files that are left. An epoch whose history or deleted range names a value
    of `where` counts as one with such rows. `all_tables` also
    ignores the retention of the other tables of its database. It can be run again at any time, also
    after it was stopped. Costs a DELETE, a rewrite of the RowSets that hold such rows, a
    vacuum, and a search of each RowSet of a kept state that may hold one. `dry_run` only searches,
    and changes nothing.

    Raises InvalidInputError that names the column or part of the condition at fault. Raises
    ConflictError when concurrent writers keep it from committing. Raises CorruptionError,
    StoreError.
    """
    predicate = parse_predicate(where)
    text = text_of(where)
    bound = bind(predicate, table._state.schema)
    refuse_static(table._state, bound.column_ids, "A condition of an erasure cannot name")

    if dry_run:
        return _planned(table, predicate, text, all_tables=all_tables)

    def stored(log: StatementLog, state: TableState, job_id: str) -> Statement:
        # A row that has expired is hidden, and still stored. The history does not say what is
        # erased.
        return evaluate_delete(log.showing_expired(), state, predicate)

    deleted = table._run(stored, None).rows_deleted or 0
    begun = table.optimize(where).option("deleted-share", 0).option("run-bytes", "none")
    unsaid = begun._with(replace(begun._chosen, said=()))
    rewritten = unsaid.executeCompaction().rowsets_removed
    head = table._refresh()
    log, state = table._log, table._state
    head = erase_tombstones(log, head, state.id, predicate, compact_here(log.store))
    only = None if all_tables else state.id
    request = VacuumRequest(hours=0, epochs=1, only=only, erased=state.id)
    runs, filled = _vacuum(log, request, state.id)
    head = table._refresh()
    left = _left_files(log, head, state, predicate, text)
    holding = {epoch for epoch, found in _search(log, head, state, predicate, {}) if found}
    holding.update(_with_remains(log, head, state, predicate))
    if runs[-1].held_by:
        kept = log.reader.read_kept_epochs(head)
        holding.update(e.epoch for e in kept if e.epoch > head.floor and _names(e, state.id, text))
    return ErasureReport(
        rows_deleted=deleted,
        rowsets_rewritten=rewritten,
        files_removed=sum(len(each.files) for each in runs),
        epochs_removed=sum(each.epochs_removed for each in runs) - filled,
        checked_epochs=len(_kept_epochs(head)),
        held_by=tuple(_reasons(head, sorted(holding), runs[-1].held_by, left)),
    )


def _planned(table: ArrowTable, where: Predicate, text: str, *, all_tables: bool) -> ErasureReport:
    """Return what an erasure would do now."""
    head, log, state = table._refresh(), table._log, table._state
    seen: dict[str, bool] = {}
    holding = sorted(epoch for epoch, found in _search(log, head, state, where, seen) if found)
    only = None if all_tables else state.id
    plan = plan_vacuum(log, VacuumRequest(hours=0, epochs=1, only=only))
    return ErasureReport(
        rows_deleted=sum(each.num_rows for each in table.scan([], where).to_batches()),
        rowsets_rewritten=sum(_holding(log, state, where, seen)),
        files_removed=len(plan.files),
        epochs_removed=plan.epochs_removed,
        checked_epochs=len(_kept_epochs(head)),
        held_by=(
            *_kept_by_name(head, holding),
            *_planned_files(head, _left_files(log, head, state, where, text)),
        ),
        dry_run=True,
    )


def _vacuum(log: Log, request: VacuumRequest, table: TableId) -> tuple[list[VacuumResult], int]:
    """Vacuum until nothing has entries of dropped RowSets, or nothing changes any more.

    A writer that stores a checkpoint beside the first run may have kept such entries, and so has an
    epoch whose block goes on behind the floor. Returns also the number of epochs that fill blocks.
    """
    runs, filled = [vacuum(log, request)], 0
    while len(runs) < _RUNS:
        head = log.reader.read_head()
        left = epochs_with_remains(log.reader, head, table)
        if left and not runs[-1].held_by:
            filled += _fill_block(log, head, max(left))
        elif runs[-1].epoch is None or not _others_have_remains(log, head, table):
            break
        runs.append(vacuum(log, request))
    return runs, filled


def _left_files(
    log: Log, head: Snapshot, table: TableState, where: Predicate, text: str
) -> list[int]:
    """Return the removed epochs whose files still exist and may have such rows. They descend."""
    return [
        number
        for number, epoch in epochs_with_remains(log.reader, head, table.id).items()
        if epoch is None or _names(epoch, table.id, text) or _may_have(log, epoch, table, where)
    ]


_VALUES = re.compile(r"'((?:[^']|'')+)'|(\d[\w.]*)")
"""Values in the text of a condition."""


def _names(epoch: Epoch, table: TableId, text: str) -> bool:
    """Return whether an epoch of a table names a value of a condition, given as text.

    Its history does in a condition or an assignment, and its range tombstones do in a bound.
    """
    values = ["".join(found) for found in _VALUES.findall(text)]
    own = [op for op in epoch.ops if getattr(op, "table", None) == table]
    ranges = [op.model_dump_json() for op in own if isinstance(op, AddRangeTombstone)]
    said = [*epoch.parameters.values(), *ranges] if own else []
    return any(value in each for value in values for each in said)


def _planned_files(head: Snapshot, left: list[int]) -> Iterator[str]:
    """Yield a sentence about the files of removed epochs that an erasure would delete."""
    if left:
        last = head.blocks.first(head.blocks.of(left[0]) + 1) - 1
        yield (
            f"The files of removed epochs from {left[-1]} to {left[0]} may have such rows. To"
            f" delete them, an erasure commits empty epochs behind epoch {last}."
        )


def _may_have(log: Log, epoch: Epoch, table: TableState, where: Predicate) -> bool:
    """Return whether the bounds of what an epoch adds to a table allow such a row."""
    added = [op.rowset for op in epoch.ops if isinstance(op, AddRowSet) and op.table == table.id]
    for op in epoch.ops:
        if isinstance(op, Compaction) and op.table == table.id:
            added += [each.rowset for each in op.outputs]
        elif isinstance(op, AddRowSets | ReplaceColumn | Restore) and op.table == table.id:
            return True
    rowsets = [LiveRowSet.of(n, epoch.epoch, each, None) for n, each in enumerate(added)]
    alone = replace(table, rowsets=RowSets(added=tuple(rowsets)))
    return bool(log.rowsets.read(alone, rowset_filter(table, where), which="all"))


def _others_have_remains(log: Log, head: Snapshot, table: TableId) -> bool:
    return bool(anchors_with_remains(log.reader, head, table)) or caches_have_remains(
        log.reader, table
    )


def _fill_block(log: Log, head: Snapshot, epoch: int) -> int:
    """Commit empty epochs until one is behind the block of an epoch. Returns their number."""
    begun, behind = head.epoch, head.blocks.first(head.blocks.of(epoch) + 1)
    while head.epoch < behind:
        head = log.commit(Change(new_transaction_id(), FILL, (), fresh=True), head)
    return head.epoch - begun


def _with_remains(log: Log, head: Snapshot, wanted: TableState, where: Predicate) -> Iterator[int]:
    """Yield the epochs whose anchors have entries of dropped RowSets that may be such rows.

    There are none, unless something keeps the floor. Of a small RowSet, an entry has all bytes.
    """
    for anchor in anchors_with_remains(log.reader, head, wanted.id):
        stored = read_state(log.store, anchor).tables[wanted.id]
        table = replace(stored, schema=wanted.schema)
        live = {each.id for each in log.rowsets.read(table, which="all")}
        every = replace(stored.rowsets, dropped=(), amended={}, row_count=None, byte_count=None)
        undropped = replace(table, rowsets=every)
        found = log.rowsets.read(undropped, rowset_filter(table, where), which="all")
        if any(each.id not in live for each in found):
            yield anchor.epoch


def _kept_epochs(head: Snapshot) -> list[int]:
    below = {*head.tags.values(), *(pin.epoch for pin in head.pins.values())}
    return sorted({*(e for e in below if e < head.floor), *range(head.floor, head.epoch + 1)})


def _search(
    log: Log, head: Snapshot, wanted: TableState, where: Predicate, seen: dict[str, bool]
) -> Iterator[tuple[int, bool]]:
    """Yield each kept epoch, and whether its state has such a row, live or deleted.

    Each RowSet is searched once, however many states have it, and put into `seen`. An epoch that a
    concurrent vacuum removes has no row. Raises NotFoundError if the database is dropped meanwhile.
    """
    for epoch in _kept_epochs(head):
        found = False
        try:
            with log.reader.naming_removals(epoch):
                for table in log.reader.read_at(epoch).tables.values():
                    if table.id == wanted.id:
                        # The condition uses present column names, so the present schema resolves
                        # them to ids.
                        own = replace(table, schema=wanted.schema)
                        found = any(_holding(log, own, where, seen))
        except NotFoundError:
            if epoch >= log.reader.read_head().floor:
                raise
        yield epoch, found


def _holding(
    log: Log, table: TableState, where: Predicate, seen: dict[str, bool]
) -> Iterator[bool]:
    """Yield for each RowSet that may have such a row whether it has one, live or deleted."""
    stored, buried = table.schema, tombstone_schema(table.schema)
    rows = View.written(table.prefix, stored.fields), bind(where, stored)
    tombstones = View.written(table.prefix, buried.fields), certain(where, stored)
    for rowset in log.rowsets.read(table, rowset_filter(table, where), which="all"):
        key = rowset.entry.model_dump_json()
        if key not in seen:
            view, bound = tombstones if rowset.has_tombstones else rows
            seen[key] = bool(stored_matches(log.store, view, rowset, bound))
        yield seen[key]


def _kept_by_name(head: Snapshot, holding: list[int]) -> Iterator[str]:
    """Yield a sentence for each tag and pin that keeps one of the epochs in `holding`."""
    for name, epoch in sorted(head.tags.items()):
        if epoch in holding:
            yield f"Tag {name!r} keeps epoch {epoch}; remove the tag, and erase again."
    for name, pin in sorted(head.pins.items()):
        if pin.epoch in holding and pin.epoch < head.floor:
            yield f"Pin {name!r} keeps epoch {pin.epoch}; remove the pin, and erase again."


def _reasons(
    head: Snapshot, holding: list[int], held_by: tuple[str, ...], left: list[int]
) -> Iterator[str]:
    """Yield a sentence for each thing that keeps one of the epochs in `holding`.

    `left` are removed epochs whose files still exist and may hold such rows.
    """
    yield from _kept_by_name(head, holding)
    in_log = [epoch for epoch in holding if epoch >= head.floor]
    if left and not in_log:
        last = head.blocks.first(head.blocks.of(left[0]) + 1) - 1
        yield (
            f"The files of removed epochs from {left[-1]} to {left[0]} may have such rows, and stay"
            f" until epoch {last} is removed, too; erase again once nothing keeps it."
        )
    if not in_log:
        return
    kept = f"keeps {len(in_log)} epochs from {in_log[0]} on"
    for who in held_by:
        what = "wait until it ends, or remove it, and erase again"
        if who.startswith("retention"):
            what = "wait for its end, or erase again with --all-tables (in Python all_tables=True)"
        yield f"The {who} {kept}; {what}."
    if not held_by:
        yield f"Epoch {in_log[-1]} has such rows, which another writer added; erase again."
