"""Marks of freed blocks that cannot be read, and what is written in their place.

A mark says that its block was freed, and names a floor after the block at which readers continue.
Any such floor will do, so a damaged mark is replaced by one that names the present floor.
Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from colonnade.manifests.epochs.freed_slots import Marks, read_marks, rewrite_mark
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.operations import Anchor
from colonnade.manifests.reading.reader import LogReader

WILL_REPAIR = "`repair` writes this mark anew."

CANNOT_REPAIR = (
    "Nothing that can be read tells a floor behind the block of this mark, so `repair` cannot write"
    " it anew; restore the file from a backup."
)


def known_floor(log: LogReader, marks: Marks) -> Anchor | None:
    """Return the floor's anchor, which a new mark states; None if it cannot be known.

    The newest state has it. If damaged marks hide that state, the newest readable mark has the
    anchor of an earlier floor, and a reader can follow the log from there. Costs as
    `LogReader.read_head`. Raises NotFoundError if the database was dropped; StoreError.
    """
    try:
        head = log.read_head()
    except CorruptionError:
        return None if marks.newest is None else marks.newest.anchor
    return head.anchor(head.floor)


def find_writable(marks: Marks, floor: Anchor | None) -> frozenset[int]:
    """Return the blocks with a damaged mark that end before the floor."""
    if floor is None:
        return frozenset()
    whole = marks.blocks.whole_below(floor.epoch)
    return frozenset(block for block in marks.damaged if block < whole)


def rewrite_damaged_marks(log: LogReader) -> tuple[str, ...]:
    """Replace all damaged marks by marks that state the known floor, and return their names.

    Costs a listing and a GET for each mark. If one is damaged, it also costs the head and a PUT for
    each. Raises CorruptionError for a mark whose block is not known to be below the floor. The
    other marks are rewritten before that. Raises StoreError.
    """
    marks = read_marks(log.store)
    if not marks.damaged:
        return ()
    floor = known_floor(log, marks)
    writable = find_writable(marks, floor)
    if floor is not None:
        for block in sorted(writable):
            rewrite_mark(log.store, marks.blocks, block, floor)
    for block, error in marks.damaged.items():
        if block not in writable:
            raise CorruptionError(f"{error.message} {CANNOT_REPAIR}")
    return tuple(marks.blocks.mark(block) for block in sorted(writable))
