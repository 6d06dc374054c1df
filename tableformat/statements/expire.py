"""Delete rows that expired some time ago, so that no later change of their lifetimes shows them.

Spec: docs/spec/lifetimes.md#purge
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.commit.change import DeletedRows, KeyGuard
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.scan.selection import deleted_rows
from colonnade.tableformat.statements.statement import Statement, row_statement

EXPIRE = "expire"
"""The operation of epochs that delete expired rows."""


def evaluate_drop(log: Log, table: TableState, cutoff_ms: int) -> Statement | None:
    """Return a statement that drops the RowSets all of whose rows had expired at a time.

    Returns None if there are none. The time is in ms since 1970 UTC. Reads the entries of the
    table's RowSets, and no data. Raises CorruptionError, StoreError.
    """
    stored = view_of(table, log.rowsets.read(table), None).rowsets
    left = {each.id for each in view_of(table, stored, cutoff_ms).rowsets}
    return _statement(
        table,
        (DeletedRows(table.id, each, "delete", None) for each in stored if each.id not in left),
    )


def evaluate_expire(
    log: Log, table: TableState, cutoff_ms: int, chosen: Callable[[LiveRowSet], bool]
) -> Statement | None:
    """Return a statement that deletes the rows of chosen RowSets that had expired at a time.

    Returns None if there are none. `chosen` is asked about RowSets that may have such rows. Reads
    the columns that say when these expire, where indexes do not decide it. Raises CorruptionError,
    StoreError.
    """
    before = view_of(table, log.rowsets.read(table), None)
    view = view_of(table, before.rowsets, cutoff_ms)

    def rows() -> Iterator[DeletedRows]:
        for rowset in view.rowsets:
            if not view.is_counted(rowset) and chosen(rowset):
                every, known = (deleted_rows(log.store, each, rowset) for each in (view, before))
                if gone := every - known:
                    yield DeletedRows(table.id, rowset, "delete", gone)

    return _statement(table, rows())


def same_lifetimes(table: str, lives: Lifetimes | None) -> KeyGuard:
    """Return a guard that fails a purge if the lifetimes of its table have changed since.

    Rows that it purges could then be visible again.
    """

    def check(after: TableState) -> None:
        if after.lifetimes != lives:
            raise ConflictError(
                f"The time to live of table {after.name!r} has changed while expired rows were"
                " purged; purge them again."
            )

    return KeyGuard(table, lambda _: (), frozenset(), check)


def _statement(
    table: TableState, rows: Collection[DeletedRows] | Iterator[DeletedRows]
) -> Statement | None:
    deleted = tuple(rows)
    if not deleted:
        return None
    guard = same_lifetimes(table.id, table.lifetimes)
    # No statement sees a row that has expired.
    return row_statement(EXPIRE, table, deleted, reads=(), keys=(guard,))
