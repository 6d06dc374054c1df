"""DELETE: delete rows, reading only the columns of the condition."""

from __future__ import annotations

from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.predicate import Predicate, bind
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.scan.selection import select_rows
from colonnade.tableformat.statements.ranges import evaluate_range
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.statements.static_values import static_reads


def evaluate_delete(
    log: StatementLog,
    table: TableState,
    where: Predicate | None,
    text: str | None = None,
    *,
    counted: bool = True,
) -> Statement:
    """Return a statement that deletes the rows that meet `where` (None: all).

    RowSets that the log's bounds decide are not read. Unless the deleted rows are to be `counted`,
    a range of the table's order is deleted without being read (`ranges.py`). `text` is the
    condition for the history.
    Raises InvalidInputError that names the column at fault, CorruptionError, StoreError.
    """
    if where is not None and not counted:
        unread = evaluate_range(log, table, where, text)
        if unread is not None:
            return unread
    deleted, read = find_rows(log, table, where)
    parameters = {} if text is None else {"where": text}
    reads = (read, *static_reads(table, read.columns or frozenset()))
    return row_statement("delete", table, deleted, reads=reads, parameters=parameters)


def find_rows(
    log: StatementLog, table: TableState, where: Predicate | None
) -> tuple[list[DeletedRows], TableRead]:
    """Return the rows that meet `where`, by RowSet, and what had to be read to find them.

    The commit needs the second value: in a serializable table, rows that a concurrent writer adds
    to what was read are a conflict. Raises the errors of `evaluate_delete`.
    """
    may_match = rowset_filter(table, where)
    chosen = by_partitions(log.plain, table, where)
    view = log.view(table, rowset_filter(table, chosen))
    found = select_rows(log.store, view, chosen)
    deleted = [
        DeletedRows(table.id, each.rowset, "delete", each.rows) for each in found if each.count
    ]
    columns = frozenset[int]() if where is None else bind(where, table.schema).column_ids
    return deleted, TableRead(table.id, may_match, columns)
