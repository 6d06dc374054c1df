"""What streams of other formats lose, double or read again. Each trap has a test."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddColumn, AlterProperties
from colonnade.manifests.clock import moment
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.offsets import parse_offset
from colonnade.tableformat.streams.source import StoppedError, StreamRules
from tests.clocked import Clocked
from tests.tableformat.streams.reading import Reading, appended, keys

FEED = StreamRules(changes=True)


def row(k: int, **more: Any) -> list[dict[str, Any]]:
    return [{"k": k, "v": 0, "s": "x", **more}]


def test_a_stream_begins_with_the_rows_that_are_left_of_a_deleted_range(tmp_path: Path) -> None:
    fields = [pa.field("k", pa.int64(), nullable=False), ("v", pa.int64()), ("s", pa.string())]
    colonnade.create(tmp_path / "t", pa.schema(fields), sort_key=["k"])

    def table() -> Any:
        return colonnade.open(tmp_path / "t")

    table().append([each for k in range(6) for each in row(k)])
    table().delete_range("k < 2")
    reading, changes = Reading(table), Reading(table, FEED)
    assert keys(reading.trigger()) == [2, 3, 4, 5]
    assert len(changes.trigger()) == 4
    table().append(row(1))
    table().delete_range("k < 4")
    table().append(row(3))
    assert keys(reading.trigger()) == [1]
    with pytest.raises(StoppedError, match="deletes rows"):
        reading.trigger()
    ignoring = Reading(table, StreamRules(ignore_deletes=True), offset=reading.offset)
    assert keys(ignoring.trigger()) == [3]
    found = [(kind, int(k)) for _, kind, k, *_ in changes.trigger()]
    deleted = [("delete", k) for k in (1, 2, 3)]
    assert sorted(found) == [*deleted, ("insert", 1), ("insert", 3)]


def test_columns_that_change_stop_a_stream_though_an_epoch_without_rows_follows(
    tmp_path: Path,
) -> None:
    """The last change of the table is not the only one that a trigger looks at."""
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    table().alter(AddColumn(SchemaField(name="w", type="long")))
    changed = table().epoch
    table().alter(AlterProperties(set={"note": "later"}))
    with pytest.raises(StoppedError, match=f"other columns from epoch {changed} on"):
        reading.trigger()


@pytest.mark.parametrize("change", ["renamed", "of a wider type", "made again"])
def test_a_column_that_becomes_another_stops_a_stream_once_whatever_the_rules(
    tmp_path: Path, change: str
) -> None:
    table = colonnade.create(tmp_path / "t", {"k": "integer", "s": "string"})
    table.append([{"k": 1, "s": "old"}])

    def opened() -> Any:
        return colonnade.open(tmp_path / "t")

    reading = Reading(opened, StreamRules(fail_on_new_columns=False))
    reading.trigger()
    table.append([{"k": 2, "s": "old"}])
    name, wanted = "s", [("3", "new")]
    if change == "renamed":
        table.rename_column("s", name := "t")
    elif change == "of a wider type":
        table.alter(colonnade.WidenColumn("k", "long"))
        wanted = [(str(2**40), "new")]
    else:
        table.drop_column("s")
        table.alter(AddColumn(SchemaField(name="s", type="string")))
    table.append([{"k": int(wanted[0][0]), name: "new"}])
    assert reading.trigger() == [("2", "old")]
    with pytest.raises(StoppedError, match="start the stream again to read them"):
        reading.trigger()
    assert Reading(opened, offset=reading.offset).trigger() == wanted


def test_a_stream_begins_at_a_time_though_a_clock_went_back() -> None:
    """The time of an epoch is greater than that of the one before, so a start skips none."""
    world = Clocked(pa.schema([("k", pa.int64())]))
    times: list[int] = []
    for k, step in enumerate((0, 60_000, -3_600_000, 1, -1, 7_200_000)):
        world.now_ms += step
        world.reopened().append({"k": [k]})
        times.append(world.log.reader.read_head().time_ms)
    assert times == sorted(set(times))
    for k, time_ms in enumerate(times):
        reading = Reading(world.reopened, start=moment(time_ms))
        assert keys(reading.trigger()) == [*range(k, 6)]


def test_a_batch_whose_last_epoch_is_gone_is_refused_and_not_read_without_it(
    tmp_path: Path,
) -> None:
    """An older copy of the log took its place after the end of the batch was noted."""
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    begin = parse_offset(str(reading.offset))
    shutil.copytree(tmp_path / "t", tmp_path / "older")
    table().append(row(7))
    end = reading.source.trigger(reading.head(), begin, Limits(), reading.head().epoch).end
    older = Reading(lambda: colonnade.open(tmp_path / "older"))
    with pytest.raises(InvalidInputError, match=f"has read epoch {end.epoch - 1} of table"):
        older.between(begin, end)


def test_new_columns_in_removed_epochs_leave_no_silent_gap(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    table().append(row(1))
    table().alter(AddColumn(SchemaField(name="w", type="long")))
    table().append(row(2, w=5))
    table().vacuum(retention_hours=0, force=True)
    table().append(row(3, w=6))
    for rules in (StreamRules(), StreamRules(fail_on_new_columns=False)):
        with pytest.raises(NotFoundError, match="removed by retention.* failOnDataLoss"):
            Reading(table, rules, offset=reading.offset).trigger()
    going = StreamRules(fail_on_loss=False)
    stale = Reading(table, going, offset=reading.offset)
    stale.shown = reading.shown
    with pytest.raises(StoppedError, match="has other columns"):
        stale.trigger()
    assert Reading(table, going, offset=reading.offset).trigger() == [("3", "0", "x", "6")]


@pytest.mark.parametrize("most", [2**31 - 1, 2**31, 2**62])
def test_the_greatest_limits_admit_all_rows(tmp_path: Path, most: int) -> None:
    reading = Reading(appended(tmp_path, [2, 2, 2]), limits=Limits(most, most, most))
    assert keys(reading.trigger()) == [0, 1, 2, 3, 4, 5]


def test_a_stream_that_stops_among_the_rows_it_begins_with_goes_on_after_them(
    tmp_path: Path,
) -> None:
    """It reads no row again, though these rows are deleted, updated or compacted meanwhile."""
    table = appended(tmp_path, [1] * 6)
    reading = Reading(table, FEED, Limits(files=2))
    first = reading.trigger()
    table().optimize().option("min-rowsets", 2).executeCompaction()
    table().delete("k = 5")
    again = Reading(table, FEED, Limits(files=3), offset=reading.offset)
    found = [[(kind, int(k)) for _, kind, k, *_ in rows] for rows in (first, *again.rest())]
    began = [("insert", k) for k in range(6)]
    assert found == [began[:2], began[2:5], [began[5], ("delete", 5)]]


def test_a_stream_goes_on_after_its_database_was_moved(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    table().append(row(7))
    (tmp_path / "t").rename(tmp_path / "moved")
    moved = Reading(lambda: colonnade.open(tmp_path / "moved"), offset=reading.offset)
    assert keys(moved.trigger()) == [7]
