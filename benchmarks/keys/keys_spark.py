"""Upserts and reads by key through Spark, beside MERGE of Delta Lake and Iceberg."""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

import colonnade
from benchmarks.keys import keys
from benchmarks.measure import Figure, in_turn, median_ratio, orders, seconds
from benchmarks.peers.engines import Colonnade, Delta, Engine, Iceberg, session
from benchmarks.spark.in_order import joins

ENGINES: tuple[type[Engine], ...] = (Colonnade, Delta, Iceberg)
ROWS, JOINED_ROWS = 20_000_000, 5_000_000
SIZES = (1_000, 10_000, 100_000)
BATCHES, BATCH = 50, 10_000
LATER = f"after {BATCHES} batches"
GETS = 50
PARTS = ("orders", "random keys", "merges", "joins")
MERGE_SETTING = "spark.colonnade.mergeByKeyBytes"
MERGE = """
    MERGE INTO {t} t USING {s} s ON t.{key} = s.{key}
    WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Keyed:
    """A table with a key. Adding `step` to a key of its first rows makes a new key."""

    name: str
    key: str
    step: int
    rows: int
    first: Callable[[], pa.RecordBatchReader]
    """The first rows."""
    with_keys: Callable[[Numbers, Numbers], pa.Table]
    """Rows: the places of some of the first rows, and the keys that they get."""
    key_at: Callable[[Numbers], Numbers]
    """The keys of some of the first rows."""
    priced: str
    """A column that a scan adds up."""

    @property
    def what(self) -> str:
        return f"{self.rows:,} {self.name.replace('_', ' ')}"


def random_keys(rows: int) -> Keyed:
    """Rows whose keys are the even numbers, in a random order."""
    return Keyed(
        "random_keys", "id", 1, rows,
        lambda: keys.shuffled(rows, np.random.default_rng(1)),
        lambda _, ids: pa.Table.from_batches([keys.rows_of(ids)]),
        lambda places: 2 * places,
        "price",
    )  # fmt: skip


def orders_of(source: pa.Table) -> Keyed:
    """The orders of TPC-H: of each 32 keys, it has the first eight."""
    known = source["o_orderkey"].to_numpy()

    def changed(places: Numbers, ids: Numbers) -> pa.Table:
        found = source.take(pa.array(places))
        return found.set_column(0, source.schema.field(0), [pa.array(ids)])

    return Keyed(
        "orders", "o_orderkey", 8, len(source), source.to_reader, changed,
        lambda places: known[places], "o_totalprice",
    )  # fmt: skip


class KeyedTables:
    """The engines, each with the same keyed tables. Peers find rows by MERGE on the key."""

    def __init__(self, spark: SparkSession, folder: Path, scale: float) -> None:
        self.spark, self.scale, self.folder = spark, scale, folder
        self.engines = [each(spark, folder) for each in ENGINES]
        self.ours = self.engines[0]
        self._random = np.random.default_rng(7)
        self._numbers = itertools.count()

    def figures(self, runs: int, only: Sequence[str]) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; print each one right after its measurement.

        `only` chooses among the `PARTS`. After 50 batches, the peers are measured with orders
        alone, because 50 batches of the large table would take them most of an hour.
        """
        if "orders" in only:
            found = pq.read_table(orders(self.folder.parent, self.scale))
            # Arrow cannot take rows of the kind of text that the generator stores.
            plain = [
                f.with_type(pa.string()) if f.type == pa.string_view() else f for f in found.schema
            ]
            small = orders_of(found.cast(pa.schema(plain)))
            yield from self._all_of(small, self.engines, runs, target=None)
        if "random keys" in only:
            large = random_keys(max(2_000, int(ROWS * self.scale)))
            yield from self._all_of(large, [self.ours], runs, target=0.25)
            yield from self._reads(large, runs)
        if "merges" in only:
            yield from self._merges(random_keys(max(2_000, int(ROWS * self.scale))), runs)
        if "joins" in only:
            half = max(8, int(JOINED_ROWS * self.scale)) // 2
            yield from joins(self.spark, self.folder, half, runs)

    def _all_of(
        self, table: Keyed, later: Sequence[Engine], runs: int, target: float | None
    ) -> Iterator[Figure]:
        """Measure upserts, 50 batches of the engines in `later`, and upserts and scans after."""
        self._create(table)
        before = []
        for size in SIZES:
            times = self._upserts(table, size, self.engines, runs)
            before.append(times[0])
            what = f"upsert of {self._scaled(size):,} keys into {table.what}"
            yield self._beside(what, times, target if size == BATCH else None)
        self._check(table, self.engines)
        for _ in range(BATCHES):
            given = self._batch(table, BATCH)
            for engine in later:
                self._upsert(engine, table, given)
        for size, earlier in zip(SIZES, before, strict=True):
            times = self._upserts(table, size, later, runs)
            what = (
                f"upsert of {self._scaled(size):,} keys into {table.what} after {BATCHES} batches"
            )
            if len(later) > 1:
                yield self._beside(what, times, None)
            yield self._alone(f"{what}; ratio: to before them", times[0], earlier)
        self._check(table, later)
        yield from self._scans(table, later, runs)

    def _scans(self, table: Keyed, later: Sequence[Engine], runs: int) -> Iterator[Figure]:
        """Scan after the batches, beside the peers, and beside a new table of the same rows."""
        if len(later) > 1:
            times = in_turn([partial(self._scan, each, table.name, table) for each in later], runs)
            yield self._beside(f"sum of a column of {table.what}, {LATER}", times)
        fresh, scan = f"fresh_{table.key}", partial(self._scan, self.ours)
        with colonnade.open(self.ours.place(table.name)).scan().to_reader() as rows:
            self._create_ours(fresh, table.key, rows)
        works = [partial(scan, name, table) for name in (table.name, fresh)]
        what = f"sum of a column of {table.what}, {LATER}"
        mine, other = in_turn(works, 3 * runs)
        yield self._alone(f"{what}; ratio: to a new table", mine, other)
        keys.maintain(self.ours.place(table.name))
        what = f"{what} and a round of maintain; ratio: to a new table"
        mine, other = in_turn(works, 3 * runs)
        yield self._alone(what, mine, other, 1.1)

    def _merges(self, table: Keyed, runs: int) -> Iterator[Figure]:
        """Run MERGE on the key beside a MERGE that joins, and beside an upsert."""
        name = "merged"
        self._create_ours(name, table.key, table.first())
        path = self.ours.place(name)

        def merge(most: str) -> None:
            self.spark.conf.set(MERGE_SETTING, most)
            self._frame(self.ours, name, self._batch(table, BATCH)).createOrReplaceTempView("given")
            self._run(self.ours, name, MERGE.replace("{s}", "given").replace("{key}", table.key))

        def upsert() -> None:
            frame = self._frame(self.ours, name, self._batch(table, BATCH))
            colonnade.Table.forPath(self.spark, path).upsert(frame)

        works: list[Callable[[], object]] = [partial(merge, "64m"), partial(merge, "0"), upsert]
        by_key, joined, upserted = in_turn(works, runs, before=os.sync)
        self.spark.conf.unset(MERGE_SETTING)
        what = f"MERGE on the key, of {self._scaled(BATCH):,} keys into {table.what}"
        yield self._alone(f"{what}; ratio: to a MERGE that joins", by_key, joined)
        yield self._alone(f"{what}; ratio: to an upsert", by_key, upserted)

    def _reads(self, table: Keyed, runs: int) -> Iterator[Figure]:
        """Read one key, and 1 % of the keys in their order."""
        path, each = self.ours.place(table.name), table.key_at
        chosen = each(self._random.integers(0, table.rows, GETS)).tolist()
        open_table = colonnade.open(path)
        assert all(open_table.get(key) is not None for key in chosen)  # warms the indexes up
        spent = min(
            seconds(lambda: [open_table.get(key) for key in chosen]) / GETS for _ in range(runs)
        )
        yield Figure(f"get of one of {table.what}, without Spark", "ms", 1000 * spent, target=10)
        keys_in_turn = {engine.name: itertools.cycle(chosen) for engine in self.engines}

        def one(engine: Engine) -> object:
            wanted = f"{table.key} = {next(keys_in_turn[engine.name])}"
            rows = self._run(engine, table.name, f"SELECT * FROM {{t}} WHERE {wanted}").collect()
            assert len(rows) == 1
            return rows

        times = in_turn([partial(one, each) for each in self.engines], 3 * runs)
        yield self._beside(f"one of {table.what} in SQL", times)
        high = int(each(np.array([table.rows // 100]))[0])

        def in_order(engine: Engine) -> object:
            sql = f"SELECT * FROM {{t}} WHERE {table.key} < {high} ORDER BY {table.key}"
            return self._run(engine, table.name, sql).toArrow()

        times = in_turn([partial(in_order, each) for each in self.engines], runs)
        yield self._beside(f"1 % of {table.what}, in the order of the key", times)

    def _create(self, table: Keyed) -> None:
        path = self.folder / f"{table.key}.parquet"
        with pq.ParquetWriter(path, table.first().schema) as writer:
            for batch in table.first():
                writer.write_batch(batch)
        self._create_ours(table.name, table.key, table.first())
        frame = self.spark.read.parquet(str(path))
        for engine in self.engines[1:]:
            engine.create(table.name, frame)
            if isinstance(engine, Delta):
                vectors = "'delta.enableDeletionVectors' = 'true'"
                self._run(engine, table.name, f"ALTER TABLE {{t}} SET TBLPROPERTIES ({vectors})")

    def _create_ours(self, name: str, key: str, rows: pa.RecordBatchReader) -> None:
        self.ours.adopt(name, name)
        made = colonnade.create(self.ours.place(name), rows.schema, primary_key=[key])
        made.append(rows)

    def _upserts(
        self, table: Keyed, size: int, engines: Sequence[Engine], runs: int
    ) -> list[list[float]]:
        """Upsert `runs` batches, which are the same for all engines, after one that warms up."""
        batches = [self._batch(table, size) for _ in range(1 + runs)]
        turns = [iter(batches) for _ in engines]
        works = [
            partial(lambda e, turn: self._upsert(e, table, next(turn)), engine, turn)
            for engine, turn in zip(engines, turns, strict=True)
        ]
        # Colonnade syncs its files. It must not pay for unsynced files that other formats left.
        return in_turn(works, runs, before=os.sync)

    def _upsert(self, engine: Engine, table: Keyed, batch: Path) -> None:
        frame = self._frame(engine, table.name, batch)
        if isinstance(engine, Colonnade):
            colonnade.Table.forPath(self.spark, engine.place(table.name)).upsert(frame)
            return
        frame.createOrReplaceTempView("given")
        self._run(engine, table.name, MERGE.replace("{s}", "given").replace("{key}", table.key))

    def _frame(self, engine: Engine, name: str, batch: Path) -> DataFrame:
        return self.spark.read.schema(engine.read(name).schema).parquet(str(batch))

    def _batch(self, table: Keyed, size: int) -> Path:
        """Write random rows to a file; half of their keys are new."""
        places = self._random.integers(0, table.rows, self._scaled(size))
        places = self._random.permutation(np.unique(places))
        ids = table.key_at(places)
        ids[: len(ids) // 2] += table.step
        path = self.folder / f"batch-{next(self._numbers)}.parquet"
        pq.write_table(table.with_keys(places, ids), path)
        return path

    def _scaled(self, size: int) -> int:
        return max(2, int(size * self.scale))

    def _scan(self, engine: Engine, name: str, table: Keyed) -> object:
        return self._run(engine, name, f"SELECT sum({table.priced}) FROM {{t}}").collect()

    def _run(self, engine: Engine, name: str, sql: str) -> DataFrame:
        return self.spark.sql(sql.replace("{t}", engine.sql_name(name)))

    def _check(self, table: Keyed, engines: Sequence[Engine]) -> None:
        """Raise `AssertionError` if the engines hold different rows, or one key twice."""
        columns = ", ".join(self.ours.read(table.name).columns)
        every = f"count(*), sum(CAST(xxhash64({columns}) AS DECIMAL(38))), max({table.key})"
        answers = {
            engine.name: self._run(engine, table.name, f"SELECT {every} FROM {{t}}").collect()
            for engine in engines
        }
        if any(answer != answers[Colonnade.name] for answer in answers.values()):
            raise AssertionError(f"The rows of {table.name} differ: {answers}")

    def _beside(
        self, measure: str, times: Sequence[Sequence[float]], target: float | None = None
    ) -> Figure:
        """Compare with the better peer."""
        names = [engine.name for engine in self.engines]
        medians = dict(zip(names, map(statistics.median, times), strict=True))
        ours = medians.pop(Colonnade.name)
        best = min(medians, key=medians.__getitem__)
        ratio = median_ratio(times[0], times[names.index(best)])
        print(f"  {measure}: {ours:.4g} s, {ratio:.3f} of {best}", flush=True)
        return Figure(measure, "s", ours, medians[best], ratio, target, beside=medians)

    def _alone(
        self,
        measure: str,
        ours: Sequence[float],
        other: Sequence[float],
        target: float | None = None,
    ) -> Figure:
        medians = statistics.median(ours), statistics.median(other)
        print(f"  {measure}: {medians[0]:.4g} s beside {medians[1]:.4g} s", flush=True)
        return Figure(measure, "s", *medians, median_ratio(ours, other), target)


def run(folder: Path, scale: float, runs: int, only: Sequence[str] = ()) -> list[Figure]:
    """Measure every row, or those of the `PARTS` in `only`.

    Ratios are Colonnade's time over that of the better peer. A row that says so compares with
    Colonnade itself. Engines must hold the same rows after the upserts. Tables are stored below
    `folder`/keys_spark.
    """
    place = folder / "keys_spark"
    spark = session(place)
    place.mkdir(parents=True, exist_ok=True)
    try:
        return list(KeyedTables(spark, place, scale).figures(runs, only or PARTS))
    finally:
        spark.stop()
