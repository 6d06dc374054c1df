"""This checkout of Colonnade beside another one, through its public names alone.

Each checkout works in a process of its own, which stays for all runs. The processes work in turn on
tables of their own in the same folder, so that both meet the same disk and the same hours.
`trees` works without Spark, and `trees_spark` in a session of Spark for each checkout.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from benchmarks.measure import Figure, lineitem, median_ratio

ROOT = Path(__file__).parents[2]

MEASURES = {
    "write": "write lineitem SF{scale:g}",
    "read": "read all columns",
    "scan": "scan 4 columns",
    "filter": "scan 2 % of the rows, by a column without order",
    "open": "open a table with 300 RowSets, and plan a scan",
    "append": "append 10 rows with fsync, mean of 50",
    "delete": "delete one row of lineitem",
    "update": "update 2 % of the rows of lineitem",
    "upsert": "upsert 1,000 rows into 100,000",
}

# A busy machine changes processor time less than time.
UNITS = {"time": "ms", "processor time": "ms", "bytes": "bytes"}


class _Tree:
    """The process of one checkout."""

    def __init__(self, script: str, root: Path, folder: Path, source: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # With `-c`, unlike with a file, the folder of the checkout is first in `sys.path`.
        command = [sys.executable, "-c", script, str(folder), str(source)]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def work(self, measure: str) -> dict[str, float]:
        """Do the work once, and return what was measured, by names of units."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{measure}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The process of a checkout ended during {measure!r}.")
        measured: dict[str, float] = json.loads(answer)
        return measured

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def run(folder: Path, scale: float, runs: int, before: Path | None = None) -> list[Figure]:
    """Measure both checkouts in turn, without Spark; see `compare`."""
    return compare("trees_work.py", MEASURES, folder, scale, runs, before)


def compare(
    script: str,
    measures: Mapping[str, str],
    folder: Path,
    scale: float,
    runs: int,
    before: Path | None,
) -> list[Figure]:
    """Measure both checkouts in turn: A B, then B A, after one run of each that does not count.

    `script` is the file of the work, which is beside this one. `before` is the root of the other
    checkout. Without it, this checkout is compared with itself, which shows the noise of the
    machine.
    """
    source = lineitem(folder, scale)
    text = Path(__file__).with_name(script).read_text()
    roots = (ROOT, (before or ROOT).resolve())
    trees = [_Tree(text, root, folder / f"tree-{n}", source) for n, root in enumerate(roots)]
    try:
        return [
            figure
            for name, title in measures.items()
            for figure in _figures(
                title.format(scale=scale), [partial(t.work, name) for t in trees], runs
            )
        ]
    finally:
        for tree in trees:
            tree.end()


def _figures(name: str, works: list[Callable[[], dict[str, float]]], runs: int) -> Iterator[Figure]:
    """Yield a figure for each number of the work, and print it right after its measurement."""
    measured: list[list[dict[str, float]]] = [[], []]
    for turn in range(-1, runs):
        order = (0, 1) if turn % 2 else (1, 0)
        for side in order:
            measured[side].append(works[side]())
    for key, unit in UNITS.items():
        if key in measured[0][0]:
            ours, theirs = ([each[key] for each in side[1:]] for side in measured)
            ratio = median_ratio(ours, theirs)
            print(f"  {name}: {key}: {ratio:.3f}", flush=True)
            yield Figure(
                f"{name}: {key}", unit, statistics.median(ours), statistics.median(theirs), ratio
            )
