"""This checkout of Colonnade beside another one, without Spark, through its public names alone.

Each checkout works in a process of its own, which stays for all runs. The processes work in turn on
tables of their own in the same folder, so that both meet the same disk and the same hours.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.measure import Figure, lineitem, median_ratio

ROOT = Path(__file__).parent.parent
WORK = Path(__file__).with_name("trees_work.py")

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


class _Tree:
    """The process of one checkout."""

    def __init__(self, root: Path, folder: Path, source: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # With `-c`, unlike with a file, the folder of the checkout is first in `sys.path`.
        command = [sys.executable, "-c", WORK.read_text(), str(folder), str(source)]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, measure: str) -> tuple[float, float]:
        """Do the work once, and return how long it took, and its processor time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{measure}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The process of a checkout ended during {measure!r}.")
        took, used = json.loads(answer)
        return took, used

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def run(folder: Path, scale: float, runs: int, before: Path | None = None) -> list[Figure]:
    """Measure both checkouts in turn: A B, then B A, after one run of each that does not count.

    `before` is the root of the other checkout. Without it, this checkout is compared with itself,
    which shows the noise of the machine.
    """
    source = lineitem(folder, scale)
    roots = (ROOT, (before or ROOT).resolve())
    trees = [_Tree(root, folder / f"tree-{n}", source) for n, root in enumerate(roots)]
    try:
        return [
            figure
            for name, text in MEASURES.items()
            for figure in _figures(
                text.format(scale=scale), [partial(t.seconds, name) for t in trees], runs
            )
        ]
    finally:
        for tree in trees:
            tree.end()


def _figures(
    name: str, works: list[Callable[[], tuple[float, float]]], runs: int
) -> Iterator[Figure]:
    """Yield the time of both works, and their processor time, which a busy machine changes less."""
    times: list[list[tuple[float, float]]] = [[], []]
    for turn in range(-1, runs):
        order = (0, 1) if turn % 2 else (1, 0)
        for side in order:
            times[side].append(works[side]())
    for place, suffix in enumerate(("", ": processor time")):
        ours, theirs = ([each[place] for each in side[1:]] for side in times)
        yield Figure(
            name + suffix,
            "ms",
            statistics.median(ours) * 1e3,
            statistics.median(theirs) * 1e3,
            median_ratio(ours, theirs),
        )
