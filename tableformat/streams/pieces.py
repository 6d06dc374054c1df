"""The pieces of a stream: the parts of a table, or of an epoch, that a trigger takes whole.

    RowSet 3, cuts at 0, 100, 200     a piece for each stretch between two cuts
    an epoch that only inserts rows   such pieces of its RowSets
    an epoch with other changes       one piece, because its rows belong together

Where a piece begins depends on ids and cuts alone. So an offset means the same place at any time,
whatever the limits of a trigger are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from colonnade.tableformat.feed.images import INSERT
from colonnade.tableformat.feed.tasks import FeedTask, RowsTask, scans_of
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, stretches
from colonnade.tableformat.streams.offsets import Place, unfit_error


@dataclass(frozen=True, slots=True)
class Source:
    """What brings rows: the epoch `version` with its date, in ms since 1970 UTC, and its tasks."""

    version: int
    time_ms: int
    tasks: tuple[FeedTask, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that belong to one trigger, and the `place` right before them.

    It is `part` of the only task of its source, or with None as the part all tasks. `files` are the
    ids of its RowSets; `bytes` are stored, and `rows` include deleted ones.
    """

    place: Place
    source: Source
    part: RowSetScan | None
    files: frozenset[int]
    bytes: int
    rows: int


def inserted_pieces(version: int, time_ms: int, plan: ScanPlan, after: Place) -> Iterator[Piece]:
    """Yield the pieces of inserted rows from a place on, by the ids of their RowSets.

    Raises InvalidInputError for a place inside of a piece.
    """
    source = Source(version, time_ms, (RowsTask(INSERT, plan),))
    for whole in sorted(plan.rowsets, key=lambda each: each.rowset.id):
        number = whole.rowset.id
        for part in stretches(whole):
            place = Place(version, number, part.ranges[0][0])
            if place < after < Place(version, number, part.ranges[-1][1]):
                raise unfit_error(after)
            if place >= after:
                yield Piece(
                    place, source, part, frozenset((number,)), part.byte_count, part.row_count
                )


def whole_piece(version: int, time_ms: int, tasks: Iterable[FeedTask]) -> Piece | None:
    """Return what an epoch changes as one piece; None if it has no tasks."""
    source = Source(version, time_ms, tuple(tasks))
    scans = [scan for task in source.tasks for scan in scans_of(task)]
    if not scans:
        return None
    return Piece(
        Place(version),
        source,
        None,
        frozenset(each.id for scan in scans for each in scan.view.rowsets),
        sum(scan.byte_count for scan in scans),
        sum(each.row_count for scan in scans for each in scan.view.rowsets),
    )


def joined(pieces: Iterable[Piece]) -> Iterator[Source]:
    """Yield what brings the rows of consecutive pieces. Pieces of one scan become one again."""
    for _, some in groupby(pieces, key=lambda each: id(each.source)):
        first, *others = some
        parts = [each.part for each in (first, *others) if each.part is not None]
        if not parts:
            yield first.source
            continue
        (task,) = first.source.tasks
        assert isinstance(task, RowsTask)
        plan = task.plan.of(parts)
        yield Source(first.source.version, first.source.time_ms, (RowsTask(task.change, plan),))
