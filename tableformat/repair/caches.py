"""Checkpoints and hint, made anew from the log alone.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from colonnade.manifests.checkpoint.writer import point_hint, store_snapshot
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT
from colonnade.manifests.state.snapshot import Snapshot


def rebuild_caches(log: Log, *, give_up_lost_epochs: bool = False) -> Snapshot:
    """Read the log from its floor, store its head as a checkpoint, and let the hint name that.

    So nothing that a damaged or wrong checkpoint says is read again; it stays for vacuum. A hint
    that proves that newer epochs were lost is an error first: with `give_up_lost_epochs` the log
    ends where its files do. Costs a GET for each epoch since the floor. Raises CorruptionError
    where the log itself is damaged, StoreError.
    """
    log.store.require_writable()
    if give_up_lost_epochs:
        log.store.delete(HINT)
    newest = log.read_head()
    state, ref = store_snapshot(log.store, log.read_from_log(newest.epoch), limits=log.limits)
    point_hint(log.store, ref)
    return state
