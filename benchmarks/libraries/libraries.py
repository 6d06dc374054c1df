"""Five libraries side by side without Spark: each task in a process of its own.

So times are those of a first call, with opening the table. Imports have a row of their own, also
those that a library does while it works, but not those of numpy and pyarrow. This tree is compiled
to bytecode before, as pip compiles what it installs. Memory is the peak of the process. A task that
changes the table works on a copy. After each task, all libraries must have the same rows.

Needs `PYTHONPATH=$(python tests/setup/lakes.py)`.
"""

from __future__ import annotations

import builtins
import compileall
import importlib
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.libraries.sides import SIDES
from benchmarks.measure import Figure, median_ratio

ROWS = 5_000_000
TARGETS = {"two": 1.5, "part": 1.5, "one": 2.0, "delete": 1.2}
"""The greatest ratio to the best other library; it is 1 for all other tasks."""

TASKS = {
    "write": "write",
    "all": "read all rows",
    "two": "read two columns",
    "part": "read a day and a category",
    "one": "read one row by its id",
    "upsert 1,000": "upsert 1,000 rows, half of them new",
    "upsert 100,000": "upsert 100,000 rows, half of them new",
    "delete": "delete 45 rows by a text",
    "update": "update 50 rows",
    "merge": "MERGE of 10,000 rows with a condition",
}
_READS = ("all", "two", "part", "one")
_SLOW = {("upsert 100,000", "PyIceberg")}
"""What takes minutes, and runs once."""

_INCOMING = {"upsert 1,000": 1_000, "upsert 100,000": 100_000, "merge": 10_000}


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Run each task in each library in turn, `runs` times; the tables have 5 million rows."""
    place = folder / "libraries"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    rows = max(100_000, int(ROWS * scale))
    for package in ("manifests", "tableformat", "colonnade"):
        compileall.compile_dir(Path(__file__).parents[2] / package, quiet=2)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for task in TASKS:
        for turn in range(runs):
            for name in SIDES:
                has_task = hasattr(SIDES[name], task.partition(" ")[0])
                if has_task and not (turn and (task, name) in _SLOW):
                    told = _in_a_process(place, name, task, rows)
                    found.setdefault(task, {}).setdefault(name, []).append(told)
        results = {each["rows"] for told in found[task].values() for each in told}
        assert len(results) == 1, (task, found[task])
    return [*_times(found), *_peaks(found), _imports(found)]


def _times(found: dict[str, dict[str, list[dict[str, Any]]]]) -> list[Figure]:
    figures = []
    for task, sides in found.items():
        times = {name: [each["seconds"] for each in told] for name, told in sides.items()}
        mine = times.pop("Colonnade")
        best = min(times.values(), key=statistics.median)
        beside = {name: statistics.median(each) for name, each in times.items()}
        figures.append(
            Figure(
                TASKS[task],
                "s",
                statistics.median(mine),
                min(beside.values()),
                median_ratio(mine, best),
                TARGETS.get(task, 1.0),
                beside=beside,
            )
        )
    return figures


def _peaks(found: dict[str, dict[str, list[dict[str, Any]]]]) -> list[Figure]:
    figures = []
    for task, sides in found.items():
        peaks = {
            name: statistics.median(each["peak_mib"] for each in told)
            for name, told in sides.items()
        }
        mine = peaks.pop("Colonnade")
        best = min(peaks.values())
        what = f"{TASKS[task]}: peak memory"
        figures.append(Figure(what, "MiB", mine, best, mine / best, beside=peaks))
    return figures


def _imports(found: dict[str, dict[str, list[dict[str, Any]]]]) -> Figure:
    times = {
        name: statistics.median(
            each["imports"] for sides in found.values() for each in sides.get(name, ())
        )
        for name in SIDES
    }
    mine = times.pop("Colonnade")
    best = min(times.values())
    return Figure("imports", "s", mine, best, mine / best, beside=times)


def _in_a_process(place: Path, name: str, task: str, rows: int) -> dict[str, Any]:
    """Run a task on the table of a library. The task `write` makes the table."""
    folder, kept = place / name, place / "kept" / name
    if task == "write":
        shutil.rmtree(kept, ignore_errors=True)
    elif task not in _READS:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
    given = json.dumps([str(folder), name, task, rows])
    program = [sys.executable, "-m", "benchmarks.libraries.libraries", given]
    ran = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    if task == "write":
        kept.parent.mkdir(exist_ok=True)
        folder.rename(kept)
        shutil.copytree(kept, folder)
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def alone(folder: str, name: str, task: str, rows: int) -> dict[str, Any]:
    """Run one task in this process, and tell its seconds, its memory, and the rows after it."""
    side = SIDES[name](Path(folder))
    given = _given(task, rows)
    if task == "write":
        shutil.rmtree(folder, ignore_errors=True)
    imports = _Imports()
    begun = time.perf_counter()
    result = getattr(side, task.partition(" ")[0])(*given)
    seconds = time.perf_counter() - begun - imports.seconds
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    read = result if task in _READS else side.all()
    told = {"seconds": seconds, "imports": imports.seconds, "peak_mib": int(peak) / 1024}
    return {**told, "rows": repr([read.num_rows, *_sums(read)])}


class _Imports:
    """Adds up the seconds of all imports of this process from its creation on."""

    def __init__(self) -> None:
        self.seconds, self._depth = 0.0, 0
        # Statements and C code call the one, and functions that import late the other.
        builtins.__import__ = self._timed(builtins.__import__)
        importlib.import_module = self._timed(importlib.import_module)

    def _timed(self, load: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **others: Any) -> Any:
            begun, self._depth = time.perf_counter(), self._depth + 1
            try:
                return load(*args, **others)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.perf_counter() - begun

        return timed


def _sums(rows: pa.Table) -> list[float]:
    return [
        round(pc.sum(rows[name].cast(pa.float64())).as_py(), 3)
        for name in ("id", "count", "price")
        if name in rows.schema.names
    ]


def _given(task: str, rows: int) -> tuple[pa.Table, ...]:
    if task == "write":
        return (rows_of(np.arange(rows), rows),)
    if task in _INCOMING:
        random, size = np.random.default_rng(3), _INCOMING[task]
        old = random.choice(rows, size // 2, replace=False)
        ids = np.concatenate([old, np.arange(rows, rows + size - len(old))])
        return (rows_of(random.permutation(ids), rows, random.integers(0, 100, size)),)
    return ()


def rows_of(ids: Any, rows: int, counts: Any = None) -> pa.Table:
    """Return rows that ascend by id and by day: 45 of each name, and 20 categories."""
    days = (ids * 365 // rows + 20_089).astype("int32")  # days of 2025
    return pa.table(
        {
            "id": ids,
            "day": pa.array(days).cast(pa.date32()),
            "category": _texts("category ", ids * 7 % 20),
            "name": _texts("name ", ids * 7_919 % (rows // 45)),
            "count": pa.array(ids % 97 if counts is None else counts).cast(pa.int32()),
            "price": np.round(ids % 10_007 * 0.37, 2),
        }
    )


def _texts(prefix: str, numbers: Any) -> pa.Array:
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


if __name__ == "__main__":
    print(json.dumps(alone(*json.loads(sys.argv[1]))))
