"""The changes of a table between two epochs: what `ArrowTable.changes` returns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.scan.arrow_rows import ArrowRows
from colonnade.tableformat.table.change_plan import ChangePlan, ChangeQuery, plan_changes
from colonnade.tableformat.types.sound_arrays import with_whole_structs

Newest: TypeAlias = Callable[[], tuple[Snapshot, TableState]]
"""Returns the newest state of a database, and a table in it."""

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 5.0


def table_changes(log: Log, newest: Newest, asked: ChangeQuery) -> Changes:
    """Return the changes that are asked for. Raises as `ArrowTable.changes`."""
    plan = plan_changes(log, *newest(), asked)
    return Changes(plan, newest if asked.follow else None)


@public
class Changes(ArrowRows):
    """The changes of a table in a range of epochs, as rows. Reads nothing until rows are asked for.

    A row has the columns of the table, and

        _change_type        insert, delete, update_preimage or update_postimage
        _commit_version     the epoch
        _commit_timestamp   the date of the epoch
        _row_handler        where the row is stored: RowSet * 2**32 + row

    An update has two rows: the row before it and the row after it. Batches are in the order of the
    epochs. In one epoch, a batch of rows before updates precedes the batch of the same rows after
    them, in the same order.
    """

    def __init__(self, plan: ChangePlan, newest: Newest | None = None) -> None:
        """With `newest`, the feed has no end: it goes on with all epochs after those of `plan`."""
        self._plan = plan
        self._newest = newest

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the rows."""
        return self._plan.feed.schema

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self.schema.names)

    @property
    def start(self) -> int:
        """The first epoch of the range."""
        return self._plan.span.first

    @property
    def end(self) -> int:
        """The last epoch of the range. A feed that follows its table also reads later ones."""
        return self._plan.span.last

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the changes as record batches, holding about two blocks of every column.

        It also holds a bitmap for each RowSet that one epoch has touched; net changes hold one for
        each RowSet that the whole range has touched. A feed that follows its table waits for new
        epochs, with pauses from 50 ms to 5 s, and has no end. Raises NotFoundError if retention
        removes an epoch before it was read, and when the table is dropped, even if it is restored
        later; CorruptionError, StoreError.
        """
        return with_whole_structs(self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        plan, feed = self._plan, self._plan.feed
        if self._newest is None:
            for found in plan.differences():
                yield from feed.rows(found)
            return
        before, seen_ms = plan.before(), feed.now_ms
        head, pause = plan.head, _FIRST_PAUSE_S
        while True:
            if head.epoch > before.epoch:
                for found in plan.after(before, head.epoch, seen_ms):
                    yield from feed.rows(found)
                before, pause = head, _FIRST_PAUSE_S
            else:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            head, table = self._newest()
            if table.created_epoch > before.epoch:
                raise NotFoundError(
                    f"Table {table.name!r} was dropped, and restored by epoch"
                    f" {table.created_epoch}; read its changes from that epoch on."
                )
            seen_ms = feed.reader.query_ms(head)

    def to_arrow(self) -> pa.Table:
        """Read all changes into memory. Raises InvalidInputError for a feed without an end."""
        if self._newest is not None:
            raise InvalidInputError(
                "A feed that follows its table has no end; iterate over it, or over its to_batches."
            )
        return pa.Table.from_batches(self.to_batches(), self.schema)

    def __repr__(self) -> str:
        net = ", net=True" if self._plan.net else ""
        follow = ", follow=True" if self._newest is not None else ""
        return f"Changes(start={self.start}, end={self.end}, columns={self.columns}{net}{follow})"
