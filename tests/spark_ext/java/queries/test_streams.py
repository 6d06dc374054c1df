"""A stream of Spark reads a table as it is, and then what comes: each row once."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.manifests.store import LocalStore
from tests.spark_ext.java.queries.streams import HAS_CHANGES
from tests.spark_ext.java.spark_shell import SparkShell
from tests.tableformat.feed.test_histories import LIMITS, Longer, feed
from tests.tableformat.statements.test_row_histories import FORMS

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]

STREAMS = "__import__('tests.spark_ext.java.queries.streams', fromlist=['x'])"
NUMBERS = itertools.count()


class Stream:
    """A table at `path` with the columns `id` and `s`, and a stream that reads it."""

    def __init__(self, spark: SparkShell, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.path = str(folder / "t")
        self.checkpoint = str(folder / f"checkpoint-{next(NUMBERS)}")
        colonnade.create(self.path, {"id": "long", "s": "string"})

    @property
    def table(self) -> Any:
        return colonnade.open(self.path)

    def append(self, *ids: int) -> None:
        self.table.append([{"id": i, "s": "x"} for i in ids])

    def call(self, name: str, more: str = "", **options: Any) -> str:
        texts = {name: str(value) for name, value in options.items()}
        head = f"{STREAMS}.{name}(spark, {self.path!r}, {self.checkpoint!r}"
        return f"{head}, {f'{texts}' if name == 'run' else f'**{texts}'}{more})"

    def run(self, more: str = "", **options: Any) -> list[list[Any]]:
        """Number and rows of each batch of a run that reads what is there."""
        found: list[list[Any]] = self.spark.run(self.call("run", more, **options))
        return found

    def ids(self, more: str = "", **options: Any) -> list[list[int]]:
        """The ids of the rows of each batch of such a run."""
        return [[row[0] for row in rows] for _, rows in self.run(more, **options)]

    def refusal(self, more: str = "", **options: Any) -> str:
        return self.spark.refused_run(self.call("run", more, **options))


@pytest.fixture
def stream(spark_shell: SparkShell, tmp_path: Path) -> Stream:
    return Stream(spark_shell, tmp_path)


@pytest.mark.parametrize("door", ["path", "name", "SQL"])
def test_every_door_reads_the_rows_of_the_table_and_then_those_that_come(
    stream: Stream, door: str
) -> None:
    stream.append(1, 2)
    stream.append(3)
    stream.table.delete("id = 2")
    assert stream.ids(f", {door!r}") == [[1, 3]]
    stream.append(4)
    stream.table.optimize().option("min-rowsets", 2).executeCompaction()
    stream.append(5)
    assert stream.ids(f", {door!r}") == [[4, 5]]
    assert stream.ids(f", {door!r}") == []


def test_a_stream_of_changes_has_the_columns_and_rows_of_the_change_feed(stream: Stream) -> None:
    stream.append(1, 2)
    (first,) = stream.run(readChangeFeed=True)
    assert [row[:3] for row in first[1]] == [[1, "x", "insert"], [2, "x", "insert"]]
    stream.table.update({"s": "'y'"}, "id = 1")
    stream.table.delete("id = 2")
    update, deletion = stream.table.epoch - 1, stream.table.epoch
    (second,) = stream.run(readChangeFeed=True)
    assert [row[:4] for row in second[1]] == [
        [1, "x", "update_preimage", update],
        [1, "y", "update_postimage", update],
        [2, "x", "delete", deletion],
    ]
    stream.table.update({"s": "'z'"}, "id = 1")
    (third,) = stream.run(readChangeFeed=True, computeUpdates=False)
    assert [row[2] for row in third[1]] == ["delete", "insert"]


@pytest.mark.skipif(not HAS_CHANGES, reason="Spark 4.1 has no CHANGES")
def test_sparks_own_streams_of_changes_have_the_rows_of_the_change_feed(stream: Stream) -> None:
    stream.append(1)
    stream.append(2)
    first, second = stream.run(", 'changes'", maxFilesPerTrigger=1)
    assert [row[:3] for row in (*first[1], *second[1])] == [[1, "x", "insert"], [2, "x", "insert"]]
    stream.table.update({"s": "'y'"}, "id = 1")
    stream.table.delete("id = 2")
    kinds = [row[2] for _, rows in stream.run(", 'changes'") for row in rows]
    assert kinds == ["update_preimage", "update_postimage", "delete"]
    name = f"colonnade.`{stream.path}`"
    refused = stream.spark.refused_run(
        f"spark.read.option('startingVersion', 1).option('failOnDataLoss', 'x').changes('{name}')"
        ".collect()"
    )
    assert "Option failOnDataLoss is for a stream of changes" in refused


def test_limits_hold_from_the_first_batch_on_and_in_every_run(stream: Stream) -> None:
    for i in range(4):
        stream.append(2 * i, 2 * i + 1)
    assert stream.ids(maxFilesPerTrigger=1) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    for i in range(4, 8):
        stream.append(2 * i, 2 * i + 1)
    assert stream.ids(maxRowsPerTrigger=4) == [[8, 9, 10, 11], [12, 13, 14, 15]]
    stream.append(16)
    stream.append(17)
    assert stream.ids(maxBytesPerTrigger="1b") == [[16], [17]]
    stream.append(18)
    stream.append(19)
    assert stream.ids(", once=True", maxFilesPerTrigger=1) == [[18, 19]]


def test_a_run_of_what_is_available_ends_with_what_was_there_when_it_began(
    stream: Stream,
) -> None:
    stream.append(1)
    stream.append(2)
    more = f", meanwhile=lambda n: colonnade.open({stream.path!r}).append([dict(id=7, s='x')])"
    assert stream.ids(more, maxFilesPerTrigger=1) == [[1], [2]]
    assert stream.ids() == [[7, 7]]


@pytest.mark.parametrize("start", ["rows", "latest", "version"])
def test_a_batch_that_failed_has_the_same_rows_after_a_restart(stream: Stream, start: str) -> None:
    """Spark's log has no start for the first batch, so its end says where the stream began."""
    stream.append(1)
    starts: dict[str, Any] = {"rows": {}, "latest": {"startingVersion": "latest"}}
    options = starts.get(start, {"startingVersion": 1})
    failed = stream.spark.run(stream.call("failing", **options))
    stream.append(2)
    again = stream.run(**options)
    assert again[0] == failed[0]
    assert [row[0] for _, rows in again for row in rows] == ([2] if start == "latest" else [1, 2])


