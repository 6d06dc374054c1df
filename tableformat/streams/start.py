"""Where a stream begins that has no checkpoint yet."""

from __future__ import annotations

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.streams.offsets import Offset
from colonnade.tableformat.table.epochs.epoch_range import Bound, epoch_range

LATEST = "latest"
"""The start of a stream that shows only what is committed after it has begun."""


def first_offset(log: Log, head: Snapshot, table: TableState, start: Bound | None) -> Offset:
    """Return where a stream begins: with the rows that the table has, or with an epoch.

    `start` is an epoch, a time, a tag, or `LATEST`; None means the rows of the newest state. Raises
    NotFoundError for an epoch or a time of the future, and the errors of `epoch_range`.
    """
    if start is None or start == LATEST:
        began = head.epoch + (start == LATEST)
    else:
        began = epoch_range(log, head, table, start, None, allow_future=True).first
        if began > head.epoch + isinstance(start, int):
            raise NotFoundError(
                f"A stream of table {table.name!r} cannot begin with {start!s}, which is later than"
                f" its newest epoch, {head.epoch}; the start {LATEST!r} waits for the next one."
            )
    return Offset(
        database=head.database,
        table=table.id,
        began=began,
        snapshot=start is None,
        epoch=began,
    )
