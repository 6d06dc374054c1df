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
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.freeing import put_marks


def restore_lost_marks(log: Log) -> tuple[str, ...]:
    """Put the marks of blocks below the floor that are lost, or that a killed vacuum owes.

    Where the newest state can be read, it tells the floor. Otherwise a listing and the last vacuum
    in it tell the floor, so this needs neither the hint nor another mark, and the checkpoint at the
    floor proves that the vacuum is one of this database. Returns the names of the marks. Costs a
    listing of the log and the newest state; where marks are missing also a PUT for each, and a wait
    of the store's `trust_s`; where the newest state cannot be read a GET for each epoch since the
    last vacuum, and that checkpoint.

    Raises CorruptionError if marks are missing, the newest state cannot be read, and that
    checkpoint is lost or of another database; NotFoundError if the store has no database;
    StoreError.
    """
    first = log.reader.follower.read_first()
    blocks, names = first.blocks, {info.name for info in log.store.list(f"{MANIFEST}/")}
    seen_s = elapsed_s()
    head = _read_head(log, first.database)
    listed = None if head else _last_floor(log.store, names)
    floor = head.floor if head else listed.epoch if listed else 0
    lost = [each for each in range(blocks.whole_below(floor)) if blocks.mark(each) not in names]
    if lost and listed:
        _check_database(log.store, listed, first.database)
    if lost:
        put_marks(log, blocks, lost, seen_s)
    return tuple(map(blocks.mark, lost))


def _read_head(log: Log, database: str) -> Snapshot | None:
    """Return the newest state, or None if it cannot be read or is of another database."""
    try:
        head = log.reader.read_head()
    except CorruptionError:
        return None
    return head if head.database == database else None


def _check_database(store: ObjectStore, floor: CheckpointRef, database: str) -> None:
    """Raise CorruptionError unless the checkpoint at the floor is there, and of this database."""
    try:
        state = read_state(store, floor)
    except NotFoundError as error:
        raise _unproven_error(store, floor, "is missing") from error
    if state.database != database:
        raise _unproven_error(store, floor, "is of another database")


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
