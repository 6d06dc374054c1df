"""One run of vacuum: find what may be removed, commit an epoch that says so, and remove it.

Spec: docs/spec/vacuum.md#run
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Vacuum
from colonnade.manifests.state.features import check_writer_features
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum.floor import lost_states, name_lost
from colonnade.manifests.vacuum.freeing import free_blocks
from colonnade.manifests.vacuum.hinted_checkpoints import keep_hint_usable
from colonnade.manifests.vacuum.inventory import (
    Inventory,
    VacuumRequest,
    read_used_objects,
    take_inventory,
)
from colonnade.manifests.vacuum.known_names import write_known_names
from colonnade.manifests.vacuum.objects import StoredFile
from colonnade.manifests.vacuum.plan import Removal
from colonnade.manifests.vacuum.removal import remove
from colonnade.manifests.vacuum.result import RemovedFile, VacuumResult
from colonnade.manifests.vacuum.retention import ends_of_expired

__all__ = ["VacuumRequest", "plan_vacuum", "read_used_objects", "vacuum", "was_vacuumed"]

TRIES = 10
"""The most tries of a run when concurrent writers change what may be removed."""


def vacuum(log: Log, request: VacuumRequest) -> VacuumResult:
    """Remove what no kept epoch needs: old epochs, and files that no kept epoch names.

    Safe beside readers of kept epochs, writers, compactions and other vacuums. It may be killed at
    any time: the next run continues. Restores lost copies of anchors' objects. Costs a listing of
    the database, and a GET for each epoch and each segment since the last run, for each epoch that
    the floor passes, and for each kept state below it. If the last run stored no names in epochs
    (`remembered_epochs` of `Limits`) or in segments, costs a GET for each of these. Also costs a
    few requests for each newly kept state, a PUT for each block of slots that is freed, and a
    DELETE for each file.

    The age of an epoch that is dated in the future comes from its file and later epochs. If this
    machine's clock is behind, nothing is removed by age.

    Raises InvalidInputError for an invalid retention and a read-only store. Raises CorruptionError
    or UnsupportedFormatError if the log cannot be read; then nothing is removed. Raises
    ConflictError if concurrent writers win against it ten times; NotFoundError if the database is
    dropped meanwhile; CommitUnknownError; StoreError. After one of these errors, some victims may
    still exist.
    """
    log.store.require_writable()
    return _persist(log.uncached, request)


def plan_vacuum(log: Log, request: VacuumRequest) -> VacuumResult:
    """Return what a vacuum would do. Writes nothing, so the store may be read-only.

    Raises as `vacuum`.
    """
    return _persist(log.uncached, replace(request, dry_run=True))


def _persist(log: Log, request: VacuumRequest) -> VacuumResult:
    for attempt in range(TRIES):
        try:
            return _attempt(log, request)
        except (ConflictError, CommitUnknownError):
            # A new run relies on nothing of this one, whether or not its epoch was committed.
            if attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _attempt(log: Log, request: VacuumRequest) -> VacuumResult:
    slots = SlotReader(log.store, ahead=AHEAD, far=True)
    slots.keep()
    before = log.reader.read_head(slots=slots)
    if not request.dry_run:
        check_writer_features(before)
    try:
        inventory = take_inventory(log, request, before, slots)
        if request.dry_run:
            return _result(inventory, None, inventory.removal, dry_run=True)
        result = _carry_out(log, inventory)
        # The vacuum is done: without these files, the next one only reads more.
        with suppress(StoreError, NotFoundError):
            write_known_names(log.store, inventory.known, inventory.found)
        return result
    except (CorruptionError, NotFoundError) as error:
        # If the database was dropped, its objects are not lost. This call then raises
        # NotFoundError, also where a new database is at its place.
        head = log.reader.refresh(before)
        if not was_vacuumed(log, before, head):
            lost = lost_states(log.reader, head)
            if lost:
                raise CorruptionError(f"{error.message} {name_lost(head, lost)}") from error
            raise
        raise ConflictError(
            f"Another vacuum of {log.store.url} removed objects that this one was reading; run it"
            " again."
        ) from error


def was_vacuumed(log: Log, before: Snapshot, head: Snapshot) -> bool:
    """Return whether a concurrent vacuum may have removed what was read since `before`."""
    if (head.floor, head.anchors, head.anchor_list) != (
        before.floor,
        before.anchors,
        before.anchor_list,
    ):
        return True
    since = log.reader.read_epochs(head.epoch, head.epoch - before.epoch)
    return any(isinstance(op, Vacuum) for epoch in since for op in epoch.ops)


def _carry_out(log: Log, inventory: Inventory) -> VacuumResult:
    """Commit the epochs that name the victims, unless there are none, and remove the victims.

    Raises as `vacuum`.
    """
    removal = inventory.removal
    head, epoch = inventory.head, None
    there = {each.info.name for each in inventory.stored} - {
        each.info.name for each in removal.files
    }
    settle = partial(keep_hint_usable, log.store, loaded=inventory.loaded, there=there)
    if inventory.is_idle:
        # A writer of a checkpoint, or a vacuum, may have been killed.
        settle(head, victims=())
    else:
        for victims, files in [*removal.parts(log.limits.victims)] or [((), ())]:
            # Each part guards all victims, so what came since the inventory is read once.
            head = log.commit(_change(inventory, victims, files, head), head)
            epoch = head.epoch
            settle(head, victims=inventory.all_victims)
            remove(log.store, files)
        free_blocks(log, head, inventory.seen_s, inventory.freed)
    remove(log.store, removal.leftovers)
    return _result(inventory, epoch, removal, dry_run=False)


def _change(
    inventory: Inventory, victims: tuple[str, ...], files: tuple[StoredFile, ...], head: Snapshot
) -> Change:
    """Return the change that names what is removed. It ends what has expired."""
    floor = Vacuum(
        floor=inventory.floor.epoch,
        anchors=inventory.anchors,
        anchor_list=inventory.anchor_list,
        victims=victims,
    )
    return Change(
        new_transaction_id(),
        "vacuum",
        (*ends_of_expired(head, inventory.now_ms), floor),
        {
            "retention_hours": f"{inventory.retention.hours:g}",
            "retention_epochs": str(inventory.retention.epochs),
        },
        metrics={
            "epochs_removed": inventory.floor.epoch - head.floor,
            "files_removed": len(files),
            "bytes_removed": sum(each.info.size for each in files),
        },
        fresh=True,
        all_victims=inventory.all_victims,
        anchored=inventory.anchored,
    )


def _result(
    inventory: Inventory, epoch: int | None, removal: Removal, dry_run: bool
) -> VacuumResult:
    removed = dict.fromkeys((*removal.files, *removal.leftovers))
    return VacuumResult(
        dry_run=dry_run,
        epoch=epoch,
        floor=inventory.floor.epoch,
        epochs_removed=inventory.floor.epoch - inventory.head.floor,
        files=tuple(RemovedFile(each.info.name, each.info.size) for each in removed),
        kept_epochs=inventory.kept,
        held_by=inventory.floor.held_by,
    )
