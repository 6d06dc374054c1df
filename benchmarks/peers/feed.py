"""The change feed: what it costs statements, and how fast it is read, beside the peers' feeds.

Delta Lake has its change data feed switched on. Iceberg's tables are copy-on-write, because its
changelog refuses the delete files of merge-on-read.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

import colonnade
from benchmarks.measure import Figure, in_turn, median_ratio, seconds
from benchmarks.peers.changes import KEYED_ROWS, MERGED_ROWS, Changes, keyed
from benchmarks.peers.engines import Colonnade, Delta, Engine, Iceberg, session

EPOCHS, NET_EPOCHS = 20, 100
LINE = ("l_orderkey", "l_linenumber")
KINDS = {"INSERT": "insert", "DELETE": "delete", "UPDATE_BEFORE": "update_preimage",
         "UPDATE_AFTER": "update_postimage"}  # fmt: skip


class Feed(Changes):
    """The engines, and the measures of their feeds."""

    def __init__(self, spark: SparkSession, folder: Path, scale: float) -> None:
        super().__init__(spark, folder, scale)
        for engine in self.engines:
            if isinstance(engine, Iceberg):
                engine.mode = "copy-on-write"

    def _create(self, table: str, frame: DataFrame) -> None:
        super()._create(table, frame)
        for engine in self.engines:
            switch_on_feed(engine, table)

    def figures(self, runs: int) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; print each one right after its measurement."""
        self._create("lineitem", self.source)
        yield from self._statement("UPDATE of 1 %, feed on", "lineitem", self._update, runs,
                                   None, None, rival=Delta.name)  # fmt: skip
        self._create("keyed", keyed(self.spark, 0, int(KEYED_ROWS * self.scale)))
        merged = f"MERGE of {int(MERGED_ROWS * self.scale):,} rows, feed on"
        yield from self._statement(merged, "keyed", self._merge, runs,
                                   None, None, rival=Delta.name)  # fmt: skip
        self._create("lineitem", self.source)
        # Iceberg shuffles every row that its twenty epochs have rewritten, which takes an hour.
        two = self.engines[:2]
        yield self._reading(f"feed of {EPOCHS} epochs of lineitem", two, "lineitem", LINE, runs,
                            EPOCHS)  # fmt: skip
        self._create("keyed", keyed(self.spark, 0, int(KEYED_ROWS * self.scale)))
        yield self._reading(f"net feed of {NET_EPOCHS} epochs", self.engines, "keyed", ("id",),
                            runs, NET_EPOCHS, net=True)  # fmt: skip

    def _reading(
        self,
        measure: str,
        engines: Sequence[Engine],
        table: str,
        key: Sequence[str],
        runs: int,
        epochs: int,
        *,
        net: bool = False,
    ) -> Figure:
        """Time a read of the feed of some epochs by engines, whose rows must be the same.

        Iceberg is read once, because it shuffles every row that it has rewritten.
        """
        starts = [version(engine, table) for engine in engines]
        for turn in range(epochs):
            for engine in engines:
                self._epoch(engine, table, turn)
        feeds = [
            partial(feed, engine, table, start, key, net)
            for engine, start in zip(engines, starts, strict=True)
        ]
        answers = [self._answer(each(), table) for each in feeds]
        if any(answer != answers[0] for answer in answers):
            raise AssertionError(f"The feeds of {table} differ: {answers}")
        works = [lambda each=each: read(each()) for each in feeds]
        times = in_turn(works[:2], runs, before=os.sync)
        times += [[seconds(work)] for work in works[2:]]
        medians = [statistics.median(each) for each in times]
        theirs = min(medians[1:]) if net else medians[1]
        ratio = median_ratio(times[0], times[1]) if theirs == medians[1] else medians[0] / theirs
        beside = dict(zip((each.name for each in engines[1:]), medians[1:], strict=True))
        print(f"  {measure}: {medians[0]:.4g} s, {ratio:.3f}, {beside}", flush=True)
        return Figure(measure, "s", medians[0], theirs, ratio, 0.3, beside=beside)

    def _epoch(self, engine: Engine, table: str, turn: int) -> None:
        """Make one epoch of a history: an UPDATE, a DELETE or an INSERT, in turn."""
        if table == "lineitem":
            where = "(l_orderkey * 7 + l_linenumber * 13) % 1000"
            new = "SELECT * FROM {t} WHERE l_orderkey % 1000 = " + str(turn)
            statements = (
                f"UPDATE {{t}} SET l_quantity = l_quantity + 1 WHERE {where} BETWEEN 0 AND 9",
                f"DELETE FROM {{t}} WHERE {where} = {100 + turn}",
                "INSERT INTO {t} " + new.replace("*", self._moved(10**9 * (turn + 1))),
            )
        else:
            part = f"id % 1000 = {turn % 10}"
            first = 10**9 + turn * 1000
            new = f"SELECT id + {first} AS id, 'n' AS name, 0.5D AS amount FROM range(1000)"
            statements = (
                f"UPDATE {{t}} SET amount = amount + 1 WHERE {part}",
                f"DELETE FROM {{t}} WHERE id % 1000 = {500 + turn} AND id < 10000000"
                f" OR id BETWEEN {first - 2000} AND {first - 1990}",
                f"INSERT INTO {{t}} {new}",
            )
        self._run(engine, statements[turn % len(statements)], table)

    def _moved(self, by: int) -> str:
        """Return the columns of lineitem with other orders."""
        return ", ".join(
            f"l_orderkey + {by} AS l_orderkey" if name == "l_orderkey" else name
            for name in self.source.columns
        )

    def _answer(self, frame: DataFrame, table: str) -> list[list[object]]:
        """Count the rows of a feed by the type of change, and add up their hashes."""
        columns = ", ".join(self.engines[0].read(table).columns)
        rows = frame.selectExpr("kind", f"CAST(xxhash64({columns}) AS DECIMAL(38)) AS hash")
        return sorted(
            list(row) for row in rows.groupBy("kind").agg({"*": "count", "hash": "sum"}).collect()
        )


