"""A stream writes each of its batches once, as an ordinary write does, in every output mode."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AlterProperties
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.streams.sink_road import (
    Stream,
    changes_of,
    numbered,
    opened,
    rows_of,
    stored,
)

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]
COUNT = ".groupBy('k').agg(F.sum('id').alias('n'))"
KEYED = pa.schema([pa.field("k", pa.string(), nullable=False), ("n", pa.int64())])
DOORS = ["path", "name", "spark_catalog"]


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE colonnade.sink")
    spark_shell.sql("CREATE DATABASE sunk")
    yield spark_shell
    spark_shell.sql("DROP DATABASE sunk CASCADE")
    spark_shell.sql("DROP DATABASE colonnade.sink CASCADE")


def door(kind: str, folder: Path) -> str:
    """A place for a new table, behind this door."""
    name = f"t{abs(hash(folder)):x}"
    places = {
        "path": str(folder / "t"),
        "name": f"colonnade.sink.{name}",
        "spark_catalog": f"sunk.{name}",
    }
    return places[kind]


def read(spark: SparkShell, to: str) -> list[list[Any]]:
    loaded = f"format('colonnade').load({to!r})" if to.startswith("/") else f"table({to!r})"
    rows: list[list[Any]] = spark.run(f"spark.read.{loaded}")
    return sorted(rows, key=str)


@pytest.mark.parametrize("kind", DOORS)
def test_a_stream_creates_its_table_and_appends_each_batch_once_through_restarts(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    to = door(kind, tmp_path)
    stream = Stream(spark, tmp_path, to)
    stream.run(*numbered(3, k="a"))
    assert read(spark, to) == [[0, "a"], [1, "a"], [2, "a"]]
    stream.run()
    stream.run([{"id": 3, "k": "b"}], [{"id": 4, "k": "b"}])
    assert read(spark, to) == [[0, "a"], [1, "a"], [2, "a"], [3, "b"], [4, "b"]]
    for batch in (4, 3, 1):
        stream.forget(batch)
        stream.run()
        assert len(read(spark, to)) == 5, "a batch that was sent again is there twice"


def test_each_batch_is_one_epoch_and_the_table_knows_its_stream(
    spark: SparkShell, tmp_path: Path
) -> None:
    colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())])).append({"id": [-1]})
    Stream(spark, tmp_path, tmp_path / "t").run(*numbered(3))
    table = colonnade.open(tmp_path / "t")
    assert changes_of(table)[-4:] == ["append"] * 4
    assert [*table._state.batches.values()] == [2]
    # A stream that appends never overwrites.
    assert [row["id"] for row in rows_of(table)] == [-1, 0, 1, 2]
    # Small batches lie in the log, as small appends do.
    assert stored(tmp_path / "t") == set()


@pytest.mark.parametrize("kind", ["path", "name"])
def test_complete_mode_replaces_all_rows_in_one_epoch_for_each_batch(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    to = door(kind, tmp_path)
    stream = Stream(spark, tmp_path, to, change=COUNT, mode="complete")
    stream.run([{"id": 1, "k": "a"}], [{"id": 2, "k": "a"}, {"id": 3, "k": "b"}])
    assert read(spark, to) == [["a", 3], ["b", 3]]
    table = opened(spark, to)
    before = table.epoch
    spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    try:
        stream.run([{"id": 4, "k": "b"}])
    finally:
        spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
    assert read(spark, to) == [["a", 3], ["b", 7]]
    after = opened(spark, to)
    assert (after.epoch, changes_of(after)[-1]) == (before + 1, "overwrite")
    stream.forget(2)
    stream.run()
    assert opened(spark, to).epoch == after.epoch


@pytest.mark.parametrize("kind", ["path", "name"])
def test_update_mode_merges_rows_by_the_primary_key(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    to = door(kind, tmp_path)
    if kind == "path":
        stream = Stream(spark, tmp_path, to, change=COUNT, mode="update", primaryKey="k")
    else:
        spark.sql(f"CREATE TABLE {to} (k STRING PRIMARY KEY, n BIGINT, w INT DEFAULT 7)")
        spark.sql(f"INSERT INTO {to} VALUES ('a', 100, 8), ('z', 100, 9)")
        stream = Stream(spark, tmp_path, to, change=COUNT, mode="update")
    stream.run([{"id": 1, "k": "a"}, {"id": 1, "k": "b"}], [{"id": 2, "k": "a"}])
    expected = [["a", 3], ["b", 1]]
    if kind == "name":
        expected = [["a", 3, 8], ["b", 1, 7], ["z", 100, 9]]  # other values stay
    assert read(spark, to) == expected
    epoch = opened(spark, to).epoch
    stream.forget(1)
    stream.run()
    assert opened(spark, to).epoch == epoch


def test_a_batch_that_is_sent_again_writes_no_file(spark: SparkShell, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, tmp_path / "t")
    stream.run([{"id": number, "k": f"{number * 7919 % 10007}" * 20} for number in range(9000)])
    before, epoch = stored(tmp_path / "t"), colonnade.open(tmp_path / "t").epoch
    assert before, "the rows are large enough for a file"
    stream.forget(0)
    stream.run()
    assert (stored(tmp_path / "t"), colonnade.open(tmp_path / "t").epoch) == (before, epoch)


@pytest.mark.parametrize("kind", ["path", "name"])
def test_a_second_copy_of_a_stream_lands_each_batch_once(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    """Someone copies a checkpoint, and runs the same stream twice."""
    to = door(kind, tmp_path)
    stream = Stream(spark, tmp_path / "one", to, change=".withColumn('twice', F.col('id') * 2)")
    stream.run(*numbered(2))
    shutil.copytree(tmp_path / "one", tmp_path / "two" / "one")
    copy = Stream(spark, tmp_path / "copy", to, change=stream.change)
    copy.folder, copy.checkpoint = tmp_path / "one", tmp_path / "two" / "one" / "checkpoint"
    stream.run([{"id": 2}], [{"id": 3}])
    copy.columns = stream.columns
    copy.run()
    assert read(spark, to) == [[number, 2 * number] for number in range(4)]


def test_two_streams_write_to_one_table(spark: SparkShell, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Stream(spark, tmp_path / name, tmp_path / "t").run(*numbered(2, k=name))
    table = colonnade.open(tmp_path / "t")
    assert len(rows_of(table)) == 4
    assert len(table._state.batches) == 2


@pytest.mark.parametrize("kind", DOORS)
def test_partition_by_lays_out_the_table_that_the_stream_creates(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    to = door(kind, tmp_path)
    Stream(spark, tmp_path, to, partitionBy_="k").run([{"id": 1, "k": "a"}, {"id": 2, "k": "b"}])
    assert opened(spark, to).partitioning == ("k",)
    assert read(spark, to) == [[1, "a"], [2, "b"]]


def test_partition_by_that_differs_from_the_table_is_refused(
    spark: SparkShell, tmp_path: Path
) -> None:
    colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64()), ("k", pa.string())]))
    stream = Stream(spark, tmp_path, tmp_path / "t", partitionBy_="k")
    assert "partitioning" in stream.refused([{"id": 1, "k": "a"}])
    assert rows_of(colonnade.open(tmp_path / "t")) == []


def test_cluster_by_is_the_sort_key_of_the_table_that_the_stream_creates(
    spark: SparkShell, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path, tmp_path / "t")
    stream.give([{"id": 2, "k": "b"}, {"id": 1, "k": "a"}])
    spark.run(stream.code().replace(".trigger(", ".clusterBy('id').trigger("))
    assert len(colonnade.open(tmp_path / "t")._state.sort_key) == 1


@pytest.mark.parametrize("kind", ["path", "name"])
def test_merge_schema_gives_the_table_the_columns_of_a_stream_that_starts_again(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    to = door(kind, tmp_path)
    Stream(spark, tmp_path / "old", to).run(*numbered(1))
    more = [{"id": 1, "k": "a"}], [{"id": 2, "k": "b"}]
    text = Stream(spark, tmp_path / "refused", to).refused(*more)
    assert "too many data columns" in text
    assert read(spark, to) == [[0]]
    Stream(spark, tmp_path / "new", to, mergeSchema="true").run(*more)
    assert read(spark, to) == [[0, None], [1, "a"], [2, "b"]]


def test_a_stream_goes_on_when_another_writer_adds_a_column(
    spark: SparkShell, tmp_path: Path
) -> None:
    to = door("name", tmp_path)
    stream = Stream(spark, tmp_path, to)
    stream.run(*numbered(1))
    spark.sql(f"ALTER TABLE {to} ADD COLUMN more INT DEFAULT 5")
    stream.run([{"id": 1}])
    assert read(spark, to) == [[0, 5], [1, 5]]


def test_batches_are_cast_filled_and_checked_as_those_of_any_write(
    spark: SparkShell, tmp_path: Path
) -> None:
    """Spark itself does nothing of this for a stream that writes to a source."""
    to = door("name", tmp_path)
    spark.sql(
        f"CREATE TABLE {to} (id INT NOT NULL, twice BIGINT GENERATED ALWAYS AS (id * 2L),"
        " n BIGINT GENERATED ALWAYS AS IDENTITY, d STRING DEFAULT 'x',"
        " CONSTRAINT small CHECK (id < 100))"
    )
    stream = Stream(spark, tmp_path, to)
    stream.run([{"id": 3}], [{"id": 4}])  # a BIGINT
    assert read(spark, to) == [[3, 6, 1, "x"], [4, 8, 2, "x"]]
    epoch = opened(spark, to).epoch
    assert "small" in stream.refused([{"id": 100}])
    assert opened(spark, to).epoch == epoch


def test_nested_rows_and_values_of_megabytes_arrive(spark: SparkShell, tmp_path: Path) -> None:
    rows = [
        {"id": number, "s": {"a": number, "b": "é" * 10**6}, "l": [*range(number * 1000)]}
        for number in range(4)
    ]
    Stream(spark, tmp_path, tmp_path / "t").run(rows[:2], rows[2:])
    assert rows_of(colonnade.open(tmp_path / "t")) == sorted(rows, key=str)


@pytest.mark.parametrize(
    ("batches", "most"), [(12, 11), pytest.param(300, 20, marks=pytest.mark.long)]
)
def test_a_stream_of_small_batches_compacts_the_table_that_asks_for_it(
    spark: SparkShell, tmp_path: Path, batches: int, most: int
) -> None:
    """However long the stream runs, the table never has more than a few RowSets."""
    table = colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    table.alter(AlterProperties(set={"compaction.auto": "true"}))
    Stream(spark, tmp_path, table.path).run(*numbered(batches))
    table.refresh()
    assert sorted(row["id"] for row in rows_of(table)) == [*range(batches)]
    entries = reversed(table.history())
    assert max(accumulate(each.rowsets_added - each.rowsets_dropped for each in entries)) <= most


REFUSED = {
    "an option of another format": ({"delta.appendOnly": "true"}, {}, "no property forbids"),
    "an unknown option": ({"maxRecordPerFile": "5"}, {}, "did you mean maxRecordsPerFile?"),
    "an option of readStream": ({"maxFilesPerTrigger": "1"}, {}, "set it in readStream"),
    "the name of a batch": ({"txnAppId": "a", "txnVersion": "1"}, {}, "names each batch by its"),
    "an overwrite": ({"replaceWhere": "id > 1"}, {}, "the output mode says what a batch replaces"),
    "other columns": ({"overwriteSchema": "true"}, {}, "the output mode says"),
    "an epoch": ({"expectEpoch": "7"}, {}, "each batch is an epoch of its own"),
    "updates without a key": ({}, {"mode": "update"}, "merges rows by the primary key, which"),
    "updates that do not merge": (
        {"primaryKey": "id", "onDuplicate": "ignore"},
        {"mode": "update"},
        "leave out the option onDuplicate",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_stream_cannot_do_is_refused_before_anything_is_made(
    spark: SparkShell, tmp_path: Path, case: str
) -> None:
    options, given, sentence = REFUSED[case]
    stream = Stream(spark, tmp_path, tmp_path / "t", **given, **options)
    assert sentence in stream.refused([{"id": 1}])
    assert not (tmp_path / "t").exists()
    assert not stream.checkpoint.exists()


def test_what_a_stream_cannot_do_with_a_named_table_changes_nothing(
    spark: SparkShell, tmp_path: Path
) -> None:
    for case, (options, given, sentence) in REFUSED.items():
        to = door("name", tmp_path / case)
        key = " PRIMARY KEY" if "onDuplicate" in options else ""
        spark.sql(f"CREATE TABLE {to} (id BIGINT{key})")
        epoch = opened(spark, to).epoch
        stream = Stream(spark, tmp_path / case, to, **given, **options)
        assert sentence in stream.refused([{"id": 1}]), case
        assert opened(spark, to).epoch == epoch


def test_updates_of_a_named_table_without_a_key_are_refused_when_the_stream_starts(
    spark: SparkShell, tmp_path: Path
) -> None:
    to = door("name", tmp_path)
    stream = Stream(spark, tmp_path, to, change=COUNT, mode="update")
    stream.give([{"id": 1, "k": "a"}])
    started = stream.code().removesuffix(".awaitTermination()")
    assert "merges rows by the primary key, which" in spark.refused_run(started)
    # Spark has made the table by then. With a key, the stream begins with all rows.
    spark.sql(f"ALTER TABLE {to} ALTER COLUMN k SET NOT NULL")
    spark.sql(f"ALTER TABLE {to} SET TBLPROPERTIES ('primaryKey' = 'k')")
    stream.run()
    assert read(spark, to) == [["a", 1]]


CREATE = """
def create(number):
    with contextlib.suppress(AlreadyExistsError):
        colonnade.create(PATH, pa.schema([("id", pa.int64())])).append({"id": [7]})
    return number
