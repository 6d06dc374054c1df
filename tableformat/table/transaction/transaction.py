"""Run several statements on several tables of a database as one epoch, or not at all.

    with database.transaction() as tx:
        tx.table("stock").update({"left": 3}, "item = 7")
        tx.table("orders").append(rows)

All statements read one snapshot, and what the transaction itself wrote. No other reader sees
anything before the commit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NoReturn

import pyarrow as pa
from typing_extensions import Unpack

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.errors import ColonnadeError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId, new_job_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.statics import statics_id, with_own_statics
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    hold_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.predicate import Where, parse_predicate
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.order import Order, check_order
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.reads import TableReads
from colonnade.tableformat.scan.user_rows import batches_of
from colonnade.tableformat.statements import evaluators, merge_clauses
from colonnade.tableformat.statements.append import evaluate_append
from colonnade.tableformat.statements.change import complete_in_transaction
from colonnade.tableformat.statements.commit import Reported
from colonnade.tableformat.statements.evaluators import Evaluate
from colonnade.tableformat.statements.statement import RowCounts, Statement, has_batch
from colonnade.tableformat.statements.static_values import static_reads
from colonnade.tableformat.table.change_plan import AlsoChange, ChangeQuery
from colonnade.tableformat.table.changes import Changes, table_changes
from colonnade.tableformat.table.consumers import first_unread, moved_to
from colonnade.tableformat.table.creation import ChangedTypes, designed
from colonnade.tableformat.table.design.partition_key import statics_of
from colonnade.tableformat.table.design.spec import SpecKeywords, TableSpec
from colonnade.tableformat.table.scan_source import TableSource
from colonnade.tableformat.table.transaction.plan import TransactionPlan, Vectors
from colonnade.tableformat.table.transaction.table_changes import TableWork
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.input.column_types import GivenSchema
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings


@public
class ArrowTransaction:
    """Several statements in one epoch; created by `Database.transaction`.

    It ends with its `with` block. An exception in the block, or a conflict at its end, leaves every
    table unchanged. Using it after its end raises InvalidInputError. It must not be shared by
    threads.
    """

    def __init__(self, log: Log, base: Snapshot, commit: CommitSettings | None = None) -> None:
        check_settings(None, commit)
        log.store.require_writable()
        self._log = log
        self._base = base
        self._begun_ms = log.reader.now_ms()
        self._agreed: AgreedTime | None = None
        self._settings = commit or CommitSettings()
        self._job_id = new_job_id()
        self._plan = TransactionPlan()
        self._state = base
        self._reads: list[TableRead] = []
        self._end: str | None = None

    @property
    def base(self) -> int:
        """The epoch that the transaction reads."""
        return self._base.epoch

    @property
    def _current(self) -> Snapshot:
        """The database with the changes of the transaction so far; its epoch is not in the log."""
        self._check_open()
        return self._state

    def tables(self) -> list[str]:
        """Return the names of the tables as the transaction sees them, sorted."""
        return sorted(self._current.own_names().values())

    def table(self, name: str) -> ArrowTransactionTable:
        """Return a table by its name. Raises NotFoundError that lists the existing tables."""
        self._check_open()
        return ArrowTransactionTable(self, self._log, self._state.table(name).id)

    def create(
        self,
        name: str,
        schema: TableSpec | GivenSchema | Any,
        *,
        data: Any = None,
        changed_types: ChangedTypes = "warn",
        **keywords: Unpack[SpecKeywords],
    ) -> ArrowTransactionTable:
        """Create a table, as `ArrowDatabase.create_table` does.

        Raises AlreadyExistsError when the name is taken.
        """
        design, rows = designed(name, schema, data, changed_types, **keywords)
        with self._all_or_nothing():
            table = self._create_as(design)
            if rows is not None:
                table.append(rows)
        return table

    def _create_as(self, design: CreateTable) -> ArrowTransactionTable:
        """Create a designed table. Raises AlreadyExistsError when the name is taken."""
        self._check_open()
        table = TableId(design.table)
        self._become(self._plan.with_table(design), table)
        return ArrowTransactionTable(self, self._log, table)

    def drop(self, name: str) -> None:
        """Drop a table. Raises NotFoundError for an unknown name.

        If a table of the same name is created afterwards, it replaces the dropped one. Then rows
        that a concurrent writer changed are a conflict, as with an overwrite.
        """
        self._check_open()
        table = self._state.table(name).id
        plan = self._plan.without(table, name, known=table in self._base.tables)
        self._become(plan, table)

    def changes(
        self,
        table: str,
        consumer: str,
        *,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        net: bool = False,
        also: Collection[AlsoChange] = (),
        schema_epoch: int | None = None,
    ) -> Changes:
        """Return the changes of a table that a consumer has not read, up to the transaction's base.

        The epoch of the transaction moves the consumer there. So its results and the new position
        are committed together, or not at all, and the next transaction goes on after them. If
        another process moves the consumer first, the commit raises ConflictError. The other
        arguments are those of `ArrowTable.changes`.

        Raises NotFoundError for an unknown consumer, and for one that was not used in time.
        Raises InvalidInputError for a consumer of another table.
        """
        self._check_open()
        source = self._base.table(table)
        asked = ChangeQuery(
            first_unread(self._base, source, consumer),
            columns=columns,
            where=where,
            net=net,
            allow_future=True,
            also=also,
            schema_epoch=schema_epoch,
        )
        found = table_changes(self._log, lambda: (self._base, source), asked)
        self._move(consumer, source)
        return found

    def _move(self, consumer: str, table: TableState) -> None:
        """Let the commit move a consumer of a table of the base there. Raises as `moved_to`."""
        self._check_open()
        moved = moved_to(self._log, self._base, table, consumer)
        if moved is not None:
            self._plan = self._plan.with_consumer(moved)

    def commit(self) -> int:
        """Commit the transaction as one epoch and return it; its base if nothing was changed.

        The `with` block calls this at its end. Raises ConflictError that names table, rows and
        epoch when a concurrent writer changed what the transaction changed, overwrote or inserted.
        Raises AlreadyExistsError for the name of a new table, and CommitUnknownError.
        """
        self._check_open()
        change = self._change(self._plan, self._write_vector)
        change = replace(change, origins=self._plan.origins())
        batches = [op for each in self._plan.written for op in self._settings._operations(each)]
        if not (change.ops or change.rows or batches):
            self._end = "ended without changes"
            self._log.expect(change.operation, change.expect_epoch, self._base)
            return self._base.epoch
        self._end = "failed at its commit"
        snapshot = self._log.commit(replace(change, ops=(*change.ops, *batches)), self._base)
        self._end = f"was committed as epoch {snapshot.epoch}"
        return snapshot.epoch

    def rollback(self) -> None:
        """End the transaction without changes. Vacuum removes the files that it wrote."""
        self._check_open()
        self._end = "was rolled back"

    def __enter__(self) -> ArrowTransaction:
        self._check_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._end is None and kind is None:
            self.commit()
        elif self._end is None:
            self.rollback()

    def __reduce__(self) -> NoReturn:
        raise InvalidInputError(
            "A transaction cannot be pickled, because two processes would commit it; begin one in"
            " each process."
        )

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Undo everything that the block changed when it raises; what it has read was seen."""
        before = self._plan, self._state
        try:
            yield
        except BaseException:
            self._plan, self._state = before
            raise

    def _state_of(self, table: TableId) -> TableState:
        """Return a table as the transaction sees it. Raises NotFoundError after it was dropped."""
        self._check_open()
        found = self._state.tables.get(table)
        if found is None:
            known = self._base.tables.get(table)
            name = known.name if known else table
            raise NotFoundError(f"Table {name!r} was dropped in this transaction.")
        return found

    def _log_for(self, table: TableState) -> StatementLog:
        """Return the log for a statement on a table. All statements have one time.

        It is made for the first table in which something expires. That costs as `Agreement.time`.
        """
        return StatementLog(self._log, None if table.lifetimes is None else self._time(table))

    def _time(self, table: TableState | None = None) -> AgreedTime:
        """Return the one time of all statements of the transaction. Costs as `Agreement.time`."""
        if self._agreed is None:
            self._agreed = self._log.agreement.statement_time(self._base, table, self._begun_ms)
        return self._agreed

    def _record_read(self, read: TableRead) -> None:
        """Remember what was read, for tables with serializable isolation."""
        if TableId(read.table) in self._base.tables:
            self._reads.append(read)

    def _run_on(self, table: TableId, evaluate: Evaluate) -> RowCounts:
        """Evaluate a statement on what the transaction sees, and add the result to it."""
        statement = self._evaluated(table, lambda log, state: evaluate(log, state, self._job_id))
        return self._added(table, statement)

    def _add(self, job: WriteJob, reported: Reported) -> RowCounts:
        """Add what the tasks of a job did, as `commit_reported` commits it outside of transactions.

        Requires that the job was planned on the transaction's present state. Creates or replaces
        the job's table if the job says so. A statement that changes nothing is added only with a
        batch. Raises the errors of `_create_as`, `drop` and `reported`.
        """
        if job.replaced_table is not None:
            self.drop(self._state_of(TableId(job.replaced_table)).name)
        if job.create is not None:
            self._create_as(job.create)
        table = TableId(job.target.table)
        statement = self._evaluated(table, reported)
        left_out = statement.is_empty and self._settings.batch is None
        return statement.counts if left_out else self._added(table, statement)

    def _evaluated(self, table: TableId, evaluate: Reported) -> Statement:
        state = self._state_of(table)
        if has_batch(self._settings, state):
            return Statement("repeat", reads=())
        try:
            with self._removals_are_conflicts():
                log = self._log_for(state)
                return complete_in_transaction(evaluate(log, state), log, state)
        except ColonnadeError:
            # The error may tell something of any row, such as that its key exists.
            self._record_read(TableRead(table))
            raise

    def _added(self, table: TableId, statement: Statement) -> RowCounts:
        statics, state = statement.statics, self._state_of(table)
        if statics is not None:
            with self._all_or_nothing():
                # The counts are those of the rows of the table.
                self._added(statics_id(table), replace(statics, counts=RowCounts()))
                return self._added(table, replace(statement, statics=None))
        work = self._plan.work.get(table)
        if work is None:
            with self._removals_are_conflicts():
                work = TableWork.begin(self._log, self._base.tables.get(table), state)
        plan = self._plan.with_work(work.add(statement), statement, state.name)
        self._become(plan, table, work.only(statement))
        return statement.counts

    def _removals_are_conflicts(self) -> AbstractContextManager[None]:
        return removals_are_conflicts(self._log.reader, "transaction", self._base)

    def _become(self, plan: TransactionPlan, table: TableId, more: TableWork | None = None) -> None:
        """Take over a plan that changes what the transaction does to one table.

        `more` is what the plan adds to the state, if it only adds to it.
        """
        before = self._state
        # A preview of all tables after each statement would cost the square of their number, and
        # so would a preview of all statements on one table.
        known = before.tables.get(table)
        owner = table if known is None or known.statics_of is None else known.statics_of
        # A table and its static values are designed together.
        both = with_own_statics(owner)
        touched = [TableId(key) for each in self._plan.touched for key in with_own_statics(each)]
        others = {
            key: before.tables.get(key)
            for key in touched
            if key != table and (key in self._base.tables or key in before.tables)
        }
        if more is None:
            apart = {key: each for key, each in others.items() if key not in both}
            whole = self._change(plan.only(both), self._hold_vector)
            after = self._log.preview(whole, self._base, apart)
        else:
            step = self._change(TransactionPlan(work={table: more}), self._hold_vector)
            after = self._log.preview(step, self._base, {**others, table: before.tables[table]})
        self._state = after
        self._plan = plan

    def _hold_vector(self, prefix: str, vector: DeletionVector) -> DeletionVectorEntry:
        return hold_deletion_vector(self._job_id, vector)

    def _write_vector(self, prefix: str, vector: DeletionVector) -> DeletionVectorEntry:
        return write_deletion_vector(
            self._log.store,
            prefix,
            self._job_id,
            vector,
            inline_bytes=self._log.limits.inline_bytes,
        )

    def _change(self, plan: TransactionPlan, vectors: Vectors) -> Change:
        parts = plan.work.values()
        return Change(
            new_transaction_id(),
            "transaction",
            plan.operations(self._base, vectors),
            {"statements": "; ".join(plan.done), **self._settings._parameters()},
            rows=plan.rows(),
            reads=(*self._reads, *(read for work in parts for read in work.reads)),
            keys=tuple(guard for work in parts for guard in work.keys),
            metrics=plan.counts,
            expect_epoch=self._settings.expect_epoch,
            job_id=self._job_id,
            fresh=True,
        )

    def _check_open(self) -> None:
        if self._end is not None:
            raise InvalidInputError(f"This transaction {self._end}; begin another one.")


