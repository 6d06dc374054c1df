"""Enable, in a database of an earlier version, the features that bound what its log accumulates.

Spec: docs/spec/epoch-log.md#upgrade
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.members import SHARED_EPOCHS
from colonnade.manifests.model.operations import EnableFeatures
from colonnade.manifests.model.slot_blocks import FREED_SLOTS, SLOT_BLOCK, UPGRADED_SLOTS
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot

_TRIES = 10
"""The most tries of an upgrade beside other upgrades. One of them succeeds at the first try."""


@public
@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """What an upgrade changes: the `features` that it enables, and the epoch that says so.

    `epoch` is None in a dry run, and if no feature is missing. Versions of Colonnade that do not
    know one of the features refuse the database from that epoch on. Slots up to `kept_slots` are
    never freed: the stub of each stays for ever. It is 0 if the upgrade frees no further slots.
    """

    dry_run: bool
    features: tuple[str, ...]
    epoch: int | None
    kept_slots: int

    def __str__(self) -> str:
        if not self.features:
            return "The database has all features of this version; there is nothing to upgrade."
        names = ", ".join(self.features)
        enabled = "would enable" if self.epoch is None else f"enabled in epoch {self.epoch}"
        said = [f"The upgrade {enabled}: {names}."]
        if self.kept_slots:
            said.append(f"Each of the epochs 1 to {self.kept_slots} keeps a file in the log.")
        said.append(
            "Versions of Colonnade that do not know these features cannot read or write the"
            " database from then on, and there is no way back."
        )
        return " ".join(said)


def upgrade(log: Log, *, dry_run: bool = False, slot_block: int = SLOT_BLOCK) -> UpgradeResult:
    """Enable the features that new databases have and this one lacks. Moves and rewrites nothing.

    Safe beside readers, writers and vacuums of this version. Versions that do not know the features
    refuse the database at their next look. An upgrade cannot be undone. `slot_block` is the
    number of slots that vacuum frees together. Cost: as a commit.

    Raises InvalidInputError for a read-only store, NotFoundError for an absent database, and
    ConflictError if concurrent upgrades and writers win ten times. After CommitUnknownError, call
    it again: the second call does nothing if the first one has succeeded. Raises StoreError.
    """
    if not dry_run:
        log.store.require_writable()
    head = log.read_head()
    for attempt in range(_TRIES):
        operation = _enabling(head, slot_block)
        if operation is None:
            return UpgradeResult(dry_run, (), None, 0)
        if dry_run:
            return _result(operation, None, head.epoch + 1)
        change = Change(new_transaction_id(), "upgrade", (operation,), fresh=True)
        try:
            epoch = log.commit(change, head).epoch
        except ConflictError:
            if attempt == _TRIES - 1:
                raise
            head = log.read_head()
        else:
            return _result(operation, epoch, epoch)
    raise AssertionError("unreachable")


def _enabling(head: Snapshot, slot_block: int) -> EnableFeatures | None:
    """Return the operation that enables what a database lacks; None if it lacks nothing."""
    slots = (FREED_SLOTS, UPGRADED_SLOTS) if head.blocks is None else ()
    known = head.reader_features & head.writer_features
    shared = () if SHARED_EPOCHS in known else (SHARED_EPOCHS,)
    missing = tuple(sorted((*slots, *shared)))
    if not missing:
        return None
    return EnableFeatures(reader=missing, writer=missing, slot_block=slot_block if slots else None)


def _result(operation: EnableFeatures, epoch: int | None, kept: int) -> UpgradeResult:
    kept_slots = 0 if operation.slot_block is None else kept
    return UpgradeResult(epoch is None, operation.reader, epoch, kept_slots)
