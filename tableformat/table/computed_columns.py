"""Columns whose values are computed from other columns: added, or given other values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AlterSchema, Operation
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.location import Location
from colonnade.tableformat.predicate import Predicate, Where, parse_predicate
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.statements.columns.new_values import NewValues
from colonnade.tableformat.statements.statement import RowCounts, has_batch
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.write.constraints import bind_constraints
from colonnade.tableformat.write.job import plan_write, take_lease, target_of
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.compaction import clean
    from colonnade.tableformat.statements import update
    from colonnade.tableformat.statements.columns import computed
    from colonnade.tableformat.statements.columns import fill as fills
    from colonnade.tableformat.statements.columns.assigned_value import ArrowFunction
    from colonnade.tableformat.table import alteration
    from colonnade.tableformat.write import replaced_columns
else:
    clean = later("colonnade.tableformat.compaction.clean")
    computed = later("colonnade.tableformat.statements.columns.computed")
    fills = later("colonnade.tableformat.statements.columns.fill")
    update = later("colonnade.tableformat.statements.update")
    alteration = later("colonnade.tableformat.table.alteration")
    replaced_columns = later("colonnade.tableformat.write.replaced_columns")


def fill(
    table: OpenTable,
    name: str,
    new: NewColumn | None,
    value: object,
    columns: Sequence[str] | None,
    where: Where | None,
    settings: WriteSettings | None,
    commit: CommitSettings | None,
) -> RowCounts:
    """Write the values of a column in each RowSet; see `ArrowTable.add_column` and `backfill`.

    Concurrent writers may append, delete and compact meanwhile. Rows that they add before the epoch
    of the new values get values, too.
    """
    check_settings(settings, commit, may_lease=True, may_expire=False, may_choose=False)
    log = table.log
    log.store.require_writable()
    work = ColumnWork(
        table.location,
        name,
        new,
        value,
        None if columns is None else check_names(columns, "The columns of a function"),
        None if where is None else parse_predicate(where),
        settings,
        commit,
    )
    # Each stored row gets a value, so that the rows of range tombstones are named first.
    base = clean.clean_table(log, table.refresh(), table.state.id)
    snapshot, epoch = log.commit_statement(base, partial(work.evaluate, log))
    counts = (epoch and epoch.metrics) or {}
    return RowCounts(table.see_committed(snapshot).epoch, **counts)


@dataclass(frozen=True, slots=True)
class NewColumn:
    """A column to add, with the place that `AddColumn` gives it."""

    column: SchemaField
    after: str | None = None
    first: bool = False

    def alter(self, table: TableState) -> tuple[Operation, ...]:
        """Return the operations that add the column, which may be NOT NULL.

        Raises the errors of `plan_alterations`.
        """
        nullable = self.column.model_copy(update={"nullable": True})
        planned = alteration.plan_alterations(
            table, [alteration.AddColumn(nullable, self.after, self.first)]
        )
        if self.column.nullable:
            return planned
        return tuple(
            _with_not_null(op, table.next_column_id) if isinstance(op, AlterSchema) else op
            for op in planned
        )


def _with_not_null(op: AlterSchema, column: int) -> AlterSchema:
    fields = tuple(
        field.model_copy(update={"nullable": False}) if field.id == column else field
        for field in op.table_schema.fields
    )
    schema = op.table_schema.model_copy(update={"fields": fields})
    return op.model_copy(update={"table_schema": schema})


@dataclass(frozen=True, slots=True)
class ColumnWork:
    """The work of giving a column of one table values; it can be planned again on a newer state.

    `new` is the column to add; without it, the column `name` is there. `value` is a function of the
    columns `columns`, or what an update can set. Only rows that meet `where` get a value.
    """

    location: Location
    name: str
    new: NewColumn | None
    value: object
    columns: Sequence[str] | None
    where: Predicate | None
    settings: WriteSettings | None
    commit: CommitSettings | None

    def evaluate(self, log: Log, base: Snapshot) -> Change | Snapshot:
        """Write the values of a state, and return the change that makes them visible.

        If there is nothing to change, returns the state without a row to change: it may be later
        than the base. That is the base if the batch has landed. Raises InvalidInputError and
        NotFoundError that name the column, ConflictError, CorruptionError, StoreError.
        """
        before = self.location.require(base)
        if has_batch(self.commit, before):
            return base
        altered = () if self.new is None else self.new.alter(before)
        table = fills.with_columns(before, altered)
        target = fills.fill_target(table, self.name, is_new=self.new is not None)
        column = self._computed(table, target, before.schema.names)
        job = plan_write(
            self.location,
            base,
            "append",
            settings=self.settings,
            commit=self.commit,
            agreed=log.agreement.statement_time,
        )
        take_lease(log, base, job.job_id, job.settings, job.commit)
        place = replaced_columns.WritePlace(
            log.store, table.id, table.prefix, job.job_id, log.limits.inline_bytes
        )
        count = table.rowsets.rowset_count
        options = update.replacement_options(target_of(table, log.limits), count, self.settings)
        bound = bind_constraints(table.name, table.constraints, table.schema)
        rules = tuple(each for each in bound if target.id in each.condition.column_ids)
        now_ms = StatementLog.begin(log, base, table, job.time).now_ms
        values = replace(column, rules=rules)
        writer = computed.ComputedWriter(table, now_ms, values, self.where, place, options)
        may_match = rowset_filter(table, self.where)
        plan = fills.FillPlan(
            self.operation,
            table,
            target,
            self.new is not None,
            writer.sources,
            may_match,
            of_all_rows=self.where is None,
        )
        fill = fills.Fill(log, plan, writer.write)
        head, commit = fill.catch_up(base), job.commit
        if self.new is None and not (fill.changes(head) or job.has_lease or commit.batch):
            log.expect(self.operation, commit.expect_epoch, base)
            return head
        return fill.change(job, altered, fills.fill_parameters(target, self.where))

    @property
    def operation(self) -> str:
        """The name of the work in the history."""
        return "backfill" if self.new is None else "add_column"

    def _computed(
        self, table: TableState, target: SchemaField, all_columns: Sequence[str]
    ) -> NewValues:
        if callable(self.value):
            function: ArrowFunction = self.value
            given = all_columns if self.columns is None else self.columns
            column = computed.by_function(table, target, function, given)
        elif self.columns is not None:
            raise InvalidInputError("columns are the arguments of a function; leave them out.")
        else:
            column = computed.by_value(table, target, self.value)
        if self.new is not None and target.id in {field.id for field in column.reads}:
            raise InvalidInputError(
                f"Column {target.name!r} cannot be computed from itself, because it is new; compute"
                " it from other columns."
            )
        return column
