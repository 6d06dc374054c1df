"""No clock alone moves the time by which rows expire past another one that contradicts it."""

from __future__ import annotations

import itertools
import logging
import random

import pytest

from colonnade.manifests.clock import DAY_MS, AgreedTime
from colonnade.manifests.epochs import dating
from colonnade.manifests.epochs.agreement import IDLE, IDLE_MS, idle_ms
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, change, table

HOUR_MS = DAY_MS // 24
START_MS = 20_000 * DAY_MS
OFFS = (0, HOUR_MS, -HOUR_MS, 20 * DAY_MS, -20 * DAY_MS, 400 * DAY_MS, -400 * DAY_MS)


class Disk(MemoryStore):
    """A store whose clock is that of the machine."""

    def __init__(self, clock: World) -> None:
        super().__init__(now_ms=clock.own)
        self.has_clock = False


class World:
    """A log, the true time, and how far the clocks of machine and store are off."""

    def __init__(self, *, disk: bool = False) -> None:
        self.now, self.off, self.store_off = START_MS, 0, 0
        self.store: MemoryStore = (
            Disk(self) if disk else MemoryStore(now_ms=lambda: self.now + self.store_off)
        )
        create_database(self.store, lone_table=False, clock_ms=self.own)
        self.commit(table())

    def own(self) -> int:
        return self.now + self.off

    def log(self) -> Log:
        return Log(self.store, clock_ms=self.own, pause=lambda _: None)

    def commit(self, operation: object = None) -> None:
        mine = append() if operation is None else change(operation)  # type: ignore[arg-type]
        self.log().commit(mine, self.log().reader.read_head())

    def agreed(self, longest_idle_ms: int = IDLE_MS) -> AgreedTime:
        log = self.log()
        return log.agreement.at(log.reader.read_head(), self.own(), longest_idle_ms)

    def said(self) -> AgreedTime:
        log = self.log()
        return log.agreement.statement_time(log.reader.read_head())


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dating, "_said", set())


@pytest.mark.parametrize("idle_days", [0, 0.3, 30])
@pytest.mark.parametrize("off", OFFS)
def test_a_wrong_clock_of_a_machine_destroys_nothing_early_beside_a_store_with_a_clock(
    off: int, idle_days: float
) -> None:
    world = World()
    world.now += int(idle_days * DAY_MS)
    world.off = off
    agreed = world.agreed()
    assert agreed.earliest_ms <= world.now + DAY_MS
    if abs(off) > DAY_MS:
        assert agreed.earliest_ms <= world.now
        assert agreed.present_ms == world.now
    world.commit()
    assert world.said().earliest_ms <= world.now + DAY_MS
    if idle_days < 1:
        # The newest epoch confirms the clock that is right. A row that readers hide has expired.
        assert world.said().earliest_ms >= world.now - HOUR_MS


@pytest.mark.parametrize("off", OFFS)
def test_a_wrong_clock_of_a_store_destroys_nothing_early(off: int) -> None:
    world = World()
    world.now += 10 * DAY_MS
    world.store_off = off
    assert world.agreed().earliest_ms <= world.now + (DAY_MS if abs(off) <= DAY_MS else 0)
    world.commit()
    # A date that the store's clock moved back lets nothing count as written too early.
    assert world.said().present_ms >= world.now - HOUR_MS


def test_a_store_with_a_clock_needs_no_ceremony_after_a_long_time() -> None:
    world = World()
    world.now += 900 * DAY_MS
    assert world.agreed() == AgreedTime(world.now, world.now)


@pytest.mark.parametrize("writes", [0, 3])
def test_on_a_disk_the_log_contradicts_a_clock_that_jumps(
    writes: int, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(disk=True)
    world.now += 13 * DAY_MS
    assert world.agreed().earliest_ms == world.now
    world.commit()
    right, world.off = world.now, 40 * DAY_MS
    with caplog.at_level(logging.WARNING):
        for _ in range(writes):
            world.commit()
            world.now += HOUR_MS
        assert world.agreed().earliest_ms <= right
    assert world.agreed(41 * DAY_MS).earliest_ms == world.own()
    assert any(IDLE in each.getMessage() for each in caplog.records)
    world.off = 0
    assert world.agreed().earliest_ms == world.now


def test_on_a_disk_a_log_that_was_idle_is_believed_after_a_day() -> None:
    world = World(disk=True)
    world.now += 60 * DAY_MS
    assert world.agreed().earliest_ms == START_MS + 1
    world.commit()
    world.now += DAY_MS // 2
    assert world.agreed().earliest_ms <= START_MS + 1
    world.now += DAY_MS // 2 + 1
    assert world.agreed().earliest_ms == world.now


@pytest.mark.slow
def test_on_a_disk_a_clock_in_use_is_never_contradicted() -> None:
    for seed in range(20):
        order, world = random.Random(seed), World(disk=True)
        log = world.log()
        for _ in range(30):
            world.now += order.choice((1, HOUR_MS, DAY_MS, 13 * DAY_MS))
            assert log.agreement.earliest_ms(log.reader.read_head()) == world.now, seed
            world.commit()
            assert log.agreement.earliest_ms(log.reader.read_head()) == world.now, seed


def test_rows_count_as_written_when_readers_see_them() -> None:
    for off, disk in itertools.product((-40 * DAY_MS, 0), (True, False)):
        world = World(disk=disk)
        world.off = off
        head = world.log().reader.read_head().time_ms
        assert world.said().present_ms >= head


def test_the_longest_idle_time_is_a_time() -> None:
    assert idle_ms({}) == IDLE_MS
    assert idle_ms({IDLE: "60 days"}) == 60 * DAY_MS
    for text, problem in (("long", "must be a time"), ("1 day", "must be at least 2 days")):
        with pytest.raises(InvalidInputError, match=rf"'clock\.idle' {problem}"):
            idle_ms({IDLE: text})
