"""Rebuild checkpoints and hint from the log; restore anchors and marks.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.hint import put_usable_hint
from colonnade.manifests.checkpoint.reader import find_lost, read_state
from colonnade.manifests.checkpoint.writer import store_snapshot
from colonnade.manifests.errors import ConflictError, CorruptionError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT
from colonnade.manifests.public import public
from colonnade.manifests.state.features import check_writer_features
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.draft import DraftStore
from colonnade.manifests.vacuum.copies import restore
from colonnade.manifests.vacuum.floor import lost_states, name_lost
from colonnade.manifests.vacuum.later_floor import begin_at_checkpoint
from colonnade.manifests.vacuum.lost_marks import restore_lost_marks
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.manifests.vacuum.run import TRIES, was_vacuumed


@public
@dataclass(frozen=True, slots=True)
class LogRepairResult:
    """What a repair of the log did, or would do.

    `epoch` and `floor` are the newest and the oldest readable epoch after it. `given_up` are the
    first and the last epoch whose loss it accepts, or None. Where the end of the log is lost,
    epochs after the last one may be lost, too. Tags and pins keep their states. `restored` are the
    names of objects of anchors that were damaged at one place, and `marks` those of marks of freed
    slots that were lost.
    """

    dry_run: bool
    epoch: int
    floor: int
    given_up: tuple[int, int] | None
    restored: tuple[str, ...]
    marks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return a plain value that converts to JSON."""
        return asdict(self)

    def __str__(self) -> str:
        would = self.dry_run
        said = [
            f"{'Would rebuild' if would else 'Rebuilt'} checkpoint and hint at epoch {self.epoch};"
            f" the oldest readable epoch is {self.floor}."
        ]
        if self.given_up is not None:
            first, last = self.given_up
            done = "Would give up" if would else "Gave up"
            which = f"epoch {first}" if first == last else f"epochs {first} to {last}"
            later = " and all later ones" if first > self.epoch else ""
            said.append(f"{done} {which}{later}: their loss cannot be repaired.")
        done = "Would restore" if would else "Restored"
        said += [f"{done} {name} from its other copy." for name in self.restored]
        said += [f"{done} {name}, a lost mark." for name in self.marks]
        return "\n".join(said)


def rebuild_caches(
    log: Log, *, give_up_lost_epochs: bool = False, dry_run: bool = False
) -> LogRepairResult:
    """Read the log from its floor, store its head as a checkpoint, and point the hint to it.

    After that no reader uses a damaged or wrong checkpoint; vacuum removes it later. First puts
    lost marks of freed slots again, without which the log perhaps cannot be opened. Then restores
    the objects of anchors that are damaged or missing at one of their two places from the other
    place.

    A hint that proves the loss of newer epochs is an error. With `give_up_lost_epochs` the log ends
    where its files do instead, and a log whose oldest state is lost begins at its oldest whole
    checkpoint. With `dry_run` all of this happens in a draft, and nothing is written. The time is
    then this machine's.

    Costs a listing of the log, a GET or two for each epoch since the floor, and two for each object
    of an anchor. Waits as `restore_lost_marks` where marks are lost. Raises
    CorruptionError when the log itself is damaged, and when an anchor has no intact copy. The
    latter is raised after everything else is done. Begins again where a concurrent vacuum removes
    what is read, at most ten times; then raises ConflictError. Raises StoreError.
    """
    log = _draft(log) if dry_run else log.uncached
    log.store.require_writable()
    marks = restore_lost_marks(log)
    given_up = _give_up(log) if give_up_lost_epochs else None
    restored: dict[str, None] = {}
    for _ in range(TRIES):
        newest = log.reader.read_head()
        check_writer_features(newest)
        try:
            state = _rebuild(log, newest, restored)
            return LogRepairResult(
                dry_run, state.epoch, state.floor, given_up, tuple(restored), marks
            )
        except (CorruptionError, NotFoundError):
            # What a vacuum has removed meanwhile is not lost.
            if not was_vacuumed(log, newest, log.reader.refresh(newest)):
                raise
    raise ConflictError(
        f"Vacuums of {log.store.url} removed what this repair was reading, {TRIES}"
        " times; run it again when they have ended."
    )


def _rebuild(log: Log, newest: Snapshot, restored: dict[str, None]) -> Snapshot:
    """Restore anchors, store the newest state, and return it. Adds names to `restored`."""
    lost = _restore_anchors(log, newest, restored)
    if lost and newest.floor in lost_states(log.reader, newest):
        raise _lost_error(log, newest, lost)
    state, ref = store_snapshot(
        log.store, log.reader.read_from_log(newest.epoch), limits=log.limits
    )
    with suppress(ConflictError):  # then a vacuum leads the hint to its floor
        put_usable_hint(log.store, ref, {ref.root}, newest.epoch, newest.blocks)
    if lost:
        raise _lost_error(log, newest, lost)
    return state


def _draft(log: Log) -> Log:
    """Return a log with the content of another one, whose changes stay in memory."""
    store = DraftStore(log.store.uncached, log.reader.now_ms)
    return Log(store, clock_ms=log.reader.now_ms, pause=log.pause, limits=log.limits)


def _give_up(log: Log) -> tuple[int, int] | None:
    """Begin the history later, or end it earlier. Returns the first and last epoch given up.

    Raises as `begin_at_checkpoint`.
    """
    return _begin_later(log) or _end_earlier(log)


def _begin_later(log: Log) -> tuple[int, int] | None:
    """Begin the history at a checkpoint if the state at the floor is lost.

    Returns the first and last epoch before the checkpoint, or None if the state is not lost. Raises
    as `begin_at_checkpoint`.
    """
    try:
        head = log.reader.read_head()
    except CorruptionError:
        return None  # the newest epochs are lost
    if head.floor not in lost_states(log.reader, head):
        return None
    return head.floor, begin_at_checkpoint(log, head).floor - 1


def _end_earlier(log: Log) -> tuple[int, int] | None:
    """Remove the hint. Returns the first and last epoch whose loss it has proved, if any."""
    # If the log cannot be opened without the hint, the hint may lead to its only whole state.
    end = log.reader.read_head_from_log()
    lost = find_lost(log.store)
    log.store.delete(HINT)
    return None if lost is None else (end.epoch + 1, lost)


def _restore_anchors(log: Log, head: Snapshot, restored: dict[str, None]) -> list[CorruptionError]:
    """Restore the objects of anchors. Returns what has no intact copy.

    Adds the names of restored files to `restored`.
    """
    objects = StateObjects(log.store)
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
            restored.update(dict.fromkeys(restore(log.store, part)))
        except CorruptionError as error:
            lost.append(error)
    return lost


def _lost_error(log: Log, head: Snapshot, lost: Sequence[CorruptionError]) -> CorruptionError:
    names = name_lost(head, lost_states(log.reader, head))
    return CorruptionError(f"{' '.join(each.message for each in lost)} {names}")