def switch_on_feed(engine: Engine, table: str) -> None:
    """Let Delta store the changes of a table."""
    if isinstance(engine, Delta):
        feed_on = "'delta.enableChangeDataFeed' = 'true'"
        engine.spark.sql(f"ALTER TABLE {engine.sql_name(table)} SET TBLPROPERTIES ({feed_on})")


def version(engine: Engine, table: str) -> int:
    """Return the newest epoch, version or snapshot of a table."""
    name = engine.sql_name(table)
    if isinstance(engine, Colonnade):
        return colonnade.open(engine.place(table)).epoch
    if isinstance(engine, Delta):
        return int(engine.spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()[0].version)
    newest = f"SELECT snapshot_id FROM {name}.snapshots ORDER BY committed_at DESC LIMIT 1"
    return int(engine.spark.sql(newest).collect()[0][0])


def feed(engine: Engine, table: str, start: int, key: Sequence[str], net: bool) -> DataFrame:
    """Return the changes after a version, with the type of change as `kind`.

    Net changes are deleted and inserted rows: Iceberg has no images of them. `key` identifies the
    rows of engines that do not follow them.
    """
    if isinstance(engine, Iceberg):
        frame = _changelog(engine, table, start, key, net)
    else:
        kind = "colonnade" if isinstance(engine, Colonnade) else "delta"
        reader = engine.spark.read.format(kind).option("readChangeFeed", True)
        reader = reader.option("startingVersion", start + 1)
        if net and isinstance(engine, Colonnade):
            reader = reader.options(deduplicationMode="netChanges", computeUpdates=False)
        frame = reader.load(engine.place(table))
        if net and isinstance(engine, Delta):
            frame = _net_of(frame, key)
    return frame.withColumnRenamed("_change_type", "kind")


def _changelog(engine: Iceberg, table: str, start: int, key: Sequence[str], net: bool) -> DataFrame:
    columns = ", ".join(f"'{each}'" for each in key)
    images = "net_changes => true" if net else f"identifier_columns => array({columns})"
    [[view]] = engine.spark.sql(
        "CALL iceberg.system.create_changelog_view("
        f"table => '{engine.sql_name(table).removeprefix('iceberg.')}', {images},"
        f" options => map('start-snapshot-id', '{start}'))"
    ).collect()
    names = " ".join(f"WHEN '{theirs}' THEN '{ours}'" for theirs, ours in KINDS.items())
    rows = engine.spark.table(view).selectExpr("*", f"CASE _change_type {names} END AS kind")
    return rows.drop("_change_type", "_change_ordinal", "_commit_snapshot_id")


def _net_of(frame: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the net changes of Delta's feed, which has none, by the first and last row of a key.

    Within a version, the row before an update comes first.
    """
    row = ", ".join(name for name in frame.columns if not name.startswith("_c"))
    ends = (
        frame.selectExpr(
            *key,
            f"struct(_change_type IN ('insert', 'update_postimage') AS here, struct({row}) AS row)"
            " AS found",
            "_commit_version AS version",
        )
        .groupBy(*key)
        .agg(
            *(
                expr(f"{end}_by(found, struct(version, found.here))").alias(name)
                for end, name in (("min", "first"), ("max", "last"))
            )
        )
    )
    changed = ends.where("first.here OR NOT last.here OR NOT (first.row <=> last.row)")
    both = changed.selectExpr(
        "inline(array(named_struct('kind', 'delete', 'gone', first.here, 'row', first.row),"
        " named_struct('kind', 'insert', 'gone', NOT last.here, 'row', last.row)))"
    )
    return both.where("NOT gone").selectExpr("row.*", "kind AS _change_type")


def read(frame: DataFrame) -> None:
    """Read all rows and columns of a feed."""
    frame.write.format("noop").mode("overwrite").save()


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row. Ratios are Colonnade's over Delta's; for net changes over the better peer.

    The feeds of all engines must have the same rows. Tables are stored below `folder`/feed.
    """
    spark = session(folder / "feed")
    try:
        return list(Feed(spark, folder / "feed", scale).figures(runs))
    finally:
        spark.stop()
