"""Appends that wait for a turn, and that the writer with the turn puts into its own epoch. Pure.

A writer that waits leaves a note of its change. The writer with the turn may put that change into
its own epoch. The first writer then finds its transaction in the log, as if another process had
sent the change again. Notes are hints: a note that is lost, old or repeated does no harm.
Spec: docs/spec/epoch-log.md#shared-epochs
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.recent_epochs import RecentEpoch
from colonnade.manifests.engine import user_name
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.codec import decode_model, encode_model
from colonnade.manifests.model.entries import Count, TableIdText
from colonnade.manifests.model.epoch import Epoch, FurtherChange, TransactionIdText
from colonnade.manifests.model.operations import AddRowSet, AddRowSets
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.snapshot import Snapshot


class Note(Model):
    """An append whose writer waits for its turn.

    Up to epoch `followed`, its writer has found no conflict with the append, and not the append
    itself. `head` is the transaction of epoch `followed`.
    """

    database: TableIdText
    followed: Count
    head: TransactionIdText
    change: FurtherChange
    ops: tuple[AddRowSet, ...]


def can_share(change: Change, head: Snapshot) -> bool:
    """Return whether a change may share an epoch with other changes: it only adds RowSets."""
    return (
        bool(change.ops)
        and all(isinstance(op, AddRowSet | AddRowSets) for op in change.ops)
        and change.expect_epoch is None
        and not (change.rows or change.reads or change.keys or change.keyed)
    )


def encode_note(
    change: Change, base: int, head: Snapshot, engine: str, limits: Limits
) -> bytes | None:
    """Return the note of a change, as a line; None if the change is too long for a note.

    Requires: `can_share(change, head)`, and the change may follow `head`.
    """
    ops = tuple(op for op in change.ops if isinstance(op, AddRowSet))
    if len(ops) < len(change.ops):
        return None
    described = FurtherChange(
        transaction=change.transaction,
        base=base,
        operation=change.operation,
        parameters=dict(change.parameters),
        engine=engine,
        user=user_name(),
        metrics=dict(change.metrics) or None,
        ops=len(ops),
    )
    note = Note(
        database=head.database,
        followed=head.epoch,
        head=head.transaction,
        change=described,
        ops=ops,
    )
    try:
        line = encode_model(note)
    except ValueError:
        return None  # Text that is not valid Unicode. The writer's own turn tells it so.
    return line if len(line) <= limits.note_bytes else None


def decode_notes(data: bytes) -> list[Note]:
    """Return the notes among some lines. Leaves out lines that are damaged or something else."""
    found: list[Note] = []
    for line in data.splitlines(keepends=True):
        try:
            note = decode_model(Note, line, "a note")
        except ColonnadeError:
            continue
        if note.change.ops == len(note.ops):
            found.append(note)
    return found


def admit(
    notes: Iterable[Note],
    mine: Change,
    head: Snapshot,
    recent: Sequence[RecentEpoch],
    limits: Limits,
) -> list[Note]:
    """Return the notes whose changes may share the epoch after `head` with a change.

    `recent` are the last epochs up to `head`, without gaps. A note is left out if an epoch after
    the one that its writer has followed is not among `recent`, is not an append, or holds the
    note's transaction. It is also left out if its writer has followed another epoch of that
    number: an object in a freed slot, or an epoch of a copy of the database.
    """
    oldest = head.epoch - len(recent)
    heads = [each.previous for each in recent] + [head.transaction]
    admitted: dict[str, Note] = {}
    for note in notes:
        transaction = note.change.transaction
        if note.database != head.database or not oldest <= note.followed <= head.epoch:
            continue
        if note.head != heads[note.followed - oldest]:
            continue
        met = recent[note.followed - oldest :]
        if all(each.appends and transaction not in each.transactions for each in met):
            admitted.setdefault(transaction, note)
    admitted.pop(mine.transaction, None)
    return list(admitted.values())[: limits.shared_changes]


def share(epoch: Epoch, notes: Sequence[Note]) -> Epoch:
    """Return an epoch that also holds the changes of notes."""
    if not notes:
        return epoch
    further = tuple(note.change for note in notes)
    ops = (*epoch.ops, *(op for note in notes for op in note.ops))
    return epoch.model_copy(update={"further": further, "ops": ops})


def statement_of(transaction: str) -> bytes:
    """Return the beginning of the line that states that a change of a note is durable."""
    return b"durable %b " % transaction.encode()


def state_durable(epoch: Epoch) -> bytes:
    """Return the lines that state that the changes of notes in an epoch are durable."""
    return b"".join(_line(each.transaction, epoch) for each in epoch.further or ())


def is_stated(transaction: str, epoch: Epoch, stated: bytes) -> bool:
    """Return whether a writer has stated that a change is committed and durable in this epoch."""
    return _line(transaction, epoch) in stated


def _line(transaction: str, epoch: Epoch) -> bytes:
    return statement_of(transaction) + b"%020d\n" % epoch.epoch
