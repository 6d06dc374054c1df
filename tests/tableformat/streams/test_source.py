"""A stream reads each row once, in triggers of any size, from any offset, whatever the table does.

Its rows are those of the table when it began, and then those of the change feed.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade import WriteSettings
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.object_names import epoch_name
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.offsets import parse_offset
from colonnade.tableformat.streams.source import (
    StoppedError,
    StreamRules,
    TableStream,
    Trigger,
)
from tests.faults import FaultyStore
from tests.log_samples import make_log
from tests.tableformat.feed.test_histories import LIMITS, SEEDS, Longer, feed
from tests.tableformat.statements.test_row_histories import FORMS
from tests.tableformat.streams.reading import Reading, Row, any_limits, appended, keys

FEED = StreamRules(changes=True)
SMALL = WriteSettings(max_records=2)


def values(row: dict[str, Any]) -> Row:
    return (str(row["k"]), str(row["v"]), str(row["s"]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", FORMS)
def test_the_triggers_of_a_stream_of_changes_together_have_the_rows_of_the_feed(
    form: str, seed: int
) -> None:
    """Any limits, a restart at any offset, and turns of the history between triggers."""
    rng = random.Random(f"streams {form} {seed}")
    history = Longer(form, rng, rng.choice(LIMITS))
    for _ in range(6):
        history.turn()
    if "s2" in history.table().columns:
        history.table().rename_column("s2", "s")
    first = history.table().epoch
    wanted = Counter((first, "insert", *values(row)) for row in history.table().to_pylist())
    reading = Reading(history.table, FEED, any_limits(rng))
    read = Counter(reading.trigger())
    for _ in range(30):
        if rng.random() < 0.5:
            history.turn()
        try:
            read.update(reading.trigger())
        except StoppedError:  # of a renamed column; the rules let nothing else stop it
            if "s2" in history.table().columns:
                history.table().rename_column("s2", "s")
        if rng.random() < 0.3 or "s2" not in reading.shown.columns:
            reading = Reading(history.table, FEED, any_limits(rng), offset=reading.offset)
    if "s2" in history.table().columns:
        history.table().rename_column("s2", "s")
    reading = Reading(history.table, FEED, any_limits(rng), offset=reading.offset)
    read.update(reading.all())
    table = history.table()
    if table.epoch > first:
        for row in feed(table, first + 1, table.epoch):
            wanted.update([(row["_commit_version"], row["_change_type"], *values(row))])
    assert read == wanted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_stream_of_inserted_rows_has_each_row_of_many_appends_once(seed: int) -> None:
    """Compactions between them do not show, and neither do changes that it leaves out."""
    rng = random.Random(f"appends {seed}")
    history = Longer("plain", rng, rng.choice(LIMITS))
    rules = StreamRules(skip_changes=True)
    reading, read = Reading(history.table, rules, any_limits(rng)), Counter[Row]()
    wanted = Counter(values(row) for row in history.table().to_pylist())
    read.update(reading.trigger())
    for turn in range(1, 40):
        kind = rng.randrange(4)
        if kind < 2:
            rows = history.rows(range(100 * turn, 100 * turn + rng.randrange(8)))
            history.table().append(rows, settings=SMALL)
            wanted.update(values(row) for row in rows.to_pylist())
        elif kind == 2:
            history.table().optimize().option("min-rowsets", 2).executeCompaction()
        else:
            history.table().delete(f"k = {rng.randrange(-9, -1)}")
        if rng.random() < 0.6:
            read.update(reading.trigger())
        if rng.random() < 0.3:
            reading = Reading(history.table, rules, any_limits(rng), offset=reading.offset)
    read.update(reading.all())
    assert set(read.values()) == {1}
    assert read == wanted


@pytest.mark.slow
def test_skipped_epochs_do_not_eat_the_limit_and_one_trigger_passes_any_number(
    tmp_path: Path,
) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table, StreamRules(skip_changes=True), Limits(files=2))
    reading.trigger()
    for i in range(20):
        table().update({"v": str(i)}, "k = 0")
    table().append([{"k": 7, "v": 0, "s": "x"}])
    table().append([{"k": 8, "v": 0, "s": "x"}])
    assert keys(reading.trigger()) == [7, 8]


def test_epochs_of_other_tables_move_no_offset(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", {"k": "long"}).append([{"k": 1}])
    other = database.create_table("other", {"k": "long"})
    reading = Reading(lambda: colonnade.open(tmp_path / "db" / "t"))
    reading.trigger()
    stays = reading.offset
    other.append([{"k": 1}])
    assert reading.trigger() == []
    assert reading.offset == stays
    colonnade.open(tmp_path / "db" / "t").append([{"k": 2}])
    assert reading.trigger() == [("2",)]


def test_an_epoch_that_is_committed_after_a_trigger_was_sized_belongs_to_the_next_one(
    tmp_path: Path,
) -> None:
    """The trailing commit does not vanish between `latestOffset` and `planInputPartitions`."""
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    begin = parse_offset(str(reading.offset))
    table().append([{"k": 7, "v": 0, "s": "x"}])
    end = reading.source.trigger(reading.head(), begin, Limits(), reading.head().epoch).end
    table().append([{"k": 8, "v": 0, "s": "x"}])
    assert keys(reading.between(begin, end)) == [7]
    reading.offset = end.to_json()
    assert keys(reading.trigger()) == [8]


def test_a_restart_after_a_compaction_does_not_read_rows_again(tmp_path: Path) -> None:
    table = appended(tmp_path, [1] * 6)
    reading = Reading(table, limits=Limits(files=3))
    first = reading.trigger()
    table().optimize().option("min-rowsets", 2).executeCompaction()
    again = Reading(table, offset=reading.offset)
    assert keys(first + again.trigger()) == [0, 1, 2, 3, 4, 5]
    table().append([{"k": 7, "v": 0, "s": "x"}])
    assert keys(Reading(table, offset=again.offset).trigger()) == [7]


def test_a_trigger_moves_a_stream_past_a_compaction_so_that_its_removal_is_no_loss(
    tmp_path: Path,
) -> None:
    """Nobody can tell afterwards that the removed epoch has only compacted rows."""
    table = appended(tmp_path, [1] * 4)
    reading = Reading(table)
    reading.trigger()
    table().optimize().option("min-rowsets", 2).executeCompaction()
    compacted = table().epoch
    assert reading.trigger() == []
    table().vacuum(retention_hours=0, force=True)
    assert reading.head().floor >= compacted
    table().append([{"k": 9, "v": 0, "s": "x"}])
    assert keys(Reading(table, offset=reading.offset).trigger()) == [9]


def test_rows_that_are_deleted_are_not_among_those_that_a_stream_begins_with(
    tmp_path: Path,
) -> None:
    table = appended(tmp_path, [6])
    table().delete("k < 2")
    assert keys(Reading(table).trigger()) == [2, 3, 4, 5]


def test_an_epoch_that_deletes_or_updates_rows_stops_a_stream_of_inserted_rows(
    tmp_path: Path,
) -> None:
    table = appended(tmp_path, [3])
    reading = Reading(table)
    reading.trigger()
    table().append([{"k": 7, "v": 0, "s": "x"}])
    table().delete("k = 0")
    assert keys(reading.trigger()) == [7]
    epoch = table().epoch
    with pytest.raises(StoppedError, match=rf"Epoch {epoch} deletes .*ignoreDeletes, ignoreCh"):
        reading.trigger()
    for name in ("ignore_deletes", "ignore_changes", "skip_changes"):
        rules = StreamRules(**{name: True})
        assert keys(Reading(table, rules, offset=reading.offset).trigger()) == []
    table().update({"v": "5"}, "k = 1")
    ignoring = Reading(table, StreamRules(ignore_deletes=True), offset=reading.offset)
    with pytest.raises(StoppedError, match="updates or overwrites .*options ignoreChanges and"):
        ignoring.trigger()
    skipping = Reading(table, StreamRules(skip_changes=True), offset=reading.offset)
    assert skipping.trigger() == []
    ignoring = Reading(table, StreamRules(ignore_changes=True), offset=reading.offset)
    assert ignoring.trigger() == [("1", "5", "x")]


def test_new_columns_stop_a_stream_once_and_a_restart_shows_them(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    table().append([{"k": 1, "v": 0, "s": "x"}])
    table().alter(colonnade.AddColumn(SchemaField(name="w", type="long")))
    table().append([{"k": 2, "v": 0, "s": "x", "w": 5}])
    assert keys(reading.trigger()) == [1]
    with pytest.raises(StoppedError, match="has other columns from epoch .* failOnNewColumns"):
        reading.trigger()
    going = Reading(table, StreamRules(fail_on_new_columns=False), offset=reading.offset)
    going.shown = reading.shown
    assert going.trigger() == [("2", "0", "x")]
    assert Reading(table, offset=reading.offset).trigger() == [("2", "0", "x", "5")]


def test_a_column_that_is_dropped_stops_a_stream_whatever_the_rules(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table, StreamRules(fail_on_new_columns=False))
    reading.trigger()
    table().drop_column("s")
    with pytest.raises(StoppedError, match=r"has other columns from epoch \d+ on than the stream"):
        reading.trigger()
    assert Reading(table, offset=reading.offset).trigger() == []


def test_a_renamed_table_goes_on_and_a_table_made_again_does_not(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", {"k": "long"}).append([{"k": 1}])
    reading = Reading(lambda: colonnade.open(tmp_path / "db" / "t"))
    reading.trigger()
    database.rename_table("t", "u")
    reading = Reading(lambda: colonnade.open(tmp_path / "db" / "u"), offset=reading.offset)
    colonnade.open(tmp_path / "db" / "u").append([{"k": 2}])
    assert reading.trigger() == [("2",)]
    source = reading.source
    colonnade.open_database(tmp_path / "db").drop_table("u")
    head = source.reader.read_head()
    with pytest.raises(NotFoundError, match="was dropped while a stream read it"):
        source.trigger(head, parse_offset(str(reading.offset)), Limits(), head.epoch)
    colonnade.open_database(tmp_path / "db").create_table("u", {"k": "long"})
    with pytest.raises(InvalidInputError, match="belongs to another table than 'u'.* made again"):
        Reading(lambda: colonnade.open(tmp_path / "db" / "u"), offset=reading.offset).trigger()


def test_an_offset_whose_epochs_are_gone_is_a_loss_only_if_the_table_has_changed(
    tmp_path: Path,
) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", {"k": "long"})
    other = database.create_table("other", {"k": "long"})
    table.append([{"k": 1}])

    def opened() -> Any:
        return colonnade.open(tmp_path / "db" / "t")

    reading = Reading(opened)
    reading.trigger()
    stopped = reading.offset
    for i in range(3):
        other.append([{"k": i}])
    database.vacuum(retention_hours=0, force=True)
    assert Reading(opened, offset=stopped).trigger() == []
    for i in range(2, 5):
        opened().append([{"k": i}])
    database.vacuum(retention_hours=0, force=True)
    opened().append([{"k": 9}])
    next_epoch = parse_offset(str(stopped)).epoch
    says = rf"reads on from epoch {next_epoch}, but .* removed by retention; .* failOnDataLoss"
    with pytest.raises(NotFoundError, match=says):
        Reading(opened, offset=stopped).trigger()
    going = Reading(opened, StreamRules(fail_on_loss=False), offset=stopped)
    assert going.trigger() == [("9",)]


def test_an_offset_inside_of_an_epoch_is_refused_where_its_rows_are_one_piece(
    tmp_path: Path,
) -> None:
    """Rows would be left out silently: the stream had other options when it read the first ones."""
    table = appended(tmp_path, [6])
    ignoring = Reading(table, StreamRules(ignore_changes=True), Limits(rows=1))
    ignoring.all()
    rows = [{"k": i, "v": 7, "s": "y"} for i in range(6)]
    table().overwrite(rows, settings=SMALL)
    assert len(ignoring.trigger()) < 6
    inside = ignoring.offset
    with pytest.raises(InvalidInputError, match="no batch ends: .* other options"):
        Reading(table, FEED, offset=inside).trigger()
    rest = Reading(table, StreamRules(ignore_changes=True), offset=inside).trigger()
    assert keys(rest) == [2, 3, 4, 5]


def test_a_stream_of_an_older_copy_of_its_database_is_refused_at_once(tmp_path: Path) -> None:
    """Else it would wait until the copy has as many epochs, and would never read those."""
    table = appended(tmp_path, [1, 1])
    shutil.copytree(tmp_path / "t", tmp_path / "copy")
    reading = Reading(table)
    reading.trigger()
    table().append([{"k": 7, "v": 0, "s": "x"}])
    reading.trigger()
    older = Reading(lambda: colonnade.open(tmp_path / "copy"), offset=reading.offset)
    with pytest.raises(InvalidInputError, match=r"has read epoch \d+ .* is an older copy"):
        older.trigger()


def test_a_trigger_without_news_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = appended(tmp_path, [1])
    reading = Reading(table)
    reading.trigger()
    source, head, start = reading.source, reading.head(), parse_offset(str(reading.offset))
    monkeypatch.setattr(source.reader, "read_at", None)
    assert source.trigger(head, start, Limits(), head.epoch) == Trigger(start, ())
    assert not [*source.between(head, start, start)]


def test_a_trigger_that_knows_the_state_before_it_reads_later_epochs_alone(tmp_path: Path) -> None:
    """However many epochs there are since the last checkpoint."""
    table = appended(tmp_path, [1] * 9)
    reading = Reading(table)
    reading.trigger()
    known, start = reading.head(), parse_offset(str(reading.offset))
    table().append([{"k": 70, "v": 0, "s": "x"}])
    watched = FaultyStore(table()._log.store)
    stream = TableStream(make_log(watched).reader, reading.source.shown, StreamRules(), known)
    found = stream.trigger(reading.head(), start, Limits(), reading.head().epoch)
    assert {call.name for call in watched.trace} == {epoch_name(known.epoch + 1)}
    assert keys(reading.trigger()) == [70]
    assert found.end.to_json() == reading.offset


def test_a_known_state_whose_segments_are_removed_is_read_from_the_log_again(
    tmp_path: Path,
) -> None:
    table = appended(tmp_path, [1] * 66)
    reading = Reading(table, FEED)
    reading.trigger()
    known, start = reading.head(), parse_offset(str(reading.offset))
    assert known.tables[reading.shown._state.id].rowsets.segments
    table().append([{"k": 70, "v": 0, "s": "x"}])
    table().delete("k < 3")
    shutil.rmtree(tmp_path / "t" / "_manifest" / "checkpoint")
    head, source = reading.head(), reading.source
    found = [*replace(source, known=known).pieces(head, start, head.epoch)]
    assert [each.source.version for each in found] == [known.epoch + 1, known.epoch + 2]
    assert sum(each.rows for each in found) == 4


@pytest.mark.parametrize("count", [2, 3])
def test_of_several_options_that_ignore_changes_the_one_counts_that_ignores_most(
    tmp_path: Path, count: int
) -> None:
    """skipChangeCommits before ignoreChanges, and this one before ignoreDeletes."""
    table = appended(tmp_path, [3])
    reading = Reading(table)
    reading.trigger()
    table().delete("k = 0")
    table().update({"v": "5"}, "k = 1")
    table().append([{"k": 9, "v": 0, "s": "x"}])
    shown = {"skip_changes": [9], "ignore_changes": [1, 9]}
    every = ("skip_changes", "ignore_changes", "ignore_deletes")
    for names in itertools.combinations(every, count):
        rules = StreamRules(**dict.fromkeys(names, True))
        assert keys(Reading(table, rules, offset=reading.offset).trigger()) == shown[names[0]]


def test_a_start_at_the_latest_epoch_of_an_empty_table_shows_the_first_rows(
    tmp_path: Path,
) -> None:
    table = appended(tmp_path, [])
    reading = Reading(table, start="latest")
    assert reading.trigger() == []
    table().append([{"k": 7, "v": 0, "s": "x"}])
    assert keys(reading.trigger()) == [7]


@pytest.mark.slow
def test_a_stream_reads_past_a_writer_that_commits_before_every_trigger(tmp_path: Path) -> None:
    """A trigger has something to show, and the next one does not begin again."""
    table = appended(tmp_path, [1])
    reading, read = Reading(table, limits=Limits(files=2)), list[Row]()
    for i in range(1, 12):
        read += reading.trigger()
        table().append([{"k": i, "v": 0, "s": "x"}])
        table().optimize().option("min-rowsets", 2).executeCompaction()
    for rows in reading.rest():
        read += rows
    assert keys(read) == [*range(12)]


def test_the_first_of_several_limits_that_is_reached_ends_a_trigger(tmp_path: Path) -> None:
    table = appended(tmp_path, [3, 3, 1, 1, 1])
    reading = Reading(table, limits=Limits(files=2, rows=4))
    assert [len(rows) for rows in reading.rest()] == [3, 4, 2]


def test_a_stream_that_is_started_with_old_columns_stops_each_time_until_it_has_the_new_ones(
    tmp_path: Path,
) -> None:
    """A data frame that was made before the change has the old columns."""
    table = appended(tmp_path, [1])
    stale = Reading(table)
    stale.trigger()
    stopped = stale.offset
    table().alter(colonnade.AddColumn(SchemaField(name="w", type="long")))
    table().append([{"k": 2, "v": 0, "s": "x", "w": 5}])
    for _ in range(2):
        with pytest.raises(StoppedError, match="start the stream again"):
            stale.trigger()
        assert stale.offset == stopped
    assert Reading(table, offset=stopped).trigger() == [("2", "0", "x", "5")]


@pytest.mark.parametrize("snapshot", [True, False])
@pytest.mark.parametrize("wrong", [{"rowset": 1, "row": 2}, {"rowset": 55}, {"epoch": 2}])
def test_an_offset_that_no_batch_ends_at_is_refused(
    tmp_path: Path, snapshot: bool, wrong: dict[str, int]
) -> None:
    table = appended(tmp_path, [3, 3, 3])
    reading = Reading(table)
    reading.trigger()
    edited = {**json.loads(str(reading.offset)), "snapshot": snapshot, "began": 3, "epoch": 3}
    with pytest.raises(InvalidInputError, match="The checkpoint of the stream "):
        Reading(table, offset=json.dumps({**edited, **wrong})).trigger()
