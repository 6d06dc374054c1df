"""Tables of many columns, and a range of the key, in one session with the peers and in turn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.engines import Engine, session
from benchmarks.measure import Figure
from benchmarks.peers import WIDE_COLUMNS, WIDE_ROWS, Peers, Query, wide

PERCENT = 100
SUMS_OF_RANGE = """
    SELECT count(*), sum(l_quantity), sum(l_extendedprice) FROM {t}
    WHERE l_orderkey BETWEEN {key} AND {key} + {width}"""


class Wide(Peers):
    """What is measured of the engines beside the rows of `peers`."""

    def figures(self, runs: int) -> Iterator[Figure]:
        """Every row of the table, each printed as soon as it is known."""
        frame = wide(self.spark).selectExpr("monotonically_increasing_id() AS id", "*")
        width = f"{WIDE_COLUMNS} columns"
        yield self._compare(
            f"write {width}", 0.8, [partial(e.create, "wide", frame) for e in self.engines], runs, 1
        )
        yield self._compare(
            f"read all of {width}", 0.8, [partial(drain, e, "true") for e in self.engines], runs
        )
        part = f"id < {WIDE_ROWS // PERCENT}"
        yield self._compare(
            f"all of {width} of 1 % of the key", 0.7,
            [partial(drain, e, part) for e in self.engines], 3 * runs,
        )  # fmt: skip
        for engine in self.engines:
            engine.create("lineitem", self.source)
        sql = SUMS_OF_RANGE.replace("{width}", str(2 * self.key // PERCENT))
        query = Query("two sums over 1 % of the key", 0.7, "lineitem", sql, often=3)
        yield self._time(query, runs)


def drain(engine: Engine, where: str) -> None:
    """Read every value of some rows and throw them away."""
    engine.read("wide").where(where).write.format("noop").mode("overwrite").save()


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row. A ratio is that of `peers`: over the better of Parquet and Iceberg.

    Tables go below `folder`/wide. About four minutes for scale 1 on two processors.
    """
    os.sync()
    spark = session(folder / "wide")
    try:
        return list(Wide(spark, folder / "wide", scale).figures(runs))
    finally:
        spark.stop()
