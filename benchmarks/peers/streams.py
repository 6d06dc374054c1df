"""Streams from table to table, beside the peers' streams.

Each engine reads a table of its own and writes to another one.
"""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from benchmarks.measure import Figure, in_turn, median_ratio, seconds
from benchmarks.peers.changes import Changes, keyed
from benchmarks.peers.engines import Engine, Iceberg, session
from benchmarks.peers.feed import switch_on_feed
from benchmarks.peers.peers import small

PARTS = "batches", "backlog", "merges"
BATCHES, APPENDS = 200, 1_000
TURN = 20
"""An engine copies this many small batches before another engine has its turn."""
MERGES, KEYED_ROWS, MERGED_ROWS = 10, 150_000, 3_000
WARM_UPS = 10
FROM_FIRST = {"startingVersion": "0"}
ONE_EACH = {**FROM_FIRST, "maxFilesPerTrigger": "1"}
ICEBERGS = {
    "maxFilesPerTrigger": "streaming-max-files-per-micro-batch",
    "skipChangeCommits": "streaming-skip-overwrite-snapshots",
}
"""Iceberg's names of options. Its streams begin with the first snapshot of a table."""
MERGE = """
    MERGE INTO {t} t USING {s} s ON t.id = s.id
    WHEN MATCHED AND s.gone THEN DELETE
    WHEN MATCHED THEN UPDATE SET name = s.name, amount = s.amount
    WHEN NOT MATCHED AND NOT s.gone THEN
    INSERT (id, name, amount) VALUES (s.id, s.name, s.amount)"""
NEWEST = """
    SELECT id, newest.* FROM (
        SELECT id, max_by(struct(name, amount, _change_type = 'delete' AS gone), _commit_version)
            AS newest
        FROM {s} WHERE _change_type <> 'update_preimage' GROUP BY id)"""


