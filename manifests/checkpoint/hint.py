"""The hint to the newest checkpoint, as writers of checkpoints put it.

A stale, missing or wrong hint costs readers requests. `read_hint` compares it with the log.
Spec: docs/spec/checkpoint.md#hint
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from colonnade.manifests.checkpoint.root import Hint
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import ConflictError, NotFoundError
from colonnade.manifests.model.codec import encode_model
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.named_objects import removed_objects
from colonnade.manifests.model.operations import (
    CheckpointRef,
    Vacuum,
)
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import HINT
from colonnade.manifests.store.object_store import ObjectStore


def put_hint(store: ObjectStore, ref: CheckpointRef) -> None:
    """Put a hint to a checkpoint without a look at the checkpoint itself. Raises StoreError."""
    store.put(HINT, _hint(ref), sync=False)


def put_usable_hint(
    store: ObjectStore,
    ref: CheckpointRef,
    names: Collection[str],
    since: int,
    blocks: SlotBlocks,
) -> None:
    """Put a hint to a checkpoint, unless a vacuum after the epoch `since` removes a part of it.

    `names` are the checkpoint's objects. A vacuum that runs during the PUT may not see the new
    hint. This call then removes the hint again. If the caller is killed before that, the next
    vacuum does so. A hint that a concurrent writer puts during the removal may be lost. Until the
    next checkpoint, readers then find the newest state by more requests. Costs a
    PUT, a GET for each epoch since, and one or two GETs before and after the PUT.

    Raises ConflictError if the hint does not lead to the checkpoint; StoreError; CorruptionError.
    """
    number = _check_not_removed(store, ref, names, since + 1, blocks)
    put_hint(store, ref)
    try:
        _check_not_removed(store, ref, names, number, blocks)
    except ConflictError:
        with suppress(NotFoundError):
            if store.get(HINT) == _hint(ref):
                store.delete(HINT)
        raise


def _removes(epoch: Epoch, ref: CheckpointRef, names: Collection[str]) -> bool:
    """Return whether a vacuum removes a part of a checkpoint, or the epoch that it needs.

    A vacuum also removes the epoch of its floor. Then only its anchors can be read without that
    epoch.
    """
    floors = (op for op in epoch.ops if isinstance(op, Vacuum) and op.floor >= ref.epoch)
    return not removed_objects(epoch.ops).isdisjoint(names) or any(
        ref.root not in (anchor.root for anchor in op.anchors) for op in floors
    )


def _hint(ref: CheckpointRef) -> bytes:
    return encode_model(Hint(epoch=ref.epoch, root=ref.root, check=ref.check))


def _check_not_removed(
    store: ObjectStore,
    ref: CheckpointRef,
    names: Collection[str],
    number: int,
    blocks: SlotBlocks,
) -> int:
    """Check that no vacuum from epoch `number` on removes one of the objects of a checkpoint.

    Returns the number of the next epoch. Raises ConflictError.
    """
    while (epoch := read_slot(store, number)) is not None:
        if _removes(epoch, ref, names):
            raise _removed_error(ref, number)
        number += 1
    # Freed epochs may have named parts of the checkpoint, and cannot be read.
    if is_freed(store, blocks, number):
        raise _removed_error(ref, number)
    return number


def _removed_error(ref: CheckpointRef, number: int) -> ConflictError:
    return ConflictError(
        f"Epoch {number}, or retention that has removed it, removes parts of the checkpoint of"
        f" epoch {ref.epoch}."
    )