def test_a_checkpoint_beats_the_options_of_a_start(stream: Stream) -> None:
    stream.append(1)
    assert stream.ids(startingVersion="latest") == [[]]
    stream.append(2)
    assert stream.ids(startingVersion=0) == [[2]]


def test_a_first_state_that_was_removed_does_not_stop_a_later_run(stream: Stream) -> None:
    stream.append(1)
    stream.ids(startingVersion=1)
    lease = f"colonnade.`{stream.path}`"
    stream.spark.sql(f"ALTER TABLE {lease} SET TBLPROPERTIES ('retention.hours' = '400')")
    for i in (2, 3):
        stream.append(i)
    stream.ids(startingVersion=1)
    stream.table.vacuum(retention_hours=0, force=True)
    stream.append(4)
    assert stream.ids(startingVersion=1) == [[4]]


def test_a_vacuum_does_not_overtake_a_stream(stream: Stream) -> None:
    stream.append(1)
    stream.ids()
    for i in (2, 3, 4):
        stream.append(i)
        stream.table.optimize().option("min-rowsets", 2).executeCompaction()
    held = stream.table.vacuum(retention_hours=0, force=True).held_by
    assert any("lease" in each for each in held)
    assert stream.ids() == [[2, 3, 4]]


def test_epochs_that_delete_or_update_rows_stop_a_stream_unless_an_option_says_how(
    stream: Stream,
) -> None:
    stream.append(1, 2, 3)
    stream.ids()
    stream.table.delete("id = 1")
    assert "deletes rows of table" in stream.refusal()
    assert stream.ids(ignoreDeletes=True) in ([], [[]])
    stream.table.update({"s": "'y'"}, "id = 2")
    text = stream.refusal(ignoreDeletes=True)
    assert f"Epoch {stream.table.epoch} updates or overwrites rows" in text
    assert "readChangeFeed" in text
    assert "skipChangeCommits" in text
    (changed,) = stream.run(ignoreChanges=True)
    assert changed[1] == [[2, "y"]]
    stream.table.update({"s": "'z'"}, None)
    stream.append(9)
    assert stream.ids(skipChangeCommits=True) == [[9]]


