"""`python -m tests.longevity [--minutes M] [--seed S] [--s3]`: a database under everything at once.

Two writers, a deleter, a scheduler and two readers, each a process that is killed now and then at
any instruction, and begun again. Ends with status 1, and leaves the database, where anything went
wrong; see `referee.py` for what that is. With `--s3` the database is in a bucket of a MinIO server.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import colonnade
from colonnade.manifests.store import StoreAddress
from tests.longevity.record import read_lines, read_steps
from tests.longevity.referee import judge
from tests.longevity.roles import SCHEMA, SEATS, TABLE, work
from tests.setup.minio import Minio

RETENTION_S = 4.0
"""Longer than most writes take on a disk, and short, so that vacuum has work."""

FAR_RETENTION_S = 15.0
"""The retention in a bucket, where a write takes longer. Its log is trusted for ten seconds."""

KILLS_S, FAR_KILLS_S = (0.3, 3.0), (1.0, 8.0)
"""The shortest and the longest time between two kills, on a disk and on a server."""


@dataclass(frozen=True)
class Told:
    """What a run went through, and what was wrong."""

    text: str
    problems: list[str]


def begin(
    folder: Path, partition_by: Sequence[str] = (), server: Minio | None = None
) -> tuple[StoreAddress, Path]:
    """A new database in a folder or on a server, and a place for what becomes of it."""
    records, retention_s = folder / "records", RETENTION_S
    place = StoreAddress.of(folder / "db")
    if server is not None:
        place = StoreAddress.of(f"s3://{server.new_bucket()}/db", server.options())
        retention_s = FAR_RETENTION_S
    records.mkdir()
    properties = {"retention.hours": str(retention_s / 3600), "compaction.min-rowsets": "4"}
    database = colonnade.create_database(place)
    database.create_table(TABLE, SCHEMA, properties=properties, partition_by=partition_by)
    return place, records


def run(folder: Path, seconds: float, seed: int, server: Minio | None = None) -> Told:
    """Work on a new database for some time; with an odd seed on partitions."""
    place, records = begin(folder, ("bucket(3, batch)",) if seed % 2 else (), server)
    order = random.Random(seed)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.longevity.roles"])

    def seated(seat: str) -> BaseProcess:
        process = context.Process(target=work, args=(place, records, seat, order.randrange(2**32)))
        process.start()
        return process

    running = {seat: seated(seat) for seat in SEATS}
    end, kills = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        time.sleep(order.uniform(*(KILLS_S if server is None else FAR_KILLS_S)))
        seat = order.choice(sorted(running))
        kills += running[seat].is_alive()
        running[seat].kill()
        running[seat].join()
        running[seat] = seated(seat)
    for process in running.values():
        process.kill()
        process.join()
    problems = list(judge(place, records))
    return Told(f"{kills} kills, {_counts(records)}", problems)


def _counts(records: Path) -> str:
    said = []
    for name in ("writer", "deleter"):
        steps = read_steps(records, name)
        outcomes = {o: sum(s.outcome == o for s in steps) for o in ("landed", "refused", "open")}
        said.append(f"{name}s {', '.join(f'{n} {o}' for o, n in outcomes.items())}")
    rounds = list(read_lines(records, "scheduler"))
    said.append(
        f"{len(rounds)} rounds with {sum(r['groups'] for r in rounds)} groups compacted,"
        f" {sum(r['conflicts'] for r in rounds)} dropped and"
        f" {sum(r['removed'] for r in rounds)} files removed"
    )
    said.append(f"{sum(1 for _ in read_lines(records, 'reader'))} reads")
    return "; ".join(said)


def main() -> int:
    """Run until the time is over."""
    parser = argparse.ArgumentParser(prog="python -m tests.longevity", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--s3", action="store_true", help="in a bucket of a MinIO server")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="colonnade-longevity-"))
    with ExitStack() as stack:
        server = None
        if chosen.s3:
            server = Minio(folder)
            stack.callback(server.stop)
        told = run(folder, 60 * chosen.minutes, chosen.seed, server)
    print(f"seed {chosen.seed}: {told.text}; {len(told.problems)} problems")
    for problem in told.problems:
        print(f"  {problem}")
    if told.problems:
        print(f"the database is in {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
