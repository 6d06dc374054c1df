"""The changes of an epoch. Appends that waited for a turn at the same time may share one epoch.

Spec: docs/spec/epoch-log.md#shared-epochs
"""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.model.epoch import Epoch, FurtherChange
from colonnade.manifests.model.operations import AddRowSet, AddRowSets


def transactions_of(epoch: Epoch) -> tuple[str, ...]:
    """Return the transactions of all changes of an epoch, the first change first."""
    return (epoch.transaction, *(each.transaction for each in epoch.further or ()))


def changes_of(epoch: Epoch) -> Sequence[Epoch]:
    """Return the changes of an epoch, each as an epoch of the same number with that change alone.

    The results describe changes. They are not epochs of the log, except for the only change of an
    epoch.
    """
    return tuple(_change(epoch, number) for number in range(len(epoch.further or ()) + 1))


def find_change(epoch: Epoch | None, transaction: str) -> Epoch | None:
    """Return the change of a transaction as `changes_of` does; None if the epoch lacks it."""
    transactions = () if epoch is None else transactions_of(epoch)
    if epoch is None or transaction not in transactions:
        return None
    return _change(epoch, transactions.index(transaction))


def _change(epoch: Epoch, number: int) -> Epoch:
    """Return one change of an epoch. Number 0 is the change that the epoch itself describes."""
    if not epoch.further:
        return epoch
    begin = len(epoch.ops) - sum(each.ops for each in epoch.further[max(number - 1, 0) :])
    if number == 0:
        return epoch.model_copy(update={"further": None, "ops": epoch.ops[:begin]})
    each = epoch.further[number - 1]
    own = {name: getattr(each, name) for name in FurtherChange.model_fields}
    own |= {"further": None, "ops": epoch.ops[begin : begin + each.ops]}
    return epoch.model_copy(update=own)


def only_adds(epoch: Epoch) -> bool:
    """Return whether an epoch adds RowSets and does nothing else. No two such epochs conflict."""
    return all(isinstance(op, AddRowSet | AddRowSets) for op in epoch.ops)


def problem_of(epoch: Epoch) -> str | None:
    """Return why the changes of an epoch contradict each other, for an error; None if they do not.

    Requires: `epoch.further` is not None.
    """
    further = epoch.further or ()
    transactions = transactions_of(epoch)
    if not further or sum(each.ops for each in further) >= len(epoch.ops):
        return "has a change without operations"
    if len({*transactions}) < len(transactions):
        return "holds one transaction twice"
    if any(each.base >= epoch.epoch for each in further):
        return "holds a change that was planned on a later epoch"
    return None if only_adds(epoch) else "shares its number with a change that is not an append"
