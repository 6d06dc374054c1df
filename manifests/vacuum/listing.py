"""List a whole database, as a vacuum looks at it.

Spec: docs/spec/vacuum.md#run
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain
from typing import NamedTuple

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.object_names import epoch_name, epoch_number, freed_block
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.objects import StoredFile, describe

_LAST_SLOT = 10**20 - 1
"""The last slot that a name can have."""


class Listing(NamedTuple):
    """Everything in a store: `slots` that are taken, blocks with `marks`, and other `files`.

    The files include those in slots of blocks below the floor. So they are those that a vacuum may
    have to remove, and a few more.
    """

    slots: frozenset[int]
    marks: frozenset[int]
    files: tuple[StoredFile, ...]


def read_listing(store: ObjectStore, before: Snapshot) -> Listing:
    """List a database. `before` is a state from before the listing. Raises StoreError.

    Many epochs and marks may be there, so their sizes and times are not asked for.
    """
    removed = range(before.blocks.first(before.blocks.whole_below(before.floor)))
    first, last, stop = map(epoch_name, (0, _LAST_SLOT, removed.stop))
    marks_begin = before.blocks.prefix

    def is_measured(name: str) -> bool:
        # Names of epochs sort as their numbers.
        return not (first <= name <= last or name.startswith(marks_begin)) or name < stop

    slots, marks, files = set[int](), set[int](), list[StoredFile]()
    for info in store.list_all(is_measured):
        number = epoch_number(info.name)
        if number is not None:
            slots.add(number)
        elif info.name.startswith(marks_begin):
            block = freed_block(info.name)
            marks.update(() if block is None else (block,))
            continue
        if number is None or number in removed:
            files.append(describe(info))
    return Listing(frozenset(slots), frozenset(marks), tuple(files))


def check_slots(
    slots: Collection[int],
    before: int,
    after: int,
    location: str,
    freed: range = range(0),
    floor: int = 0,
) -> None:
    """Check that the slots in a listing are those of a whole log.

    Its newest epoch was `before` when the listing began, and `after` when it ended. The slots
    `freed` were freed. The check finds gaps that are too long for a reader to notice. It looks for
    epoch 0 and the epochs after the floor. Raises CorruptionError.
    """
    wanted = (number for number in chain((0,), range(floor + 1, before + 1)) if number not in freed)
    missing = next((number for number in wanted if number not in slots), None)
    beyond = max(slots, default=0) > after
    if missing is not None or beyond:
        name = epoch_name(after + 1 if missing is None else missing)
        raise CorruptionError(
            f"{location}/{name} is missing, although a later epoch is there: nothing is removed;"
            " restore that epoch."
        )
