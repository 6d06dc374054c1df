"""Rebuild checkpoints and hint from the log; restore anchors and marks of freed slots.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.hint import put_usable_hint
from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.checkpoint.writer import store_snapshot
from colonnade.manifests.errors import ConflictError, CorruptionError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum.copies import restore
from colonnade.manifests.vacuum.damaged_marks import rewrite_damaged_marks
from colonnade.manifests.vacuum.floor import lost_states, name_lost
from colonnade.manifests.vacuum.later_floor import begin_at_checkpoint, finish_floor
from colonnade.manifests.vacuum.references import StateObjects


class Rebuilt(NamedTuple):
    """The state that caches were rebuilt from, and what was restored before.

    `restored` are objects of anchors that were damaged at one place; `marks` are damaged marks of
    freed slots that were written anew.
    """

    state: Snapshot
    restored: tuple[str, ...]
    marks: tuple[str, ...] = ()


def rebuild_caches(log: Log, *, give_up_lost_epochs: bool = False) -> Rebuilt:
    """Read the log from its floor, store its head as a checkpoint, and point the hint to it.

    After that no reader uses a damaged or wrong checkpoint; vacuum removes it later. First writes
    damaged marks of freed slots anew where a floor after them is known. Then restores the objects
    of anchors that are damaged or missing at one of their two places from the other place.

    A hint that proves the loss of newer epochs is an error. With `give_up_lost_epochs` the log ends
    where its files do instead, and a log whose oldest state is lost begins at its oldest whole
    checkpoint.

    Costs a GET for each epoch since the floor and for each mark, and two for each object of an
    anchor. Raises CorruptionError when the log itself is damaged, when no floor is known for a
    damaged mark, and when an anchor has no intact copy. The last is raised after everything else
    is done. Raises StoreError.
    """
    log.store.require_writable()
    log = log.uncached
    marks = rewrite_damaged_marks(log)
    if give_up_lost_epochs and not _begin_later(log):
        # If the log cannot be opened without the hint, the hint may lead to its only whole state.
        log.read_head_from_log()
        log.store.delete(HINT)
    newest = log.read_head()
    finish_floor(log, newest, threads=1)
    restored, lost = _restore_anchors(log, newest)
    if lost and newest.floor in lost_states(log, newest):
        raise _lost_error(log, newest, lost)
    state, ref = store_snapshot(log.store, log.read_from_log(newest.epoch), limits=log.limits)
    with suppress(ConflictError):  # then a vacuum leads the hint to its floor
        put_usable_hint(log.store, ref, {ref.root}, newest.epoch, newest.blocks)
    if lost:
        raise _lost_error(log, newest, lost)
    return Rebuilt(state, restored, marks)


def _begin_later(log: Log) -> bool:
    """Begin the history at a checkpoint if the state at the floor is lost. Returns whether it is.

    Raises as `begin_at_checkpoint`.
    """
    try:
        head = log.read_head()
    except CorruptionError:
        return False  # the newest epochs are lost
    # Without this, a log that a killed repair has left can be opened only by the hint.
    finish_floor(log, head, threads=1)
    lost = head.floor in lost_states(log, head)
    if lost:
        begin_at_checkpoint(log, head)
    return lost


def _restore_anchors(log: Log, head: Snapshot) -> tuple[tuple[str, ...], list[CorruptionError]]:
    """Restore the objects of anchors. Returns the restored files, and what has no intact copy."""
    objects = StateObjects(log.store)
    restored: list[str] = []
    lost: list[CorruptionError] = []
    anchors = head.anchors
    if head.anchor_list is not None:
        objects.add_anchor_list(head.anchor_list)
    with suppress(CorruptionError):  # a lost list is found when the parts are restored
        anchors = read_live_anchors(log.store, head)
    for anchor in anchors:
        objects.add_root(anchor)
        try:
            objects.add(read_state(log.store, anchor))
        except (NotFoundError, CorruptionError):
            continue  # the loss is found when the parts are restored
    for part in objects.parts:
        try:
            restored += restore(log.store, part)
        except CorruptionError as error:
            lost.append(error)
    return tuple(restored), lost


def _lost_error(log: Log, head: Snapshot, lost: Sequence[CorruptionError]) -> CorruptionError:
    names = name_lost(head, lost_states(log, head))
    return CorruptionError(f"{' '.join(each.message for each in lost)} {names}")
