"""What a stream of one table reads between two offsets, and where a trigger ends.

Planning is the same before and after a restart: it depends on the log and on the offsets.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import NEW
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.feed.steps import Step, read_steps
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.feed.changes import Feed
from colonnade.tableformat.feed.difference import Difference, difference
from colonnade.tableformat.feed.same_key import with_same_keys
from colonnade.tableformat.feed.shown_types import refuse_other_types
from colonnade.tableformat.feed.tasks import RowsTask, tasks_of
from colonnade.tableformat.scan.other_columns import with_columns_of, with_nulls
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.streams.admission import Admission, Limits
from colonnade.tableformat.streams.offsets import Offset, Place, unfit_error
from colonnade.tableformat.streams.pieces import Piece, inserted_pieces, whole_piece

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StreamRules:
    """What a stream shows, and what stops it.

    With `changes`, it shows each change, and without `updates` an update as a deleted and an
    inserted row. Else it shows inserted rows, and an epoch that deletes or updates rows stops it.
    With `ignore_deletes`, an epoch that only deletes rows does not. With `ignore_changes`, none
    does, and the new versions of updated rows are shown. With `skip_changes`, such an epoch is left
    out.

    Removed epochs stop the stream with `fail_on_loss`, and new columns with `fail_on_new_columns`.
    """

    changes: bool = False
    updates: bool = True
    ignore_deletes: bool = False
    ignore_changes: bool = False
    skip_changes: bool = False
    fail_on_loss: bool = True
    fail_on_new_columns: bool = True


class StoppedError(InvalidInputError):
    """The stream cannot go on with an epoch. It can read the epochs before this one."""

    def __init__(self, message: str, epoch: int = 0) -> None:
        super().__init__(message)
        self.epoch = epoch


@dataclass(frozen=True, slots=True)
class Trigger:
    """What one trigger reads: some `pieces`, and the offset after them, `end`."""

    end: Offset
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class TableStream:
    """A stream of one table, whose rows have the columns of the table `shown`.

    `known` is a state that an earlier trigger has read, perhaps long ago. It saves reading the
    state that a trigger begins after, if it is that one.

    Methods raise CorruptionError and StoreError, as the reader of the log does.
    """

    reader: LogReader
    shown: TableState
    rules: StreamRules
    known: Snapshot | None = None

    def feed(self) -> Feed:
        """Return what names and shows the rows of the stream."""
        shown = self.shown
        return Feed(self.reader, shown, shown.schema, updates=self.rules.updates)

    def trigger(self, head: Snapshot, start: Offset, limits: Limits, last: int) -> Trigger:
        """Return what a trigger reads that begins at `start` and reads no epoch after `last`.

        It takes as many pieces as fit the limits, and at least one if there is one. Epochs that
        bring nothing to show count for nothing, and any number of them is passed. The offset stays
        where it is if the table has not changed, so that other tables cause no batch. Raises
        StoppedError if the first epoch with something to show stops the stream, and else as
        `pieces`.
        """
        if self._has_all(head, start):
            return Trigger(start, ())
        admission, found = Admission(limits), list[Piece]()
        end = max(start.place, Place(last + 1))
        try:
            for piece in self.pieces(head, start, last):
                if not admission.admits(piece):
                    end = piece.place
                    break
                found.append(piece)
        except StoppedError as error:
            if not found:
                raise
            end = Place(error.epoch)
        return Trigger(start.at(end), tuple(found))

    def between(self, head: Snapshot, start: Offset, end: Offset) -> Iterator[Piece]:
        """Yield the pieces from one offset up to another one of the same stream.

        Raises as `pieces`; InvalidInputError for an offset after the newest epoch.
        """
        last = end.epoch if end.place > Place(end.epoch) else end.epoch - 1
        self._refuse_read(head, last)
        for piece in self.pieces(head, start, last):
            if piece.place >= end.place:
                return
            yield piece

    def pieces(self, head: Snapshot, start: Offset, last: int) -> Iterator[Piece]:
        """Yield the pieces from an offset on, up to the epoch `last`. `head` is the newest state.

        Costs a GET for each epoch, and the reads of `difference` for each one that changes the
        table. Without `known`, it also costs as `LogReader.read_at`. Costs nothing if the table has
        not changed. Raises InvalidInputError for an offset of another table, after the newest
        epoch, or where no piece begins. Raises NotFoundError if the table was dropped, or if
        retention has removed what comes next, unless the rules say otherwise. Raises StoppedError
        at an epoch that stops the stream.
        """
        if self._has_all(head, start):
            return
        table, before = self._table(head, start), None
        if start.in_snapshot:
            before = self._kept(head, start.epoch)
            if before is not None:
                yield from self._rows_at(before, start.place)
        else:
            before = self._before(head, start.epoch)
        if before is None:
            before = self._after_loss(head, start)
        if table.changed_epoch > before.epoch:
            with self.reader.naming_removals(before.epoch):
                # Later epochs are of other tables.
                until = min(last, table.changed_epoch)
                for step in read_steps(self.reader, table.id, before, until):
                    yield from self._of_step(head, step, start.place)

    def _refuse_read(self, head: Snapshot, epoch: int) -> None:
        """Refuse a stream that has read an epoch which does not exist: it would miss what comes."""
        if epoch > head.epoch:
            raise InvalidInputError(
                f"The checkpoint of the stream has read epoch {epoch} of table"
                f" {self.shown.name!r}, whose newest epoch is {head.epoch}: the database is an"
                " older copy, or the checkpoint is damaged; start the stream with another"
                " checkpointLocation."
            )

    def _has_all(self, head: Snapshot, start: Offset) -> bool:
        """Return whether an offset is after all that the table has."""
        return not start.in_snapshot and self._table(head, start).changed_epoch < start.epoch

    def _table(self, head: Snapshot, start: Offset) -> TableState:
        self._refuse_read(head, start.epoch - 1)
        table = head.tables.get(TableId(start.table))
        name = self.shown.name
        if (start.database, start.table) != (head.database, self.shown.id):
            raise InvalidInputError(
                f"The checkpoint of the stream belongs to another table than {name!r}: that one was"
                " dropped and made again, or this stream reads another table; start the stream with"
                " another checkpointLocation."
            )
        if table is None or table.created_epoch > max(start.epoch, start.began):
            raise dropped_error(name)
        return table

    def _kept(self, head: Snapshot, epoch: int) -> Snapshot | None:
        """Return the state at an epoch; None if retention has removed it or the epoch after it."""
        if epoch < head.floor:
            return None
        known = self.known
        if known is not None and (known.database, known.epoch) == (head.database, epoch):
            return known
        return self.reader.read_at(epoch, head=head)

    def _before(self, head: Snapshot, epoch: int) -> Snapshot | None:
        """Return a state from which the changes since an epoch can be read; None if none is left.

        It is the state right before the epoch, or a later one if the table had not changed yet.
        """
        if epoch > head.floor:
            return self._kept(head, min(epoch - 1, head.epoch))
        floor = self.reader.read_at(head.floor, head=head)
        there = floor.tables.get(self.shown.id)
        return floor if there is not None and there.changed_epoch < epoch else None

    def _after_loss(self, head: Snapshot, start: Offset) -> Snapshot:
        """Return the oldest state of the log. A stream that may lose rows goes on with it."""
        lost = f"epochs up to {head.floor} of table {self.shown.name!r} were removed by retention"
        if self.rules.fail_on_loss:
            raise NotFoundError(
                f"A stream reads on from epoch {start.epoch}, but {lost}; start it with another"
                " checkpointLocation, or set failOnDataLoss to false to go on without them."
            )
        _log.warning("A stream goes on after epoch %d without what %s.", head.floor, lost)
        return self.reader.read_at(head.floor, head=head)

    def _rows_at(self, state: Snapshot, after: Place) -> Iterator[Piece]:
        """Yield the pieces of all rows that the table has in a state."""
        table = state.tables[self.shown.id]
        self._check_columns(table, state.epoch)
        _check_rowset(table, after)
        view = self.reader.rowsets.view(table, None, self.reader.query_ms(state))
        view = replace(view, columns=with_columns_of(table, self.shown, in_feed=True).schema)
        refuse_other_types(view, self.shown.schema)
        plan = plan_scan(view, state.epoch, self.shown.schema.names)
        yield from inserted_pieces(state.epoch, state.time_ms, plan, after)

    def _of_step(self, head: Snapshot, step: Step, after: Place) -> Iterator[Piece]:
        """Yield the pieces of an epoch that changed the table."""
        self._check_columns(step.later, step.number)
        if step.number == after.epoch:
            _check_rowset(step.later, after)
        reader = self.reader
        found = difference(reader, (step,), self.shown, reader.query_ms(head))
        if found is None:
            return
        if self.rules.changes:
            found = with_same_keys(reader.store, found)
        elif found.deleted or found.updated:
            found = self._inserted_by_change(step, found)
        number, time_ms = step.number, step.epoch.time_ms
        tasks = tuple(tasks_of(self.feed(), found, self.shown.schema.names))
        if found.deleted or found.updated:
            piece = whole_piece(number, time_ms, tasks)
            if piece is not None and piece.place < after:
                raise unfit_error(after)
            if piece is not None:
                yield piece
            return
        for task in tasks:
            assert isinstance(task, RowsTask)
            yield from inserted_pieces(number, time_ms, task.plan, after)

    def _inserted_by_change(self, step: Step, found: Difference) -> Difference:
        """Return the rows that a stream of inserted rows shows of an epoch that changes others."""
        rules, only_deletes = self.rules, not (found.inserted or found.updated)
        inserted = dict[int, FrozenBitMap]()
        if rules.ignore_changes and not rules.skip_changes:
            inserted.update(found.inserted)
            for each in found.updated:
                new = FrozenBitMap((each.origins.array() != NEW).nonzero()[0])
                inserted[each.rowset.id] = new | inserted.get(each.rowset.id, FrozenBitMap())
        elif not (rules.skip_changes or (rules.ignore_deletes and only_deletes)):
            what = "deletes" if only_deletes else "updates or overwrites"
            ways = "ignoreDeletes, ignoreChanges" if only_deletes else "ignoreChanges"
            raise StoppedError(
                f"Epoch {step.number} {what} rows of table {self.shown.name!r}, and the stream"
                " shows inserted rows alone; read its changes with readChangeFeed, or set one of"
                f" the options {ways} and skipChangeCommits.",
                step.number,
            )
        return replace(found, deleted={}, inserted=inserted, updated=())

    def _check_columns(self, table: TableState, epoch: int) -> None:
        """Stop before an epoch whose columns a later start of the stream would show.

        Raises StoppedError, unless only new columns differ and the rules allow them.
        """
        if epoch <= self.shown.changed_epoch:
            return
        here, shown = _columns(table.schema), _columns(self.shown.schema)
        if here == shown:
            return
        added = shown.items() <= here.items()
        if added and not self.rules.fail_on_new_columns:
            return
        option = ", or set failOnNewColumns to false to go on without new columns" if added else ""
        raise StoppedError(
            f"Table {self.shown.name!r} has other columns from epoch {epoch} on than the stream"
            f" began with; start the stream again to read them{option}.",
            epoch,
        )


def _check_rowset(table: TableState, place: Place) -> None:
    """Refuse a place in a RowSet that the table does not have yet at its epoch."""
    if place.rowset and place.rowset >= table.next_rowset_id:
        raise unfit_error(place)


def dropped_error(name: str) -> NotFoundError:
    """Return the error for a stream of a table that was dropped."""
    return NotFoundError(
        f"Table {name!r} was dropped while a stream read it; start the stream with another"
        " checkpointLocation once there is a table."
    )


def _columns(schema: TableSchema) -> dict[int, tuple[str, object]]:
    """Return names and types of columns by ids, without what says which values may be NULL."""
    return {each.id: (each.name, with_nulls(each).type) for each in schema.fields}
