"""The epoch that a change becomes, right after the state before its slot.

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from colonnade.manifests.commit.conflicts import check_head
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.commit.rebase.fill import filled
from colonnade.manifests.commit.rebase.keyed import resolved
from colonnade.manifests.commit.statics import with_static_values
from colonnade.manifests.engine import user_name
from colonnade.manifests.epochs.dating import Clock
from colonnade.manifests.errors import CorruptionError, InvalidInputError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot

Resolver: TypeAlias = Callable[[Carried, Snapshot], Carried]
"""Returns what a change is at a slot, from the state before the slot. Raises ConflictError."""


def _with_statics(carried: Carried, head: Snapshot) -> Carried:
    """A concurrent writer may have given a table its first static column since the base."""
    change = with_static_values(carried.change, head)
    return carried if change is carried.change else replace(carried, change=change)


def _checked(carried: Carried, head: Snapshot) -> Carried:
    check_head(carried.change, carried.base, head, carried.log.keeps)
    return carried


RESOLVERS: tuple[Resolver, ...] = (
    _with_statics,
    _checked,
    resolved,
    filled,
)
"""What is decided right before the slot, in this order: what costs nothing comes first."""


class NextEpoch(NamedTuple):
    """An epoch with the change, its bytes, and the state after it."""

    epoch: Epoch
    data: bytes
    after: Snapshot


def next_epoch(carried: Carried, head: Snapshot, clock: Clock, engine: str) -> Epoch:
    """Return the epoch after `head` that commits a change. It is valid for that slot only.

    Writes the deletion vectors and segments that the epoch names. Raises the errors of `check_head`
    and of `KeyedRows.resolve`; StoreError.
    """
    for resolve in RESOLVERS:
        carried = resolve(carried, head)
    change = carried.change
    operations = carried.write_operations()
    metrics = carried.metrics(operations)
    date = clock.date(head.time_ms)
    return Epoch(
        epoch=head.epoch + 1,
        transaction=change.transaction,
        previous=head.transaction,
        base=carried.base.epoch,
        time_ms=date.time_ms,
        clock_ms=date.clock_ms,
        operation=change.operation,
        parameters=dict(change.parameters),
        engine=engine,
        user=user_name(),
        metrics=metrics or None,
        ops=operations,
    )


def fold_own(head: Snapshot, epoch: Epoch) -> Snapshot:
    """Fold an epoch before it is written, so that the log has no epoch that readers refuse."""
    try:
        return apply_epoch(head, epoch)
    except CorruptionError as error:
        raise InvalidInputError(f"This change cannot be committed. {error.message}") from error
