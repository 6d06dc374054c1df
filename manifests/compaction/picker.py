"""Choose the RowSets to compact: facts and policy in, groups out. Pure and deterministic.

Small RowSets are divided into tiers by size. A tier is merged once it has `min_rowsets` RowSets.
The merge lifts every row by at least one tier, so each row is written at most once for each tier. A
reader finds fewer than `min_rowsets` small RowSets in each tier.

RowSets of full size in a sorted table are merged where too many of them may hold the same key.
Their outputs do not overlap.

RowSets of an earlier sort key are sorted by the present one, once each. They are never merged
with RowSets whose rows are in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.arrays.partitions import PartitionKey
from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan, GroupKind
from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.sizes import size_text
from colonnade.manifests.state.snapshot import TableState

TIERS = 16
"""The number of size tiers. The last tier also has all smaller RowSets."""

FULL_SHARE = 2
"""A RowSet has its full size from 1/2 of the target size on."""


def plan_compaction(
    table: TableState,
    epoch: int,
    facts: CompactionFacts,
    policy: CompactionPolicy,
    limits: Limits = LIMITS,
) -> CompactionPlan:
    """Choose which RowSets of `facts` to compact, as of an epoch."""
    pickers = _pickers(table, facts, policy, limits)
    # Small RowSets are picked first, because they cost readers most and are the cheapest to merge.
    rounds = (_Picker.small, _Picker.overlapping, _Picker.deleted, _Picker.in_earlier_order)
    groups = [group for each in rounds for picker in pickers for group in each(picker)]
    return _plan(table, epoch, facts, policy, groups)


def plan_order(
    table: TableState,
    epoch: int,
    facts: CompactionFacts,
    policy: CompactionPolicy,
    columns: str,
    limits: Limits = LIMITS,
) -> CompactionPlan:
    """Plan to rewrite all RowSets in `facts` in z-order of `columns`, which the reason names."""
    groups = [
        picker.group(chunk, f"z-order by {columns}", "zorder")
        for picker in _pickers(table, facts, policy, limits)
        for chunk in picker.chunks(picker.all(), 8 * policy.target_bytes, least=1)
    ]
    return _plan(table, epoch, facts, policy, groups)


def tombstone_groups(
    table: TableState,
    facts: CompactionFacts,
    old: NDArray[np.bool_],
    hours: float,
    policy: CompactionPolicy,
    limits: Limits = LIMITS,
) -> tuple[CompactionGroup, ...]:
    """Choose which RowSets of tombstones to forget, and which to merge.

    The `old` ones are forgotten, since they have been kept for `hours`. Small ones are merged by
    tiers, as RowSets of rows are.
    """
    # Tombstones count as the rows that they are stored as.
    stored = replace(facts, deleted=np.zeros_like(facts.deleted), earlier_order=None)
    gone, left = stored.take(np.flatnonzero(old)), stored.take(np.flatnonzero(~old))
    why = f"deleted keys were remembered for {hours:g} hours"
    forgotten = [
        picker.group(picker.all(), why, "forget")
        for picker in _pickers(table, gone, policy, limits)
        if len(gone)
    ]
    merged = [
        group.model_copy(update={"kind": "tombstones", "reason": f"deleted keys: {group.reason}"})
        for picker in _pickers(table, left, policy, limits)
        for group in picker.small()
    ]
    return (*forgotten, *merged)


def erasing_groups(
    table: TableState,
    facts: CompactionFacts,
    erased: Any,
    policy: CompactionPolicy,
    limits: Limits = LIMITS,
) -> tuple[CompactionGroup, ...]:
    """Return groups that rewrite all these RowSets of tombstones without the `erased` ones."""
    stored = replace(facts, deleted=np.zeros_like(facts.deleted), earlier_order=None)
    return tuple(
        picker.group(chunk, "deleted keys are erased", "erase").model_copy(
            update={"erased": erased}
        )
        for picker in _pickers(table, stored, policy, limits)
        for chunk in picker.chunks(picker.all(), policy.target_bytes, least=1)
    )


def _pickers(
    table: TableState, facts: CompactionFacts, policy: CompactionPolicy, limits: Limits
) -> list[_Picker]:
    """Make one picker for each partition, since RowSets of two partitions are never combined."""
    return [_Picker(table, own, policy, limits, key) for key, own in facts.by_partition()]


def _plan(
    table: TableState,
    epoch: int,
    facts: CompactionFacts,
    policy: CompactionPolicy,
    groups: list[CompactionGroup],
) -> CompactionPlan:
    taken, waiting = _within_budget(groups, policy.run_bytes)
    return CompactionPlan(
        table=table.id,
        name=table.name,
        epoch=epoch,
        rowset_count=len(facts),
        policy=policy,
        groups=tuple(taken),
        waiting=tuple(waiting),
    )


class _Picker:
    """One round over the RowSets of a partition. `_free` marks RowSets that are in no group yet.

    Only the groups of `in_earlier_order` have RowSets of an earlier sort order.
    """

    def __init__(
        self,
        table: TableState,
        facts: CompactionFacts,
        policy: CompactionPolicy,
        limits: Limits,
        partition: PartitionKey,
    ) -> None:
        current = table.partition_layout_id
        self._table = table
        self._partition = partition
        self._divides = bool(current) and partition[0] != current
        self._facts = facts
        self._policy = policy
        self._limits = limits
        self._sizes = facts.live_bytes
        none = np.zeros(len(facts), np.bool_)
        self._earlier_order = none if facts.earlier_order is None else facts.earlier_order
        self._free = ~self._earlier_order

    def all(self) -> Integers:
        """Return the indexes of all RowSets."""
        return np.arange(len(self._facts))

    def small(self) -> Iterator[CompactionGroup]:
        """Yield groups of the RowSets in the largest crowded size tier and in all smaller tiers."""
        fan = self._policy.min_rowsets
        full = -(-self._policy.target_bytes // FULL_SHARE)
        floors = np.array([full / fan**tier for tier in range(1, TIERS)])
        tiers = np.searchsorted(-floors, -self._sizes.astype(np.float64), side="left")
        small = self._free & (self._sizes < full)
        counts = np.bincount(tiers[small], minlength=TIERS)
        crowded = np.flatnonzero(counts >= fan)
        if not len(crowded):
            return
        # The smaller tiers are included: they have few bytes, and would be merged next.
        chosen = np.flatnonzero(small & (tiers >= crowded[0]))
        for chunk in self.chunks(chosen, self._policy.target_bytes, least=2):
            largest = size_text(int(self._sizes[chunk].max()))
            yield self._take(chunk, f"{len(chunk)} small RowSets, the largest of {largest}")

    def overlapping(self) -> Iterator[CompactionGroup]:
        """Yield groups where more than `max_overlap` RowSets may hold one key, in key order."""
        first, last = self._facts.first, self._facts.last
        if first is None or last is None:
            return
        order = np.flatnonzero(self._free)
        order = order[np.lexsort((order, first[order]))]
        active: list[int] = []
        for index in order.tolist():
            still = [i for i in active if last[i] > first[index]]
            if len(still) < len(active) and len(active) > self._policy.max_overlap:
                yield self._overlap(active)
                still = []
            active = [*still, index]
            many = len(active) >= self._limits.group_rowsets
            if many or self._facts.rows[active].sum() > self._limits.group_rows:
                if len(active) > self._policy.max_overlap:
                    yield self._overlap(active)
                active = []
        if len(active) > self._policy.max_overlap:
            yield self._overlap(active)

    def _overlap(self, active: list[int]) -> CompactionGroup:
        limit = self._policy.max_overlap
        return self._take(
            np.sort(active), f"{len(active)} RowSets may hold one key (more than {limit})"
        )

    def deleted(self) -> Iterator[CompactionGroup]:
        """Yield groups of RowSets with too large a share of deleted rows."""
        rows, deleted, limit = self._facts.rows, self._facts.deleted, self._policy.deleted_share
        chosen = np.flatnonzero(self._free & (deleted > 0) & (deleted > limit * rows))
        for chunk in self.chunks(chosen, self._policy.target_bytes, least=1):
            share = deleted[chunk].sum() / rows[chunk].sum()
            yield self._take(chunk, f"{share:.1%} of the rows are deleted (more than {limit:.1%})")

    def in_earlier_order(self) -> Iterator[CompactionGroup]:
        """Yield groups of the RowSets whose rows are not in the order of the present sort key."""
        chosen = np.flatnonzero(self._earlier_order)
        for chunk in self.chunks(chosen, self._policy.target_bytes, least=1):
            kind: GroupKind = "repartition" if self._divides else "sort"
            yield self.group(chunk, f"{len(chunk)} RowSets of an earlier sort key", kind)

    def chunks(self, chosen: Integers, limit: int, *, least: int) -> Iterator[Integers]:
        """Yield adjacent RowSets in chunks of about `limit` bytes; by key in a sorted table.

        A small rest at the end joins the chunk before it. Chunks of fewer than `least` RowSets are
        left out.
        """
        if self._facts.first is not None:
            chosen = chosen[np.lexsort((chosen, self._facts.first[chosen]))]
        most = self._limits.group_rowsets
        chunks: list[list[int]] = [[]]
        size = rows = 0
        for index in chosen.tolist():
            many = rows >= self._limits.group_rows or len(chunks[-1]) >= most
            full = size >= limit or many
            if chunks[-1] and full:
                chunks.append([])
                size = rows = 0
            chunks[-1].append(index)
            size += int(self._sizes[index])
            rows += int(self._facts.rows[index])
        room = most if len(chunks) < 2 else most - len(chunks[-2])
        if len(chunks) > 1 and size < limit // FULL_SHARE and len(chunks[-1]) <= room:
            rest = chunks.pop()
            chunks[-1] += rest
        return (np.array(chunk, np.int64) for chunk in chunks if len(chunk) >= least)

    def _take(self, chunk: Integers, reason: str) -> CompactionGroup:
        self._free[chunk] = False
        return self.group(chunk, reason, self._kind(chunk))

    def group(self, chunk: Integers, reason: str, kind: GroupKind) -> CompactionGroup:
        """Return the RowSets at these indexes as a group."""
        facts = self._facts
        return CompactionGroup(
            kind=kind,
            reason=reason,
            rowsets=tuple(facts.ids[chunk].tolist()),
            rows=int(facts.rows[chunk].sum()),
            deleted_rows=int(facts.deleted[chunk].sum()),
            bytes_in=int(facts.byte_counts[chunk].sum()),
            bytes_out=int(self._sizes[chunk].sum()),
            partition_layout_id=self._partition[0],
            partition=self._partition[1],
            sort_order_id=self._table.sort_order_id,
        )

    def _kind(self, chunk: Integers) -> GroupKind:
        facts = self._facts
        first, last = facts.first, facts.last
        if self._divides:
            return "repartition"
        # If no range reaches into the next one, the RowSets are already in key order.
        if first is not None and last is not None and (last[chunk[:-1]] >= first[chunk[1:]]).any():
            return "merge"
        # RowSets of `copied_rows` rows have full blocks, which are copied unchanged.
        full = (facts.rows[chunk] >= self._limits.copied_rows).all()
        whole = full and not facts.deleted[chunk].any()
        return "copy" if whole else "rewrite"


def _within_budget(
    groups: list[CompactionGroup], budget: int | None
) -> tuple[list[CompactionGroup], list[CompactionGroup]]:
    """Divide groups into those that a run may read, and those that wait. At least one may run."""
    taken: list[CompactionGroup] = []
    waiting: list[CompactionGroup] = []
    left = budget
    for group in groups:
        if left is None or group.bytes_in <= left or not taken:
            taken.append(group)
            left = None if left is None else max(0, left - group.bytes_in)
        else:
            waiting.append(group)
    return taken, waiting
