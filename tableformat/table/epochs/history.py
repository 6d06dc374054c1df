"""The history of a table: the epochs that changed it, as users see them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from colonnade.manifests.clock import moment
from colonnade.manifests.commit.rebase.reads import ISOLATION, isolation_of
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.statics import with_own_statics
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    CreateTable,
    DropRowSet,
    DropTable,
    Operation,
    SetProperties,
    Vacuum,
)
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.html import Rows, html_of
from colonnade.tableformat.statements.statement import RowCounts


@public
@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a table.

    `metrics` are the counts of a statement, such as `rows_deleted`; empty for plain writes.
    `user` is whom the program `engine` worked for, if it knew: the user of a Spark session.
    `isolation` is the level that the table had then: "snapshot" or "serializable", or None where
    retention has removed the state that tells it. A blind append only adds rows, and has read none.
    """

    epoch: int
    timestamp: datetime
    operation: str
    parameters: dict[str, str]
    base: int
    engine: str
    user: str | None
    transaction: str
    rowsets_added: int
    rowsets_dropped: int
    rows_added: int
    bytes_added: int
    metrics: dict[str, int]
    isolation: str | None
    is_blind_append: bool


@public
class History(list[HistoryEntry]):
    """Changes of a table, the newest first."""

    def __repr__(self) -> str:
        newest = f", the newest in epoch {self[0].epoch}" if self else ""
        return f"<{len(self)} changes{newest}>"

    def _repr_html_(self) -> str:
        return html_of(f"{len(self)} changes", (), changes(self))


def changes(entries: Sequence[HistoryEntry]) -> Rows:
    """Return changes as a notebook shows them."""
    return Rows(
        ("epoch", "time (UTC)", "operation", "rows added", "RowSets added", "RowSets dropped"),
        [
            (
                str(each.epoch),
                f"{each.timestamp:%Y-%m-%d %H:%M:%S}",
                each.operation,
                each.rows_added,
                each.rowsets_added,
                each.rowsets_dropped,
            )
            for each in entries
        ],
    )


RESTORE = "restore"
"""The operation of epochs that may create former tables again."""

_APPENDS = ("append", "create_table_as_select")


def table_history(
    epochs: Iterable[Epoch], newest: TableState, state_at: Callable[[int], Snapshot]
) -> Iterator[HistoryEntry]:
    """Yield the changes of a table, newest first, and the vacuums of its database.

    A change of its static values alone is one of the table. Their RowSets do not count as added.

    The history continues with a table of the same name that this one replaced in one epoch, by a
    restore or otherwise. `state_at` is called to find it, and the history ends where the state
    before the replacement was removed. It is also called where the isolation level was changed.
    """
    tables: set[str] = {newest.id}
    isolation: str | None = isolation_of(newest)
    for epoch in epochs:
        parts = {part for each in tables for part in with_own_statics(each)}
        if any(isinstance(op, Vacuum) or _table(op) in parts for op in epoch.ops):
            yield _history_entry(epoch, tables, isolation)
        made = [op for op in epoch.ops if isinstance(op, CreateTable) and op.table in tables]
        for op in made:
            tables |= _replaced(epoch, op.name, state_at)
            # A restore creates a table again under its former id, so its history continues.
            if epoch.operation != RESTORE:
                tables.remove(op.table)
        if not tables:
            return
        if made or any(_sets_isolation(op, tables) for op in epoch.ops):
            isolation = _isolation_at(tables, epoch.epoch - 1, state_at)


def history_of(log: Log, head: Snapshot, table: TableState, limit: int | None) -> History:
    """Return the newest changes of a table; reads one file for each epoch.

    Raises InvalidInputError unless `limit` is a whole number from 0.
    """
    if limit is not None and (type(limit) is not int or limit < 0):
        raise InvalidInputError(f"A limit must be a whole number from 0, not {limit!r}.")
    epochs = log.reader.read_kept_epochs(head)
    found = table_history(epochs, table, lambda epoch: log.reader.read_at(epoch, head=head))
    return History(islice(found, None if limit is None else min(limit, sys.maxsize)))


def time_of(log: Log, head: Snapshot, epoch: int, path: str) -> datetime | None:
    """Return when an epoch was committed; None if retention removed it. Costs one GET.

    Raises NotFoundError for an epoch that does not exist.
    """
    if not 0 <= epoch <= head.epoch:
        raise NotFoundError(f"Epoch {epoch} of {path} does not exist.")
    if epoch < head.floor:
        return None
    found = next(log.reader.read_epochs(epoch, limit=1), None)
    return None if found is None else moment(found.time_ms)


def counts_of(log: Log, head: Snapshot, transaction: str, after: int) -> RowCounts:
    """Return what a transaction after the epoch `after` did; no counts when it made no epoch.

    Costs one GET for each epoch since.
    """
    for epoch in log.reader.read_kept_epochs(head):
        if epoch.epoch <= after:
            break
        if epoch.transaction == transaction:
            return RowCounts._of_metrics(epoch.epoch, epoch.metrics or {})
    return RowCounts(head.epoch)


def _table(operation: Operation) -> str | None:
    return getattr(operation, "table", None)


def _replaced(epoch: Epoch, name: str, state_at: Callable[[int], Snapshot]) -> set[str]:
    """Return the table with that name that an epoch dropped."""
    dropped = {op.table for op in epoch.ops if isinstance(op, DropTable)}
    if not dropped:
        return set()
    try:
        before = state_at(epoch.epoch - 1)
    except NotFoundError:
        return set()
    return {key for key, known in before.table_names().items() if key in dropped and known == name}


def _sets_isolation(op: Operation, tables: Collection[str]) -> bool:
    if not isinstance(op, SetProperties) or op.table not in tables:
        return False
    return ISOLATION in {*op.set, *op.remove}


def _isolation_at(
    tables: Collection[str], epoch: int, state_at: Callable[[int], Snapshot]
) -> str | None:
    try:
        found = state_at(epoch).tables if epoch >= 0 else {}
    except NotFoundError:
        return None
    return next((isolation_of(state) for key, state in found.items() if key in tables), None)


def _history_entry(epoch: Epoch, tables: Collection[str], isolation: str | None) -> HistoryEntry:
    ops = [op for op in epoch.ops if _table(op) in tables]
    added = [op.rowset for op in ops if isinstance(op, AddRowSet)]
    compactions = [op for op in ops if isinstance(op, Compaction)]
    added += [each.rowset for op in compactions for each in op.outputs if not each.is_empty]
    spilled = [op.segment for op in ops if isinstance(op, AddRowSets)]
    dropped = [ids for op in ops if isinstance(op, DropRowSet) for ids in op.rowsets]
    vectors = [op.vector.check.length for op in ops if isinstance(op, AddDeletionVector)]
    return HistoryEntry(
        epoch=epoch.epoch,
        timestamp=moment(epoch.time_ms),
        operation=epoch.operation,
        parameters=dict(epoch.parameters),
        base=epoch.base,
        engine=epoch.engine,
        user=epoch.user,
        transaction=epoch.transaction,
        rowsets_added=len(added) + sum(each.rowset_count for each in spilled),
        rowsets_dropped=sum(last - first + 1 for first, last in dropped)
        + sum(len(op.inputs) for op in compactions),
        rows_added=sum(e.rows for e in added) + sum(s.row_count for s in spilled),
        bytes_added=sum(e.bytes for e in added) + sum(s.byte_count for s in spilled) + sum(vectors),
        metrics=dict(epoch.metrics or {}),
        isolation=isolation,
        is_blind_append=epoch.operation in _APPENDS and not epoch.metrics,
    )
