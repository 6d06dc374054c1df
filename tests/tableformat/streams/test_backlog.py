"""A stream knows how far it is behind, from the log and few segments of a checkpoint."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.limits import Limits as LogLimits
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.backlog import Backlog, backlog
from colonnade.tableformat.streams.offsets import Offset, parse_offset
from tests.faults import FaultyStore
from tests.log_samples import live, make_log
from tests.manifests.reading.test_live_rowsets import in_segments
from tests.tableformat.feed.test_histories import LIMITS, Longer
from tests.tableformat.streams.reading import Reading, any_limits, appended


def behind(reading: Reading) -> Backlog:
    head = reading.head()
    table = head.tables[reading.shown._state.id]
    return backlog(reading.source.reader, head, table, parse_offset(str(reading.offset)))


def unread_bytes(table: Any, reading: Reading) -> int:
    """The stored bytes after an offset, by a look at every RowSet."""
    offset = parse_offset(str(reading.offset))
    found = 0
    for each in table._log.rowsets.read(table._state):
        if each.id < offset.rowset or not (offset.in_snapshot or each.epoch >= offset.epoch):
            continue
        done = offset.row if each.id == offset.rowset else 0
        found += each.byte_count - each.byte_count * done // each.entry.rows
    return found


def test_a_stream_that_has_read_all_is_not_behind_and_reads_nothing_to_know_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Reading(appended(tmp_path, [2, 3]))
    reading.trigger()
    monkeypatch.delattr("colonnade.manifests.reading.live_rowsets.LiveRowSets.read_entries")
    assert behind(reading) == Backlog()


def test_the_rows_that_a_stream_begins_with_count_until_they_are_read(tmp_path: Path) -> None:
    table = appended(tmp_path, [2, 2, 2])
    reading = Reading(table, limits=Limits(files=1))
    found = []
    for _ in range(3):
        reading.trigger()
        found.append(behind(reading).bytes)
    assert found[0] == 2 * found[1] > found[2] == 0


def test_epochs_and_bytes_are_those_after_the_offset(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    for i in range(3):
        table().append([{"k": i, "v": 0, "s": "x"}])
    assert behind(reading).epochs == 3
    assert behind(reading).bytes == unread_bytes(table(), reading) > 0
    assert behind(reading).seconds >= 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_bytes_are_those_of_all_unread_rowsets_wherever_their_entries_are(seed: int) -> None:
    """In segments that overlap, in the state, and beside compactions."""
    rng = random.Random(f"backlog {seed}")
    limits = rng.choice((*LIMITS, LogLimits(listed_rowsets=1, segment_rowsets=4)))
    history = Longer("plain", rng, limits)
    reading = Reading(history.table, limits=any_limits(rng), start=2)
    reading.rules = type(reading.rules)(changes=True)
    for _ in range(25):
        history.turn()
        if "s2" in history.table().columns:
            history.table().rename_column("s2", "s")
        if rng.random() < 0.6:
            reading.trigger()
            reading.shown = history.table()
        if reading.offset is not None and behind(reading).epochs:
            assert behind(reading).bytes == unread_bytes(history.table(), reading)


def test_few_segments_are_read_of_a_table_that_has_many() -> None:
    """One with unread RowSets, and one with RowSets that are read, which tells where to stop."""
    store, log, table = in_segments(90, 40, 18, 8, 3, 1)
    offset = Offset(
        database="d", table=table.id, began=1, snapshot=False, epoch=table.changed_epoch
    )
    watched = FaultyStore(store)
    found = backlog(make_log(watched).reader, log.reader.read_head(), table, offset)
    assert found.bytes == live(log, table)[-1].byte_count
    assert len([call for call in watched.trace if "checkpoint" in str(call.name)]) == 2
