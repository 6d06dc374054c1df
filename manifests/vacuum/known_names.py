"""What a vacuum remembers for the next one: the names in segments and in epochs.

Neither ever changes. Without these files, a vacuum reads more and removes the same.
Spec: docs/spec/checkpoint.md#segment-names, docs/spec/checkpoint.md#epoch-names
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from colonnade.manifests.checkpoint.epoch_names import (
    EpochNames,
    read_epoch_names,
    write_epoch_names,
)
from colonnade.manifests.checkpoint.segment_names import SegmentNames, read_names, write_names
from colonnade.manifests.object_names import EPOCH_NAMES
from colonnade.manifests.store.object_store import ObjectStore


class KnownNames(NamedTuple):
    """The names in whole segments, and those in epochs, if there are any."""

    segments: SegmentNames
    epochs: EpochNames | None


def read_known_names(store: ObjectStore, there: Collection[str]) -> KnownNames:
    """Return what the last vacuum remembered. `there` are the names in a listing.

    Costs a GET, and another one if there is a file about epochs. Raises StoreError.
    """
    epochs = read_epoch_names(store) if EPOCH_NAMES in there else None
    return KnownNames(read_names(store), epochs)


def write_known_names(store: ObjectStore, before: KnownNames, after: KnownNames) -> None:
    """Store what a vacuum remembers, where it is not what the last one remembered.

    Costs a PUT or a DELETE of each file that changes. Raises StoreError; NotFoundError if the log
    was dropped.
    """
    if after.segments != before.segments:
        write_names(store, after.segments)
    if after.epochs != before.epochs:
        write_epoch_names(store, after.epochs)
