"""One group of a plan, with everything that any machine needs to run it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from colonnade.manifests.arrays.hidden_rows import view_of_values
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId, new_job_id, new_transaction_id
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.entries import (
    ColumnNumber,
    Count,
    OriginEntry,
    RowSetEntry,
    TableIdText,
)
from colonnade.manifests.model.epoch import TransactionIdText
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.schema import Model, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.state.sort_order import following_orders
from colonnade.manifests.state.view import View
from colonnade.manifests.store import StoreAddress
from colonnade.tableformat.compaction.purge import cutoff_ms
from colonnade.tableformat.jobs import JobRunner
from colonnade.tableformat.write.job import WriteTarget, target_of


class CompactionJob(Model):
    """A job that was planned on `base`, before any file; the same value for every step.

    `cleaned` is the last epoch whose range tombstone all rows have met; None in a table without
    range tombstones.

    `order_by` are the columns of a z-order, and `target_bytes` is the approximate size of each
    output. `copied_rows`, `copied_bytes` and `inline_bytes` are those of the log's limits. A group
    of an earlier layout is divided by the partition fields of `target`.

    `view` has the RowSets to rewrite, and masks of the values to purge; the job then names the
    `lifetimes` that say so. `written` says when the rows of each RowSet were written, in ms since
    1970 UTC, for RowSets without a column of it; it is empty if that does not matter. If rows were
    written at several times, the schema of `target` has the internal column. `parameters` are those
    of the plan.
    """

    address: StoreAddress
    target: WriteTarget
    order_by: tuple[ColumnNumber, ...] = ()
    base: Count
    transaction: TransactionIdText
    job_id: TableIdText
    group: CompactionGroup
    target_bytes: Count
    cleaned: Count | None = None
    copied_rows: Count = LIMITS.copied_rows
    copied_bytes: Count = LIMITS.copied_bytes
    inline_bytes: Count = LIMITS.inline_bytes
    view: View
    written: tuple[Count, ...] = ()
    lifetimes: Lifetimes | None = None
    parameters: dict[str, str] = {}

    @property
    def written_at(self) -> int | None:
        """When all rows were written, if that is one time, in ms since 1970 UTC."""
        fields = self.target.table_schema.fields
        return self.written[0] if self.written and WRITTEN not in fields else None

    @property
    def masked(self) -> frozenset[int]:
        """The columns in which expired values become NULL."""
        return frozenset(each.column for masks in self.view.masks.values() for each in masks)

    def to_json(self) -> str:
        """Return the job as JSON, without bounds, which running it does not need."""
        without = {"rowsets": {"__all__": {"entry": {"statistics"}}}}
        return self.model_dump_json(exclude={"view": without})


class CompactionOutcome(Model):
    """What running a job has written: RowSets, and an origin for each row if the rows moved.

    `bytes_copied` are the bytes of blocks that were not decoded.
    """

    outputs: tuple[RowSetEntry, ...]
    origin: OriginEntry | None = None
    bytes_copied: Count = 0

    @property
    def bytes_written(self) -> int:
        """The stored bytes of everything that was written."""
        origin = 0 if self.origin is None else self.origin.check.length
        return origin + sum(entry.bytes for entry in self.outputs)


CompactionRunner = JobRunner[CompactionJob, CompactionOutcome]
"""Where the jobs of a compaction run, and how many at once."""


def plan_job(
    log: Log,
    base: Snapshot,
    plan: CompactionPlan,
    group: CompactionGroup,
    order_by: Sequence[int] = (),
) -> CompactionJob:
    """Return a group of a plan as a job on `base`, the state of the plan or a later one.

    RowSets that were dropped meanwhile are left out; the entries of the rest are read. So are
    RowSets that have not met the same range tombstones as most rows of the group. Raises
    ConflictError when no RowSet is left, when the only one left needs no rewrite, and when a column
    of the z-order was dropped. Raises StoreError, CorruptionError.
    """
    table = base.tables.get(TableId(plan.table))
    found = {} if table is None else log.rowsets.find(table, group.rowsets)
    # Since a drop and a restore, another RowSet may have the id of one that the plan means.
    live: Mapping[int, LiveRowSet] = {
        number: each for number, each in found.items() if each.epoch <= plan.epoch
    }
    if table is not None and table.range_tombstones:
        live = _alike(table, live)
    if len(live) < len(group.rowsets):
        group = _narrowed(group, live)
    if table is None or not group.rowsets or not _can_order(table, order_by):
        raise ConflictError(
            f"RowSets of table {plan.name!r} that were to be compacted were dropped before"
            f" epoch {base.epoch}, or its columns changed; plan the compaction again."
        )
    sources = tuple(live[each] for each in group.rowsets)
    cutoff = None if table.lifetimes is None else cutoff_ms(log, base, table)
    # Range tombstones stay, and hide the same rows of the outputs.
    view = view_of_values(replace(table, range_tombstones=()), sources, cutoff)
    group = _of_present(group, table, sources)
    count = max(1, round(group.bytes_out / plan.policy.target_bytes))
    return CompactionJob(
        address=log.store.address,
        target=_target(log, table, sources),
        order_by=tuple(order_by),
        base=base.epoch,
        transaction=new_transaction_id(),
        job_id=new_job_id(),
        group=group,
        # Slightly more, so that a small rest does not become a RowSet of its own.
        target_bytes=group.bytes_out * 21 // (20 * count) + 1,
        cleaned=min(each.clean_epoch for each in sources) if table.range_tombstones else None,
        copied_rows=log.limits.copied_rows,
        copied_bytes=log.limits.copied_bytes,
        inline_bytes=log.limits.inline_bytes,
        view=view,
        written=tuple(_written(table, each)[0] for each in sources) if _counts(table) else (),
        lifetimes=table.lifetimes if view.masks else None,
        parameters=plan.parameters,
    )


def _alike(table: TableState, live: Mapping[int, LiveRowSet]) -> Mapping[int, LiveRowSet]:
    """Return the RowSets that have met the same range tombstones: those with the most rows.

    An output has one clean epoch. A later tombstone would also delete rows that are younger.
    """
    epochs = [each.epoch for each in table.range_tombstones]
    parts: dict[int, dict[int, LiveRowSet]] = {}
    for number, each in live.items():
        parts.setdefault(bisect_right(epochs, each.clean_epoch), {})[number] = each

    def rows(part: Mapping[int, LiveRowSet]) -> int:
        return sum(each.row_count for each in part.values())

    return max(parts.values(), key=rows, default=live)


def _counts(table: TableState) -> bool:
    return table.lifetimes is not None and table.lifetimes.counts_from_write


def _written(table: TableState, rowset: LiveRowSet) -> tuple[int, int]:
    """Return when the first and the last row of a RowSet were written, in ms since 1970 UTC."""
    assert table.lifetimes is not None
    since = table.lifetimes.since_ms
    return rowset.entry.written_ms or (since, since)


def _target(log: Log, table: TableState, sources: Sequence[LiveRowSet]) -> WriteTarget:
    """Return what the outputs are written for, with the internal column if their rows need it."""
    target = target_of(table, log.limits)
    times = {t for each in sources for t in _written(table, each)} if _counts(table) else set[int]()
    if len(times) < 2:
        return target
    schema = TableSchema(fields=(*target.table_schema.fields, WRITTEN))
    return target.model_copy(update={"table_schema": schema})


def _narrowed(group: CompactionGroup, live: Mapping[int, LiveRowSet]) -> CompactionGroup:
    """Return the group with its remaining RowSets; none when a lone one would only be copied."""
    left = [live[rowset] for rowset in group.rowsets if rowset in live]
    deleted = sum(each.deleted_count for each in left)
    is_alone = len(left) == 1 and group.kind not in ("sort", "erase", "forget")
    if is_alone and (group.kind == "tombstones" or not deleted):
        left = []
    counts = {
        "rowsets": tuple(each.id for each in left),
        "rows": sum(each.entry.rows for each in left),
        "deleted_rows": deleted,
        "bytes_in": sum(each.byte_count for each in left),
        "bytes_out": sum(each.byte_count * each.row_count // each.entry.rows for each in left),
    }
    return group.model_copy(update=counts)


def _of_present(
    group: CompactionGroup, table: TableState, sources: Sequence[LiveRowSet]
) -> CompactionGroup:
    """Return the group with the kind that fits the table's present partition layout and sort key.

    They may have changed since the plan.
    """
    if group.kind in ("zorder", "forget"):
        return group
    if group.kind in ("tombstones", "erase"):
        return group.model_copy(update={"sort_order_id": table.sort_order_id})
    following = following_orders(table)
    orders = {each.entry.sort_order_id for each in sources}
    kind = group.kind
    if group.partition_layout_id != table.partition_layout_id and table.partition_fields:
        kind = "repartition"
    elif len(table.sort_orders) > 1 and not orders <= following:
        kind = "sort"
    elif kind in ("sort", "repartition") or group.sort_order_id != table.sort_order_id:
        kind = "merge" if table.sort_key else "rewrite"
    return group.model_copy(update={"kind": kind, "sort_order_id": table.sort_order_id})


def _can_order(table: TableState, columns: Sequence[int]) -> bool:
    """Return whether a job may put the rows of a table in z-order of columns, if there are any."""
    if columns and table.sort_key:
        return False
    return {*columns} <= {field.id for field in table.schema.fields}
