"""Find and read checkpoints. Every object is checked before it is used.

Above the floor a checkpoint is only a cache. If one is unusable, the log gives the same state.
Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from colonnade.manifests.arrays.entry_block import EntryBlock
from colonnade.manifests.arrays.entry_segment import decode_entry_segment
from colonnade.manifests.arrays.segment_objects import SegmentObjects, decode_segment_objects
from colonnade.manifests.checkpoint.paged_map import decode_table
from colonnade.manifests.checkpoint.root import (
    Hint,
    Root,
    decode_root,
    root_snapshot,
)
from colonnade.manifests.checkpoint.stored_map import StoredMap
from colonnade.manifests.checkpoint.stored_object import read_checkpoint_object
from colonnade.manifests.checkpoint.stored_tables import (
    CheckpointTables,
    StoredTables,
    read_batches,
)
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.epochs.slots import is_taken, read_slot
from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    MissingObjectError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import decode_model, is_epoch, verify
from colonnade.manifests.model.entries import EntrySegment
from colonnade.manifests.model.operations import (
    CheckpointRef,
    CreateDatabase,
)
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.state.snapshot import (
    EntrySegmentRef,
    Replay,
    Snapshot,
    TableState,
)
from colonnade.manifests.store.object_store import ObjectStore

T = TypeVar("T")

UNUSABLE = (NotFoundError, CorruptionError, UnsupportedFormatError)
"""Errors after which a reader ignores a checkpoint above the floor and reads the log instead.

