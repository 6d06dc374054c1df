"""One clock that is years ahead, or behind, ends neither retention nor time travel."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import pytest

from colonnade.manifests import clock
from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.epochs import dating
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import Pin
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import append, change, table

HOUR_MS = DAY_MS // 24
YEAR_MS = 365 * DAY_MS
START_MS = 1_700_000_000_000
FAR_MS = 73 * YEAR_MS


class Silent(MemoryStore):
    """A store that dates objects, and does not tell its time before one is written."""

    def date_of_write(self, name: str) -> int | None:
        return None


class Machines:
    """A true time, a store with a clock, and machines whose clocks are off by some time.

    With `own_files` each writer dates its files by its own clock, as on a local disk.
    """

    def __init__(self, *, tells: bool = True, own_files: bool = False) -> None:
        self.now = START_MS
        self.off = 0
        self.store = (MemoryStore if tells else Silent)(now_ms=lambda: self.now + self.file_off)
        self.own_files = own_files
        self.came: list[int] = []
        self.head = create_database(self.store, lone_table=False, clock_ms=self.clock)
        self.note(self.head)
        self.commit(table())

    @property
    def file_off(self) -> int:
        return self.off if self.own_files else 0

    def clock(self) -> int:
        return self.now + self.off

    def log(self) -> Log:
        return Log(self.store, clock_ms=self.clock, checkpoint_interval=4, pause=lambda _: None)

    def note(self, state: Snapshot) -> None:
        """Remember when epochs really came."""
        self.came += [self.now] * (state.epoch + 1 - len(self.came))
        self.head = state

    def commit(self, operation: object = None, off: int = 0) -> int:
        """Commit by a machine whose clock is off; returns the date of the epoch."""
        self.off = off
        mine = append() if operation is None else change(operation)  # type: ignore[arg-type]
        self.note(self.log().commit(mine, self.log().reader.read_head()))
        self.off = 0
        return self.head.time_ms

    def vacuum(self, hours: float, off: int = 0) -> VacuumResult:
        self.off = off
        result = vacuum(self.log(), VacuumRequest(hours, threads=1))
        self.note(self.log().reader.read_head())
        self.off = 0
        return result

    def epoch(self, number: int) -> Epoch:
        found = read_slot(self.store, number)
        assert isinstance(found, Epoch)
        return found


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dating, "_said", set())


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


@pytest.mark.parametrize("days", [0, 0.5, 3, 730])
def test_an_honest_clock_dates_a_log_that_was_idle(
    days: float, caplog: pytest.LogCaptureFixture
) -> None:
    machines = Machines()
    machines.now += int(days * DAY_MS)
    assert machines.commit() == max(machines.now, machines.head.time_ms)
    assert machines.epoch(machines.head.epoch).clock_ms is None
    assert machines.head.committed_ms == machines.head.time_ms
    assert warnings(caplog) == []


@pytest.mark.parametrize("idle_days", [0, 30])
@pytest.mark.parametrize("off", [FAR_MS, 3 * DAY_MS, -50 * YEAR_MS])
def test_a_clock_that_the_store_contradicts_dates_nothing(
    off: int, idle_days: int, caplog: pytest.LogCaptureFixture
) -> None:
    machines = Machines()
    machines.now += idle_days * DAY_MS
    for _ in range(3):
        assert abs(machines.commit(off=off) - machines.now) <= 5
    [said] = warnings(caplog)
    assert "The clock of this machine says" in said
    assert machines.commit() - machines.now <= 6


def test_a_store_whose_own_clock_is_wrong_is_not_believed() -> None:
    for wrong in (-50 * YEAR_MS, FAR_MS):
        machines = Machines()
        told = machines.now + wrong
        machines.store._now_ms = lambda told=told: told  # type: ignore[misc]
        machines.now += 5 * DAY_MS
        assert machines.commit() == machines.now


def test_a_log_that_is_ahead_is_told_of_once_and_says_the_time_besides(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machines = Machines(tells=False)
    assert machines.commit(off=FAR_MS) == machines.now + FAR_MS
    for _ in range(3):
        machines.now += HOUR_MS
        assert machines.commit() > machines.now + FAR_MS - 4 * HOUR_MS
        assert machines.epoch(machines.head.epoch).clock_ms == machines.now
        assert machines.head.committed_ms == machines.now
    [said] = warnings(caplog)
    assert "more than a day ahead of the time" in said


def test_every_state_says_when_it_was_committed_without_the_file_of_its_epoch() -> None:
    """Lifetimes at an earlier epoch need that time, and a checkpoint may be all that is left."""
    machines = Machines(tells=False)
    machines.commit(off=FAR_MS)
    times = {}
    for _ in range(9):
        machines.now += HOUR_MS
        machines.commit()
        times[machines.head.epoch] = machines.now
    reader = LogReader(machines.store)
    assert {each: reader.read_at(each).committed_ms for each in times} == times
    machines.now += 4 * DAY_MS
    machines.vacuum(20)
    [anchor] = machines.head.anchors
    assert read_state(machines.store, anchor).committed_ms == times[anchor.epoch]


@pytest.mark.parametrize("own_files", [False, True])
@pytest.mark.parametrize("off", [FAR_MS, 3 * DAY_MS])
def test_a_log_with_a_date_that_is_ahead_is_vacuumed_and_read_by_time(
    off: int, own_files: bool
) -> None:
    machines = Machines(tells=False, own_files=own_files)
    machines.now += DAY_MS
    machines.commit(off=off)
    for _ in range(4):
        machines.now += 12 * HOUR_MS
        machines.commit()
    came = machines.came
    reader = LogReader(machines.store)
    for number, moment in enumerate(came[4:], 4):
        if off == FAR_MS:  # the real clock, which it has, is far ahead of this world's
            assert reader.read_at(timestamp_ms=moment + 5).epoch == number
        assert machines.log().reader.read_at(timestamp_ms=moment + 5).epoch == number
    assert machines.log().reader.read_at(timestamp_ms=came[1] + 5).epoch == 1
    assert machines.vacuum(20).floor == 4
    machines.now += 19 * HOUR_MS
    # A date that is no longer in the future may be right, and the note beside it wrong.
    floor = 5 if off == FAR_MS else 4
    assert machines.vacuum(20).floor == floor
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {floor}"):
        reader.read_at(timestamp_ms=came[1] + 5)
    machines.now += 30 * HOUR_MS
    machines.commit()
    machines.now += 30 * HOUR_MS
    assert machines.vacuum(20).floor == machines.head.epoch - 1


@pytest.mark.parametrize("off", [FAR_MS, -50 * YEAR_MS])
def test_a_vacuum_whose_clock_is_wrong_removes_nothing_too_early(off: int) -> None:
    machines = Machines()
    for _ in range(3):
        machines.now += HOUR_MS
        machines.commit()
    assert machines.vacuum(10, off).floor == 0
    machines.commit(Pin(name="p", epoch=2, until_ms=machines.now + HOUR_MS))
    assert machines.vacuum(1, off).floor <= 2
    machines.now += 20 * HOUR_MS
    newest = machines.head.epoch
    assert machines.vacuum(10).floor == newest


@pytest.mark.parametrize("own_files", [False, True])
@pytest.mark.parametrize("off", [-50 * YEAR_MS, -30 * DAY_MS])
def test_a_writer_whose_clock_is_behind_makes_no_history_older(off: int, own_files: bool) -> None:
    for pattern in ("01", "10", "011", "100", "0001000"):
        machines = Machines(tells=False, own_files=own_files)
        for number in range(14):
            machines.now += 2 * HOUR_MS
            machines.commit(off=off if pattern[number % len(pattern)] == "1" else 0)
        machines.now += HOUR_MS
        assert machines.vacuum(168).floor == 0, pattern
        machines.now += 8 * DAY_MS
        newest = machines.head.epoch
        machines.commit()
        assert machines.vacuum(168).floor == newest, pattern


@pytest.mark.slow
@pytest.mark.parametrize("tells", [True, False])
def test_whatever_clocks_say_retention_is_kept_and_vacuum_continues(tells: bool) -> None:
    """Where a vacuum's own clock is right: no state goes before its time, and each goes then."""
    for seed in range(12):
        order = random.Random(seed)
        machines = Machines(tells=tells)
        for _ in range(order.randint(3, 12)):
            machines.now += order.choice((1, HOUR_MS, 20 * HOUR_MS, 9 * DAY_MS))
            off = order.choice((0, 0, 0, HOUR_MS, 3 * DAY_MS, FAR_MS, 2 * FAR_MS))
            machines.commit(off=off)
            if order.random() < 0.3:
                hours = order.choice((1, 24, 100))
                floor = machines.vacuum(hours).floor
                ended = [
                    number
                    for number in range(len(machines.came) - 1)
                    if machines.came[number + 1] > machines.now - hours * HOUR_MS
                ]
                assert floor <= min(ended, default=machines.head.epoch), seed
        machines.now += 10 * DAY_MS
        newest = machines.head.epoch
        machines.vacuum(48)
        assert machines.head.floor == newest, seed
        machines.now += DAY_MS
        machines.commit()
        for number in range(newest + 1, machines.head.epoch + 1):
            moment = machines.came[number] + 10
            assert LogReader(machines.store).read_at(timestamp_ms=moment).epoch >= number, seed


def test_a_local_disk_tells_its_time_and_leaves_no_trace(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "db")
    assert store.date_of_write(epoch_name(0)) is None
    assert not (tmp_path / "db").exists()
    create_database(store, lone_table=False)
    told = store.date_of_write(epoch_name(0))
    assert told is not None
    assert abs(told - clock.now_ms()) < 60_000
    assert [path.name for path in (tmp_path / "db" / "_manifest").iterdir()] == [f"{0:020}.json"]
    written = store.modified_ms(epoch_name(0))
    assert written is not None
    assert abs(written - told) < 60_000
