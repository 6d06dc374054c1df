"""Begin the readable history at a later checkpoint, once the state at the floor is lost.

The floor's anchor is all that is left of the removed epochs. If it is damaged at both of its
places, later epochs have nothing to be applied to. The tables can then only be read from a sound
checkpoint above the floor. It becomes the anchor of a later floor.
Spec: docs/spec/checkpoint.md#copies
"""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state
from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.slots import check_slot
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CheckpointRef, Vacuum
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum.copies import copy_what_is_lost
from colonnade.manifests.vacuum.floor import list_anchors, lost_states, name_lost, write_anchor
from colonnade.manifests.vacuum.references import StateObjects, read_state_objects
from colonnade.manifests.vacuum.retention import ended_consumers, ends_of_expired

OPERATION = "repair"
"""The operation of the epoch with a later floor."""


def begin_at_checkpoint(log: Log, head: Snapshot) -> Snapshot:
    """Make the oldest sound checkpoint above the floor the new floor. Returns the new head.

    Requires: the state at the floor of `head` is lost. The epochs before the checkpoint stay
    unreadable. Raises CorruptionError if there is no such checkpoint, or if a tag, pin or
    lease keeps an epoch that is lost; ConflictError if a concurrent writer changes what is kept;
    StoreError.
    """
    lost = lost_states(log.reader, head)
    now = log.agreement.earliest_ms(head)
    pins = [pin for pin in head.pins.values() if pin.until_ms > now]
    leases = [lease for lease in head.leases.values() if lease.until_ms > now]
    kept = {*head.tags.values(), *(pin.epoch for pin in pins)}
    there = {anchor.epoch: anchor for anchor in read_live_anchors(log.store, head)}
    state = _oldest_sound(log, head)
    if state is None:
        raise CorruptionError(
            f"{name_lost(head, lost)} No later checkpoint of {log.store.url} is whole."
        )
    below = {epoch for epoch in kept if epoch < state.epoch}
    gone = {epoch for epoch in below if epoch in lost or epoch not in there}
    held = sorted(lease.job for lease in leases if lease.epoch < state.epoch)
    over = {each.name for each in ended_consumers(head, now)}
    consumers = [c for c in head.consumers.values() if c.until_ms and c.name not in over]
    held += sorted(each.name for each in consumers if each.seen < state.epoch)
    if gone or held:
        jobs = f" Jobs or consumers still need it: {', '.join(held)}." if held else ""
        raise CorruptionError(f"{name_lost(head, gone | {head.floor})}{jobs}")
    objects = StateObjects(log.store)
    anchor, _ = write_anchor(log.reader, state, objects)
    objects.add(read_state(log.store, anchor))
    objects.add_root(anchor)
    kept_anchors = (*(there[epoch] for epoch in sorted(below)), anchor)
    anchors, listed = list_anchors(log.reader, head, kept_anchors, objects)
    copy_what_is_lost(log.store, objects.parts, {}, threads=1)
    floor = Vacuum(floor=state.epoch, anchors=anchors, anchor_list=listed, victims=())
    change = Change(
        new_transaction_id(),
        OPERATION,
        (*ends_of_expired(head, now), floor),
        fresh=True,
        anchored=frozenset(each.epoch for each in kept_anchors),
    )
    return log.commit(change, head)


def _oldest_sound(log: Log, head: Snapshot) -> Snapshot | None:
    """Return the state of the oldest whole checkpoint above the floor that is of this log."""
    found = read_hint(log.store)
    for ref in sorted((found[0], *found[1].earlier) if found else (), key=_epoch_of):
        if not head.floor < ref.epoch <= head.epoch:
            continue
        try:
            state = read_state(log.store, ref)
            if check_slot(log.store, ref.epoch, state.transaction, head.blocks):
                continue
            read_state_objects(log.store, state)
        except UNUSABLE:
            continue
        return replace(state, floor=head.floor)
    return None


def _epoch_of(ref: CheckpointRef) -> int:
    return ref.epoch
