"""Put lost marks of freed blocks again, also where the log cannot be opened without them.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from collections.abc import Collection

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import CorruptionError, NotFoundError, UnsupportedFormatError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import CheckpointRef, Vacuum
from colonnade.manifests.object_names import MANIFEST, checkpoint_name, epoch_number
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.vacuum.freeing import put_marks


def restore_lost_marks(log: Log) -> tuple[str, ...]:
    """Put the marks of blocks below the floor that are lost, or that a killed vacuum owes.

    A listing and the last vacuum in it tell which these are, so this needs neither the hint nor
    another mark. The checkpoint at the floor proves that the vacuum is one of this database.
    Returns the names of the marks. Costs a listing of the log and a GET for each epoch since the
    last vacuum; where marks are missing also that checkpoint, a PUT for each, and a wait of the
    store's `trust_s`.

    Raises CorruptionError if marks are missing and that checkpoint is lost or of another database;
    NotFoundError if there is no database; StoreError.
    """
    first = log.read_first()
    blocks, names = first.blocks, {info.name for info in log.store.list(f"{MANIFEST}/")}
    floor = _last_floor(log.store, names)
    seen_s = elapsed_s()
    whole = 0 if floor is None else blocks.whole_below(floor.epoch)
    lost = [block for block in range(whole) if blocks.mark(block) not in names]
    if floor is None or not lost:
        return ()
    try:
        database = read_state(log.store, floor).database
    except NotFoundError as error:
        raise _unproven_error(log.store, floor, "is missing") from error
    if database != first.database:
        raise _unproven_error(log.store, floor, "is of another database")
    put_marks(log, blocks, lost, seen_s)
    return tuple(map(blocks.mark, lost))


def _last_floor(store: ObjectStore, names: Collection[str]) -> CheckpointRef | None:
    """Return the anchor of the floor that the last vacuum among the listed epochs has set."""
    slots = {number for name in names if (number := epoch_number(name))}
    for number in sorted(slots, reverse=True):
        try:
            epoch = read_slot(store, number)
        except (CorruptionError, UnsupportedFormatError):
            continue  # Who applies this epoch finds the damage again.
        for op in () if epoch is None else epoch.ops:
            if isinstance(op, Vacuum):
                return next((each for each in op.anchors if each.epoch == op.floor), None)
    return None


def _unproven_error(store: ObjectStore, floor: CheckpointRef, problem: str) -> CorruptionError:
    return CorruptionError(
        f"{store.locate(checkpoint_name(floor.root))}, the state at epoch {floor.epoch}, {problem}."
        " Without it nothing proves which epochs were removed, so no mark is put; restore it."
    )
