"""What a round of maintenance is going to do, and how far tables are from their policy. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from colonnade.manifests.compaction.plan import CompactionPlan

CHECKPOINT_TAIL = 16
"""With so many epochs since the newest checkpoint a round writes one: each costs a reader a GET."""


@dataclass(frozen=True, slots=True)
class Distance:
    """What the policy of a table still asks for: groups to compact, and their stored bytes."""

    groups: int = 0
    bytes: int = 0


def most_first(plans: Iterable[CompactionPlan]) -> list[CompactionPlan]:
    """The plans that have something to do, those with most to read first."""
    wanted = [plan for plan in plans if plan.groups]
    return sorted(wanted, key=lambda plan: (-plan.bytes_in, plan.name))


def checkpoint_due(epoch: int, checkpoint_epoch: int | None) -> bool:
    """Whether a round writes a checkpoint; that of the newest one is None without one."""
    return epoch - (checkpoint_epoch or 0) >= CHECKPOINT_TAIL


def distance(plan: CompactionPlan) -> Distance:
    """How far a table is from its policy, what waits for a later run included."""
    groups = (*plan.groups, *plan.waiting)
    return Distance(len(groups), sum(group.bytes_in for group in groups))
