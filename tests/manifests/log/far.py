"""A log behind a network, whose requests are counted."""

from __future__ import annotations

from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.far_store import FarStore
from tests.log_samples import append, make_log, with_orders


def far_log(epochs: int, interval: int = 64) -> tuple[FarStore, Snapshot]:
    """A log in a far store, and its head. No cost has been counted yet."""
    near = MemoryStore()
    log = make_log(near, interval)
    state = with_orders(near, log)
    for _ in range(epochs - state.epoch):
        state = log.commit(append(), state)
    return FarStore(near), state
