"""How a compaction forgets old tombstones and merges newer ones, and how some are erased.

Spec: docs/spec/keys.md#tombstones
"""

from __future__ import annotations

from functools import partial

import numpy as np

from colonnade.manifests.compaction.facts import facts_of
from colonnade.manifests.compaction.picker import erasing_groups, tombstone_groups
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.compaction.execute import TRIES, execute_plan
from colonnade.tableformat.compaction.job import CompactionRunner
from colonnade.tableformat.keys.policy import tombstone_hours
from colonnade.tableformat.keys.tombstones import certain, tombstone_schema
from colonnade.tableformat.predicate import Predicate, prune, to_json
from colonnade.tableformat.scan.selection import stored_matches

_HOUR_MS = 3_600_000


def plan_tombstones(
    log: Log, base: Snapshot, table: TableState, policy: CompactionPolicy
) -> tuple[CompactionGroup, ...]:
    """Return the groups of tombstones that a compaction forgets or merges.

    Costs nothing for a table without a primary key. Otherwise reads the entries in segments with
    deleted rows, and if there are tombstones, a GET for each bit of the number of epochs. Raises
    InvalidInputError for an invalid `tombstone.hours`; CorruptionError, StoreError.
    """
    if not table.primary_key:
        return ()
    entries = log.rowsets.read_entries(table, which="tombstones")
    if not len(entries):
        return ()
    hours = tombstone_hours(table.properties)
    agreed = log.agreement.time(base, table)
    cutoff_ms = agreed.earliest_ms - int(hours * _HOUR_MS)
    ended = log.reader.find_ended(cutoff_ms, base, agreed.present_ms)
    old = entries.epochs <= (-1 if ended is None else ended)
    return tombstone_groups(table, facts_of(table, entries), old, hours, policy, log.limits)


def erase_tombstones(
    log: Log, base: Snapshot, table: TableId, where: Predicate, runner: CompactionRunner
) -> Snapshot:
    """Rewrite the RowSets that have tombstones which meet a condition, without these.

    Only what a tombstone has counts: its key, and its value of the sequence. All other tombstones
    stay. Returns the state after that. Reads the columns of the condition where bounds allow such a
    tombstone. Raises ConflictError when concurrent writers rewrote the same RowSets in each of
    three rounds, and the errors of `execute_plan`.
    """
    for _ in range(TRIES):
        plan = _plan_erasure(log, base, table, where)
        if plan is None:
            return base
        base = log.reader.refresh(execute_plan(log, base, plan, runner=runner)[0])
    if (plan := _plan_erasure(log, base, table, where)) is None:
        return base
    raise ConflictError(
        f"Other writers rewrote the deleted keys of table {plan.name!r} again and again while some"
        " of them were erased; erase again."
    )


def _plan_erasure(
    log: Log, base: Snapshot, table: TableId, where: Predicate
) -> CompactionPlan | None:
    """Return the groups of the RowSets that have such tombstones; None if there are none."""
    state = base.tables.get(table)
    if state is None or not state.primary_key:
        return None
    bound = certain(where, state.schema)
    entries = log.rowsets.read_entries(state, partial(prune, bound), which="tombstones")
    view = View.written(state.prefix, tombstone_schema(state.schema).fields)
    holding = [
        at for at, each in enumerate(entries) if stored_matches(log.store, view, each, bound)
    ]
    if not holding:
        return None
    policy = CompactionPolicy()
    facts = facts_of(state, entries).take(np.array(holding, np.int64))
    return CompactionPlan(
        table=state.id,
        name=state.name,
        epoch=base.epoch,
        rowset_count=len(entries),
        policy=policy,
        groups=erasing_groups(state, facts, to_json(where), policy, log.limits),
    )
