"""Checkpoints and hint, made anew from the log; anchors, restored from their second copies.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.checkpoint.writer import point_hint, store_snapshot
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum.copies import restore
from colonnade.manifests.vacuum.floor import lost_states, name_lost
from colonnade.manifests.vacuum.references import StateObjects


class Rebuilt(NamedTuple):
    """The state that caches were made of, and the files of anchors that were restored."""

    state: Snapshot
    restored: tuple[str, ...]


def rebuild_caches(log: Log, *, give_up_lost_epochs: bool = False) -> Rebuilt:
    """Read the log from its floor, store its head as a checkpoint, and let the hint name that.

    So nothing that a damaged or wrong checkpoint says is read again; it stays for vacuum. Before
    it, objects of anchors that are damaged or lost at one of their two places are restored from the
    other one. A hint that proves that newer epochs were lost is an error first: with
    `give_up_lost_epochs` the log ends where its files do. Costs a GET for each epoch since the
    floor, and two for each object of an anchor. Raises CorruptionError where the log itself is
    damaged, or where an anchor is whole nowhere, once all else is done; StoreError.
    """
    log.store.require_writable()
    if give_up_lost_epochs:
        log.store.delete(HINT)
    newest = log.read_head()
    restored, lost = _restore_anchors(log, newest)
    if lost and newest.floor in lost_states(log, newest):
        raise _lost_error(log, newest, lost)
    state, ref = store_snapshot(log.store, log.read_from_log(newest.epoch), limits=log.limits)
    point_hint(log.store, ref)
    if lost:
        raise _lost_error(log, newest, lost)
    return Rebuilt(state, restored)


def _restore_anchors(log: Log, head: Snapshot) -> tuple[tuple[str, ...], list[CorruptionError]]:
    """Restore what anchors are made of; the names of restored files, and what is whole nowhere."""
    objects = StateObjects(log.store)
    restored: list[str] = []
    lost: list[CorruptionError] = []
    for anchor in head.anchors:
        objects.add_root(anchor)
        try:
            objects.add(read_state(log.store, anchor))
        except (NotFoundError, CorruptionError):
            continue  # What of it is lost shows when its parts are restored.
    for part in objects.parts:
        try:
            restored += restore(log.store, part)
        except CorruptionError as error:
            lost.append(error)
    return tuple(restored), lost


def _lost_error(log: Log, head: Snapshot, lost: Sequence[CorruptionError]) -> CorruptionError:
    names = name_lost(head, lost_states(log, head))
    return CorruptionError(f"{' '.join(each.message for each in lost)} {names}")
