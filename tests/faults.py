"""A store that fails as planned: what the tests of crashes and races put under the real code.

Calls are numbered from 1, in the order of their arrival at the store; `write`, `close` and `abort`
of an object writer count too. A plan says what happens at which number and everything else passes
through, so a run repeats exactly. To visit every point of an operation, run it with a fault at
call 1, 2, 3, … until `fired` stays empty.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store import ObjectInfo, ObjectStore, ObjectWriter, PutOutcome
from colonnade.manifests.store.base import Data

T = TypeVar("T")


class Fault(enum.Enum):
    """What goes wrong. Every fault keeps the contract of `ObjectStore`: real stores do all this.

    A fault that is limited to some calls leaves all other calls alone.
    """

    FAIL_BEFORE = "StoreError, and nothing was done"
    FAIL_AFTER = "StoreError though it was done; put_if_absent says UNKNOWN"
    DISK_FULL = "StoreError of a full disk, nothing was done; writing calls"
    STOP_BEFORE = "the process dies before the call"
    STOP_AFTER = "the process dies after the call"
    LOST_REQUEST = "UNKNOWN, and it was never done; put_if_absent"
    HIDDEN_RETRY = "EXISTS for the object that this very call created; put_if_absent"
    LATE = "done only some calls later; UNKNOWN or StoreError now; put_if_absent, put, delete"


class Call(NamedTuple):
    """One call that reached the store."""

    operation: str
    name: str


class Stopped(BaseException):
    """The process was killed here. No `except Exception` survives it, as none survives a kill."""


_WRITING = {"put_if_absent", "put", "create", "write", "close"}
_SENT = {"put_if_absent", "put", "delete"}


class FaultyStore(ObjectStore):
    """Passes calls on to `inner`, except at the calls that `plan` names.

    After a stop every later call raises Stopped as well: a dead process cleans nothing up. What
    the "machine" keeps is in `inner`. A late effect lands right before the call that comes
    `late_by` calls after its own (1: the next), or in `land`; a stop does not hold it back.
    """

    def __init__(
        self, inner: ObjectStore, plan: Mapping[int, Fault] | None = None, *, late_by: int = 2
    ) -> None:
        self.inner = inner
        self.url = inner.url
        self.read_only = inner.read_only
        self.has_clock = inner.has_clock
        self.files_are_cheap = inner.files_are_cheap
        self.trace: list[Call] = []
        self.fired: list[int] = []
        self._plan = dict(plan or {})
        self._late_by = late_by
        self._late: list[tuple[int, Callable[[], object]]] = []
        self._stopped = False
        self._lock = threading.RLock()

    def later(self, work: Callable[[], None]) -> None:
        """Do the work at once, so that a run repeats exactly."""
        work()

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        return self._call("get", name, lambda: self.inner.get(name, limit=limit))

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        return self._call("get_ranges", name, lambda: self.inner.get_ranges(name, ranges))

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        return self._call("put_if_absent", name, lambda: self.inner.put_if_absent(name, data))

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._call("put", name, lambda: self.inner.put(name, data, sync=sync))

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        writer = self._call("create", name, lambda: self.inner.create(name, sync=sync))
        return _FaultyWriter(self, name, writer)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        return iter(self._call("list", prefix, lambda: tuple(self.inner.list(prefix))))

    def delete(self, name: str) -> None:
        self._call("delete", name, lambda: self.inner.delete(name))

    def remove_folder(self, name: str) -> None:
        self._call("remove_folder", name, lambda: self.inner.remove_folder(name))

    def modified_ms(self, name: str) -> int | None:
        return self._call("modified_ms", name, lambda: self.inner.modified_ms(name))

    def date_of_write(self, name: str) -> int | None:
        return self.inner.date_of_write(name)

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        return iter(self._call("list_unfinished", "", lambda: tuple(self.inner.list_unfinished())))

    def delete_unfinished(self, name: str) -> None:
        self._call("delete_unfinished", name, lambda: self.inner.delete_unfinished(name))

    def require_writable(self) -> None:
        self.inner.require_writable()

    def require_folder(self) -> None:
        self.inner.require_folder()

    def land(self) -> None:
        """Let every late effect happen now, also after a stop."""
        with self._lock:
            late, self._late = self._late, []
            for _, effect in late:
                effect()

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        with self._lock:
            if self._stopped:
                raise Stopped(f"{operation} {name} after the stop")
            self.trace.append(Call(operation, name))
            number = len(self.trace)
            self._land_due(number)
            fault = self._fault_at(number, operation)
            if fault is None or not applies(fault, operation):
                return effect()
            self.fired.append(number)
            return self._fail(fault, operation, name, effect)

    def _fail(self, fault: Fault, operation: str, name: str, effect: Callable[[], T]) -> T:
        failure = StoreError(f"{self.locate(name)}: planned failure of {operation}.", True)
        if fault is Fault.FAIL_BEFORE:
            raise failure
        if fault is Fault.DISK_FULL:
            raise StoreError(f"{self.locate(name)} could not be written: the disk is full.")
        if fault is Fault.STOP_BEFORE:
            self._stop(operation, name)
        unknown: T = PutOutcome.UNKNOWN  # type: ignore[assignment]
        if fault is Fault.LOST_REQUEST:
            return unknown
        if fault is Fault.LATE:
            self._defer(effect)
        else:
            done = effect()
            if fault is Fault.STOP_AFTER:
                self._stop(operation, name)
            if fault is Fault.HIDDEN_RETRY:
                return PutOutcome.EXISTS  # type: ignore[return-value]
            if operation == "create":
                done.abort()  # type: ignore[attr-defined]
        if operation == "put_if_absent":
            return unknown
        raise failure

    def _fault_at(self, number: int, operation: str) -> Fault | None:
        """What goes wrong at a call; it is left alone where the fault is of other calls."""
        return self._plan.get(number)

    def _defer(self, effect: Callable[[], object]) -> None:
        """Let an effect happen later, as said above."""
        self._late.append((len(self.trace) + self._late_by, effect))

    def _stop(self, operation: str, name: str) -> None:
        self._stopped = True
        raise Stopped(f"{operation} {name}")

    def _land_due(self, number: int) -> None:
        due = [effect for when, effect in self._late if when <= number]
        self._late = [(when, effect) for when, effect in self._late if when > number]
        for effect in due:
            effect()


class _FaultyWriter(ObjectWriter):
    """Counts as calls of its store. A failed call aborts it, as the contract says."""

    def __init__(self, store: FaultyStore, name: str, inner: ObjectWriter) -> None:
        self._store = store
        self._name = name
        self._inner = inner

    def write(self, data: Data) -> None:
        self._guarded("write", lambda: self._inner.write(data))

    def close(self) -> None:
        self._guarded("close", self._inner.close)

    def abort(self) -> None:
        self._store._call("abort", self._name, self._inner.abort)

    def _guarded(self, operation: str, effect: Callable[[], None]) -> None:
        try:
            self._store._call(operation, self._name, effect)
        except StoreError:
            self._inner.abort()
            raise


def applies(fault: Fault, operation: str) -> bool:
    """Whether a fault can happen to an operation."""
    if fault in (Fault.LOST_REQUEST, Fault.HIDDEN_RETRY):
        return operation == "put_if_absent"
    if fault is Fault.LATE:
        return operation in _SENT
    if fault is Fault.DISK_FULL:
        return operation in _WRITING
    # An abort never raises, but the process may die at it.
    return operation != "abort" or fault in (Fault.STOP_BEFORE, Fault.STOP_AFTER)
