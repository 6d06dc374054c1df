"""The checkpoints that the hint leads to: the objects that they name, and a hint that is usable.

Spec: docs/spec/vacuum.md#run
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from colonnade.manifests.checkpoint.hint import put_usable_hint
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages
from colonnade.manifests.checkpoint.paged_map import PagePlace
from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state, state_of
from colonnade.manifests.errors import ConflictError, CorruptionError, NotFoundError
from colonnade.manifests.object_names import HINT, checkpoint_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.floor import floor_anchor


def cached_objects(store: ObjectStore, floor: int, loaded: LoadedPages | None = None) -> set[str]:
    """Return the objects of the checkpoints above the floor that the hint leads to.

    They are caches, so a damaged or missing one is skipped. A page of tables that several
    checkpoints share is read once. Raises StoreError.
    """
    newest = read_hint(store, since=floor + 1)
    found, seen, loaded = set[str](), set[PagePlace](), loaded or LoadedPages()
    for ref in (newest[0], *newest[1].earlier) if newest else ():
        if ref.epoch > floor:
            try:
                state = read_state(store, ref)
                found |= segments_of(state, loaded, seen) | {ref.root}
            except (NotFoundError, CorruptionError):
                continue
    return found


def segments_of(
    state: Snapshot, loaded: LoadedPages | None = None, seen: set[PagePlace] | None = None
) -> set[str]:
    """Return the objects that list tables, RowSets and batches of a state.

    Reads all tables, except in pages that `loaded` has. Leaves out the tables in pages that are
    in `seen`, and adds the places of all pages to it.
    """
    tables = (loaded or LoadedPages()).read(state, seen)
    listed = (name for table in tables for name in table.listing_objects())
    return {*state.stored_objects(), *listed}


def keep_hint_usable(
    store: ObjectStore,
    head: Snapshot,
    loaded: LoadedPages,
    there: Collection[str],
    victims: Collection[str],
) -> None:
    """Make sure that the hint leads to a checkpoint that stays usable. It may be a new one.

    Otherwise the hint gets the floor's anchor, which is part of the log. Call it before slots are
    freed and the `victims` removed, so that a killed run leaves no hint to what is gone. `there`
    are names of other objects that exist. Each object that is in neither costs a GET. Raises
    StoreError; CorruptionError.
    """
    if not _is_sound(store, head.floor, loaded, there, victims):
        _lead_to_floor(store, head)


def _lead_to_floor(store: ObjectStore, head: Snapshot) -> None:
    if not head.floor:
        store.delete(HINT)
    else:
        anchor = floor_anchor(head)
        with suppress(ConflictError):  # then a later vacuum leads the hint to its own floor
            put_usable_hint(store, anchor, {anchor.root}, head.epoch, head.blocks)


def _is_sound(
    store: ObjectStore,
    floor: int,
    loaded: LoadedPages,
    there: Collection[str],
    victims: Collection[str],
) -> bool:
    found = read_hint(store, since=floor)
    if found is None:
        return False
    if any(ref.root in victims for ref in (found[0], *found[1].earlier) if ref.epoch >= floor):
        return False
    try:
        for part in segments_of(state_of(store, *found), loaded):
            if part in victims:
                return False
            if (name := checkpoint_name(part)) not in there:
                store.get_range(name, 0, 1)
    except UNUSABLE:
        return False
    return True
