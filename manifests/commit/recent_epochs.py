"""The last epochs that a process has followed in a log, as far as the notes of writers need them.

A note names the last epoch that its writer has followed. Another writer may use the note only
if it knows every later epoch. So a process remembers the epochs of its earlier commits.
Spec: docs/spec/epoch-log.md#shared-epochs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.members import only_adds, transactions_of
from colonnade.manifests.state.snapshot import Snapshot

KEPT = 64
"""The most epochs that are remembered."""


@dataclass(frozen=True, slots=True)
class RecentEpoch:
    """An epoch that was followed lately, as far as notes need it.

    `transaction` is the id of its first change, and `transactions` has the ids of all its changes.
    `previous` is the `transaction` of the epoch before it, None for epoch 0. `appends` says whether
    the epoch only adds RowSets.
    """

    epoch: int
    transaction: str
    previous: str | None
    transactions: frozenset[str]
    appends: bool


class RecentEpochs:
    """The last epochs that were followed, without gaps. It can be shared between threads.

    A thread may forget what another one adds at the same time. Then fewer notes can be used.
    """

    def __init__(self) -> None:
        # A new value replaces it as a whole, so that each thread sees epochs that follow each
        # other.
        self._run: tuple[RecentEpoch, ...] = ()

    def add(self, epoch: Epoch) -> None:
        """Remember an epoch. Forgets the earlier ones if it does not follow the last of them."""
        run = self._run
        known = _up_to(run, epoch.epoch)
        if known and known[-1].transaction == epoch.transaction:
            return
        if known and (known[-1].epoch + 1, known[-1].transaction) != (epoch.epoch, epoch.previous):
            known = ()
        facts = RecentEpoch(
            epoch.epoch,
            epoch.transaction,
            epoch.previous,
            frozenset(transactions_of(epoch)),
            only_adds(epoch),
        )
        self._run = (*known, facts)[-KEPT:]

    def up_to(self, head: Snapshot) -> Sequence[RecentEpoch]:
        """Return the last epochs up to that of a state, in order and without gaps, or none."""
        run = _up_to(self._run, head.epoch)
        return run if run and run[-1].transaction == head.transaction else ()


def _up_to(run: tuple[RecentEpoch, ...], epoch: int) -> tuple[RecentEpoch, ...]:
    """Return the epochs of a run that end with a number or earlier."""
    if not run or run[-1].epoch <= epoch:
        return run
    return run[: max(0, epoch - run[0].epoch + 1)]
