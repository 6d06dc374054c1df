"""Compare the first MERGE of a session with Iceberg's, each in its own new session, in turn.

`python -m benchmarks.peers.first_merge FOLDER STATEMENT` runs one such session, and prints the
seconds.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Figure, median_ratio, seconds
from benchmarks.peers.changes import KEYED_ROWS, MERGE, MERGED_ROWS, keyed
from benchmarks.peers.engines import Colonnade, Iceberg, session

ENGINES = (Colonnade, Iceberg)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Make one table for each engine, then merge into them in new sessions.

    Each session first runs a query without a table, so that the start of Spark is not measured.
    Takes about half a minute for each run of one engine.
    """
    place = folder / "first-merge"
    spark = session(place)
    engines = [each(spark, place) for each in ENGINES]
    for engine in engines:
        engine.create("keyed", keyed(spark, 0, int(KEYED_ROWS * scale)))
    names = [engine.sql_name("keyed") for engine in engines]
    spark.stop()
    times: list[list[float]] = [[] for _ in names]
    for turn in range(runs):
        order = list(enumerate(names))
        for at, name in order if turn % 2 else reversed(order):
            times[at].append(_in_new_session(place, statement(name, turn, scale)))
            print(f"  {ENGINES[at].__name__}: {times[at][-1]:.2f} s", flush=True)
    ours, theirs = map(statistics.median, times)
    ratio = median_ratio(*times)
    return [Figure("first MERGE of a session, beside Iceberg", "s", ours, theirs, ratio, 0.5)]


def statement(table: str, turn: int, scale: float) -> str:
    """Write a MERGE; half of its source rows match rows, and the other half are inserted."""
    count = int(MERGED_ROWS * scale)
    old = f"SELECT id * 97 + {turn} AS id, 'm' AS name, id * 1.0D AS amount"
    new = f"SELECT id + {10**8 + turn * count} AS id, 'n' AS name, id * 1.0D AS amount"
    rows = f"{old} FROM range({count // 2}) UNION ALL {new} FROM range({count // 2})"
    return MERGE.replace("{t}", table).replace("{s}", f"({rows})")


def _in_new_session(folder: Path, sql: str) -> float:
    os.sync()
    command = [sys.executable, "-m", "benchmarks.peers.first_merge", str(folder), sql]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    """Run one session, and print the seconds of its first MERGE."""
    folder, sql = sys.argv[1:]
    spark = session(Path(folder))
    spark.range(10).selectExpr("sum(id)").collect()
    taken = seconds(lambda: spark.sql(sql).collect())
    spark.stop()
    print(taken)


if __name__ == "__main__":
    main()
