"""The anchors of many kept epochs, in one object that only time travel and vacuum read.

Every opening of a database reads the epoch of the last vacuum, or a root made after it. Both name
this object instead of all anchors.
Spec: docs/spec/checkpoint.md#anchor-lists
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from colonnade.manifests.checkpoint.stored_object import read_checkpoint_object
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.codec import byte_check, decode_model, encode_model, verify
from colonnade.manifests.model.operations import AnchorList, CheckpointRef
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore


class AnchorListBody(Model):
    """The content of the object: the anchors below the floor, ascending by epoch."""

    format_version: Literal[1] = 1
    anchors: tuple[CheckpointRef, ...]


def encode_anchor_list(anchors: tuple[CheckpointRef, ...]) -> bytes:
    """Return the bytes of a list of anchors below a floor. Requires: they ascend by epoch."""
    return encode_model(AnchorListBody(anchors=anchors))


def describe_anchor_list(object_id: str, data: bytes) -> AnchorList:
    """Return the reference to a list whose bytes were stored under an object id."""
    return AnchorList(object=object_id, check=byte_check(data))


def read_anchor_list(store: ObjectStore, ref: AnchorList) -> tuple[CheckpointRef, ...]:
    """Return the anchors in a list, ascending by epoch. Costs one GET.

    Raises NotFoundError or CorruptionError if the list is missing or damaged at both of its places;
    StoreError.
    """

    def decode(data: bytes, location: str) -> tuple[CheckpointRef, ...]:
        verify(data, ref.check, location)
        anchors = decode_model(AnchorListBody, data, location).anchors
        if any(a.epoch >= b.epoch for a, b in pairwise(anchors)):
            raise CorruptionError(f"{location} is malformed: its anchors do not ascend.")
        return anchors

    return read_checkpoint_object(store, ref.object, ref.check.length, decode)


def read_anchors(store: ObjectStore, state: Snapshot) -> tuple[CheckpointRef, ...]:
    """Return all anchors of a state, ascending by epoch.

    Costs nothing without an anchor list. Otherwise costs and raises as `read_anchor_list`.
    """
    ref = state.anchor_list
    return state.anchors if ref is None else (*read_anchor_list(store, ref), *state.anchors)


def read_live_anchors(store: ObjectStore, head: Snapshot) -> tuple[CheckpointRef, ...]:
    """Return all anchors of the newest state, ascending by epoch. Costs as `read_anchors`.

    Raises CorruptionError if the list is missing, because a list of the newest state is a part of
    the log. Raises the other errors of `read_anchors`.
    """
    try:
        return read_anchors(store, head)
    except NotFoundError as error:
        raise CorruptionError(
            f"{error.message} It lists the states of kept epochs: restore it."
        ) from error


def find_anchor(store: ObjectStore, state: Snapshot, epoch: int) -> CheckpointRef | None:
    """Return the anchor of an epoch at or below the floor, or None.

    Costs and raises as `read_anchors`; costs nothing for the floor.
    """
    found = state.anchor(epoch)
    if found is not None or state.anchor_list is None or epoch >= state.floor:
        return found
    return next((each for each in read_anchors(store, state) if each.epoch == epoch), None)
