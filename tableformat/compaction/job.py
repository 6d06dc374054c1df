"""One group of a plan with everything that it takes to run it, on whatever machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId, new_job_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import (
    ColumnNumber,
    Count,
    OriginEntry,
    RowSetEntry,
    TableIdText,
)
from colonnade.manifests.model.operations import TransactionIdText
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.tableformat.jobs import Workplace
from colonnade.tableformat.write.job import Target, target_of


class CompactionJob(Model):
    """Planned on `base`, before any file; the same where it is planned, run and committed.

    `order_by` are the columns of a z-order, `target_bytes` about what each output gets. By the
    partition fields of `target` a group of an earlier layout is divided.
    """

    url: str
    target: Target
    order_by: tuple[ColumnNumber, ...] = ()
    base: Count
    transaction: TransactionIdText
    job: TableIdText
    group: CompactionGroup
    target_bytes: Count
    sources: tuple[LiveRowSet, ...]

    def to_json(self) -> str:
        """The job as it travels, without bounds: they have done their work."""
        return self.model_dump_json(exclude={"sources": {"__all__": {"entry": {"statistics"}}}})


class CompactionOutcome(Model):
    """What running a job has written: RowSets, and where their rows come from if they moved.

    `bytes_copied` are those of blocks that were not decoded.
    """

    outputs: tuple[RowSetEntry, ...]
    origin: OriginEntry | None = None
    bytes_copied: Count = 0

    @property
    def bytes_written(self) -> int:
        """Stored bytes of all that was written."""
        origin = 0 if self.origin is None else self.origin.check.length
        return origin + sum(entry.bytes for entry in self.outputs)


CompactionPlace = Workplace[CompactionJob, CompactionOutcome]
"""Where the jobs of a compaction run, and how many at once."""


def plan_job(
    log: Log,
    base: Snapshot,
    plan: CompactionPlan,
    group: CompactionGroup,
    order_by: Sequence[int] = (),
) -> CompactionJob:
    """A group of a plan as a job on `base`, the state of the plan or a later one.

    RowSets that are gone by now are left out. Reads the entries of the others. Raises ConflictError
    where none is left, or one that there is nothing to do about, or what the rows are ordered by is
    gone; StoreError, CorruptionError.
    """
    table = base.tables.get(TableId(plan.table))
    live = {} if table is None else log.find_rowsets(table, group.rowsets)
    if len(live) < len(group.rowsets):
        group = _narrowed(group, live)
    if table is None or not group.rowsets or not _has(table, order_by):
        raise ConflictError(
            f"RowSets of table {plan.name!r} that were to be compacted are gone at epoch"
            f" {base.epoch}, or its columns changed; plan it again."
        )
    group = _of_layout(group, table)
    count = max(1, round(group.bytes_out / plan.policy.target_bytes))
    return CompactionJob(
        url=log.store.url,
        target=target_of(table),
        order_by=tuple(order_by),
        base=base.epoch,
        transaction=new_transaction_id(),
        job=new_job_id(),
        group=group,
        # A little more, lest what is left over makes a small RowSet of its own.
        target_bytes=group.bytes_out * 21 // (20 * count) + 1,
        sources=tuple(live[rowset] for rowset in group.rowsets),
    )


def _narrowed(group: CompactionGroup, live: Mapping[int, LiveRowSet]) -> CompactionGroup:
    """What is left of a group; no RowSets where that is one that would only be copied."""
    left = [live[rowset] for rowset in group.rowsets if rowset in live]
    deleted = sum(each.entry.rows - each.row_count for each in left)
    if len(left) == 1 and not deleted:
        left = []
    counts = {
        "rowsets": tuple(each.id for each in left),
        "rows": sum(each.entry.rows for each in left),
        "deleted_rows": deleted,
        "bytes_in": sum(each.entry.byte_count for each in left),
        "bytes_out": sum(
            each.entry.byte_count * each.row_count // each.entry.rows for each in left
        ),
    }
    return group.model_copy(update=counts)


def _of_layout(group: CompactionGroup, table: TableState) -> CompactionGroup:
    """The group as what it is for the layout that the table has by now."""
    earlier = group.partition_layout_id != table.partition_layout_id
    if group.kind == "repartition" and not (earlier and table.partition_fields):
        return group.model_copy(update={"kind": "merge" if table.sort_key else "rewrite"})
    if group.kind != "zorder" and earlier and table.partition_fields:
        return group.model_copy(update={"kind": "repartition"})
    return group


def _has(table: TableState, columns: Sequence[int]) -> bool:
    return {*columns} <= {field.id for field in table.schema.fields}