"""


def test_a_stream_whose_table_another_writer_creates_first_appends_to_that_one(
    spark: SparkShell, tmp_path: Path
) -> None:
    """The other writer creates it while tasks compute the rows of the first batch."""
    names = "import contextlib, pyarrow as pa, colonnade\nfrom colonnade import AlreadyExistsError"
    code = names + CREATE.replace("PATH", repr(str(tmp_path / "t")))
    spark.run(f"exec({code!r}, globals())")
    change = ".withColumn('id', F.udf(create, 'bigint')('id'))"
    Stream(spark, tmp_path, tmp_path / "t", change=change).run([{"id": 1}], [{"id": 2}])
    table = colonnade.open(tmp_path / "t")
    assert [row["id"] for row in rows_of(table)] == [1, 2, 7]
    assert changes_of(table)[-2:] == ["append", "append"]


@pytest.mark.parametrize("kind", ["path", "name"])
def test_the_progress_of_a_stream_names_its_table(
    spark: SparkShell, tmp_path: Path, kind: str
) -> None:
    to = door(kind, tmp_path)
    stream = Stream(spark, tmp_path, to)
    stream.give([{"id": 1}])
    started = stream.code().removesuffix(".awaitTermination()")
    spark.run(f"globals().update(query={started})")
    spark.run("query.awaitTermination()")
    described = spark.run("query.lastProgress.sink.description")
    assert described == str(opened(spark, to).path)


def test_a_stream_without_a_table_says_so(spark: SparkShell, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, tmp_path / "t")
    stream.give([{"id": 1}])
    nowhere = stream.code().replace(f".start({str(tmp_path / 't')!r})", ".start()")
    assert "start(path)" in spark.refused_run(nowhere)


def test_a_row_whose_key_is_there_ends_the_stream_and_lands_nothing(
    spark: SparkShell, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", KEYED, primary_key=["k"])
    stream = Stream(spark, tmp_path, tmp_path / "t", change=".select('k', F.col('id').alias('n'))")
    stream.run([{"id": 1, "k": "a"}])
    epoch = colonnade.open(table.path).epoch
    text = stream.refused([{"id": 2, "k": "b"}, {"id": 3, "k": "b"}])
    assert "key" in text
    assert "'b'" in text
    assert colonnade.open(table.path).epoch == epoch


def test_a_stream_whose_table_was_dropped_or_replaced_meanwhile_ends(
    spark: SparkShell, tmp_path: Path
) -> None:
    """It does not create the table anew, nor write to another one of its name."""
    stream = Stream(spark, tmp_path, tmp_path / "t")
    stream.give([{"id": 1}])
    started = stream.code().replace(".trigger(availableNow=True)", "")
    spark.run(f"globals().update(query={started.removesuffix('.awaitTermination()')})")
    spark.run("query.processAllAvailable()")
    spark.sql(f"DROP TABLE colonnade.`{tmp_path / 't'}`")
    colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    stream.give([{"id": 2}])
    text = spark.refused_run("query.processAllAvailable()")
    assert "was dropped, renamed or replaced while a stream wrote to it" in text
    assert rows_of(colonnade.open(tmp_path / "t")) == []


def test_a_stream_by_name_does_not_create_its_table_anew(spark: SparkShell, tmp_path: Path) -> None:
    to = door("name", tmp_path)
    spark.sql(f"CREATE TABLE {to} (id BIGINT)")
    stream = Stream(spark, tmp_path, to)
    stream.give([{"id": 1}])
    started = stream.code().replace(".trigger(availableNow=True)", "")
    spark.run(f"globals().update(query={started.removesuffix('.awaitTermination()')})")
    spark.run("query.processAllAvailable()")
    spark.sql(f"DROP TABLE {to}")
    stream.give([{"id": 2}])
    spark.refused_run("query.processAllAvailable()")
    assert spark.run(f"spark.catalog.tableExists({to!r})") is False


def test_a_continuous_trigger_is_refused(spark: SparkShell, tmp_path: Path) -> None:
    to = door("name", tmp_path)
    spark.sql(f"CREATE TABLE {to} (timestamp TIMESTAMP, value BIGINT)")
    text = spark.refused_run(
        "spark.readStream.format('rate').load().writeStream.trigger(continuous='1 second')"
        f".option('checkpointLocation', '{tmp_path}/c').toTable({to!r}).awaitTermination(60)"
    )
    assert "with a continuous trigger" in text


MERGE = """
def merge(rows, number):
    batch = colonnade.CommitSettings(batch=("merges", number))
    with colonnade.Database.forPath(rows.sparkSession, FOLDER).transaction(batch) as tx:
        merged = tx.table("counts").alias("t").merge(rows.alias("s"), "t.id = s.id")
        merged = merged.whenMatchedUpdate(set={"n": "t.n + 1"})
        merged.whenNotMatchedInsert(values={"id": "s.id", "n": "1"}).execute()
"""


def test_for_each_batch_merges_once_within_a_transaction_that_names_the_batch(
    spark: SparkShell, tmp_path: Path
) -> None:
    spark.sql("CREATE TABLE colonnade.sink.counts (id BIGINT, n BIGINT)")
    spark.sql("INSERT INTO colonnade.sink.counts VALUES (0, 0)")
    folder = str(spark.folder / "warehouse/sink")
    spark.run(f"exec({MERGE.replace('FOLDER', repr(folder))!r}, globals())")
    stream = Stream(spark, tmp_path, "/")
    stream.give([{"id": 0}], [{"id": 0}, {"id": 1}])
    code = stream.code().replace(".format('colonnade')", ".foreachBatch(merge)")
    code = code.replace(".start('/')", ".start()")
    spark.run(code)
    assert read(spark, "colonnade.sink.counts") == [[0, 2], [1, 1]]
    stream.forget(1)
    spark.run(code)
    assert read(spark, "colonnade.sink.counts") == [[0, 2], [1, 1]]
