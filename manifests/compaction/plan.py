"""The plan of a compaction: a value that people read as a table and programs as JSON."""

from __future__ import annotations

from typing import Any, Literal

from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.model.entries import Count, PartitionValues, RowSetNumber, TableIdText
from colonnade.manifests.model.schema import Model
from colonnade.manifests.public import public
from colonnade.manifests.sizes import size_text

GroupKind = Literal[
    "copy", "rewrite", "merge", "zorder", "sort", "repartition", "tombstones", "erase", "forget"
]


@public
class CompactionGroup(Model):
    """RowSets that are replaced together, in an epoch of their own.

    `rowsets` are ids, in the order of reading. `kind` says how:

    * `copy` concatenates the RowSets and copies full blocks unchanged.
    * `rewrite` concatenates them too, and encodes most rows again.
    * `merge` merges sorted RowSets.
    * `zorder` puts all rows in a new order.
    * `sort` sorts RowSets of an earlier sort order by the present sort key.
    * `repartition` divides RowSets of an earlier partition layout by the current one.
    * `tombstones` merges tombstones, `erase` merges them without those that meet the condition
      `erased` (JSON, which `tableformat` reads), and `forget` drops them.

    All RowSets have the partition `partition` of the layout `partition_layout_id`. People read it
    as `partition_text` (None: no partition). `kind` was chosen for the sort order `sort_order_id`
    of the table. `bytes_in` are stored bytes. `bytes_out` is an estimate from the live rows.
    `after_commit` says that a writer compacts the group after its own commit.
    """

    kind: GroupKind
    reason: str
    rowsets: tuple[RowSetNumber, ...]
    rows: Count
    deleted_rows: Count
    bytes_in: Count
    bytes_out: Count
    partition_layout_id: Count = 0
    partition: PartitionValues = ()
    partition_text: str | None = None
    sort_order_id: Count = 0
    after_commit: bool = False
    erased: Any = None


@public
class CompactionPlan(Model):
    """Groups to compact, the most useful first, and groups that wait because of the budget.

    The plan is made from the table as of `epoch`. The table, or the condition of the call, then had
    `rowset_count` RowSets. `parameters` are what the call has asked for, for the history.
    """

    table: TableIdText
    name: str
    epoch: Count
    rowset_count: Count
    policy: CompactionPolicy
    groups: tuple[CompactionGroup, ...]
    waiting: tuple[CompactionGroup, ...] = ()
    parameters: dict[str, str] = {}

    @property
    def bytes_in(self) -> int:
        """The stored bytes that the run reads."""
        return sum(group.bytes_in for group in self.groups)

    @property
    def reason(self) -> str:
        """Why there is nothing to compact, as a part of a sentence; empty if there is something."""
        if self.groups:
            return ""
        if not self.rowset_count:
            return "there are no RowSets"
        policy = self.policy
        return (
            f"of {self.rowset_count} RowSets, fewer than {policy.min_rowsets} of a partition are"
            f" small and of a similar size, none has more than {policy.deleted_share:.1%} deleted"
            f" rows, and at most {policy.max_overlap} of a sorted table may hold one key"
        )

    def __str__(self) -> str:
        if not self.groups:
            return f"{self.name}: nothing to compact: {self.reason}."
        rowsets = sum(len(group.rowsets) for group in self.groups)
        title = (
            f"{self.name} at epoch {self.epoch}: {rowsets} of {self.rowset_count} RowSets in"
            f" {len(self.groups)} groups, {size_text(self.bytes_in)} to read"
        )
        text = [title, "", *_aligned(self._lines())]
        if self.waiting:
            size = size_text(sum(group.bytes_in for group in self.waiting))
            text += ["", f"{len(self.waiting)} more groups ({size}) wait for the next run: budget."]
        return "\n".join(text)

    def _lines(self) -> list[tuple[str, ...]]:
        lines = [_HEADER, *map(_cells, self.groups)]
        partitions = [group.partition_text for group in self.groups]
        if not any(partitions):
            return lines
        names = ["partition", *(_printable(each or "") for each in partitions)]
        return [(name, *line) for name, line in zip(names, lines, strict=True)]


_HEADER: tuple[str, ...] = ("kind", "RowSets", "rows", "deleted", "in", "out", "why")


def _cells(group: CompactionGroup) -> tuple[str, ...]:
    return (
        group.kind,
        str(len(group.rowsets)),
        f"{group.rows:,}",
        f"{group.deleted_rows:,}",
        size_text(group.bytes_in),
        size_text(group.bytes_out),
        group.reason,
    )


def _printable(text: str) -> str:
    """Return text from users on one line, without control sequences of a terminal."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _aligned(lines: list[tuple[str, ...]]) -> list[str]:
    """Align columns: text to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numbers = {lines[0].index(name) for name in _HEADER[1:-1]}
    return [
        "  ".join(
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
