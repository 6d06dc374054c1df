"""Compare Colonnade, Delta Lake and Iceberg in a bucket whose every answer takes 20 ms more.

One session of Spark, S3A, and a MinIO server behind `slow_network.py`. Delta Lake commits with its
log store for one driver, and Iceberg with a catalog that is a folder. Neither is safe with several
drivers. Both are the fastest that these formats have without another service.
"""

from __future__ import annotations

import itertools
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyspark.sql import Row, SparkSession

import colonnade
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio, seconds
from benchmarks.peers.changes import KEYED_ROWS, MERGE, MERGED_ROWS, SCATTERED, keyed
from benchmarks.peers.engines import Colonnade, Delta, Engine, Iceberg, session
from benchmarks.peers.peers import QUERIES, drain, small
from benchmarks.stores.slow_network import SlowNetwork
from tests.setup.hadoop_aws import jars
from tests.setup.minio import KEY, SECRET, Minio

ENGINES: tuple[type[Engine], ...] = (Colonnade, Delta, Iceberg)
DELAY_S = 0.02
TARGET, TARGET_OF_LOG = 0.7, 0.4
APPENDS, OLD_APPENDS, COMPACTED_APPENDS = 20, 1000, 50
ASKED = ("sum of 1 column", "sum of 4 columns", "TPC-H q6", "one order by its key")
COUNT = "SELECT count(*), min(id), max(id) FROM {t}"