StoreError is not one of them: the checkpoint may be intact, and reading the log costs more.
"""


def read_root(store: ObjectStore, ref: CheckpointRef) -> Root:
    """Read the root of a checkpoint.

    Raises NotFoundError; CorruptionError; StoreError; UnsupportedFormatError if a newer version
    wrote it.
    """

    def decode(data: bytes, location: str) -> Root:
        verify(data, ref.check, location)
        return decode_root(data, ref.epoch, location)

    return read_checkpoint_object(store, ref.root, ref.check.length, decode)


def state_of(
    store: ObjectStore, ref: CheckpointRef, root: Root, replay: Replay | None = None
) -> Snapshot:
    """Return the state that a root stores. Stored tables and batches are read on demand.

    If they cannot be read, `replay` reads them from the log. An anchor has no `replay`, because the
    log before it does not exist. Raises UnsupportedFormatError for unknown reader features;
    CorruptionError.
    """
    stored, replay = root.stored_tables, replay or refuse_lost
    batches = partial(read_batches, store, replay, root.checkpoint)
    if stored is None:
        return root_snapshot(root, batches)
    name = store.locate(checkpoint_name(ref.root))
    tables = CheckpointTables(
        StoredMap(store, decode_table(stored.records, name)),
        StoredMap(store, decode_table(stored.names, name)),
        replay,
        root.checkpoint,
    )
    return root_snapshot(root, batches, StoredTables(tables, root.checkpoint))


def read_state(store: ObjectStore, ref: CheckpointRef) -> Snapshot:
    """Return the state of an anchor, or of another checkpoint that the log must not replace.

    Raises as `read_root` and `state_of`.
    """
    return state_of(store, ref, read_root(store, ref))


def refuse_lost(error: ColonnadeError, epoch: int) -> Snapshot:
    """A `Replay` for a state that only its checkpoint stores: it always raises.

    Raises CorruptionError instead of NotFoundError, and any other error unchanged.
    """
    if isinstance(error, NotFoundError):
        raise CorruptionError(f"{error.message} It is a part of the log: restore it.") from error
    raise error


def read_entry_segment(
    store: ObjectStore, table: TableState, ref: EntrySegmentRef, early: bytes | None = None
) -> EntryBlock:
    """Read a stored segment. `early` are its bytes, perhaps wrong, if they were read before.

    Raises as `read_root`; CorruptionError if the segment is missing.
    """
    if early is not None:
        with suppress(CorruptionError):
            location = store.locate(checkpoint_name(ref.segment.object))
            return decode_entry_segment(early, table, ref, location)
    return _read_entry_segment(
        store, ref.segment, lambda data, location: decode_entry_segment(data, table, ref, location)
    )


def read_segment_objects(
    store: ObjectStore, segment: EntrySegment, first_id: int = 0
) -> SegmentObjects:
    """Read the objects that a segment names; its ids begin at `first_id`, if they matter.

    Raises as `read_entry_segment`.
    """
    return _read_entry_segment(
        store,
        segment,
        lambda data, location: decode_segment_objects(data, segment, location, first_id),
    )


def _read_entry_segment(
    store: ObjectStore, segment: EntrySegment, decode: Callable[[bytes, str], T]
) -> T:
    try:
        return read_checkpoint_object(store, segment.object, segment.check.length, decode)
    except NotFoundError as error:
        location = store.locate(checkpoint_name(segment.object))
        problem = f"{location}, a part of the log, is missing: restore it."
        raise MissingObjectError(problem, segment.object) from error


def read_hint(
    store: ObjectStore, slots: SlotReader | None = None, since: int = 0
) -> tuple[CheckpointRef, Root] | None:
    """Return the newest checkpoint according to the hint, if the log confirms it.

    Returns None in doubt: the hint may be missing, stale or damaged, or name a checkpoint of
    another log. Also returns None, and costs one GET, for a checkpoint of an epoch before `since`.
    A checkpoint is written after its epoch, so CorruptionError is raised if that epoch is missing.
    `slots` reads the hint, and the slots from the checkpoint's own on, side by side with its root.
    Raises StoreError.
    """
    slots = slots or SlotReader(store)
    try:
        hint = decode_model(Hint, slots.hint(), store.locate(HINT))
        if hint.epoch < since:
            return None
        root, _ = store.both(
            partial(read_root, store, hint), partial(slots.fetch_samples, hint.epoch)
        )
    except UNUSABLE:
        return None
    ref = CheckpointRef(epoch=hint.epoch, root=hint.root, check=hint.check)
    if not _is_in_log(store, root, slots):
        _check_not_lost(store, root)
        return None
    return ref, root


def find_lost(store: ObjectStore) -> int | None:
    """Return the epoch whose loss the hint proves, or None. Costs as `read_hint`.

    Raises StoreError.
    """
    hint = SlotReader(store)
    try:
        read_hint(store, hint)
    except CorruptionError:
        return decode_model(Hint, hint.hint(), store.locate(HINT)).epoch
    return None


def find_checkpoint(
    store: ObjectStore,
    target: int | None,
    replay: Callable[[TableId, ColonnadeError, int], Snapshot],
    slots: SlotReader | None = None,
    floor: int = 0,
) -> Snapshot | None:
    """Return the state of a usable checkpoint near epoch `target`, but not after it.

    If `target` is None, this is the newest checkpoint. It is not before `floor`. `replay` reads
    from the log what turns out not to be readable in the checkpoint; its first argument is the id
    of the database. `slots` is as in `read_hint`. Raises StoreError; without `target`,
    CorruptionError if the epoch of the newest checkpoint is missing.
    """
    try:
        found = read_hint(store, slots)
    except CorruptionError:
        if target is None:
            raise
        found = None
    ref, root = found if found else (None, None)
    before: list[CheckpointRef] = []
    while root is not None and target is not None and root.checkpoint > target:
        # Each checkpoint on the way back names more of the checkpoints near itself.
        older = [ref for ref in root.earlier if ref.epoch < root.checkpoint]
        before += [ref for ref in older if floor <= ref.epoch <= target]
        after = [ref for ref in older if ref.epoch > target]
        ref = min(after, key=_epoch, default=None)
        root = _try_root(store, ref) if ref else None
    if root is None and before:
        ref = max(before, key=_epoch)
        root = _try_root(store, ref)
        # Retention may have removed its epoch since.
        root = root if root and _is_in_log(store, root, SlotReader(store)) else None
    try:
        if root is None or ref is None or ref.epoch < floor:
            return None
        return state_of(store, ref, root, partial(replay, TableId(root.database)))
    except (CorruptionError, UnsupportedFormatError):
        return None


def _is_in_log(store: ObjectStore, root: Root, slots: SlotReader) -> bool:
    """Return whether the file of the epoch exists that a checkpoint was made of."""
    name = epoch_name(root.checkpoint)
    try:
        data = slots.data(root.checkpoint)
        return is_epoch(data, root.checkpoint, root.transaction, store.locate(name))
    except UNUSABLE:
        return False


def _check_not_lost(store: ObjectStore, root: Root) -> None:
    """Check that a checkpoint's epoch is not missing from the checkpoint's own database.

    An epoch that retention has removed is not missing. Costs three GETs. Raises CorruptionError.
    """
    if is_taken(store, root.checkpoint):
        return
    database = TableId(root.database)
    if is_freed(store, SlotBlocks(database, root.slot_block), root.checkpoint):
        return
    first = read_slot(store, 0)
    made = () if first is None else first.ops
    if any(isinstance(op, CreateDatabase) and op.database == database for op in made):
        raise CorruptionError(
            f"{store.locate(epoch_name(root.checkpoint))} is missing, although a checkpoint of it"
            f" exists; restore it, or remove {store.locate(HINT)} to give up that epoch and all"
            " after it."
        )


def _epoch(ref: CheckpointRef) -> int:
    return ref.epoch


def _try_root(store: ObjectStore, ref: CheckpointRef) -> Root | None:
    try:
        return read_root(store, ref)
    except UNUSABLE:
        return None
