"""The work of one checkout for `trees`. It runs in the folder of that checkout, as text.

It takes the name of a measure on each line of its input, does the work once, and answers with the
time and the processor time that it took, in milliseconds. It uses public names alone, which
earlier checkouts have, too.
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import colonnade

FOUR = ["l_quantity", "l_extendedprice", "l_discount", "l_shipdate"]
CHEAP = "l_extendedprice < 2000"
TEN = pa.table({"id": list(range(10)), "name": ["x"] * 10, "amount": [0.5] * 10})
APPENDS = 50
ROWSETS = 300

Timed = Callable[[], object]


class Work:
    """The tables of one checkout in a folder. Each measure prepares its work and returns it."""

    def __init__(self, folder: Path, source: Path) -> None:
        self._rows = pq.read_table(source)
        self._new_folder = folder / "new"
        self._turn = 0
        self._path = folder / "lineitem"
        self._lineitem = colonnade.create(self._path, self._rows.schema)
        self._lineitem.append(self._rows)
        self._many = folder / "many"
        many = colonnade.create(self._many, TEN.schema)
        for _ in range(ROWSETS):
            many.append(TEN)
        keys = range(100_000)
        keyed = pa.table({"id": keys, "text": [f"row {key}" for key in keys]})
        self._keyed = colonnade.create(folder / "keyed", keyed.schema)
        self._keyed.append(keyed)

    def run(self, measure: str) -> dict[str, float]:
        """Do the work of a measure once, on a new table where it needs one.

        The processor time is that of all threads of the process.
        """
        self._turn += 1
        work: Timed = getattr(self, measure)()
        gc.collect()
        start, used = time.perf_counter(), time.process_time()
        work()
        took, used = time.perf_counter() - start, time.process_time() - used
        shutil.rmtree(self._new_folder, ignore_errors=True)
        return {"time": took * 1e3, "processor time": used * 1e3}

    def write(self) -> Timed:
        table = colonnade.create(self._new_folder, self._rows.schema)
        return lambda: table.append(self._rows)

    def read(self) -> Timed:
        return lambda: colonnade.open(self._path).scan().to_arrow()

    def scan(self) -> Timed:
        return lambda: colonnade.open(self._path).scan(FOUR).to_arrow()

    def filter(self) -> Timed:
        return lambda: colonnade.open(self._path).scan(where=CHEAP).to_arrow()

    def open(self) -> Timed:
        return lambda: colonnade.open(self._many).scan(["id"], where="id < 0").to_arrow()

    def append(self) -> Timed:
        table = colonnade.create(self._new_folder, TEN.schema)
        return lambda: [table.append(TEN) for _ in range(APPENDS)]

    def delete(self) -> Timed:
        where = f"l_orderkey = {1 + self._turn // 8 * 32 + self._turn % 8} AND l_linenumber = 1"
        return lambda: self._lineitem.delete(where)

    def update(self) -> Timed:
        table = colonnade.create(self._new_folder, self._rows.schema)
        table.append(self._rows)
        return lambda: table.update({"l_comment": "'changed'"}, CHEAP)

    def upsert(self) -> Timed:
        first = 500 * self._turn
        rows = pa.table({"id": range(first, first + 1000), "text": ["new"] * 1000})
        return lambda: self._keyed.upsert(rows, on="id")


def main() -> None:
    """Answer each line of the input until it ends."""
    work = Work(Path(sys.argv[1]), Path(sys.argv[2]))
    for line in sys.stdin:
        print(json.dumps(work.run(line.strip())), flush=True)


main()
