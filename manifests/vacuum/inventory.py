"""What a vacuum may remove. Writes only what must be stored before anything is removed.

Spec: docs/spec/vacuum.md#run
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.checkpoint.epoch_names import EpochNames
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages
from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.freed_slots import freed_slots
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.statics import with_own_statics
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AnchorList,
    CheckpointRef,
    Lease,
    Operation,
    SetConsumer,
    Unpin,
    Vacuum,
)
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum.copies import copy_what_is_lost
from colonnade.manifests.vacuum.dropped_entries import sheds_remains
from colonnade.manifests.vacuum.floor import keep_states, list_anchors
from colonnade.manifests.vacuum.freeing import restore_marks
from colonnade.manifests.vacuum.hinted_checkpoints import cached_objects
from colonnade.manifests.vacuum.known_names import KnownNames, read_known_names
from colonnade.manifests.vacuum.listing import check_slots, read_listing
from colonnade.manifests.vacuum.objects import StoredFile
from colonnade.manifests.vacuum.plan import Removal, plan_removal
from colonnade.manifests.vacuum.references import StateObjects, read_later_names
from colonnade.manifests.vacuum.retention import (
    Floor,
    Properties,
    Retention,
    effective,
    kept_below,
    others_that_keep_more,
    plan_floor,
)


@dataclass(frozen=True, slots=True)
class VacuumRequest:
    """The request of a caller.

    `hours` and `epochs` replace the retention of the table with the id `only`, or of all tables.
    `trust_clock` trusts the clock of this machine even if the store's clock differs. A dry run does
    so too, because it writes nothing. No anchor keeps the entry of a RowSet that the table with the
    id `erased` has dropped, unless the floor cannot rise.
    """

    hours: float | None = None
    epochs: int | None = None
    only: str | None = None
    dry_run: bool = False
    trust_clock: bool = False
    erased: TableId | None = None
    threads: int = 8


@dataclass(frozen=True)
class Inventory:
    """What a run found, and plans to do.

    `anchors` and `anchor_list` store the states that outlive their epochs, which are `anchored`.
    `used` are objects that must stay. `freed` are the slots that were freed before the run, and
    `seen_s` is when the head was seen (`elapsed_s`). `loaded` has the pages of tables that were
    read. `known` are names that the run did not have to read, and `found` those that the next run
    may need.
    """

    head: Snapshot
    stored: tuple[StoredFile, ...]
    floor: Floor
    retention: Retention
    now_ms: int
    kept: tuple[int, ...]
    anchors: tuple[CheckpointRef, ...]
    anchor_list: AnchorList | None
    anchored: frozenset[int]
    used: set[str]
    freed: range
    seen_s: float
    loaded: LoadedPages
    known: KnownNames
    found: KnownNames

    @once
    def removal(self) -> Removal:
        """What may be removed."""
        jobs = {lease.job for lease in self.head.leases.values() if lease.until_ms > self.now_ms}
        cutoff_ms = self.retention.cutoff_ms(self.now_ms)
        return plan_removal(self.stored, self.used, jobs, cutoff_ms, self.freed, self.head.epoch)

    @once
    def all_victims(self) -> frozenset[str]:
        """The victims of all parts."""
        return frozenset(self.removal.victims)

    @property
    def is_idle(self) -> bool:
        """Whether an epoch would have nothing to say."""
        now, before = (self.anchors, self.anchor_list), (self.head.anchors, self.head.anchor_list)
        moved = self.floor.epoch > self.head.floor or now != before
        return not moved and not self.removal.victims


def take_inventory(
    log: Log, request: VacuumRequest, before: Snapshot, slots: SlotReader
) -> Inventory:
    """Find what may be removed. Stores the states that outlive their epochs first.

    Otherwise it only finishes what the log already says. A dry run writes nothing at all. `slots`
    has read the state `before`. What it keeps of the log is not read again.
    """
    own = request.trust_clock or request.dry_run
    seen_s = elapsed_s()
    now_ms = log.reader.now_ms() if own else log.agreement.earliest_ms(before)
    stored = read_listing(log.store, before)
    # This is read after the listing, so that a block freed meanwhile is not taken as a gap.
    if request.dry_run:
        freed = freed_slots(log.store, before.blocks)
    else:
        freed = restore_marks(log, before, stored.marks, seen_s)
    head, seen_s = log.reader.refresh(before), elapsed_s()
    slots.read_up_to(head.epoch)
    check_slots(stored.slots, before.epoch, head.epoch, log.store.url, freed, before.floor)
    sizes = {each.info.name: each.info.size for each in stored.files if not each.unfinished}
    known, loaded = read_known_names(log.store, sizes), LoadedPages()
    tables = {table.id: table.stored_properties for table in loaded.read(head)}
    retention = effective(tables, request.hours, request.epochs, request.only)
    floor = _plan_floor(log, head, retention, now_ms)
    if request.only is not None:
        floor = _with_others(log, head, tables, request, floor, now_ms)
    risen = range(head.floor + 1, floor.epoch + 1)
    if risen and not _is_worth_rising(log, head, risen, slots, request.erased):
        floor = Floor(head.floor, floor.held_by)
    kept = kept_below(head, floor.epoch, now_ms)
    store, erased, names = not request.dry_run, request.erased, known.segments
    anchors, states = keep_states(
        log.reader, head, floor.epoch, kept, loaded, names, store=store, slots=slots, erased=erased
    )
    anchored = frozenset(anchor.epoch for anchor in anchors)
    anchor_list = None
    if store:
        anchors, anchor_list = list_anchors(log.reader, head, anchors, states)
    used, epochs = _used(log, head, floor.epoch, states, loaded, known.epochs)
    if store:
        copy_what_is_lost(log.store, states.parts, sizes, request.threads)
    return Inventory(
        head,
        stored.files,
        floor,
        retention,
        now_ms,
        kept,
        anchors,
        anchor_list,
        anchored,
        used,
        freed,
        seen_s,
        loaded,
        known,
        KnownNames(states.whole, epochs),
    )


def read_used_objects(log: Log) -> set[str]:
    """Return every object that a kept epoch names, or that a usable checkpoint names.

    Reads each of these epochs and segments, also those whose names a vacuum remembers. Raises
    CorruptionError if the log cannot be read; StoreError; ConflictError if a vacuum frees epochs
    meanwhile.
    """
    log = log.uncached
    head = log.reader.read_head()
    kept = kept_below(head, head.floor, log.agreement.earliest_ms(head))
    loaded = LoadedPages()
    _, states = keep_states(log.reader, head, head.floor, kept, loaded, store=False)
    if head.anchor_list is not None:
        states.add_anchor_list(head.anchor_list)
    return _used(log, head, head.floor, states, loaded)[0]


def _plan_floor(log: Log, head: Snapshot, retention: Retention, now_ms: int) -> Floor:
    if retention.hours:
        aged = log.reader.find_ended(retention.cutoff_ms(now_ms), head, now_ms)
    else:
        aged = head.epoch  # Fast writers date the newest epochs ahead. Without an age none counts.
    return plan_floor(head, retention, aged, now_ms)


def _with_others(
    log: Log,
    head: Snapshot,
    tables: Properties,
    request: VacuumRequest,
    floor: Floor,
    now_ms: int,
) -> Floor:
    """Return the floor, with the other tables whose retention keeps it from rising further."""
    assert request.only is not None
    own = {key: tables[key] for key in with_own_statics(request.only) if key in tables}
    alone = effective(own, request.hours, request.epochs, request.only)
    others = others_that_keep_more(tables, head.table_names(), alone, request.only)
    if not others or _plan_floor(log, head, alone, now_ms).epoch <= floor.epoch:
        return floor
    return Floor(floor.epoch, (*floor.held_by, *others))


def _is_worth_rising(
    log: Log, head: Snapshot, risen: range, slots: SlotReader, erased: TableId | None
) -> bool:
    """Return whether the epochs `risen` after the floor contain more than removals.

    Otherwise each run would leave an epoch for the next one to remove. The floor also rises where
    remains of the table `erased` are in an anchor or in the file of a removed epoch, and then go.
    """
    return any(map(_does_more, map(slots.read, risen))) or (
        erased is not None and sheds_remains(log.reader, head, erased, risen[-1])
    )


def _does_more(epoch: Epoch | None) -> bool:
    """Return whether an epoch does more than remove. If its slot is free, the fold says why."""
    return epoch is None or not all(map(_removes, epoch.ops))


def _removes(operation: Operation) -> bool:
    if isinstance(operation, SetConsumer):
        return not operation.until_ms
    return isinstance(operation, Vacuum | Unpin | Lease)


def _used(
    log: Log,
    head: Snapshot,
    floor: int,
    states: StateObjects,
    loaded: LoadedPages,
    known: EpochNames | None = None,
) -> tuple[set[str], EpochNames | None]:
    """Return every object that a kept state, a later epoch or a usable checkpoint names.

    Kept states are read from the log itself and never from a cache. Also returns the names in later
    epochs, if these are enough to be remembered. Does not read the epochs of `known` names again.
    """
    of_states = states.read()
    later = read_later_names(log.reader, floor, head, known)
    used = of_states | later.objects() | cached_objects(log.store, floor, loaded)
    return used, later if len(later.names) >= log.limits.remembered_epochs else None
