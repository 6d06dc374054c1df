"""Objects that a change needs and a vacuum has removed: a conflict, and no damage.

Spec: docs/spec/vacuum.md#conflicts
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.outcome import not_sent, perhaps_sent, removed_base
from colonnade.manifests.commit.vacuum_conflicts import check_removed, removes
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.named_objects import check_missing
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot


@contextmanager
def removals_are_conflicts(log: LogReader, planned: Change | str, base: Snapshot) -> Iterator[None]:
    """A block that reads objects which a change or its base names, such as files of a slow job.

    `planned` is the change, or the name of the operation if nothing of it was sent yet. A missing
    object is not damage if a vacuum since the base has removed it, or the base. It is an object of
    a statement then, which no epoch names yet. Raises ConflictError or CommitUnknownError, as
    `Log.commit_change` does. For a change that is not `fresh`, it may stay a CorruptionError,
    because an earlier send may be in the log.
    """
    try:
        yield
    except CorruptionError as error:
        change = Change("", planned, (), fresh=True) if isinstance(planned, str) else planned
        check_removals(log, change, base, error)
        raise


def check_removals(log: LogReader, change: Change, base: Snapshot, error: CorruptionError) -> None:
    """Raise the conflict that explains an error, if a vacuum since the base does.

    Costs a GET for each epoch since the base. Raises as `removals_are_conflicts`.
    """
    number = base.epoch + 1
    if is_freed(log.store, base.blocks, number):
        reason = removed_base(change, base)
        raise (
            not_sent(reason) if change.fresh else perhaps_sent(reason, change.transaction)
        ) from None
    while (found := read_slot(log.store, number)) is not None:
        if change.transaction == found.transaction:
            return
        check_removed(change, base, found)
        if change.fresh and removes(found, base.epoch):
            raise not_sent(
                f"Epoch {base.epoch}, on which {change.operation!r} was planned, was removed by the"
                f" vacuum of epoch {number};"
            ) from None
        if change.fresh:
            check_missing(error, found)
        number += 1
