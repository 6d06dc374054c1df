"""`python -m tests.simulation [--seconds S] [--seed FIRST] [--processes N]`: as long as you like.

Prints what it went through, and the seed of every run that went wrong; `--seed X --runs 1` repeats
one. Ends with status 1 where there was any.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice

from tests.simulation.actors.every import ACTORS, EVOLVED, FOLLOWED, KEYED, RANGED, WAITING
from tests.simulation.counters import Counters
from tests.simulation.run import simulate

BATCH = 20
"""Runs that a process is given at a time."""


def run_batch(first: int, runs: int) -> tuple[Counters, list[str]]:
    """Run seeds one after another; what they went through, and what went wrong."""
    counters, failures = Counters(), []
    for seed in range(first, first + runs):
        try:
            waits, evolves = seed % 4 == 1, seed % 4 == 2
            far, keyed, ranged = seed % 8 in (0, 6), seed % 8 == 7, seed % 8 == 4
            others = EVOLVED if evolves else KEYED if keyed else ACTORS
            others = RANGED if ranged else FOLLOWED if seed % 8 == 3 else others
            actors = WAITING if waits else others
            simulate(
                seed,
                actors,
                counters,
                waits=waits,
                far=far,
                keyed=keyed,
                ranged=ranged,
            )
        except AssertionError as error:
            failures.append(str(error))
    return counters, failures


def batches(first: int, runs: int | None, deadline: float) -> Iterator[tuple[int, int]]:
    """The first seed and the number of runs of each batch, until there are enough."""
    starts = count(first, BATCH) if runs is None else iter(range(first, first + runs, BATCH))
    for start in starts:
        if time.monotonic() >= deadline:
            return
        yield start, BATCH if runs is None else min(BATCH, first + runs - start)


def main() -> int:
    """Run until the time or the runs are used up."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1_000, help="the first seed")
    parser.add_argument("--runs", type=int, help="at most so many runs")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    total, failures = Counters(), list[str]()
    work = batches(chosen.seed, chosen.runs, time.monotonic() + chosen.seconds)
    with ProcessPoolExecutor(chosen.processes) as pool:
        while wave := list(islice(work, chosen.processes)):
            for counters, failed in pool.map(run_batch, *zip(*wave, strict=True)):
                total += counters
                failures += failed
                for failure in failed:
                    print(failure, flush=True)
    print(f"{total}; {len(failures)} runs went wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
