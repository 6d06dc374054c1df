"""The store under a simulation: a disk that all share, and each process's unreliable way to it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import MemoryStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.store.transient import retried
from colonnade.manifests.store.turn import Turn
from tests.faults import Fault, FaultyStore, applies

T = TypeVar("T")

EPOCHS = epoch_name(0).rpartition("/")[0] + "/0"
"""What the names of epochs begin with."""

MOST_CALLS = 10_000
"""Each piece of work ends within this number of store calls.

The longest are vacuums among other vacuums that name two victims in an epoch each. Such a vacuum
begins again up to ten times, and reads each epoch since the floor every time.
"""

CRASHES = (Fault.STOP_BEFORE, Fault.STOP_AFTER)

SPELL_RATE, REFUSED_IN_A_SPELL = 0.004, 0.7
"""How often a busy spell of a far store begins at a call, and how many of its calls are refused."""


class Disk(MemoryStore):
    """Objects in memory, all of them old; says when an epoch appears or goes.

    `clock` dates epochs, where it knows the time, and is what the disk tells of the time.
    """

    def __init__(
        self,
        landed: Callable[[int, bytes], None],
        freed: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(now_ms=lambda: 0)
        self._landed = landed
        self._freed = freed
        self.clock: Callable[[], int | None] = lambda: None
        self._written: dict[str, int | None] = {}

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        outcome = super().put_if_absent(name, data)
        if outcome is PutOutcome.CREATED and name.startswith(EPOCHS):
            self._written[name] = self.clock()
            self._landed(_number(name), bytes(data))
        return outcome

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        assert not name.startswith(EPOCHS), f"{name} was overwritten"
        super().put(name, data, sync=sync)

    def modified_ms(self, name: str) -> int | None:
        super().modified_ms(name)
        return self._written.get(name)

    def date_of_write(self, name: str) -> int | None:
        return self.clock()

    def litter(self, name: str, data: bytes) -> None:
        """Put an object without telling the oracle, unless the name is taken."""
        super().put_if_absent(name, data)

    def has(self, name: str) -> bool:
        """Whether an object is there at this moment."""
        return name in self._objects

    def delete(self, name: str) -> None:
        if name.startswith(EPOCHS):
            assert self._freed is not None, f"{name} was removed"
            self._freed(_number(name))
        super().delete(name)


def _number(name: str) -> int:
    return int(name.rpartition("/")[2].removesuffix(".json"))


class Weather:
    """What goes wrong, how often, and what is still under way. Counts calls and faults.

    A store that is `far` has busy spells: it then refuses most calls of all processes, as a bucket
    does that is asked too often.
    """

    def __init__(
        self, order: random.Random, faults: Sequence[Fault], rate: float, far: bool = False
    ) -> None:
        self.calls = self.faults = self.crashes = self.refusals = 0
        self._order = order
        self._faults = faults
        self.rate = rate
        self._spell_rate = SPELL_RATE if far else 0.0
        self._spell_end = 0
        self._late: list[tuple[int, Callable[[], object]]] = []

    def fault(self, operation: str) -> Fault | None:
        """What goes wrong at the next call."""
        self.calls += 1
        self._land(lambda when: when <= self.calls)
        if self._is_busy() and applies(Fault.FAIL_BEFORE, operation):
            self.refusals += 1
            return Fault.FAIL_BEFORE
        if self._order.random() >= self.rate:
            return None
        possible = [each for each in self._faults if applies(each, operation)]
        if not possible:
            return None
        fault = self._order.choice(possible)
        self.faults += 1
        self.crashes += fault in CRASHES
        return fault

    def _is_busy(self) -> bool:
        if not self._spell_rate:
            return False
        if self.calls >= self._spell_end and self._order.random() < self._spell_rate:
            self._spell_end = self.calls + self._order.randint(5, 60)
        return self.calls < self._spell_end and self._order.random() < REFUSED_IN_A_SPELL

    def defer(self, effect: Callable[[], object]) -> None:
        """Let an effect happen later."""
        self._late.append((self.calls + self._order.randint(1, 100), effect))

    def delay(self) -> int:
        """After how many calls of its process work is done that no caller waits for."""
        return self._order.choice((0, self._order.randint(1, 60)))

    def calm(self) -> None:
        """Let everything that is under way arrive, and nothing go wrong from here on."""
        self.rate = self._spell_rate = self._spell_end = 0
        self._land(lambda when: True)

    def _land(self, due: Callable[[int], bool]) -> None:
        landing = [effect for when, effect in self._late if due(when)]
        self._late = [(when, effect) for when, effect in self._late if not due(when)]
        for effect in landing:
            effect()


class Waiting(Turn):
    """A turn that comes sooner or later."""

    def __init__(self, order: random.Random, pass_turn: Callable[[], None], free: float) -> None:
        self._order = order
        self._pass_turn = pass_turn
        self._free = free

    def take(self, wait_s: float) -> bool:
        if not wait_s:
            return self._order.random() < 0.3
        self._pass_turn()
        return self._order.random() < self._free

    def may_exist(self, name: str) -> bool:
        return True


class ProcessStore(FaultyStore):
    """One process's way to the disk. Before each call another simulated process may run.

    A process that was killed makes no more calls; what it had sent may still arrive. `tries` is how
    often it makes a call that fails and may pass, and `off_ms` how wrong its clock is. `doze` may
    sleep before a call, and says whether it did. `written` has what the present piece of work has
    put. With an `order`, writers wait for their turns, which it draws. With `late_answers`, others
    may also run between a call and its answer.
    """

    def __init__(
        self, disk: Disk, weather: Weather, pass_turn: Callable[[], None], tries: int = 1
    ) -> None:
        super().__init__(disk)
        self._weather = weather
        self._pass_turn = pass_turn
        self.tries = tries
        self.pause = lambda seconds: pass_turn()
        self.off_ms = 0
        self.order: random.Random | None = None
        self.late_answers = False
        self.doze: Callable[[str, str], bool] = lambda operation, name: False
        self.written: set[str] = set()
        self._last: int | None = None
        self._held: list[tuple[int, Callable[[], None]]] = []

    @retried
    def get(self, name: str, *, limit: int | None = None) -> bytes:
        return super().get(name, limit=limit)

    @retried
    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        return super().get_ranges(name, ranges)

    @retried
    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        return super().put_if_absent(name, data)

    @retried
    def put(self, name: str, data: Data, *, sync: bool) -> None:
        super().put(name, data, sync=sync)

    def together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Make calls one after another, so that a seed tells the whole run."""
        return [call() for call in calls]

    def in_turn(self, calls: Sequence[Callable[[], T]]) -> Iterator[T]:
        """Make calls one after another, too."""
        return (call() for call in calls)

    def turn(self, folder: str) -> Turn:
        if self.order is None:
            return super().turn(folder)
        return Waiting(self.order, self._pass_turn, 0.1 if self._weather.rate else 1)

    def begin(self) -> None:
        """From here on a piece of work is done, which must end."""
        self._last = len(self.trace) + MOST_CALLS
        self.written.clear()

    def later(self, work: Callable[[], None]) -> None:
        """Do the work between later calls of this process, or never if the process ends before."""
        self._held.append((len(self.trace) + self._weather.delay(), work))
        self._do_held()

    def _do_held(self) -> None:
        due = [work for when, work in self._held if when <= len(self.trace)]
        self._held = [(when, work) for when, work in self._held if when > len(self.trace)]
        for work in due:
            work()

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        self._do_held()
        unended = f"no end after {MOST_CALLS:,} calls, the last of them {self.trace[-5:]}"
        assert self._last is None or len(self.trace) < self._last, unended
        if not self.doze(operation, name):
            self._pass_turn()
        if operation in ("create", "put_if_absent"):
            self.written.add(name)
        answer = super()._call(operation, name, effect)
        if self.late_answers:
            self._pass_turn()
        return answer

    def stop_within(self, calls: int) -> None:
        """Kill this process after some calls."""
        self._plan[len(self.trace) + calls] = Fault.STOP_BEFORE

    def _fault_at(self, number: int, operation: str) -> Fault | None:
        return self._plan.get(number) or self._weather.fault(operation)

    def _defer(self, effect: Callable[[], object]) -> None:
        self._weather.defer(effect)
