"""The epochs of a span of the log, each with the state before it and the state after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from colonnade.manifests.commit.rebase.targets import numbered
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.epochs.slots import missing_error
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot, TableState


@dataclass(frozen=True, slots=True)
class Step:
    """What one epoch did to a table. The table exists after it, and perhaps before it."""

    table: TableId
    before: Snapshot
    epoch: Epoch
    after: Snapshot

    @property
    def number(self) -> int:
        """The number of the epoch."""
        return self.epoch.epoch

    @property
    def earlier(self) -> TableState | None:
        """The table right before the epoch; None if the epoch creates it."""
        return self.before.tables.get(self.table)

    @property
    def later(self) -> TableState:
        """The table right after the epoch."""
        return self.after.tables[self.table]

    def operations(self) -> Iterator[tuple[Operation, int]]:
        """Yield the operations on the table, and the id of the first RowSet that each adds."""
        for operation, first in numbered(self.before, self.epoch):
            if getattr(operation, "table", None) == self.table:
                yield operation, first


def read_steps(
    reader: LogReader,
    table: TableId,
    before: Snapshot,
    last: int,
    *,
    statics: bool = False,
) -> Iterator[Step]:
    """Yield the epochs after a state, up to `last`, that changed a table. Ends where it is dropped.

    With `statics`, also those that changed its static values. Holds one state. Costs a GET for each
    epoch. Requires that `last` could be read just before. Raises NotFoundError if retention has
    removed an epoch meanwhile; CorruptionError, StoreError.
    """
    slots = SlotReader(reader.store, ahead=AHEAD, last=last)
    while before.epoch < last:
        number = before.epoch + 1
        epoch = slots.read(number, before.blocks)
        if epoch is None:
            reader.read_at(number)
            raise missing_error(reader.store, number)
        after = apply_epoch(before, epoch)
        here = after.tables.get(table)
        if here is None and before.tables.get(table) is not None:
            return
        if here is not None and number in (here.changed_epoch, statics and _of_statics(here)):
            yield Step(table, before, epoch, after)
        before = after


def _of_statics(table: TableState) -> int | None:
    """Return the last epoch that changed the static values of a table, if it has any."""
    return None if table.statics is None else table.statics.changed_epoch
