"""Databases with checkpoints."""

from __future__ import annotations

from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    append,
    delete,
    entry,
    make_log,
    overwrite,
    vector,
    with_orders,
)


def checkpointed(interval: int = 8) -> tuple[MemoryStore, Log, Snapshot]:
    """A database at epoch 9 whose checkpoint is of epoch 8."""
    store = MemoryStore()
    log = make_log(store, interval)
    state = with_orders(store, log)
    for low in range(0, 40, 10):
        state = log.commit(append(entry(low=low, data="QUJD"), entry(low=low)), state)
    state = log.commit(delete(2, vector(3)), state)
    state = log.commit(overwrite((4, 5)), state)
    state = log.commit(append(), state)
    assert state.tables
    return store, log, log.commit(append(), state)


def names(store: MemoryStore, prefix: str) -> list[str]:
    return [info.name for info in store.list(prefix)]
