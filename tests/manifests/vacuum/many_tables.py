"""A database of many tables, whose pages of a checkpoint are counted when they are decoded."""

from __future__ import annotations

from colonnade.manifests.ids import new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.floor import write_anchor
from colonnade.manifests.vacuum.references import StateObjects
from tests.log_samples import change, database, make_log, table

SMALL = Limits(root_tables=2, root_bytes=100, page_bytes=4096)


def with_tables(count: int) -> tuple[MemoryStore, Log, Snapshot]:
    """A database of many tables, and its state as an anchor stores it."""
    store = MemoryStore(now_ms=lambda: 0)
    log = make_log(store, 2**40, limits=SMALL)
    made = [table(new_table_id(), f"t{number}") for number in range(count)]
    state = log.commit(change(*made), database(store))
    return store, log, write_anchor(log.reader, state, StateObjects(log.store))[1]
