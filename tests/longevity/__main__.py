"""`python -m tests.longevity [--minutes M] [--seed S] [--keyed] [--s3]`: a database under stress.

Two writers, a deleter, a scheduler and two readers, each a process that is killed now and then at
any instruction, and begun again. Ends with status 1, and leaves the database, where anything went
wrong; see `referee.py` for what that is. With `--keyed`, eight writers work on tables with a
primary key instead; see `keyed_roles.py`. With `--s3` the database is in a bucket of a MinIO
server.
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
from tests.longevity.keyed_referee import KEYED
from tests.longevity.record import read_lines, read_steps
from tests.longevity.referee import judge
from tests.longevity.roles import SCHEMA, SEATS, TABLE, work
from tests.longevity.setting import Play, Setting, settle, tell_rounds
from tests.setup.minio import Minio

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
    setting = settle(folder, server)
    _make_pairs(setting, partition_by)
    return setting.place, setting.records


def _make_pairs(setting: Setting, partition_by: Sequence[str]) -> None:
    database = colonnade.open_database(setting.place)
    properties = dict(setting.properties)
    database.create_table(TABLE, SCHEMA, properties=properties, partition_by=partition_by)


def run(
    folder: Path,
    seconds: float,
    seed: int,
    server: Minio | None = None,
    play: Play | None = None,
) -> Told:
    """Work on a new database for some time."""
    play = play or PAIRS
    setting = settle(folder, server)
    place, records = setting.place, setting.records
    play.begin(setting, seed)
    order = random.Random(seed)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([play.loaded])

    def seated(seat: str) -> BaseProcess:
        given = (play.seats[seat], place, records, seat, order.randrange(2**32))
        process = context.Process(target=work, args=given)
        process.start()
        return process

    running = {seat: seated(seat) for seat in play.seats}
    _wait_for_work(records)
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
    problems = list(play.judge(place, records))
    return Told(f"{kills} kills, {play.tell(records)}", problems)


def _wait_for_work(records: Path) -> None:
    """Wait until a change and a round are done, at most a minute.

    On a busy machine, the imports of the processes alone take seconds.
    """
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines = {name: len([*read_lines(records, name)]) for name in ("writer", "scheduler")}
        if lines["writer"] > 1 and lines["scheduler"]:
            return
        time.sleep(0.05)


def _counts(records: Path) -> str:
    said = []
    for name in ("writer", "deleter"):
        steps = read_steps(records, name)
        outcomes = {o: sum(s.outcome == o for s in steps) for o in ("landed", "refused", "open")}
        said.append(f"{name}s {', '.join(f'{n} {o}' for o, n in outcomes.items())}")
    return "; ".join((*said, tell_rounds(records)))


PAIRS = Play(
    SEATS,
    lambda setting, seed: _make_pairs(setting, ("bucket(3, batch)",) if seed % 2 else ()),
    _counts,
    judge,
    "tests.longevity.roles",
)
"""Pairs of rows that are added and deleted together; with an odd seed in partitions."""


def main() -> int:
    """Run until the time is over."""
    parser = argparse.ArgumentParser(prog="python -m tests.longevity", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--keyed", action="store_true", help="on tables with a primary key")
    parser.add_argument("--s3", action="store_true", help="in a bucket of a MinIO server")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="colonnade-longevity-"))
    with ExitStack() as stack:
        server = None
        if chosen.s3:
            server = Minio(folder)
            stack.callback(server.stop)
        play = KEYED if chosen.keyed else PAIRS
        told = run(folder, 60 * chosen.minutes, chosen.seed, server, play)
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
