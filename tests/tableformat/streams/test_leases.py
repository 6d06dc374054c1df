"""A vacuum keeps what a stream has not read, for as long as the table keeps its epochs."""

from __future__ import annotations

from pathlib import Path

import colonnade
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Lease
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.streams.leases import lease_ms, lease_name, renew_lease
from colonnade.tableformat.streams.offsets import Offset, parse_offset
from tests.tableformat.streams.reading import Reading, appended, keys

HOUR_MS = 3_600_000


def renewed(reading: Reading, name: str) -> Snapshot | None:
    table = reading.table()
    log: Log = table._log
    offset: Offset = parse_offset(str(reading.offset))
    return renew_lease(log, log.reader.read_head(), table._state, name, offset)


def test_a_stream_reads_on_after_a_vacuum_that_it_was_behind(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    head = renewed(reading, lease_name("/checkpoint/sources/0"))
    assert head is not None
    for i in range(3):
        table().append([{"k": i + 1, "v": 0, "s": "x"}])
        table().optimize().option("min-rowsets", 2).executeCompaction()
    result = table().vacuum(retention_hours=0, force=True)
    assert any("lease" in each for each in result.held_by)
    assert keys(reading.trigger()) == [1, 2, 3]


def test_a_lease_is_renewed_and_moved_only_after_half_of_its_time(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading, name = Reading(table), lease_name("/checkpoint/sources/0")
    reading.trigger()
    first = renewed(reading, name)
    assert first is not None
    (lease,) = first.leases.values()
    assert lease.until_ms - first.time_ms <= lease_ms(table()._state) == 168 * HOUR_MS
    table().append([{"k": 1, "v": 0, "s": "x"}])
    reading.trigger()
    assert renewed(reading, name) is None
    table().alter(colonnade.AlterProperties({"retention.hours": "800"}))
    second = renewed(reading, name)
    assert second is not None
    (moved,) = second.leases.values()
    assert isinstance(moved, Lease)
    assert moved.epoch > lease.epoch
    assert moved.job != lease.job


def test_two_copies_of_a_stream_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Both move the lease at once from the same state, and the later one ends the earlier."""
    table = appended(tmp_path, [1, 1])
    name = lease_name("/checkpoint/sources/0")
    readings = [Reading(table, start=start) for start in (1, 2, 3)]
    for each in readings:
        each.trigger()
    log, head, state = table()._log, table()._log.reader.read_head(), table()._state
    offsets = [parse_offset(str(each.offset)).beginning() for each in readings]
    first = renew_lease(log, head, state, name, offsets[0])
    second = renew_lease(log, head, state, name, offsets[1])
    assert first is not None
    assert second is not None
    assert sorted(each.epoch for each in second.leases.values()) == [0, 1]
    table().alter(colonnade.AlterProperties({"retention.hours": "800"}))
    third = renew_lease(log, log.reader.read_head(), table()._state, name, offsets[2])
    assert third is not None
    assert [each.epoch for each in third.leases.values()] == [2]


def test_a_lease_of_epochs_that_are_gone_is_not_taken(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    for i in range(3):
        table().append([{"k": i, "v": 0, "s": "x"}])
    table().vacuum(retention_hours=0, force=True)
    assert renewed(reading, lease_name("c")) is None
