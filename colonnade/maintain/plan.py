"""What a round of maintenance is going to do, and how far tables are from their policy. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from manifests.compaction.plan import CompactionPlan

CHECKPOINT_TAIL = 16
"""With so many epochs since the newest checkpoint a round writes one: each costs a reader a GET."""


@dataclass(frozen=True, slots=True)
class Distance:
    """What the policy of a table still asks for: groups to compact, and their stored bytes."""

    groups: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """The tables to compact, those with most to read first; whether a checkpoint is due."""

    compactions: tuple[CompactionPlan, ...]
    checkpoint: bool


def plan_round(
    plans: Iterable[CompactionPlan], epoch: int, checkpoint_epoch: int | None
) -> RoundPlan:
    """Plan a round from what the picker says of each table, as of an epoch.

    `checkpoint_epoch` is that of the newest checkpoint, None without one. Every round vacuums:
    whether there is anything to remove takes as long to find out.
    """
    wanted = [plan for plan in plans if plan.groups]
    tail = epoch - (checkpoint_epoch or 0)
    return RoundPlan(
        compactions=tuple(sorted(wanted, key=lambda plan: (-plan.bytes_in, plan.name))),
        checkpoint=tail >= CHECKPOINT_TAIL,
    )


def distance(plan: CompactionPlan) -> Distance:
    """How far a table is from its policy, what waits for a later run included."""
    groups = (*plan.groups, *plan.waiting)
    return Distance(len(groups), sum(group.bytes_in for group in groups))
