"""The objects that states and epochs name, read from the log. No reader needs any other object.

Spec: docs/spec/vacuum.md#references
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from colonnade.manifests.arrays.entry_block import AddedEntries
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages
from colonnade.manifests.checkpoint.paged_map import PagePlace
from colonnade.manifests.checkpoint.reader import (
    read_entry_segment,
    read_entry_segment_objects,
    read_segment_objects,
    refuse_lost,
)
from colonnade.manifests.checkpoint.segment_choice import touched_segments
from colonnade.manifests.checkpoint.segment_names import NOTHING_KNOWN, SegmentNames
from colonnade.manifests.checkpoint.stored_batches import StoredBatches
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.model.named_objects import named_objects
from colonnade.manifests.model.operations import AddRowSets, AnchorList, CheckpointRef
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import EntrySegmentRef, RowSets, Snapshot, TableState
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.vacuum.copies import Parts

_AT_ONCE = 256
"""The most segments whose names are read side by side."""

_Use: TypeAlias = tuple[tuple[object, ...], tuple[object, ...]]
"""What a state has dropped and changed of a segment. Equal uses name the same objects."""

_WHOLE: _Use = ((), ())
"""The use of a segment of which the state names all RowSets as the segment has them."""


class StateObjects:
    """The objects that states name: RowSets, their vectors, and the objects that list them.

    Kept states share most of the objects that list their RowSets. Each segment and each page of
    tables is read once, however many states share it. Segments are not kept in memory. `loaded` has
    pages that were read before, and `known` the names in whole segments that were. `parts` are the
    objects that list RowSets, tables and batches, and `whole` the names in whole segments.
    """

    def __init__(
        self,
        store: ObjectStore,
        loaded: LoadedPages | None = None,
        known: SegmentNames = NOTHING_KNOWN,
    ) -> None:
        self._store = store
        self._loaded = loaded or LoadedPages()
        self._known = known
        self.parts = Parts()
        self.whole: dict[str, frozenset[str]] = {}
        self._names = set[str]()
        self._pages = set[PagePlace]()
        self._uses: dict[str, dict[_Use, tuple[TableState, EntrySegmentRef]]] = {}

    def add(self, state: Snapshot) -> None:
        """Add the objects of a state.

        Costs a GET for each object with tables that are new here. Raises CorruptionError if the
        tables cannot be read; StoreError.
        """
        self._names |= state.stored_objects()
        if isinstance(state.tables, StoredTables):
            self.parts.add_pages(state.tables.stored.records.table)
            self.parts.add_pages(state.tables.stored.names.table)
        try:
            # Leaves out tables that another state has in the same page.
            for table in self._loaded.read(state, self._pages):
                self._add_table(table)
        except NotFoundError as error:
            refuse_lost(error, state.epoch)

    def _add_table(self, table: TableState) -> None:
        self._names.update(AddedEntries(table).object_ids(), table.listing_objects())
        if isinstance(table.batches, StoredBatches):
            self.parts.add_pages(table.batches.source.stored.table)
        for ref in table.rowsets.segments:
            segment, use = ref.segment.object, _use(table, ref)
            self.parts.add_segment(ref.segment)
            if use == _WHOLE and segment in self._known:
                self._names |= self._known[segment]
                self.whole[segment] = self._known[segment]
            else:
                self._uses.setdefault(segment, {}).setdefault(use, (table, ref))

    def add_root(self, anchor: CheckpointRef) -> None:
        """Add the root of an anchor."""
        self._names.add(anchor.root)
        self.parts.add_root(anchor)

    def add_anchor_list(self, anchors: AnchorList) -> None:
        """Add the object that lists anchors."""
        self._names.add(anchors.object)
        self.parts.add_anchor_list(anchors)

    def read(self) -> set[str]:
        """Return all added objects. Costs a GET for each segment that is not known.

        Raises CorruptionError if one cannot be read; StoreError.
        """
        waiting = [*self._uses.items()]
        for start in range(0, len(waiting), _AT_ONCE):
            part = waiting[start : start + _AT_ONCE]
            calls = [partial(_names_of, self._store, [*uses.values()]) for _, uses in part]
            for (segment, uses), found in zip(part, self._store.together(calls), strict=True):
                for use, names in zip(uses, found, strict=True):
                    self._names |= names
                    if use == _WHOLE:
                        self.whole[segment] = names
        self._uses.clear()
        return self._names


def _names_of(
    store: ObjectStore, users: Sequence[tuple[TableState, EntrySegmentRef]]
) -> list[frozenset[str]]:
    """Return the objects of the live RowSets in one segment, for each of the users."""
    # A state with newly replaced columns is folded from epochs, so that its tables have columns.
    complete = next((each for each in users if _has_replaced(each[0].rowsets)), None)
    states = [user.rowsets for user, _ in users]
    if complete is not None:
        block = read_entry_segment(store, *complete)
        live = (block.updated(each.dropped, each.amended) for each in states)
        return [frozenset(each.object_ids()) for each in live]
    found = read_segment_objects(store, users[0][1])
    return [frozenset(found.live(each.dropped, each.amended)) for each in states]


def _has_replaced(rowsets: RowSets) -> bool:
    return any(each.replaced for each in rowsets.amended.values())


def _use(table: TableState, ref: EntrySegmentRef) -> _Use:
    first, last, rowsets = ref.first_id, ref.last_id, table.rowsets
    return (
        tuple((a, b) for a, b in rowsets.dropped if a <= last and first <= b),
        tuple(sorted((r, *each.objects()) for r, each in rowsets.amended.items() if ref.holds(r))),
    )


def read_state_objects(store: ObjectStore, state: Snapshot) -> set[str]:
    """Return the objects of a state: its RowSets, their vectors, and the objects that list them.

    Reads all of the latter. Raises CorruptionError if one cannot be read; StoreError.
    """
    objects = StateObjects(store)
    objects.add(state)
    return objects.read()


def name_the_same(store: ObjectStore, one: TableState, other: TableState) -> bool:
    """Return whether two states of a table name the same RowSets and vectors.

    Reads the segments that only one state has, and those whose RowSets one of them has dropped or
    changed. Raises CorruptionError if one cannot be read; StoreError.
    """
    if one.rowsets == other.rowsets:
        return True
    touched = {*_names(touched_segments(one.rowsets)), *_names(touched_segments(other.rowsets))}
    shared = {*_names(one.rowsets.segments)}.intersection(_names(other.rowsets.segments)) - touched
    return _read_but(store, one, shared) == _read_but(store, other, shared)


def _names(refs: Iterable[EntrySegmentRef]) -> Iterator[str]:
    return (ref.segment.object for ref in refs)


def _read_but(store: ObjectStore, table: TableState, shared: set[str]) -> set[str]:
    """Return the objects that a table names outside of the segments `shared`."""
    rowsets, found = table.rowsets, {*AddedEntries(table).object_ids()}
    for ref in rowsets.segments:
        if ref.segment.object not in shared:
            block = read_entry_segment(store, table, ref)
            live = block.updated(rowsets.dropped, rowsets.amended)
            found.update(live.object_ids())
    return found


def read_later_objects(log: LogReader, epoch: int, newest: int) -> set[str]:
    """Return the objects that the epochs after `epoch` name, up to `newest`.

    Together with the objects of the state at `epoch`, they are the objects of every later state,
    and those that carry row numbers through compactions. Reads every epoch. Raises CorruptionError,
    StoreError.
    """
    found = set[str]()
    for each in log.read_epochs(newest, newest - epoch):
        found.update(named_objects(each.ops))
        for operation in each.ops:
            if isinstance(operation, AddRowSets):
                found.update(read_entry_segment_objects(log.store, operation.segment))
    return found
