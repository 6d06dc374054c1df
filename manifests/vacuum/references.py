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
from colonnade.manifests.checkpoint.state_summary import NO_STATES, StateSummary, summary_of
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

_Use: TypeAlias = tuple[object, ...]
"""A state's use of a segment's RowSets. Two equal uses name the same objects."""

_Source: TypeAlias = str | PagePlace | tuple[str, _Use]
"""What names objects: an object names itself, a page, or a use of the segment with this id."""


class StateObjects:
    """The objects that states name: RowSets, their vectors, and the objects that list them.

    Kept states share most of the objects that list their RowSets. Each segment and each page of
    tables is read once, however many states share it. Segments are not kept in memory. `loaded` has
    pages that were read before, or whose summaries are known. `remembered` are states that need not
    be added, because their objects are known. `parts` are the objects that list RowSets, tables and
    batches, without those that summaries name.
    """

    def __init__(
        self,
        store: ObjectStore,
        loaded: LoadedPages | None = None,
        remembered: StateSummary = NO_STATES,
    ) -> None:
        self._store = store
        self._loaded = loaded or LoadedPages()
        self.parts = Parts()
        self._remembered = remembered
        self._roots = [*remembered.roots]
        self._spans: dict[_Source, tuple[int, int]] = {}
        self._names = {*remembered.objects}
        self._pages = set[PagePlace]()
        self._uses: dict[str, dict[_Use, tuple[TableState, EntrySegmentRef]]] = {}
        self._named: dict[tuple[str, _Use], set[str]] = {}

    def add(self, state: Snapshot, anchor: CheckpointRef | None = None) -> None:
        """Add the objects of a state. With `anchor`, add its root, and the state to the summary.

        Costs a GET for each object with tables that are new here. Raises CorruptionError if the
        tables cannot be read; StoreError.
        """
        sources: list[_Source] = [*state.stored_objects()]
        self._names |= state.stored_objects()
        if isinstance(state.tables, StoredTables):
            if anchor is not None:
                sources += state.tables.stored.places
            self.parts.add_pages(state.tables.stored.records.table)
            self.parts.add_pages(state.tables.stored.names.table)
        try:
            # Leaves out tables that another state has in the same page.
            summaries, tables = self._loaded.read(state, self._pages, objects=True)
            for summary in summaries:
                if summary.parts or summary.objects:
                    self._names.update(summary.parts, summary.objects or ())
            for table in tables:
                direct = {*AddedEntries(table).object_ids(), *table.listing_objects()}
                self._names |= direct
                sources += direct
                if isinstance(table.batches, StoredBatches):
                    self.parts.add_pages(table.batches.source.stored.table)
                for ref in table.rowsets.segments:
                    self.parts.add_segment(ref.segment)
                    uses, use = self._uses.setdefault(ref.segment.object, {}), _use(table, ref)
                    uses.setdefault(use, (table, ref))
                    sources.append((ref.segment.object, use))
        except NotFoundError as error:
            refuse_lost(error, state.epoch)
        if anchor is not None:
            self.add_root(anchor)
            at = len(self._roots)
            self._roots.append(anchor.root)
            for source in (*sources, anchor.root):
                self._spans[source] = (self._spans.get(source, (at, at))[0], at)

    def add_root(self, anchor: CheckpointRef) -> None:
        """Add the root of an anchor."""
        self._names.add(anchor.root)
        self.parts.add_root(anchor)

    def add_anchor_list(self, anchors: AnchorList) -> None:
        """Add the object that lists anchors."""
        self._names.add(anchors.object)
        self.parts.add_anchor_list(anchors)

    def read(self) -> set[str]:
        """Return all added objects. Costs a GET for each segment, the first time.

        Raises CorruptionError if one cannot be read; StoreError.
        """
        waiting = [*self._uses.items()]
        for start in range(0, len(waiting), _AT_ONCE):
            part = waiting[start : start + _AT_ONCE]
            calls = [partial(_names_of, self._store, [*uses.values()]) for _, uses in part]
            for (segment, uses), found in zip(part, self._store.together(calls), strict=True):
                for use, names in zip(uses, found, strict=True):
                    self._named[segment, use] = names
                    self._names |= names
        self._uses.clear()
        return self._names

    def page_objects(self) -> dict[PagePlace, frozenset[str]]:
        """Return the objects of the RowSets in each page of tables that was read.

        Requires: `read` was called after the last state was added.
        """
        found: dict[PagePlace, frozenset[str]] = {}
        for place, tables in self._loaded.pages_in(self._pages):
            if not self._loaded.knows(place, objects=True):
                names = (name for table in tables for name in self._of_table(table))
                found[place] = frozenset(names)
        return found

    def summary(self) -> StateSummary:
        """Return the summary of the remembered states, and of those added with their anchors.

        The summary is empty if a page of one of the states could not be read. The tables of that
        page were then read from the log. Requires: `read` was called after the last state was
        added.
        """
        pages = [source for source in self._spans if isinstance(source, PagePlace)]
        if not all(map(self._loaded.has, pages)):
            return NO_STATES
        lengths = self._remembered.parts() | {part.object: part.length for part in self.parts}
        spans = self._remembered.spans()
        for source, (first, last) in self._spans.items():
            for name in self._of_source(source, lengths):
                before = spans.get(name, (first, last))
                spans[name] = (min(before[0], first), max(before[1], last))
        return summary_of(self._roots, spans, lengths)

    def _of_source(self, source: _Source, lengths: dict[str, int]) -> Iterable[str]:
        """Return the objects of a source, and note the length of those that a summary knows."""
        if isinstance(source, str):
            return (source,)
        if not isinstance(source, PagePlace):
            return self._named[source]
        if self._loaded.knows(source, objects=True):
            page = self._loaded.known(source)
            lengths.update(page.parts)
            return {*page.parts, *(page.objects or ())}
        tables = self._loaded.page(source) or ()
        listed = {name for table in tables for name in table.listing_objects()}
        return {*listed, *(name for table in tables for name in self._of_table(table))}

    def _of_table(self, table: TableState) -> Iterator[str]:
        for ref in table.rowsets.segments:
            yield from self._named[ref.segment.object, _use(table, ref)]


def _names_of(
    store: ObjectStore, users: Sequence[tuple[TableState, EntrySegmentRef]]
) -> list[set[str]]:
    """Return the objects of the live RowSets in one segment, for each of the users."""
    # A state with newly replaced columns is folded from epochs, so that its tables have columns.
    whole = next((each for each in users if _has_replaced(each[0].rowsets)), None)
    states = [user.rowsets for user, _ in users]
    if whole is not None:
        block = read_entry_segment(store, *whole)
        return [{*block.updated(each.dropped, each.amended).object_ids()} for each in states]
    found = read_segment_objects(store, users[0][1])
    return [{*found.live(each.dropped, each.amended)} for each in states]


def _has_replaced(rowsets: RowSets) -> bool:
    return any(each.replaced for each in rowsets.amended.values())


def _use(table: TableState, ref: EntrySegmentRef) -> _Use:
    first, last, rowsets = ref.first_id, ref.last_id, table.rowsets
    return (
        (first, last),
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
