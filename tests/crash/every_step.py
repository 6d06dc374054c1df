"""Inject a fault at every store call: the state is the one before or after, never one between.

What a writer was told must hold too: a commit that was acknowledged is there, one that was
refused is not and never comes, and once the fault is gone the same work succeeds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

from colonnade.manifests.errors import ColonnadeError, CommitUnknownError
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.faults import Fault, FaultyStore, Stopped

EACH_PUSH = (Fault.FAIL_AFTER, Fault.STOP_AFTER)
"""The faults of the default run where a work has many calls. Long tests have all faults."""


def check_every_step(
    made: MemoryStore,
    work: Callable[[ObjectStore], object],
    read: Callable[[ObjectStore], object],
    fault: Fault,
    every: int = 1,
) -> None:
    """Carry `work` out on copies of a store, with a fault at each of its calls in turn.

    The calls are the first one and each one `every` calls later.
    """
    before, calm = read(made), copied(made)
    work(calm)
    after = read(calm)
    for call in count(1, every):
        disk = copied(made)
        store = FaultyStore(disk, {call: fault})
        told = outcome(partial(work, store))
        if call > len(store.trace):
            assert told == "done"
            return
        if not store.fired:
            continue
        store.land()
        found, step = read(disk), store.trace[call - 1]
        assert found in (before, after), f"{step} left a mix"
        if told == "done":
            assert found == after, f"{step} lost an acknowledged commit"
        if told == "refused":
            assert found == before, f"{step} committed what was refused"
        if found == before and before != after:
            work(disk)
            assert read(disk) == after


def copied(store: MemoryStore) -> MemoryStore:
    again = MemoryStore()
    for info in store.list(""):
        again.put(info.name, store.get(info.name), sync=False)
    return again


def outcome(work: Callable[[], object]) -> str:
    """What the writer knows afterwards."""
    try:
        work()
    except (CommitUnknownError, Stopped):
        return "unknown"
    except ColonnadeError:
        return "refused"
    return "done"
