"""Rows by their key and in its order, without Spark; joins of tables that are bucketed alike."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import colonnade
from benchmarks.measure import Figure, interleave, seconds
from benchmarks.spark.spark import session

ROWS = 20_000_000
"""The rows of a table at scale 1."""

ROWSETS = 8
"""The writes of a table, each of which has keys of the whole range."""

GETS = 50

BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
IN_ORDER = "spark.colonnade.readInOrder"
BUCKETS = "spark.sql.sources.v2.bucketing.enabled"

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("amount", pa.float64()),
        ("code", pa.int32()),
        ("day", pa.date32()),
        ("name", pa.string()),
    ]
)


def rows(count: int, first: int, seed: int) -> pa.Table:
    """Rows whose ids are `first`, `first` + `ROWSETS`, and so on, in a random order."""
    rng = np.random.default_rng(seed)
    names = pa.array([f"name number {number}" for number in range(1000)])
    columns = [
        rng.permutation(count) * ROWSETS + first,
        rng.random(count),
        rng.integers(0, 1000, count, np.int32),
        pa.array(rng.integers(0, 20_000, count, np.int32), pa.date32()),
        names.take(pa.array(rng.integers(0, 1000, count))),
    ]
    return pa.table(columns, SCHEMA)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Read one key, and 1 % of the keys in order; join with and without a shuffle."""
    count = max(ROWSETS, int(ROWS * scale) // ROWSETS)
    found = list(_without_spark(folder / "ordered", count, runs))
    spark = colonnade.enable(session())
    try:
        return [*found, *joins(spark, folder, count // 2, runs)]
    finally:
        spark.stop()


def _without_spark(path: Path, count: int, runs: int) -> Iterator[Figure]:
    shutil.rmtree(path, ignore_errors=True)
    table = colonnade.create(path, SCHEMA, primary_key=["id"])
    for first in range(ROWSETS):
        table.append(rows(count, first, first))
    keys = np.random.default_rng(9).integers(0, count * ROWSETS, GETS).tolist()
    assert all(table.get(key) is not None for key in keys)  # warms the indexes up
    each = min(seconds(lambda: [table.get(key) for key in keys]) / GETS for _ in range(runs))
    size = f"of {count * ROWSETS / 1e6:g} M rows in {ROWSETS} RowSets"
    yield Figure(f"get of one key {size}", "ms", 1000 * each, target=10)

    high = max(1, count * ROWSETS // 100)
    wanted = f"id < {high}"
    assert table.scan(where=wanted, order="key").to_arrow()["id"].to_pylist() == [*range(high)]
    times = interleave(
        lambda: table.scan(where=wanted, order="key").to_arrow(),
        lambda: table.scan(where=wanted).to_arrow().sort_by("id"),
        runs,
    )
    yield Figure(f"1 % {size} in order, beside a sort", "s", *times)
    times = interleave(
        lambda: next(table.scan(order="key").to_batches()),
        lambda: table.scan().to_arrow().sort_by("id").slice(0, 1),
        1,
    )
    yield Figure(f"first rows {size} in order, beside a sort", "s", *times)


def joins(spark: SparkSession, folder: Path, count: int, runs: int) -> Iterator[Figure]:
    """Join two tables of `2 * count` rows, which are bucketed alike, with and without a shuffle."""
    paths = [folder / "joined-a", folder / "joined-b"]
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
        table = colonnade.create(path, SCHEMA, sort_key=["id"], partition_by=["bucket(8, id)"])
        for first in range(2):
            table.append(rows(count, first, first))
    a, b = (f"colonnade.`{path.absolute()}`" for path in paths)
    query = f"SELECT count(*), sum(a.amount + b.code) FROM {a} a JOIN {b} b ON a.id = b.id"
    spark.conf.set(BROADCAST, -1)

    def join(in_order: bool, buckets: bool) -> list[object]:
        spark.conf.set(IN_ORDER, in_order)
        spark.conf.set(BUCKETS, buckets)
        return list(spark.sql(query).collect())

    assert join(True, True)[0][0] == join(False, False)[0][0] == 2 * count  # type: ignore[index]
    size = f"two tables of {2 * count / 1e6:g} M rows, beside a shuffled join"
    times = interleave(lambda: join(False, True), lambda: join(False, False), runs)
    yield Figure(f"join by buckets of {size}", "s", *times, 0.6)
    times = interleave(lambda: join(True, True), lambda: join(False, False), runs)
    yield Figure(f"join by buckets in order of {size}", "s", *times, 0.6)