class Streams(Changes):
    """The engines, and the measures of their streams."""

    def __init__(self, spark: SparkSession, folder: Path, scale: float) -> None:
        super().__init__(spark, folder, scale)
        checkpoints = folder / "checkpoints"
        shutil.rmtree(checkpoints, ignore_errors=True)
        self._checkpoints = (str(checkpoints / str(number)) for number in count())

    def figures(self, runs: int, only: Sequence[str] = PARTS) -> Iterator[Figure]:
        """Yield the rows of some parts; print each one right after its measurement."""
        part = min(1, self.scale)
        if "batches" in only or "backlog" in only:
            self._warm_up()
        if "batches" in only:
            yield from self._small_batches(max(5, int(BATCHES * part)), runs)
        if "backlog" in only:
            yield self._backlog(max(5, int(APPENDS * part)), runs)
        if "merges" in only:
            yield from self._merged(max(3, int(MERGES * part)))

    def _warm_up(self) -> None:
        """Copy a few appends, so that no measured stream pays for what happens once."""
        self._appends("first", WARM_UPS)
        for engine in self.engines:
            self._copy(engine, "first", WARM_UPS, ONE_EACH)
            self._copy(engine, "first", WARM_UPS, FROM_FIRST)

    def _small_batches(self, batches: int, runs: int) -> Iterator[Figure]:
        """Time the batches of streams that run again after each `TURN` appends, with one for each.

        Also time them without Spark's checkpoint. A stream goes on where it ended.
        """
        self._create("few", small(self.spark, 0).where("false"))
        self._create("copy", small(self.spark, 0).where("false"))
        streams = [
            partial(self._run_stream, engine, "few", ONE_EACH,
                    partial(append_to, engine, "copy"), next(self._checkpoints))
            for engine in self.engines
        ]  # fmt: skip
        each, own = ([list[float]() for _ in self.engines] for _ in range(2))
        turns = [*range(0, runs * batches, TURN)]
        for start in turns:
            for number in range(start, start + TURN):
                for engine in self.engines:
                    engine.append("few", small(self.spark, 10 * number))
            os.sync()
            sides = [*zip(streams, each, own, strict=True)]
            for stream, whole, part in sides if start // TURN % 2 else reversed(sides):
                progress = [batch for batch in stream().recentProgress if batch["numInputRows"]]
                if len(progress) != TURN:
                    raise AssertionError(f"{len(progress)} batches had rows, and not {TURN}")
                whole.append(statistics.median(batch_ms(batch) for batch in progress))
                part.append(statistics.median(own_ms(batch) for batch in progress))
        for engine in self.engines:
            self._check_copy(engine, TURN * len(turns))
        total = f"one of {TURN * len(turns):,} small batches"
        yield self._better(total, "ms", 1 / 1.5, each)
        yield self._better("its part without Spark's checkpoint", "ms", None, own)

    def _backlog(self, appends: int, runs: int) -> Figure:
        """Time a stream that catches up with appends, and has as many in a batch as is usual."""
        self._appends("many", appends)
        works = [
            partial(self._copy, engine, "many", appends, FROM_FIRST) for engine in self.engines
        ]
        times = in_turn(works, runs, warm_ups=0, before=os.sync)
        return self._better(f"availableNow over {appends:,} small appends", "s", 0.5, times)

    def _merged(self, merges: int) -> Iterator[Figure]:
        """Run streams after each MERGE, and count the rows that their copies have wrong."""
        rows = max(1_000, int(KEYED_ROWS * self.scale))
        for table, first_rows in (("keyed", rows), ("inserted", 0), ("followed", 0)):
            self._create(table, keyed(self.spark, 0, first_rows))
        for engine in self.engines:
            switch_on_feed(engine, "keyed")
        inserts = [
            partial(self._run_stream, engine, "keyed", {"skipChangeCommits": "true"},
                    partial(append_to, engine, "inserted"), next(self._checkpoints))
            for engine in self.engines
        ]  # fmt: skip
        # Iceberg's streams have no changes.
        followers = [engine for engine in self.engines if not isinstance(engine, Iceberg)]
        follows = [
            partial(self._run_stream, engine, "keyed", {"readChangeFeed": "true"},
                    partial(merge_into, engine, "followed"), next(self._checkpoints))
            for engine in followers
        ]  # fmt: skip
        times: list[list[float]] = [[] for _ in followers]
        for turn in range(merges + 1):
            if turn:
                for engine in self.engines:
                    self._run(engine, MERGE.replace("{s}", merged(turn, rows)), "keyed")
            self._check("keyed")
            for work in inserts:
                work()
            order = [*zip(times, follows, strict=True)]
            for kept, work in order if turn % 2 else reversed(order):
                kept.append(seconds(work))
        for way, table, engines in (
            ("changes into MERGE", "followed", followers),
            ("inserted rows alone", "inserted", self.engines),
        ):
            wrong = {each.name: float(self._wrong(each, table)) for each in engines}
            print(f"  {way}: {wrong}", flush=True)
            ours, *theirs = wrong.values()
            measure = f"wrong rows of a copy after {merges} MERGEs, by {way}"
            yield Figure(measure, "", ours, min(theirs), None, 0 if engines is followers else None,
                         judged_by_ratio=False, beside=dict([*wrong.items()][1:]))  # fmt: skip
        yield self._better("a run of the stream of changes", "s", None, [e[1:] for e in times])

    def _appends(self, table: str, number: int) -> None:
        """Make a table of appends of ten rows."""
        self._create(table, small(self.spark, 0))
        for turn in range(1, number):
            for engine in self.engines:
                engine.append(table, small(self.spark, 10 * turn))
        self._check(table)

    def _copy(self, engine: Engine, table: str, appends: int, options: Mapping[str, str]) -> None:
        """Copy a table to a new one, by a new stream."""
        engine.create("copy", small(self.spark, 0).where("false"))
        write = partial(append_to, engine, "copy")
        self._run_stream(engine, table, options, write, next(self._checkpoints))
        self._check_copy(engine, appends)

    def _check_copy(self, engine: Engine, appends: int) -> None:
        """Require that a copy has the rows of a number of appends."""
        rows = 10 * appends
        [found] = engine.read("copy").selectExpr("count(id)", "sum(id)", "sum(amount)").collect()
        if tuple(found) != (rows, (ids := rows * (rows - 1) // 2), ids / 2):
            raise AssertionError(f"The stream of {engine.name} has copied {found}, of {rows} rows")

    def _run_stream(
        self,
        engine: Engine,
        table: str,
        options: Mapping[str, str],
        write: Callable[[DataStreamWriter], StreamingQuery],
        checkpoint: str,
    ) -> StreamingQuery:
        reader = self.spark.readStream
        if isinstance(engine, Iceberg):
            names = {ICEBERGS[name]: value for name, value in options.items() if name in ICEBERGS}
            frame = reader.options(**names).table(engine.sql_name(table))
        else:
            reader = reader.format(type(engine).__name__.lower()).options(**options)
            frame = reader.load(engine.place(table))
        writer = frame.writeStream.option("checkpointLocation", checkpoint)
        query = write(writer.trigger(availableNow=True))
        query.awaitTermination()
        return query

    def _wrong(self, engine: Engine, copy: str) -> int:
        """Count the rows of only one of two tables: the one that was merged into, and its copy."""
        table, copied = engine.read("keyed"), engine.read(copy)
        return table.exceptAll(copied).count() + copied.exceptAll(table).count()

    def _better(
        self, measure: str, unit: str, target: float | None, times: Sequence[Sequence[float]]
    ) -> Figure:
        """Compare with the better of the peers."""
        medians = [statistics.median(each) for each in times]
        best = min(range(1, len(times)), key=medians.__getitem__)
        ratio = median_ratio(times[0], times[best])
        beside = {each.name: median for each, median in zip(self.engines, medians, strict=False)}
        ours = beside.pop(self.engines[0].name)
        print(f"  {measure}: {ours:.4g} {unit}, {ratio:.3f}, {beside}", flush=True)
        return Figure(measure, unit, ours, medians[best], ratio, target, beside=beside)


def batch_ms(progress: Mapping[str, Any]) -> float:
    """Return the time of a batch."""
    return float(progress["durationMs"]["triggerExecution"])


def own_ms(progress: Mapping[str, Any]) -> float:
    """Return the time of a batch without Spark's writes to the checkpoint."""
    parts = progress["durationMs"]
    return batch_ms(progress) - float(parts["walCommit"] + parts["commitOffsets"])


def append_to(engine: Engine, table: str, writer: DataStreamWriter) -> StreamingQuery:
    """Start a stream that appends to a table."""
    if isinstance(engine, Iceberg):
        return writer.format("iceberg").toTable(engine.sql_name(table))
    return writer.format(type(engine).__name__.lower()).start(engine.place(table))


def merge_into(engine: Engine, table: str, writer: DataStreamWriter) -> StreamingQuery:
    """Start a stream of changes that brings a table with the key `id` up to them."""

    def merge(batch: DataFrame, number: int) -> None:
        batch.createOrReplaceTempView("changes")
        newest = NEWEST.replace("{s}", "changes")
        statement = MERGE.replace("{t}", engine.sql_name(table)).replace("{s}", f"({newest})")
        batch.sparkSession.sql(statement).collect()

    return writer.foreachBatch(merge).start()


def merged(turn: int, rows: int) -> str:
    """Return the rows of a MERGE: a third deletes, a third updates, a third inserts."""
    each = max(3, rows * MERGED_ROWS // KEYED_ROWS // 3)
    old = f"FROM range({each}) WHERE id * 31 + {turn} < {rows}"
    return (
        f"(SELECT id * 31 + {turn} AS id, '' AS name, 0D AS amount, true AS gone {old} UNION ALL"
        f" SELECT id * 31 + {turn + 15}, 'm', id + {turn}D, false {old} UNION ALL"
        f" SELECT id + {10**8 + turn * each}, 'n', id * 0.5D, false FROM range({each}))"
    )


def run(folder: Path, scale: float, runs: int, only: Sequence[str]) -> list[Figure]:
    """Measure every row, or those of the `PARTS` in `only`. Ratios are over the better peer.

    Copies must have the rows of their tables, except where a row counts those that are wrong.
    Tables are stored below `folder`/streams.
    """
    spark = session(folder / "streams")
    try:
        return list(Streams(spark, folder / "streams", scale).figures(runs, only or PARTS))
    finally:
        spark.stop()
