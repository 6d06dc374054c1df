"""The statements as methods, of a table and of a table in a transaction."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.key_rows import are_keys, key_rows
from colonnade.tableformat.predicate import Where, parse_predicate
from colonnade.tableformat.scan.user_rows import held_rows
from colonnade.tableformat.statements.statement import RowCounts, Statement, shortened
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.statements import delete, ranges, update
    from colonnade.tableformat.statements.columns import assignments
    from colonnade.tableformat.statements.keyed import delete_keys, incoming, upsert, upsert_on
else:
    assignments = later("colonnade.tableformat.statements.columns.assignments")
    delete = later("colonnade.tableformat.statements.delete")
    delete_keys = later("colonnade.tableformat.statements.keyed.delete_keys")
    incoming = later("colonnade.tableformat.statements.keyed.incoming")
    ranges = later("colonnade.tableformat.statements.ranges")
    update = later("colonnade.tableformat.statements.update")
    upsert = later("colonnade.tableformat.statements.keyed.upsert")
    upsert_on = later("colonnade.tableformat.statements.keyed.upsert_on")

Evaluate = Callable[[StatementLog, TableState, str], Statement]
"""Evaluates a statement on a table. The third argument is the prefix of new object ids."""


class RowMethods(ABC):
    """Statements that change rows. Subclasses decide how a statement is run and committed.

    `_deletes_unread` says whether a deletion may be a range tombstone. Rows that a transaction has
    added itself come in the epoch of the tombstone, which would not delete them.
    """

    _deletes_unread = True

    @property
    @abstractmethod
    def _columns(self) -> TableSchema:
        """The columns of the table."""

    @abstractmethod
    def _run(self, evaluate: Evaluate, commit: CommitSettings | None) -> RowCounts:
        """Evaluate a statement, again after a conflict, and apply it."""

    def delete(
        self,
        where: Where | None = None,
        *,
        count_rows: bool = False,
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Delete the rows that meet `where`; None means all rows.

        Reads the columns of the condition, and skips RowSets that the log's statistics decide. A
        range of the table's order is deleted without being read, as `delete_range` does. Then
        `rows_deleted` is None in the result, unless `count_rows` asks to read and count the rows.

        Runs again when a concurrent statement moved one of the rows. Raises InvalidInputError that
        names the column or the part of the condition at fault, and ConflictError after ten tries.
        A datetime in the condition needs a time zone if its column is a timestamp.
        """
        check_settings(None, commit)
        parsed = None if where is None else parse_predicate(where)
        text, counted = _text(where), count_rows or not self._deletes_unread

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            return delete.evaluate_delete(log, table, parsed, text, counted=counted)

        return self._run(evaluate, commit)

    def delete_range(self, where: Where, *, commit: CommitSettings | None = None) -> RowCounts:
        """Delete a range of rows without reading them, however many there are.

        `where` compares the leading columns of the sort key or primary key with values, all but the
        last by `=`, or columns of the partitioning, or both; `IN` and `OR` give several ranges. All
        these columns are NOT NULL. Rows that a concurrent writer adds later stay. Costs one small
        epoch; reads no data. `rows_deleted` is None in the result where bounds do not tell it.

        Raises InvalidInputError for any other condition, and says what a range is, and for a
        datetime without a time zone for a timestamp column. Raises ConflictError after ten tries.
        """
        check_settings(None, commit)
        parsed, text = parse_predicate(where), _text(where)
        counted = not self._deletes_unread

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            ranges.require_range(table, parsed, text or "")
            return delete.evaluate_delete(log, table, parsed, text, counted=counted)

        return self._run(evaluate, commit)

    def update(
        self,
        set: Mapping[str, Any],
        where: Where | None = None,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Set columns of the rows that meet `where`; None means all rows.

        `set` gives values by column: text is SQL (a column, a literal, or a condition), `col("a")`
        is a column, and any other Python value means itself. All values are computed from the row
        before the update. A datetime needs a time zone if its column is a timestamp. Runs again
        when a concurrent statement deleted or moved one of the rows. Raises InvalidInputError that
        names the column at fault, and ConflictError after ten tries.
        """
        check_settings(settings, commit, may_expire=False)
        parsed = None if where is None else parse_predicate(where)
        text = _text(where)

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            values = assignments.parse_assignments(set, table.schema, table.name)
            done = update.evaluate_update(log, table, values, parsed, job_id, settings, text)
            return replace(done, parameters={**done.parameters, "set": _set_text(set)})

        return self._run(evaluate, commit)

    def upsert(
        self,
        data: Any,
        on: str | Sequence[str] | None = None,
        *,
        ignore_unknown_columns: bool = False,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Merge rows into the rows of the table with the same keys; add rows with new keys.

        `data` is anything that `append` takes; it is held in memory. The key is the primary key.
        The rows may leave out columns: a row of the table keeps its values there, and a new row
        gets defaults. Several rows may have one key. Merge modes and sequences, which are
        properties of the table, decide what they become. A column that the table does not have is
        an error. With `ignore_unknown_columns` it is left out.

        With `on`, other columns are the key, and `data` has all columns of the table, each key
        once. When several rows of the table have one key, each of them is replaced, as with MERGE.

        Reads the key columns of RowSets that may have one of the keys. If a concurrent statement
        changed one of the rows, or inserted one of the keys, only these keys are merged again; with
        `on`, the whole statement runs again. Raises NotFoundError or InvalidInputError that names
        the column, or the key that is NULL, or given twice with `on`, or whose sum overflows.
        Raises ConflictError after ten tries.
        """
        check_settings(settings, commit)
        held = held_rows(data, arrow_schema(self._columns))

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            rows = incoming.known_columns(table, held) if ignore_unknown_columns else held
            if on is None:
                return upsert.evaluate_upsert(log, table, rows, job_id, settings)
            return upsert_on.evaluate_upsert_on(log, table, rows, on, job_id, settings)

        return self._run(evaluate, commit)

    def delete_keys(self, data: Any, *, commit: CommitSettings | None = None) -> RowCounts:
        """Delete the rows that have one of the primary keys in `data`.

        `data` is a list, set, range, array or series of keys, each as `get` takes it, such as
        `[7, 9]`. Or it is anything that `append` takes, with exactly the columns of the primary
        key, and the sequence of a table that has one; it is held in memory. A key that no row has
        is ignored.
        With a sequence, a row that is newer than its deletion stays, and an older row that an
        upsert brings later stays out for `tombstone.hours`. Reads the key columns where the keys
        may be. Runs again when a concurrent statement changed one of the rows. Raises
        InvalidInputError for a table without a primary key or with sequences of single columns, or
        that names a column at fault. Raises ConflictError after ten tries.
        """
        check_settings(None, commit)
        rows = None if are_keys(data) else held_rows(data, arrow_schema(self._columns))

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            found = key_rows(data, table) if rows is None else rows
            return delete_keys.evaluate_delete_keys(log, table, found, job_id)

        return self._run(evaluate, commit)


def _set_text(values: Mapping[str, Any]) -> str:
    """Return assignments as history shows them, however large the values are."""
    texts = (
        (name, shortened(value) if isinstance(value, str) else reprlib.repr(value))
        for name, value in values.items()
    )
    return ", ".join(f"{name} = {text}" for name, text in texts)


def _text(where: Where | None) -> str | None:
    """Return the condition as history shows it."""
    return where if isinstance(where, str) else None if where is None else str(where)
