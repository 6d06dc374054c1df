"""Decide whether a change may follow a vacuum, and a vacuum may follow a change. Pure.

A vacuum conflicts only with changes that concern it. Such a change names one of its victims, keeps
an epoch that it removes, or changes a pin, lease or consumer that it ends.
Spec: docs/spec/vacuum.md#conflicts
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import job_id_of
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.named_objects import named_objects, removed_objects
from colonnade.manifests.model.operations import (
    DropConsumer,
    Lease,
    Operation,
    Pin,
    SetConsumer,
    Tag,
    Unpin,
    Vacuum,
)
from colonnade.manifests.state.snapshot import Snapshot


def check_removed(change: Change, base: Snapshot, theirs: Epoch) -> None:
    """Refuse a change that names objects which a vacuum since its base removes.

    The objects of a change are younger than its base, so a vacuum that saw them is later than the
    base. Raises ConflictError.
    """
    victims = removed_objects(theirs.ops)
    if victims and (
        not victims.isdisjoint((*named_objects(change.ops), *change.listed))
        or (_is_open(change) and any(job_id_of(each) == change.job_id for each in victims))
    ):
        raise ConflictError(
            f"Files that {change.operation!r} wrote or restores were removed by the vacuum of"
            f" epoch {theirs.epoch}, after epoch {base.epoch} on which it was planned; run it"
            " again, and give it a lease if it takes longer than the retention."
        )


def _is_open(change: Change) -> bool:
    """Return whether a change may name any object of its job at its slot."""
    return change.fill is not None or bool(change.keyed)


def removes(theirs: Epoch, epoch: int) -> bool:
    """Return whether a vacuum raises the floor above an epoch."""
    return any(isinstance(op, Vacuum) and op.floor > epoch for op in theirs.ops)


def check_vacuum(
    change: Change, base: Snapshot, theirs: Epoch, listed: Collection[str] = ()
) -> None:
    """Refuse a vacuum, planned on `base`, that an epoch committed since invalidates.

    `listed` are the objects in segments that the epoch adds. The epoch is compared with the
    victims of all parts, so that no later part has to read it again. Raises ConflictError.
    """
    mine = next((op for op in change.ops if isinstance(op, Vacuum)), None)
    if mine is None:
        return
    victims = change.all_victims or frozenset(mine.victims)
    ended = {op.name for op in change.ops if isinstance(op, Unpin)}
    ended |= {op.job for op in change.ops if isinstance(op, Lease)}
    paused = {op.name for op in change.ops if isinstance(op, SetConsumer)}
    named = (*named_objects(theirs.ops), *listed)
    if not victims.isdisjoint(named) or _concerns(
        change, theirs.ops, base, mine, victims, ended, paused
    ):
        raise ConflictError(
            f"Epoch {theirs.epoch} ({theirs.operation}) changed what vacuum may remove; run vacuum"
            " again."
        )


def _concerns(
    change: Change,
    operations: Iterable[Operation],
    base: Snapshot,
    mine: Vacuum,
    victims: Collection[str],
    ended: Collection[str],
    paused: Collection[str],
) -> bool:
    """Return whether operations keep what a vacuum removes, or belong to another vacuum."""
    anchored = change.anchored | {anchor.epoch for anchor in mine.anchors}
    for operation in operations:
        match operation:
            case Vacuum():
                return True
            case Tag():
                lost = operation.epoch < mine.floor and operation.epoch not in anchored
            case Pin():
                # A pin keeps all epochs from its own on, except those that were removed before.
                early = operation.epoch < base.floor and operation.epoch in anchored
                lost = operation.epoch < mine.floor and not early
                lost = lost or operation.name in ended
            case Unpin():
                lost = operation.name in ended
            case Lease(until_ms=until) if until:
                lost = operation.epoch < mine.floor or operation.job in ended
                lost = lost or any(job_id_of(victim) == operation.job for victim in victims)
            case SetConsumer():
                lost = operation.name in paused
                lost = lost or (bool(operation.until_ms) and operation.seen < mine.floor)
            case DropConsumer():
                lost = operation.name in paused
            case _:
                lost = False
        if lost:
            return True
    return False
