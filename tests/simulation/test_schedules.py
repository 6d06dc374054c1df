"""Pairs of statements in chosen orders of their store calls, and a fault.

One process runs some calls, then the other some, then the first to its end. A push visits a
sample; `pytest -m long` every point for the second to come between, and a larger sample.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import NamedTuple, TypeVar

import pytest

from colonnade.manifests.errors import ColonnadeError, StoreError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import ObjectStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.store.transient import retried
from colonnade.tableformat.table.database import ArrowDatabase
from tests.faults import Fault, FaultyStore, Stopped
from tests.simulation.actors.compactor import rewrite
from tests.simulation.intents import Intent
from tests.simulation.oracle import Oracle
from tests.simulation.rows import SCHEMA, Condition
from tests.simulation.statements import Step
from tests.simulation.store import Disk
from tests.simulation.turns import Turns

T = TypeVar("T")

ODD = Condition("ids", (1, 3, 5, 7))
STEPS: dict[str, tuple[Step, ...]] = {
    "append": (Step("append", "t", ((20, 1), (21, 2))),),
    "delete": (Step("delete", "t", where=ODD),),
    "update": (Step("update", "t", where=Condition("ids", (3, 4)), value=9),),
    "upsert": (Step("upsert", "t", ((4, 8), (30, 8))),),
    "overwrite": (Step("overwrite", "t", ((40, 1),)),),
    "replace": (Step("replace", "t", ((50, 2),), Condition("is", (2,))),),
    "restore": (Step("restore", "t", epoch=3),),
    "transaction": (
        Step("delete", "t", where=Condition("ids", (4,))),
        Step("append", "u", ((60, 1),)),
    ),
    "compact": (),
}
FAULTS = (Fault.STOP_BEFORE, Fault.STOP_AFTER, Fault.FAIL_AFTER, Fault.LATE, Fault.HIDDEN_RETRY)
MOST_CALLS = 40
"""No statement here makes more calls where nothing fails."""


class Schedule(NamedTuple):
    """Who runs, how many calls each is given at first, and what fails at which of them."""

    first: str
    second: str
    calls: tuple[int, int]
    fault: tuple[int, Fault] | None = None


class Process(FaultyStore):
    """A way to the disk on which another process may go on before each call."""

    def __init__(self, disk: Disk, plan: dict[int, Fault], pass_turn: Callable[[], None]) -> None:
        super().__init__(disk, plan)
        self._pass_turn = pass_turn

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        self._pass_turn()
        return super()._call(operation, name, effect)


class Busy(FaultyStore):
    """A store that answers each read and put at the second time it is asked, and not before."""

    def __init__(self, disk: Disk) -> None:
        super().__init__(disk)
        self.pause = lambda seconds: None
        self.refused = False

    @retried
    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self._refuse()
        return super().get(name, limit=limit)

    @retried
    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        self._refuse()
        return super().get_ranges(name, ranges)

    @retried
    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        self._refuse()
        return super().put_if_absent(name, data)

    @retried
    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._refuse()
        super().put(name, data, sync=sync)

    def _refuse(self) -> None:
        self.refused = not self.refused
        if self.refused:
            raise StoreError("The store is busy.", retryable=True)


class Start(NamedTuple):
    """What every run begins with."""

    disk: Disk
    oracle: Oracle


@pytest.fixture(scope="module")
def start() -> Start:
    """Make two tables; the first has three RowSets, and one of these has a deleted row."""
    oracle = Oracle()
    disk = Disk(oracle.land)
    create_database(disk, lone_table=False)
    database = opened(disk)
    for name in ("t", "u"):
        database.create_table(name, SCHEMA)
    for number, step in enumerate(
        (
            Step("append", "t", ((0, 1), (1, 2), (2, 2), (3, 1))),
            Step("append", "t", ((4, 1), (5, 2), (6, None))),
            Step("delete", "t", where=Condition("ids", (2,))),
            Step("append", "t", ((7, 3), (8, 1))),
        )
    ):
        Intent(f"start {number}", (step,)).ask(database)
    return Start(disk, oracle)


def opened(store: ObjectStore) -> ArrowDatabase:
    log = Log(store, checkpoint_interval=3, pause=lambda seconds: None)
    return ArrowDatabase(store, log, log.reader.read_head())


def turns(schedule: Schedule) -> Turns:
    """The first runs its calls, the second its own, then the first to its end."""
    left = {0: schedule.calls[0] + 1, 1: schedule.calls[1] + 1}

    def choose(ready: Sequence[int], last: int) -> int:
        for each in ready:
            if left[each]:
                left[each] -= 1
                return each
        return ready[0]

    return Turns(choose)


def fresh(start: Start) -> Start:
    """Return a copy of the start, for one run."""
    oracle = copy.copy(start.oracle)
    for name in (
        "epochs",
        "states",
        "layouts",
        "forbidden",
        "columns",
        "landed",
        "told",
        "_transactions",
    ):
        setattr(oracle, name, copy.copy(getattr(oracle, name)))
    disk = Disk(oracle.land)
    disk._objects = dict(start.disk._objects)
    return Start(disk, oracle)


def run(start: Start, schedule: Schedule) -> int:
    """Run one schedule and check everything; returns how many calls the first process made.

    Raises AssertionError.
    """
    disk, oracle = fresh(start)
    taking = turns(schedule)
    stores: list[Process] = []

    def process(kind: str, plan: dict[int, Fault]) -> Callable[[], None]:
        store = Process(disk, plan, taking.pass_turn)
        intent = Intent(f"{len(stores)} {kind}", with_own_rows(STEPS[kind], 100 * len(stores)))
        stores.append(store)

        def work() -> None:
            try:
                told = compact(store) if kind == "compact" else intent.ask(opened(store))
            except Stopped:
                return
            except ColonnadeError as error:
                oracle.tell(intent, error, None)
            else:
                if kind != "compact":
                    oracle.tell(intent, None, told)

        return work

    plan = dict([schedule.fault]) if schedule.fault else {}
    taking.run([process(schedule.first, plan), process(schedule.second, {})])
    for store in stores:
        store.land()
    oracle.check_told()
    table = opened(disk).table("t")
    oracle.check_read(table.epoch, "t", Condition(), table.scan().to_arrow(), oracle.head)
    return len(stores[0].trace)


def with_own_rows(steps: tuple[Step, ...], offset: int) -> tuple[Step, ...]:
    """Return the steps with new ids for the rows that they add, except those of an upsert."""
    return tuple(
        step
        if step.kind == "upsert"
        else replace(step, rows=tuple((i + offset, v) for i, v in step.rows))
        for step in steps
    )


def compact(store: Process) -> int:
    database = opened(store)
    table = database._snapshot.table("t")
    chosen = database._log.rowsets.read(table)[:2]
    change = rewrite(database._log, database._snapshot, table, chosen, random.Random(1))
    return database._log.commit(change, database._snapshot).epoch


def calls_of_each(start: Start) -> dict[str, int]:
    """The calls of each statement, right before an append."""
    return {kind: run(start, Schedule(kind, "append", (MOST_CALLS, 0))) for kind in STEPS}


def calm_schedules(start: Start) -> Iterator[Schedule]:
    """Every pair, the second between any two calls of the first."""
    calls = calls_of_each(start)
    for first, second in product(STEPS, repeat=2):
        for mine in range(calls[first] + 1):
            yield Schedule(first, second, (mine, MOST_CALLS))


def sample(order: random.Random) -> Iterator[Schedule]:
    """Random schedules, most of them with a fault in the first process."""
    kinds = tuple(STEPS)
    while True:
        calls = order.randrange(MOST_CALLS), order.randrange(MOST_CALLS)
        fault = (order.randint(1, MOST_CALLS), order.choice(FAULTS))
        chosen = order.choices((None, fault), (1, 3))[0]
        yield Schedule(order.choice(kinds), order.choice(kinds), calls, chosen)


def run_all(start: Start, schedules: Iterator[Schedule]) -> None:
    for schedule in schedules:
        try:
            run(start, schedule)
        except Exception as error:
            raise AssertionError(f"{schedule}: {error!r}") from error


@pytest.mark.parametrize("kind", [kind for kind in STEPS if kind != "compact"])
def test_no_statement_notices_a_store_that_is_busy_at_every_call(start: Start, kind: str) -> None:
    asked: list[int] = []
    for busy in (False, True):
        disk, oracle = fresh(start)
        store = Busy(disk) if busy else FaultyStore(disk)
        intent = Intent(kind, STEPS[kind])
        oracle.tell(intent, None, intent.ask(opened(store)))
        oracle.check_told()
        assert opened(disk).verify(4, threads=1).is_sound
        asked.append(len(store.trace))
    assert asked[0] == asked[1]


@pytest.mark.slow
def test_two_statements_and_a_fault_in_a_sample_of_orders(start: Start) -> None:
    assert MOST_CALLS * 3 // 4 < max(calls_of_each(start).values()) <= MOST_CALLS
    run_all(start, islice(sample(random.Random(0)), 50))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_statement_between_any_two_calls_of_another(start: Start) -> None:
    run_all(start, calm_schedules(start))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_two_statements_and_a_fault_in_many_orders(start: Start) -> None:
    run_all(start, islice(sample(random.Random(1)), 6_000))
