"""Processes of the operating system that work on one database on disk, and are killed at any time.

`python -m tests.simulation.processes FOLDER --seconds 60` prints what they went through, and ends
with status 1 where something is wrong. Each process notes what it was told and what it read in a
file of its own; afterwards the log is read from its beginning and everything is compared with it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import time
from itertools import count
from pathlib import Path

import colonnade
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import SHARED_ROWS, random_step
from tests.simulation.intents import Intent, parse_intent
from tests.simulation.oracle import Oracle
from tests.simulation.rows import SCHEMA, Condition, plain
from tests.simulation.statements import Step

TABLES = ("plain", "strict")
ROWS_OF_A_PROCESS = 10_000
"""Ids that a process may give to new rows."""

Notes = dict[str, object]


class Worker:
    """One process. It ends by being killed, or when the time is over."""

    def __init__(self, folder: Path, number: int) -> None:
        self._number = number
        self._order = random.Random(number)
        self._rows = count(SHARED_ROWS.stop + number * ROWS_OF_A_PROCESS)
        self._database = ArrowDatabase.open(folder / "db")
        self._notes = os.open(folder / f"notes{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def work(self, deadline: float = math.inf, limit: int | None = None) -> None:
        """Read and write until then, at most so often."""
        for number in count() if limit is None else range(limit):
            if time.monotonic() > deadline:
                return
            table = self._order.choice(TABLES)
            rows = self._read(table)
            steps = [random_step(self._order, table, rows, self._new_ids)]
            if self._order.random() < 0.1:
                other = TABLES[1 - TABLES.index(table)]
                steps.append(Step("append", other, tuple((i, 0) for i in self._new_ids(1))))
            self._ask(Intent(f"{self._number}.{number}", tuple(steps)))

    def _read(self, table: str) -> dict[int, int | None]:
        head = self._database.refresh().epoch
        epoch = self._order.randint(2, head) if self._order.random() < 0.2 else None
        scan = self._database.table(table).scan(epoch=epoch)
        rows = plain(scan.to_arrow())
        self._note({"read": scan.epoch, "table": table, "rows": list(rows.items())})
        return rows

    def _ask(self, intent: Intent) -> None:
        try:
            told: Notes = {"told": "done", "epoch": intent.ask(self._database)}
        except ColonnadeError as error:
            told = {"told": error.kind, "epoch": None}
        self._note({**told, "intent": intent.note()})

    def _note(self, what: Notes) -> None:
        # One call: a process that is killed leaves whole lines.
        os.write(self._notes, json.dumps(what).encode() + b"\n")

    def _new_ids(self, wanted: int) -> list[int]:
        return [next(self._rows) for _ in range(wanted)]


def run(folder: Path, seconds: float, processes: int, seed: int) -> int:
    """Keep the processes at work and kill one of them repeatedly; return the number of kills."""
    database = ArrowDatabase.create(folder / "db")
    for name in TABLES:
        database.create_table(
            name, SCHEMA, properties={"isolation": "serializable"} if name == "strict" else {}
        )
    # What is loaded and compiled here, no process has to load after its fork.
    Worker(folder, 0).work(limit=20)
    order, numbers, kills = random.Random(seed), count(1), 0
    deadline = time.monotonic() + seconds
    alive = {_start(folder, next(numbers), deadline) for _ in range(processes)}
    while time.monotonic() < deadline - 0.5:
        time.sleep(order.uniform(0.1, 0.4))
        victim = order.choice(sorted(alive))
        os.kill(victim, signal.SIGKILL)
        killed = os.waitstatus_to_exitcode(os.waitpid(victim, 0)[1]) == -signal.SIGKILL
        kills += killed
        assert killed, f"process {victim} ended by itself"
        alive = (alive - {victim}) | {_start(folder, next(numbers), deadline)}
    for pid in alive:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, f"process {pid} failed"
    return kills


def _start(folder: Path, number: int, deadline: float) -> int:
    """Fork, which costs milliseconds where a new interpreter costs a second."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        Worker(folder, number).work(deadline)
        status = 0
    finally:
        if status:
            sys.excepthook(*sys.exc_info())
        os._exit(status)


def check(folder: Path) -> Oracle:
    """Compare everything that was noted with the log. Raises AssertionError."""
    oracle, store = Oracle(frozenset({"strict"})), LocalStore(folder / "db")
    for number in range(Log(store).reader.read_head().epoch + 1):
        oracle.land(number, store.get(epoch_name(number)))
    for file in sorted(folder.glob("notes*")):
        for line in file.read_bytes().splitlines():
            note = json.loads(line)
            if "read" in note:
                oracle.check_rows(note["read"], note["table"], dict(note["rows"]))
            else:
                intent = parse_intent(note["intent"])
                oracle.told.append((intent, note["told"], note["epoch"]))
    oracle.check_told()
    for name in TABLES:
        table = colonnade.open(folder / "db" / name)
        oracle.check_read(table.epoch, name, Condition(), table.scan().to_arrow(), oracle.head)
    return oracle


def main() -> int:
    """Run, check, and print what happened."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.processes")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    kills = run(chosen.folder, chosen.seconds, chosen.processes, chosen.seed)
    oracle = check(chosen.folder)
    done = sum(outcome == "done" for _, outcome, _ in oracle.told)
    print(
        f"{kills} kills, {oracle.head} epochs, {done} acknowledged, {oracle.reads} verified reads"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