@public
class ArrowTransactionTable(TableReads):
    """One table as a transaction sees it. Its changes are committed with the transaction."""

    def __init__(self, transaction: ArrowTransaction, log: Log, table: TableId) -> None:
        self._transaction = transaction
        self._log = log
        self._table = table

    @property
    def _state(self) -> TableState:
        """The table with the changes of the transaction so far."""
        return self._transaction._state_of(self._table)

    @property
    def _columns(self) -> TableSchema:
        return self._state.schema

    @property
    def name(self) -> str:
        """The table's name."""
        return self._state.name

    @property
    def schema(self) -> pa.Schema:
        """The table's columns."""
        return arrow_schema(self._state.schema)

    @property
    def statics(self) -> ArrowTransactionTable:
        """The static values of the table as the transaction sees them; see `ArrowTable.statics`."""
        statics = statics_of(self._state, repr(self.name))
        return ArrowTransactionTable(self._transaction, self._log, statics.id)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        order: Order | None = None,
    ) -> Scan:
        """Plan to read rows, including those of the transaction itself; see `ArrowTable.scan`."""
        check_order(order)
        predicate = None if where is None else parse_predicate(where)
        table, base = self._state, self._transaction.base
        now_ms = self._transaction._log_for(table).now_ms

        def record(plan: ScanPlan, may_match: BoundsFilter | None) -> None:
            used = {field.id for field in plan.output_schema.fields}
            bound = plan.bound_predicate()
            read = frozenset(used if bound is None else used | bound.column_ids)
            for each in (TableRead(table.id, may_match, read), *static_reads(table, read)):
                self._transaction._record_read(each)

        source = TableSource(
            self._log, table, base, table, order, now_ms, staged=True, on_plan=record
        )
        return source.scan(columns, predicate)

    def append(self, data: Any, *, settings: WriteSettings | None = None) -> RowCounts:
        """Add rows; see `ArrowTable.append`."""
        check_settings(settings, None)

        def evaluate(log: StatementLog, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            return evaluate_append(log, table, rows, job_id, settings)

        return self._run(evaluate)

    def overwrite(
        self, data: Any, where: Where | None = None, *, settings: WriteSettings | None = None
    ) -> RowCounts:
        """Overwrite all rows, or the rows that meet `where`; see `ArrowTable.overwrite`."""
        return self._run(evaluators.overwrite(data, where, settings, may_lease=False))

    def overwrite_partitions(
        self, data: Any, *, settings: WriteSettings | None = None
    ) -> RowCounts:
        """Overwrite the partitions of `data`; see `ArrowTable.overwrite_partitions`."""
        return self._run(evaluators.overwrite_partitions(data, settings))

    # Rows that the transaction has added come in the epoch of a range tombstone, which would not
    # delete them. So its deletions read and count rows.

    def delete(
        self,
        where: Where | None = None,
        *,
        count_rows: bool = False,
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Delete the rows that meet `where`, which are always counted; see `ArrowTable.delete`."""
        return self._run(evaluators.delete(where, counted=True), commit)

    def delete_range(self, where: Where, *, commit: CommitSettings | None = None) -> RowCounts:
        """Delete a range of rows, which are read and counted; see `ArrowTable.delete_range`."""
        return self._run(evaluators.delete_range(where, counted=True), commit)

    def update(
        self,
        set: Mapping[str, Any],
        where: Where | None = None,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Set columns of the rows that meet `where`; see `ArrowTable.update`."""
        return self._run(evaluators.update(set, where, settings), commit)

    def upsert(
        self,
        data: Any,
        on: str | Sequence[str] | None = None,
        *,
        ignore_unknown_columns: bool = False,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Merge rows into the rows with the same keys; see `ArrowTable.upsert`."""
        _refuse(commit)  # before rows are read, which a stream has only once
        evaluate = evaluators.upsert(
            self._columns, data, on, settings, ignore_unknown_columns=ignore_unknown_columns
        )
        return self._run(evaluate, commit)

    def merge(
        self,
        source: Any,
        on: str | Sequence[str] | Mapping[str, str],
        *,
        source_alias: str = "source",
        target_alias: str = "target",
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> merge_clauses.Merge:
        """Begin a MERGE of rows into the table; see `ArrowTable.merge`."""
        _refuse(commit)  # as in `upsert`
        names = (target_alias, source_alias)
        merged = evaluators.merge(self._columns, source, on, names, settings)
        return merge_clauses.Merge(lambda clauses: self._run(merged(clauses), commit))

    def delete_keys(self, data: Any, *, commit: CommitSettings | None = None) -> RowCounts:
        """Delete the rows that have one of the primary keys; see `ArrowTable.delete_keys`."""
        _refuse(commit)  # as in `upsert`
        return self._run(evaluators.delete_keys(self._columns, data), commit)

    def _run(self, evaluate: Evaluate, commit: CommitSettings | None = None) -> RowCounts:
        _refuse(commit)
        return self._transaction._run_on(self._table, evaluate)


def _refuse(commit: CommitSettings | None) -> None:
    """Refuse settings for the commit of a part of a transaction."""
    if commit is not None:
        raise InvalidInputError(
            "A transaction is committed as a whole; pass `commit` to the transaction instead."
        )
