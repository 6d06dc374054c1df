"""`table.optimize()`: the interface for compacting a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.compaction.facts import facts_of
from colonnade.manifests.compaction.picker import plan_compaction, plan_order
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.compaction.policy import parse_policy
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.log import TRIES, Log, pause_before
from colonnade.manifests.model.schema import type_text
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.compaction.clean import clean_table
from colonnade.tableformat.compaction.commit import OPERATION
from colonnade.tableformat.compaction.execute import CompactionReport, execute_plan
from colonnade.tableformat.compaction.job import CompactionRunner
from colonnade.tableformat.compaction.purge import purge_rowsets, purge_table
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.compaction.tombstones import plan_tombstones
from colonnade.tableformat.partition.text import key_text
from colonnade.tableformat.predicate import Predicate, Where, parse_predicate, text_of
from colonnade.tableformat.predicate.expressions import conjunction
from colonnade.tableformat.rowset.column import Order, check_names, column_of
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.statements.statement import short_texts


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a run: `where` chooses RowSets, and `options` override table properties.

    `said` has the conditions as they were given.
    """

    where: Predicate | None = None
    options: tuple[tuple[str, str], ...] = ()
    said: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The condition as one text."""
        return self.said[0] if len(self.said) == 1 else " AND ".join(f"({e})" for e in self.said)


def plan_table(
    log: Log, base: Snapshot, table: TableState, chosen: Choices, order_by: Sequence[str] = ()
) -> tuple[CompactionPlan, tuple[int, ...]]:
    """Return the plan for a table as of `base`, and the ids of the columns of its z-order.

    Reads the log alone. Raises NotFoundError or InvalidInputError that names the column, the
    property or the part of the condition at fault. Raises ConflictError if a vacuum removed `base`
    meanwhile.
    """
    policy = parse_policy(table.properties, dict(chosen.options))
    with removals_are_conflicts(log.reader, OPERATION, base):
        facts = facts_of(table, log.rowsets.read_entries(table, rowset_filter(table, chosen.where)))
    if not order_by:
        plan = plan_compaction(table, base.epoch, facts, policy, log.limits)
        if chosen.where is None:
            with removals_are_conflicts(log.reader, OPERATION, base):
                buried = plan_tombstones(log, base, table, policy)
            plan = plan.model_copy(update={"groups": (*plan.groups, *buried)})
        return _with_texts(plan, table, chosen), ()
    ids = _order_columns(table, order_by)
    names = ", ".join(table.schema.by_id(column).name for column in ids)
    plan = plan_order(table, base.epoch, facts, policy, names, log.limits)
    return _with_texts(plan, table, chosen, zorder_by=json.dumps([*order_by])), ids


def _with_texts(
    plan: CompactionPlan, table: TableState, chosen: Choices, **parameters: str
) -> CompactionPlan:
    """Return the plan with its texts for people, which the history has, too."""
    if chosen.said:
        parameters["where"] = chosen.text
    return _with_partition_texts(
        plan.model_copy(update={"parameters": short_texts(parameters)}), table
    )


def _with_partition_texts(plan: CompactionPlan, table: TableState) -> CompactionPlan:
    """Return the plan with the partitions of its groups as text for people."""
    if not table.partition_layouts:
        return plan

    def with_texts(groups: tuple[CompactionGroup, ...]) -> tuple[CompactionGroup, ...]:
        texts = (key_text(table, (each.partition_layout_id, each.partition)) for each in groups)
        return tuple(
            group.model_copy(update={"partition_text": text})
            for group, text in zip(groups, texts, strict=True)
        )

    return plan.model_copy(
        update={"groups": with_texts(plan.groups), "waiting": with_texts(plan.waiting)}
    )


def _order_columns(table: TableState, names: Sequence[str]) -> tuple[int, ...]:
    fields = [table.schema.field(name) for name in check_names(names, "z-order columns")]
    if table.sort_key:
        raise InvalidInputError(
            f"Table {table.name!r} has a sort key, which decides the order of its rows; compact"
            " it, or create it without a sort key."
        )
    for field in fields:
        if column_of(field).order is Order.NONE:
            raise InvalidInputError(
                f"Column {field.name!r} of type {type_text(field.type)} has no order to sort by;"
                " choose other columns."
            )
    if len({field.id for field in fields}) < len(fields) or len(fields) > 8:
        raise InvalidInputError(
            f"A z-order is by one to eight columns, each once, not {list(names)}."
        )
    return tuple(field.id for field in fields)


@public
class Optimize:
    """Describes a compaction. Nothing is written before a method `execute…` is called.

    Every method that describes it returns a new description, so that calls can be chained.
    """

    def __init__(
        self,
        log: Log,
        newest: Callable[[], tuple[Snapshot, TableState]],
        see: Callable[[Snapshot], object],
        *,
        runner: CompactionRunner | None = None,
        chosen: Choices | None = None,
    ) -> None:
        """`newest` reads the state to plan on, and `see` receives the state after the compaction.

        Jobs run by `runner`; None means on threads of this process.
        """
        self._log = log
        self._newest = newest
        self._see = see
        self._runner = runner or compact_here(log.store)
        self._chosen = chosen or Choices()

    def where(self, condition: Where) -> Optimize:
        """Compact only RowSets that may hold rows that meet `condition`.

        Several conditions are combined by AND.
        """
        parsed = parse_predicate(condition)
        before = self._chosen.where
        both = parsed if before is None else conjunction([before, parsed])
        said = (*self._chosen.said, text_of(condition))
        return self._with(replace(self._chosen, where=both, said=said))

    def option(self, name: str, value: str | float) -> Optimize:
        """Set a property of the policy, such as `deleted-share`, for this run alone."""
        options = (*self._chosen.options, (name, str(value)))
        parse_policy({}, dict(options))
        return self._with(replace(self._chosen, options=options))

    def _elsewhere(self, runner: CompactionRunner) -> Optimize:
        """Run the jobs elsewhere than on threads of this process."""
        return self._with(self._chosen, runner)

    def plan(self) -> CompactionPlan:
        """Return what `executeCompaction` would do now, and why. Reads the log alone."""
        return self._plan()[1]

    def executeCompaction(self) -> CompactionReport:
        """Merge small and overlapping RowSets and drop deleted rows, as the policy says.

        Before that, epochs of their own mark the rows of deleted ranges in deletion vectors, and
        the rows of RowSets to rewrite that expired long enough ago.
        Each group becomes an epoch when it is done. Never makes another writer fail; a group is
        dropped when a concurrent compaction rewrote its RowSets first. Each thread holds a few
        stretches in memory. Raises InvalidInputError or NotFoundError that names what does not fit
        the table, CorruptionError, StoreError; groups that were done stay. Interrupted from the
        keyboard, it stops soon and raises KeyboardInterrupt, whose text says how many groups are
        done.
        """
        return self._execute(())

    def executeZOrderBy(self, *columns: str | Sequence[str]) -> CompactionReport:
        """Rewrite all RowSets so that rows with near values in several columns are stored near.

        Each thread holds two buckets of about 32 MiB stored bytes, and 8 bytes for each row of a
        group. Needs space for the rows of a group in the temporary folder. Raises the errors of
        `executeCompaction`.
        """
        names = [n for each in columns for n in ((each,) if isinstance(each, str) else each)]
        if not names:
            raise InvalidInputError("A z-order needs one to eight columns; name them.")
        return self._execute(names)

    def _execute(self, order_by: Sequence[str]) -> CompactionReport:
        self._log.store.require_writable()
        base, table = self._newest()
        self._see(purge_table(self._log, clean_table(self._log, base, table.id), table.id))
        base, plan, ids = self._plan(order_by)
        rewritten = [each for group in plan.groups for each in group.rowsets]
        purged = purge_rowsets(self._log, base, table.id, rewritten)
        if purged is not base:
            self._see(purged)
            base, plan, ids = self._plan(order_by)
        head, report = execute_plan(self._log, base, plan, ids, runner=self._runner)
        # Without a checkpoint, the next readers would replay the dropped RowSets.
        self._see(self._log.try_checkpoint(head) if report.groups else head)
        return report

    def _plan(
        self, order_by: Sequence[str] = ()
    ) -> tuple[Snapshot, CompactionPlan, tuple[int, ...]]:
        """Return the newest state and a plan on it; plan again when a vacuum removes that state."""
        for attempt in range(TRIES):
            if attempt:
                self._log.pause(pause_before(attempt))
            base, table = self._newest()
            try:
                return base, *plan_table(self._log, base, table, self._chosen, order_by)
            except ConflictError:
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _with(self, chosen: Choices, runner: CompactionRunner | None = None) -> Optimize:
        return Optimize(
            self._log, self._newest, self._see, runner=runner or self._runner, chosen=chosen
        )