@dataclass(frozen=True)
class FarBucket:
    """A bucket of a server, and the network before it."""

    server: Minio
    network: SlowNetwork
    bucket: str

    @property
    def url(self) -> str:
        """The folder of all tables."""
        return f"s3a://{self.bucket}/tables"

    @property
    def settings(self) -> Mapping[str, str]:
        """Spark's settings to reach the bucket."""
        hadoop = {
            "endpoint": self.network.url,
            "endpoint.region": "us-east-1",
            "path.style.access": "true",
            "connection.ssl.enabled": "false",
            "access.key": KEY,
            "secret.key": SECRET,
            # The peers then ask less often whether a path exists.
            "performance.flags": "create,mkdir",
        }
        return {
            "spark.jars": ",".join(jars()),
            **{f"spark.hadoop.fs.s3a.{name}": value for name, value in hadoop.items()},
            # A vacuum may remove what is a moment old.
            "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        }

    def copy(self, url: str, number: int) -> str:
        """Copy a folder of the bucket on the server's disk. Returns the name of the copy."""
        disk = self.server.folder / "data"
        original = disk / url.removeprefix("s3a://")
        name = f"{original.name}_copy_{number}"
        shutil.copytree(original, original.with_name(name))
        return name


@contextmanager
def place(folder: Path, delay_s: float = DELAY_S) -> Iterator[FarBucket]:
    """A server with an empty bucket behind a slow network."""
    with tempfile.TemporaryDirectory(dir=folder) as data:
        server = Minio(Path(data))
        network = SlowNetwork(server.port, delay_s)
        try:
            yield FarBucket(server, network, server.new_bucket())
        finally:
            network.stop()
            server.stop()


class Stores:
    """The engines, and what is measured of them."""

    def __init__(self, spark: SparkSession, place: FarBucket, folder: Path, scale: float) -> None:
        self.spark, self.place, self.scale = spark, place, scale
        self.engines = [each(spark, place.url) for each in ENGINES]
        self.source = spark.read.parquet(str(lineitem(folder, scale)))
        [[self.key]] = self.source.selectExpr("max(l_orderkey) div 64 * 32 + 1").collect()
        self._sequences = {each.name: itertools.count(0, 10) for each in self.engines}

    def figures(self, runs: int, only: Sequence[str] = ()) -> Iterator[Figure]:
        """Yield every row of the benchmark's table; print each one right after its measurement.

        With `only`, yields the rows whose names contain one of these texts.
        """
        rows = self._rows_by_name(runs)
        wanted = [name for name in rows if not only or any(text in name for text in only)]
        if self._first_count in wanted:
            # It takes longer than all else, so everything that is measured follows in one piece.
            self._build("old", self._old_appends)
        if self._write not in wanted:
            with self.place.network.fast():
                for engine in self.engines:
                    engine.create("lineitem", self.source)
        for name in wanted:
            yield from rows[name]()

    @property
    def _write(self) -> str:
        return f"write lineitem SF{self.scale:g}"

    @property
    def _old_appends(self) -> int:
        return max(20, int(OLD_APPENDS * min(1, self.scale)))

    @property
    def _first_count(self) -> str:
        return f"first count of a table with {self._old_appends:,} appends"

    def _rows_by_name(self, runs: int) -> dict[str, Callable[[], Iterable[Figure]]]:
        """What measures each row, in the order of the table."""

        def one(measure: str, row: Callable[..., Figure], *arguments: object) -> None:
            rows[measure] = lambda: [row(measure, *arguments)]

        rows: dict[str, Callable[[], Iterable[Figure]]] = {}
        writers = [partial(each.create, "lineitem", self.source) for each in self.engines]
        one(self._write, self._compare, TARGET, writers, runs)
        for query in QUERIES:
            if query.measure in ASKED:
                sql = query.sql.replace("{key}", str(self.key))
                one(query.measure, self._ask, sql, "lineitem", runs * min(query.often, 3))
        drains = [partial(drain, each) for each in self.engines]
        one("all columns, no sink", self._compare, TARGET, drains, runs)
        one("append of 10 rows", self._append)
        one("DELETE of 1 % scattered rows", self._statement, "lineitem", self._delete, runs)
        one(f"MERGE of {int(MERGED_ROWS * self.scale):,} rows", self._merges, runs)
        one(self._first_count, self._cold_open, runs)
        rows[f"compaction of {COMPACTED_APPENDS} appends, and vacuum"] = partial(self._upkeep, runs)
        return rows

    def _append(self, measure: str) -> Figure:
        self._build("small", 1)
        works = [partial(self._append_ten, each, "small") for each in self.engines]
        figure = self._compare(measure, TARGET_OF_LOG, works, APPENDS)
        self._check("small")
        return figure

    def _append_ten(self, engine: Engine, table: str) -> None:
        engine.append(table, small(self.spark, next(self._sequences[engine.name])))

    def _build(self, table: str, appends: int) -> None:
        """Make a table of appends of ten rows, on the fast network, with all engines at once."""

        def build(engine: Engine) -> None:
            self._sequences[engine.name] = itertools.count(0, 10)
            engine.create(table, small(self.spark, next(self._sequences[engine.name])))
            for _ in range(appends - 1):
                self._append_ten(engine, table)

        with self.place.network.fast(), ThreadPoolExecutor(len(self.engines)) as pool:
            list(pool.map(build, self.engines))

    def _cold_open(self, measure: str, runs: int) -> Figure:
        """Count the rows of copies of a table that this session has never seen."""

        def work(engine: Engine) -> Callable[[], object]:
            # A copy has its own path, so no engine has anything of it in a cache.
            copies = [self.place.copy(engine.place("old"), number) for number in range(runs + 1)]

            def once() -> None:
                engine.adopt("copy", copies.pop())
                [[count, *_]] = self._rows(engine, COUNT, "copy")
                if count != 10 * self._old_appends:
                    raise AssertionError(f"{engine.name} has {count} rows")

            return once

        return self._compare(measure, TARGET_OF_LOG, [work(e) for e in self.engines], runs)

    def _upkeep(self, runs: int) -> Iterator[Figure]:
        """Compact and vacuum new tables of many appends."""
        compactions: list[list[float]] = [[] for _ in self.engines]
        vacuums: list[list[float]] = [[] for _ in self.engines]
        for number in range(runs):
            self._build("upkeep", COMPACTED_APPENDS)
            order = [*enumerate(self.engines)]
            for at, engine in order if number % 2 else reversed(order):
                compactions[at].append(seconds(partial(self._compact, engine)))
            for at, engine in order if number % 2 else reversed(order):
                vacuums[at].append(seconds(partial(self._vacuum, engine)))
            self._check("upkeep")
        yield self._figure(f"compaction of {COMPACTED_APPENDS} appends", TARGET, compactions)
        yield self._figure("vacuum of what it replaced", TARGET, vacuums)

    def _compact(self, engine: Engine) -> object:
        if isinstance(engine, Colonnade):
            optimize = colonnade.Table.forPath(self.spark, engine.place("upkeep")).optimize()
            return optimize.option("min-rowsets", 2).executeCompaction()
        if isinstance(engine, Delta):
            return self._run(engine, "OPTIMIZE {t}", "upkeep")
        return self._iceberg(engine, "rewrite_data_files", "options => map('rewrite-all', 'true')")

    def _vacuum(self, engine: Engine) -> object:
        if isinstance(engine, Colonnade):
            where = engine.place("upkeep")
            asked = f"table => '{where}', retention_hours => 0.0, force => true"
            call = f"CALL colonnade.system.vacuum({asked})"
            return self.spark.sql(call).collect()
        if isinstance(engine, Delta):
            return self._run(engine, "VACUUM {t} RETAIN 0 HOURS", "upkeep")
        every = "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1"
        return self._iceberg(engine, "expire_snapshots", every)

    def _iceberg(self, engine: Engine, procedure: str, arguments: str) -> object:
        table = engine.sql_name("upkeep").removeprefix("iceberg.")
        call = f"CALL iceberg.system.{procedure}(table => '{table}', {arguments})"
        return self.spark.sql(call).collect()

    def _use_vectors(self, engine: Engine, table: str) -> None:
        if isinstance(engine, Delta):
            vectors = "'delta.enableDeletionVectors' = 'true'"
            self._run(engine, f"ALTER TABLE {{t}} SET TBLPROPERTIES ({vectors})", table)

    def _delete(self, engine: Engine, turn: int) -> object:
        where = SCATTERED.replace("{turn}", str(turn))
        return self._run(engine, f"DELETE FROM {{t}} WHERE {where}", "lineitem")

    def _merges(self, measure: str, runs: int) -> Figure:
        for engine in self.engines:
            engine.create("keyed", keyed(self.spark, 0, int(KEYED_ROWS * self.scale)))
        return self._statement(measure, "keyed", self._merge, runs)

    def _merge(self, engine: Engine, turn: int) -> object:
        # Half of the keys exist, and the other half are new in every turn.
        half = int(MERGED_ROWS * self.scale) // 2
        old = f"SELECT id * 97 + {turn} AS id, 'm' AS name, id * 1.0D AS amount FROM range({half})"
        first = 10**8 + turn * half
        new = f"SELECT id + {first} AS id, 'n' AS name, id * 1.0D AS amount FROM range({half})"
        return self._run(engine, MERGE.replace("{s}", f"({old} UNION ALL {new})"), "keyed")

    def _statement(
        self, measure: str, table: str, statement: Callable[[Engine, int], object], runs: int
    ) -> Figure:
        """Time a statement, on other rows in each turn. All engines must then have equal rows."""
        for engine in self.engines:
            self._use_vectors(engine, table)
        turns = {engine.name: itertools.count() for engine in self.engines}

        def once(engine: Engine) -> object:
            return statement(engine, next(turns[engine.name]))

        works = [partial(once, engine) for engine in self.engines]
        figure = self._compare(measure, TARGET, works, runs)
        self._check(table)
        return figure

    def _check(self, table: str) -> None:
        """Raise `AssertionError` if the engines hold different rows."""
        columns = ", ".join(self.engines[0].read(table).columns)
        every = f"SELECT count(*), sum(CAST(xxhash64({columns}) AS DECIMAL(38))) FROM {{t}}"
        self._answers(every, table)

    def _answers(self, sql: str, table: str) -> None:
        answers = {each.name: self._rows(each, sql, table) for each in self.engines}
        if any(answer != answers[Colonnade.name] for answer in answers.values()):
            raise AssertionError(f"{sql} has different answers: {answers}")

    def _ask(self, measure: str, sql: str, table: str, runs: int) -> Figure:
        self._answers(sql, table)
        works = [partial(self._rows, each, sql, table) for each in self.engines]
        return self._compare(measure, TARGET, works, runs)

    def _rows(self, engine: Engine, sql: str, table: str) -> list[Row]:
        return self.spark.sql(sql, t=engine.read(table)).collect()

    def _run(self, engine: Engine, sql: str, table: str) -> list[Row]:
        return self.spark.sql(sql.replace("{t}", engine.sql_name(table))).collect()

    def _compare(
        self, measure: str, target: float, works: Sequence[Callable[[], object]], runs: int
    ) -> Figure:
        return self._figure(measure, target, in_turn(works, runs))

    def _figure(self, measure: str, target: float, times: Sequence[Sequence[float]]) -> Figure:
        by_name = {e.name: each for e, each in zip(self.engines, times, strict=True)}
        medians = {name: statistics.median(each) for name, each in by_name.items()}
        ours = medians.pop(Colonnade.name)
        rival = min(medians, key=medians.__getitem__)
        ratio = median_ratio(by_name[Colonnade.name], by_name[rival])
        print(f"  {measure}: {ours:.4g} s, {ratio:.3f} of {rival}", flush=True)
        return Figure(measure, "s", ours, medians[rival], ratio, target, beside=medians)


def run(folder: Path, scale: float, runs: int, only: Sequence[str] = ()) -> list[Figure]:
    """Measure every row, or those whose names contain one of the texts in `only`.

    A ratio is Colonnade's time over that of the better peer.
    """
    with place(folder) as found:
        spark = session(found.url, found.settings)
        try:
            return list(Stores(spark, found, folder, scale).figures(runs, only))
        finally:
            spark.stop()