def test_new_columns_stop_a_run_once_and_the_next_run_shows_them(stream: Stream) -> None:
    stream.append(1)
    stream.ids()
    alter = (
        f"colonnade.open({stream.path!r}).alter(colonnade.AddColumn(colonnade.SchemaField("
        "name='n', type='long'))),"
        f" colonnade.open({stream.path!r}).append([dict(id=7, s='x', n=5)])"
    )
    stream.append(2)
    more = f", meanwhile=lambda n: ({alter}) if n == 1 else None, processingTime='0 seconds'"
    assert "has other columns from epoch" in stream.refusal(more)
    assert stream.run()[0][1] == [[7, "x", 5]]


def test_columns_may_be_null_though_they_are_not_null_by_now(stream: Stream) -> None:
    stream.table.append([{"id": None, "s": "old"}])
    stream.table.delete("id IS NULL")
    stream.table.alter(colonnade.SetNotNull("id"))
    stream.append(1)
    (batch,) = stream.run(startingVersion=0, skipChangeCommits=True)
    assert sorted(batch[1], key=str) == [[1, "x"], [None, "old"]]


def test_a_renamed_table_goes_on_and_a_table_made_again_does_not(
    stream: Stream, tmp_path: Path
) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", {"id": "long", "s": "string"}).append([{"id": 1, "s": "x"}])
    stream.path = str(tmp_path / "db" / "t")
    assert stream.ids() == [[1]]
    database.rename_table("t", "u")
    stream.path = str(tmp_path / "db" / "u")
    stream.append(2)
    assert stream.ids() == [[2]]
    colonnade.open_database(tmp_path / "db").drop_table("u")
    colonnade.open_database(tmp_path / "db").create_table("u", {"id": "long", "s": "string"})
    assert "was dropped and made again, or this stream reads another table" in stream.refusal()


@pytest.mark.parametrize("damage", [("{.*}$", "{}"), ('"stream":1', '"stream":9')])
def test_a_damaged_checkpoint_is_refused_in_one_sentence(
    stream: Stream, damage: tuple[str, str]
) -> None:
    stream.append(1)
    stream.ids()
    stream.append(2)
    offsets = Path(stream.checkpoint) / "offsets"
    (offsets / ".0.crc").unlink()
    head, about, offset = (offsets / "0").read_text().split("\n")
    (offsets / "0").write_text("\n".join((head, about, re.sub(*damage, offset))))
    assert "has an offset that cannot be read" in stream.refusal()


