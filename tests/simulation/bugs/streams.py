"""Mistakes of a stream that reads a table: rows that it loses, rows that it shows twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

from colonnade.manifests.feed.steps import Step
from colonnade.manifests.model.operations import Compaction
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.streams.admission import Admission, Limits
from colonnade.tableformat.streams.offsets import Offset, Place
from colonnade.tableformat.streams.pieces import Piece, inserted_pieces
from colonnade.tableformat.streams.source import TableStream, Trigger
from tests.simulation.actors.compactor import Compactor
from tests.simulation.actors.follower import Follower
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, Plant

_between, _of_step, _trigger = TableStream.between, TableStream._of_step, TableStream.trigger


def _plant(name: str, mistake: object) -> Plant:
    return lambda: patch.object(TableStream, name, mistake)


def _from_the_first_offset(
    stream: TableStream, head: Snapshot, start: Offset, limits: Limits, last: int
) -> Trigger:
    """Count what the limits of a trigger allow from where the stream began."""
    found = _trigger(stream, head, start.beginning(), limits, last)
    left = tuple(each for each in found.pieces if each.place >= start.place)
    return Trigger(start.at(max(start.place, found.end.place)), left)


def _with_moved_rows(
    stream: TableStream, head: Snapshot, step: Step, after: Place
) -> Iterator[Piece]:
    """Show what a compaction wrote, if no earlier trigger of this process has seen the log."""
    yield from _of_step(stream, head, step, after)
    for op, first in step.operations() if stream.known is None else ():
        if isinstance(op, Compaction):
            moved = range(first, first + len(op.outputs))
            view = stream.reader.rowsets.view(step.later, None, head.time_ms)
            view = view.of([each for each in view.rowsets if each.id in moved])
            plan = plan_scan(view, step.number, stream.shown.schema.names)
            yield from inserted_pieces(step.number, step.epoch.time_ms, plan, after)


def _without_the_last(
    stream: TableStream, head: Snapshot, start: Offset, end: Offset
) -> Iterator[Piece]:
    """Read up to the last epoch of a trigger, and not that one."""
    is_whole = end.place == Place(end.epoch) and not start.in_snapshot
    for each in _between(stream, head, start, end):
        if not (is_whole and each.place.epoch == end.epoch - 1):
            yield each


def _up_to_the_newest(
    stream: TableStream, head: Snapshot, start: Offset, limits: Limits, last: int
) -> Trigger:
    """Say that a trigger reads what was committed while it was planned."""
    found = _trigger(stream, head, start, limits, last)
    newest = stream.reader.refresh(head)
    whole = found.end.place == Place(head.epoch + 1)
    return Trigger(found.end.at(Place(newest.epoch + 1)), found.pieces) if whole else found


def _too_early(stream: TableStream, head: Snapshot, start: Offset) -> bool:
    """Take an epoch that is the next one for one that was read."""
    return not start.in_snapshot and stream._table(head, start).changed_epoch <= start.epoch


def _in_silence(stream: TableStream, head: Snapshot, start: Offset) -> Snapshot:
    """Go on after epochs that were removed."""
    return _lost(replace(stream, rules=replace(stream.rules, fail_on_loss=False)), head, start)


_lost = TableStream._after_loss


def _admits_always(admission: Admission, piece: Piece) -> bool:
    """Count the pieces of a trigger one too late."""
    most = admission.limits.rows
    return _admits(admission, piece) or (most is not None and admission.rows <= most)


_admits = Admission.admits

FOLLOWING = (Follower(8), Writer(6, mix=(6, 2, 2, 2, 0, 0, 0)), Compactor(3))

BUGS: tuple[Bug, ...] = tuple(
    replace(each, seeds=50)
    for each in (
        Bug(
            "the limits of a trigger count from the first offset",
            _plant("trigger", _from_the_first_offset),
            actors=FOLLOWING,
        ),
        Bug(
            "rows that a compaction moved are read again after a restart",
            _plant("_of_step", _with_moved_rows),
            actors=FOLLOWING,
        ),
        Bug(
            "the last epoch of a trigger is lost between its end and its plan",
            _plant("between", _without_the_last),
            actors=FOLLOWING,
        ),
        Bug(
            "a trigger ends after an epoch that came while it was planned",
            _plant("trigger", _up_to_the_newest),
            actors=FOLLOWING,
        ),
        Bug(
            "the next epoch counts as one that was read",
            _plant("_has_all", _too_early),
            actors=FOLLOWING,
        ),
        Bug(
            "epochs that a vacuum has removed are passed in silence",
            _plant("_after_loss", _in_silence),
            actors=(Follower(6, leases=0), Writer(6), Vacuumer(3)),
        ),
        Bug(
            "a trigger takes a piece more than fits",
            lambda: patch.object(Admission, "admits", _admits_always),
            actors=FOLLOWING,
        ),
    )
)
