"""How far a stream is behind its table. Costs little, because each batch asks for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.streams.offsets import Offset


@dataclass(frozen=True, slots=True)
class Backlog:
    """What a stream has not read.

    `epochs` count those of other tables, too. `bytes` are the stored bytes of the live RowSets that
    these epochs have added, by compactions as well. `seconds` are the time from the first of the
    epochs to the newest.
    """

    epochs: int = 0
    bytes: int = 0
    seconds: int = 0


def backlog(reader: LogReader, head: Snapshot, table: TableState, offset: Offset) -> Backlog:
    """Return how far an offset is behind the newest state, `head`, which has the table.

    Costs nothing if the stream has read all. Otherwise it costs a GET for the first epoch, one for
    each segment with RowSets that the stream has not read, and one for another segment. Raises
    CorruptionError, StoreError.
    """
    epochs = max(0, table.changed_epoch + 1 - offset.epoch)
    if not epochs and not offset.in_snapshot:
        return Backlog()
    # Retention may have freed the slot of the next epoch.
    first = read_slot(reader.store, max(offset.epoch, head.floor))
    seconds = 0 if first is None else (head.time_ms - first.time_ms) // 1000
    return Backlog(epochs, _bytes(reader, table, offset), seconds)


def _bytes(reader: LogReader, table: TableState, offset: Offset) -> int:
    """Return the stored bytes of the RowSets that a stream has not read."""
    whole, total = table.rowsets, 0
    segments = sorted(whole.segments, key=lambda ref: ref.last_id, reverse=True)
    least = offset.rowset  # later epochs have greater ids, so all RowSets with lower ids are read
    for part in ((), *((ref,) for ref in segments)):
        if part and part[0].last_id < least:
            break
        added = () if part else whole.added
        live = reader.rowsets.read_entries(
            replace(table, rowsets=replace(whole, segments=part, added=added))
        )
        new = live.ids >= least
        if not offset.in_snapshot:
            new &= live.epochs >= offset.epoch
        total += int(live.byte_counts[new].sum())
        half = np.flatnonzero(new & (live.ids == offset.rowset))
        for each in half.tolist():
            rows = int(live.rows[each])
            total -= int(live.byte_counts[each]) * min(offset.row, rows) // rows
        least = max(least, 1 + int(live.ids[~new].max(initial=-1)))
    return total
