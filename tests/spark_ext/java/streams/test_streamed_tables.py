"""A stream keeps the rules of every kind of table, and a batch that breaks one changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.streams.sink_road import Batch, Stream, numbered, opened

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]


@pytest.fixture(scope="module")
def spark(spark_shell: SparkShell) -> Iterator[SparkShell]:
    spark_shell.sql("CREATE DATABASE colonnade.ruled")
    yield spark_shell
    spark_shell.sql("DROP DATABASE colonnade.ruled CASCADE")


class Case(NamedTuple):
    """A table, batches that it takes, and the rows that it has then."""

    table: str
    batches: list[Batch]
    rows: list[list[Any]]
    mode: str = "append"


def keyed(**columns: Any) -> Batch:
    return [{"k": "a", **columns}]


CASES = {
    "CHAR and VARCHAR": Case(
        "(id BIGINT, c CHAR(3), v VARCHAR(3))",
        [[{"id": 1, "c": "a", "v": "abc"}]],
        [[1, "a  ", "abc"]],
    ),
    "partitions": Case(
        "(id INT, d TIMESTAMP_LTZ DEFAULT TIMESTAMP '2026-01-01 00:00:00+00:00', b INT)"
        " PARTITIONED BY (days(d), bucket(4, b))",
        [[{"id": 1, "b": 1}], [{"id": 2, "b": 2}, {"id": 3, "b": 1}]],
        [[1, 1], [2, 2], [3, 1]],
    ),
    "a sort key": Case(
        "(id INT, b INT) CLUSTER BY (b)",
        [[{"id": 1, "b": 3}, {"id": 2, "b": 1}], [{"id": 3, "b": 2}]],
        [[1, 3], [2, 1], [3, 2]],
    ),
    "merge modes": Case(
        "(k STRING PRIMARY KEY, n BIGINT, m BIGINT)"
        " TBLPROPERTIES ('merge.n' = 'add', 'merge.m' = 'max')",
        [keyed(n=1, m=3), [*keyed(n=5, m=2), *keyed(n=5, m=1)]],
        [["a", 11, 3]],
        "update",
    ),
    "a sequence": Case(
        "(k STRING PRIMARY KEY, at INT, v INT) TBLPROPERTIES ('sequence' = 'at')",
        [keyed(at=5, v=5), keyed(at=3, v=3)],
        [["a", 5, 5]],
        "update",
    ),
    "static columns": Case(
        "(k STRING NOT NULL, m INT NOT NULL, room STRING)"
        " TBLPROPERTIES ('primaryKey' = 'k, m', 'partitionKey' = 'k', 'static' = 'room')",
        [keyed(m=1, room="x"), keyed(m=2, room="y")],
        [["a", 1, "y"], ["a", 2, "y"]],
        "update",
    ),
    "columns that a batch does not have": Case(
        "(k STRING PRIMARY KEY, v INT DEFAULT 7, w INT GENERATED ALWAYS AS (v * 2))",
        [keyed(), keyed()],
        [["a", 7, 14]],
        "update",
    ),
    "rows that expire": Case(
        "(id INT, at TIMESTAMP DEFAULT current_timestamp())"
        " TBLPROPERTIES ('ttl' = '1 day', 'ttl.column' = 'at')",
        [[{"id": 1}], [{"id": 2}]],
        [[1], [2]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_stream_writes_to_tables_of_every_kind(
    spark: SparkShell, tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    to = f"colonnade.ruled.t{[*CASES].index(name)}"
    spark.sql(f"CREATE TABLE {to} {case.table}")
    Stream(spark, tmp_path, to, mode=case.mode).run(*case.batches)
    timed = {"partitions": ["id", "b"], "rows that expire": ["id"]}.get(name, ["*"])
    assert sorted(spark.run(f"spark.table({to!r}).select({timed!r})")) == case.rows


class Refused(NamedTuple):
    """A table, a batch that it takes, one that it refuses, and a part of the sentence."""

    table: str
    good: Batch
    bad: Batch
    sentence: str
    mode: str = "append"


REFUSED = {
    "a text that is too long": Refused(
        "(v VARCHAR(3))", [{"v": "abc"}], [{"v": "abcd"}], "EXCEED_LIMIT_LENGTH"
    ),
    "a number that does not fit": Refused(
        "(v TINYINT)", [{"v": 1}], [{"v": 1}, {"v": 1000}], "CAST_OVERFLOW"
    ),
    "NULL": Refused("(v INT NOT NULL)", [{"v": 1}], [{"v": 1}, {"v": None}], "NULL"),
    "a NULL key": Refused(
        "(k STRING PRIMARY KEY)", [{"k": "a"}], [{"k": "b"}, {"k": None}], "NULL", "update"
    ),
    "a constraint of an updated row": Refused(
        "(k STRING PRIMARY KEY, v INT, CONSTRAINT small CHECK (v < 10))",
        keyed(v=1),
        keyed(v=11),
        "small",
        "update",
    ),
    "a generated value": Refused(
        "(v INT, w INT GENERATED ALWAYS AS (v * 2))",
        [{"v": 1, "w": 2}],
        [{"v": 1, "w": 3}],
        "w",
    ),
    "a key that is there twice": Refused(
        "(k STRING PRIMARY KEY, v INT)", keyed(v=1), [{"k": "b", "v": 1}] * 2, "'b'"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_batch_that_breaks_a_rule_ends_the_stream_and_changes_nothing(
    spark: SparkShell, tmp_path: Path, name: str
) -> None:
    case = REFUSED[name]
    to = f"colonnade.ruled.r{[*REFUSED].index(name)}"
    spark.sql(f"CREATE TABLE {to} {case.table}")
    stream = Stream(spark, tmp_path, to, mode=case.mode)
    stream.run(case.good)
    epoch, rows = opened(spark, to).epoch, spark.sql(f"TABLE {to}")
    assert case.sentence in stream.refused(case.bad)
    assert (opened(spark, to).epoch, spark.sql(f"TABLE {to}")) == (epoch, rows)


def test_a_stream_with_a_watermark_appends_each_window_once(
    spark: SparkShell, tmp_path: Path
) -> None:
    change = (
        ".selectExpr('timestamp_seconds(id) AS at').withWatermark('at', '10 seconds')"
        ".groupBy(F.window('at', '5 seconds')).count()"
        ".selectExpr('unix_seconds(window.start) AS start', 'count')"
    )
    to = "colonnade.ruled.windows"
    stream = Stream(spark, tmp_path, to, change=change)
    stream.run([{"id": 100}], [{"id": 104}, {"id": 123}], [{"id": 140}])
    assert sorted(spark.sql(f"TABLE {to}")) == [[100, 2], [120, 1]]
    stream.run([{"id": 200}])
    assert sorted(spark.sql(f"TABLE {to}")) == [[100, 2], [120, 1], [140, 1]]


def test_a_stream_goes_on_under_the_new_name_of_a_column(spark: SparkShell, tmp_path: Path) -> None:
    to = "colonnade.ruled.renamed"
    stream = Stream(spark, tmp_path, to)
    stream.run(*numbered(1))
    spark.sql(f"ALTER TABLE {to} RENAME COLUMN id TO number")
    epoch = opened(spark, to).epoch
    assert "id" in stream.refused([{"id": 1}])
    assert opened(spark, to).epoch == epoch
    stream.change = ".withColumnRenamed('id', 'number')"
    stream.run([{"id": 2}])
    assert sorted(spark.sql(f"TABLE {to}")) == [[0], [1], [2]]


def test_a_stream_notes_the_metadata_of_its_option(spark: SparkShell, tmp_path: Path) -> None:
    to = "colonnade.ruled.noted"
    Stream(spark, tmp_path, to, userMetadata="nightly").run(*numbered(2))
    noted = [each.parameters.get("userMetadata") for each in opened(spark, to).history()]
    assert noted[:2] == ["nightly"] * 2


@pytest.mark.parametrize("by", ["table", "load"])
def test_a_stream_that_joins_a_table_sees_it_as_it_is_at_each_batch(
    spark: SparkShell, tmp_path: Path, by: str
) -> None:
    names = f"colonnade.ruled.names_{by}"
    spark.sql(f"CREATE TABLE {names} (id BIGINT, name STRING)")
    spark.sql(f"INSERT INTO {names} VALUES (0, 'old'), (1, 'old')")
    path = str(opened(spark, names).path)
    read = f"table({names!r})" if by == "table" else f"format('colonnade').load({path!r})"
    change = f".join(spark.read.{read}, 'id')"
    stream = Stream(spark, tmp_path, tmp_path / "t", change=change)
    stream.give([{"id": 0}])
    started = stream.code().replace(".trigger(availableNow=True)", "")
    spark.run(f"globals().update(query={started.removesuffix('.awaitTermination()')})")
    spark.run("query.processAllAvailable()")
    spark.sql(f"UPDATE {names} SET name = 'new'")
    stream.give([{"id": 1}])
    spark.run("(query.processAllAvailable(), query.stop())")
    rows = spark.run(f"spark.read.format('colonnade').load({str(tmp_path / 't')!r})")
    assert sorted(rows) == [[0, "old"], [1, "new"]]
