"""Decide what a round of maintenance does, and how far tables are from their policies. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from colonnade.manifests.compaction.plan import CompactionPlan

CHECKPOINT_TAIL = 16
"""A round writes a checkpoint after this many epochs: each epoch costs a reader one GET."""


@dataclass(frozen=True, slots=True)
class Distance:
    """The work that a table's policy still asks for: groups to compact, and their stored bytes."""

    groups: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan to compact a table, and whether the schedule of the table makes it wait."""

    plan: CompactionPlan
    waits: bool = False


def most_first(found: Iterable[Planned]) -> list[Planned]:
    """Return the plans that have groups to compact, in descending order of bytes to read."""
    wanted = [each for each in found if each.plan.groups]
    return sorted(wanted, key=lambda each: (-each.plan.bytes_in, each.plan.name))


def checkpoint_due(epoch: int, checkpoint_epoch: int | None) -> bool:
    """Whether a round writes a checkpoint; `checkpoint_epoch` is None if there is none yet."""
    return epoch - (checkpoint_epoch or 0) >= CHECKPOINT_TAIL


def distance(plan: CompactionPlan) -> Distance:
    """How far a table is from its policy, including the groups that wait for a later run."""
    groups = (*plan.groups, *plan.waiting)
    return Distance(len(groups), sum(group.bytes_in for group in groups))
