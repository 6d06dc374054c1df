"""Turns among the threads of one process, for stores whose writers know no other order.

The turns are in memory, so writers of other processes know nothing of them. A forked process begins
with turns of its own. The thread that has waited longest gets the turn.

Spec: docs/spec/store.md#turns
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable
from weakref import WeakValueDictionary

from colonnade.manifests.object_names import epoch_number
from colonnade.manifests.store.turn import Turn


class MemoryTurns:
    """The turns of the writers of one root, in this process."""

    def __init__(self) -> None:
        self._orders: dict[str, _Order] = {}
        self._process = os.getpid()

    def begin(self, folder: str) -> Turn:
        """Return a new turn of this thread."""
        return _MemoryTurn(self._known().setdefault(folder, _Order()))

    def seen(self, name: str, *, created: bool) -> None:
        """Remember that an epoch exists. If this thread created it, end the turn of this thread.

        Does nothing for other objects.
        """
        order = self._known().get(name.rpartition("/")[0])
        if order is not None and epoch_number(name) is not None:
            order.seen(name, created)

    def _known(self) -> dict[str, _Order]:
        if self._process != os.getpid():
            # The threads that had turns, or waited for them, do not exist in a forked process.
            self._orders, self._process = {}, os.getpid()
        return self._orders


_shared: WeakValueDictionary[Hashable, MemoryTurns] = WeakValueDictionary()


def turns_of(place: Hashable) -> MemoryTurns:
    """Return the turns of a place, which all stores of this process with that place share."""
    # Both calls are atomic for a thread. A race leaves two orders for a moment, which does no harm.
    found = _shared.get(place)
    if found is None:
        _shared[place] = found = MemoryTurns()
    return found


class _Order:
    """The writers of one folder. Its fields may be used only under its lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.writer: _MemoryTurn | None = None
        self.waiting: list[_MemoryTurn] = []
        self.newest = ""
        # A writer that has had the turn for too long, so that other writers do not wait for it.
        self.stuck: _MemoryTurn | None = None

    def seen(self, name: str, created: bool) -> None:
        with self.lock:
            self.newest = max(self.newest, name)
            writer = self.writer
            if created and writer and writer.is_of_this_thread():
                self.hand_on()

    def hand_on(self) -> None:
        """Give the turn to the writer that has waited longest."""
        self.stuck = None
        self.writer = self.waiting.pop(0) if self.waiting else None
        if self.writer is not None:
            self.writer.wake()


class _MemoryTurn(Turn):
    """A turn of one thread."""

    def __init__(self, order: _Order) -> None:
        self._order = order
        self._thread = threading.get_ident()
        self._changed = threading.Condition(order.lock)
        # The writer that had the turn when this one first asked for it.
        self._met: _MemoryTurn | None = None

    def take(self, wait_s: float) -> bool:
        order = self._order
        with order.lock:
            if self._has_turn():
                return True
            self._met = self._met or order.writer
            if wait_s > 0:
                if self not in order.waiting:
                    order.waiting.append(self)
                self._changed.wait(wait_s)
            return self._has_turn()

    def _has_turn(self) -> bool:
        order = self._order
        if order.writer is None:
            order.writer = self
        # A thread that waited for its own turn would wait in vain.
        return order.writer in (self, order.stuck) or order.writer.is_of_this_thread()

    def is_of_this_thread(self) -> bool:
        """Return whether the calling thread began this turn."""
        return self._thread == threading.get_ident()

    def wake(self) -> None:
        """End the wait of this turn's thread. Requires the order's lock."""
        self._changed.notify()

    def give_back(self) -> None:
        order = self._order
        with order.lock:
            if self in order.waiting:
                order.waiting.remove(self)
            if order.writer is self:
                order.hand_on()

    def give_up(self) -> None:
        with self._order.lock:
            # If the turn went from writer to writer meanwhile, no writer has it for too long.
            if self._met is self._order.writer:
                self._order.stuck = self._met

    def may_exist(self, name: str) -> bool:
        return name <= self._order.newest
