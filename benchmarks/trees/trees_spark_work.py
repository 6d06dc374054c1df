"""The work of one checkout for `trees_spark`. It runs in the folder of that checkout, as text.

It takes the name of a measure on each line of its input, does the work once, and answers with the
milliseconds that it took, and with the bytes that it added to the table. It uses public names
alone, which earlier checkouts have, too.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import colonnade

FOUR = ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
CHEAP = "l_extendedprice < 2000"
SCATTERED = "(l_orderkey * 7 + l_linenumber * 13) % 100 = {turn}"
KEYED, MERGED = 1_000_000, 25_000
MERGE = """
    MERGE INTO {t} t USING changes s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET amount = s.amount
    WHEN NOT MATCHED THEN INSERT *"""

Timed = Callable[[], object]


def session() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("colonnade-benchmarks")
    for name, value in {
        "spark.driver.memory": "3g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }.items():
        builder.config(name, value)
    spark = colonnade.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Work:
    """The tables of one checkout in a folder. Each measure prepares its work and returns it.

    A measure that changes rows works on other rows in each turn. `self._place` is the table whose
    bytes are counted.
    """

    def __init__(self, folder: Path, source: Path) -> None:
        self._spark = session()
        self._folder, self._turn = folder, 0
        self._source = self._spark.read.parquet(str(source))
        self._place = self._lineitem = folder / "lineitem"
        self._save(self._source, self._lineitem)
        self._keyed = folder / "keyed"
        self._save(self._rows(0, KEYED), self._keyed)

    def run(self, measure: str) -> dict[str, float]:
        """Do the work of a measure once, on a new table where it needs one."""
        self._turn += 1
        work: Timed = getattr(self, measure)()
        before = self._size()
        gc.collect()
        os.sync()
        start = time.perf_counter()
        work()
        took = time.perf_counter() - start
        added = self._size() - before
        shutil.rmtree(self._folder / "new", ignore_errors=True)
        return {"time": took * 1e3, "bytes": added} if added else {"time": took * 1e3}

    def write(self) -> Timed:
        self._place = self._folder / "new"
        return lambda: self._save(self._source, self._place)

    def read(self) -> Timed:
        self._place = self._lineitem
        return lambda: self._read().write.format("noop").mode("overwrite").save()

    def scan(self) -> Timed:
        return lambda: self._read().groupBy().sum(*FOUR).collect()

    def filter(self) -> Timed:
        return lambda: self._read().where(CHEAP).groupBy().sum(*FOUR).collect()

    def append(self) -> Timed:
        self._place = self._keyed
        rows = self._rows(10**9 + 10 * self._turn, 10).coalesce(1)
        return lambda: self._save(rows, self._keyed)

    def delete(self) -> Timed:
        self._place = self._lineitem
        return self._statement("DELETE FROM {t} WHERE " + self._scattered())

    def update(self) -> Timed:
        self._place = self._lineitem
        return self._statement("UPDATE {t} SET l_comment = 'changed' WHERE " + self._scattered())

    def merge(self) -> Timed:
        half = MERGED // 2
        old, new = self._turn * half, KEYED + self._turn * half
        return self._merge(self._rows(old, half).union(self._rows(new, half)))

    def merge_scattered(self) -> Timed:
        """Merge keys whose order says nothing: half of them are those of rows, below `KEYED`."""
        key = f"pmod(xxhash64(id, {self._turn}L), {2 * KEYED}L)"
        rows = self._rows(0, MERGED).selectExpr(f"{key} AS id", "amount", "text")
        return self._merge(rows.dropDuplicates(["id"]))

    def compact(self) -> Timed:
        self._place = self._folder / "new"
        self._save(self._source, self._place)
        self._statement("DELETE FROM {t} WHERE " + self._scattered())()
        return self._statement("OPTIMIZE {t} FULL")

    def _merge(self, rows: DataFrame) -> Timed:
        self._place = self._keyed
        rows.cache().createOrReplaceTempView("changes")
        rows.count()
        return self._statement(MERGE)

    def _statement(self, text: str) -> Timed:
        sql = text.replace("{t}", f"colonnade.`{self._place}`")
        return lambda: self._spark.sql(sql).collect()

    def _scattered(self) -> str:
        return SCATTERED.format(turn=self._turn % 100)

    def _rows(self, first: int, count: int) -> DataFrame:
        return self._spark.range(first, first + count).select(
            "id",
            (f.col("id") * 0.25).alias("amount"),
            f.concat(f.lit("row "), f.col("id")).alias("text"),
        )

    def _read(self) -> DataFrame:
        return self._spark.read.format("colonnade").load(str(self._lineitem))

    @staticmethod
    def _save(rows: DataFrame, place: Path) -> None:
        rows.write.format("colonnade").mode("append").save(str(place))

    def _size(self) -> int:
        files = (each for each in self._place.rglob("*") if each.is_file())
        return sum(each.stat().st_size for each in files)


def main() -> None:
    """Answer each line of the input until it ends."""
    work = Work(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in sys.stdin:
        print(json.dumps(work.run(line.strip())), flush=True)


main()