WRONG: dict[str, dict[str, Any]] = {
    "startingVersion and startingTimestamp exclude": {
        "startingVersion": 1,
        "startingTimestamp": "2026-01-01",
    },
    "did you mean maxFilesPerTrigger": {"maxFilePerTrigger": 1},
    "maxRowsPerTrigger must be a whole number from 1": {"maxRowsPerTrigger": 0},
    "maxBytesPerTrigger must be a number of bytes": {"maxBytesPerTrigger": "much"},
    "failOnDataLoss must be true or false": {"failOnDataLoss": "maybe"},
    "versionAsOf is not for reading a stream": {"versionAsOf": 1},
    "readChangeFeed and ignoreDeletes exclude": {"readChangeFeed": True, "ignoreDeletes": True},
    "use the option ignoreChanges": {"ignoreFileDeletion": True},
    "so that one batch takes all rows": {"withEventTimeOrder": True},
    "use the option maxFilesPerTrigger": {"streaming-max-files-per-micro-batch": 1},
    "later than its newest epoch": {"startingVersion": 99},
    "'nowhere'": {"startingVersion": "nowhere"},
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_option_of_a_stream_is_refused_in_one_sentence(stream: Stream, text: str) -> None:
    assert text in stream.refusal(**WRONG[text])


@pytest.mark.parametrize("columns", ["id BIGINT, s STRING", "id INT"])
def test_columns_that_a_user_gives_a_stream_are_refused_in_one_sentence(
    stream: Stream, columns: str
) -> None:
    reader = f"spark.readStream.format('colonnade').schema({columns!r}).load({stream.path!r})"
    assert "has the columns of the table; leave out schema(...)" in stream.spark.refused_run(reader)


def test_the_progress_of_a_query_says_how_far_it_is_behind(stream: Stream) -> None:
    for i in range(3):
        stream.append(i)
    found = stream.spark.run(stream.call("progress", maxFilesPerTrigger=1, startingVersion=1))
    assert [rows for rows, _, _ in found] == [1, 1, 1]
    behind = [int(metrics["epochsBehind"]) for _, metrics, _ in found]
    assert behind == sorted(behind, reverse=True)
    assert behind[-1] == 0
    assert all(int(metrics["secondsBehind"]) >= 0 for _, metrics, _ in found)
    stored = sorted((int(metrics["bytesBehind"]) for _, metrics, _ in found), reverse=True)
    assert stored == [int(metrics["bytesBehind"]) for _, metrics, _ in found]
    assert stored[0] == 2 * stored[1] > stored[2] == 0


def test_a_stream_reads_each_type_as_a_query_does(spark_shell: SparkShell, tmp_path: Path) -> None:
    stream = Stream(spark_shell, tmp_path)
    t = f"colonnade.`{tmp_path / 'u'}`"
    stream.path = str(tmp_path / "u")
    spark_shell.sql(
        f"CREATE TABLE {t} (id BIGINT NOT NULL, day DATE, tags ARRAY<STRING>, m MAP<STRING, INT>,"
        " s STRUCT<a: INT, b: STRING>, c CHAR(3), price DECIMAL(20, 2)) PARTITIONED BY (day)"
    )
    spark_shell.sql(
        f"INSERT INTO {t} SELECT id, date_add(DATE'2026-01-01', int(id % 3)), array(string(id)),"
        " map('a', int(id)), named_struct('a', int(id), 'b', NULL), 'ab', id / 3 FROM range(50)"
    )
    (batch,) = stream.run()
    wanted = spark_shell.sql(f"SELECT * FROM {t}")
    assert batch[1] == sorted(wanted, key=lambda row: int(row[0]))


@pytest.mark.parametrize("form", FORMS)
def test_runs_between_statements_have_together_the_rows_of_the_feed(
    spark_shell: SparkShell, tmp_path: Path, form: str
) -> None:
    rng = random.Random(f"runs {form}")
    store = LocalStore(str(tmp_path / "db"))
    history: Any = Longer(form, rng, rng.choice(LIMITS), store)
    stream = Stream(spark_shell, tmp_path)
    stream.path = str(tmp_path / "db" / "t")
    first = history.table().epoch
    rows: list[list[Any]] = []
    for _ in range(4):
        most = rng.randrange(1, 4)
        found = stream.run(readChangeFeed=True, maxFilesPerTrigger=most)
        rows += [row for _, batch in found for row in batch]
        for _ in range(4):
            history.turn()
        if "s2" in history.table().columns:
            history.table().rename_column("s2", "s")
    rows += [row for _, batch in stream.run(readChangeFeed=True) for row in batch]
    table = history.table()
    wanted = Counter(
        str([row[name] for name in ("k", "v", "s", "_change_type", "_commit_version")])
        for row in feed(table, first + 1, table.epoch)
        if row["_commit_version"] > first
    )
    read = Counter(str(row[:5]) for row in rows if row[4] > first)
    assert read == wanted
