"""How a compaction forgets old tombstones and merges newer ones.

Spec: docs/spec/keys.md#tombstones
"""

from __future__ import annotations

import numpy as np

from colonnade.manifests.compaction.facts import facts_of
from colonnade.manifests.compaction.picker import tombstone_groups
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.tombstones import TOMBSTONES
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.compaction.execute import execute_plan
from colonnade.tableformat.compaction.job import CompactionWorkplace
from colonnade.tableformat.keys.policy import tombstone_hours
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.scan.plan import rowset_filter

_HOUR_MS = 3_600_000


def plan_tombstones(
    log: Log, base: Snapshot, table: TableState, policy: CompactionPolicy
) -> tuple[CompactionGroup, ...]:
    """Return the groups of tombstones that a compaction forgets or merges.

    Costs nothing in a database without tombstones. Otherwise reads the entries of the table, and if
    it has tombstones, a GET for each bit of the number of epochs. Raises InvalidInputError for an
    invalid `tombstone.hours`; CorruptionError, StoreError.
    """
    if TOMBSTONES not in base.writer_features:
        return ()
    entries = log.read_entries(table, which="tombstones")
    if not len(entries):
        return ()
    hours = tombstone_hours(table.properties)
    # A clock that is ahead would forget too early.
    present = log.now_ms() if log.store.read_only else log.agreed_ms()
    ended = log.find_ended(present - int(hours * _HOUR_MS), base, present)
    old = entries.epochs <= (-1 if ended is None else ended)
    return tombstone_groups(table, facts_of(table, entries), old, hours, policy, log.limits)


def forget_tombstones(
    log: Log, base: Snapshot, table: TableState, where: Predicate, place: CompactionWorkplace
) -> Snapshot:
    """Forget the tombstones in all RowSets that may hold a key that meets a condition.

    Returns the state after that. Raises the errors of `execute_plan`.
    """
    if TOMBSTONES not in base.writer_features:
        return base
    entries = log.read_entries(table, rowset_filter(table, where), which="tombstones")
    facts, every = facts_of(table, entries), np.ones(len(entries), np.bool_)
    policy = CompactionPolicy()
    groups = tombstone_groups(table, facts, every, 0, policy, log.limits)
    plan = CompactionPlan(
        table=table.id,
        name=table.name,
        epoch=base.epoch,
        rowset_count=len(entries),
        policy=policy,
        groups=groups,
    )
    return execute_plan(log, base, plan, place=place)[0]
