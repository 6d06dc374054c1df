"""The objects that states and epochs name, read from the log. No reader needs any other object.

Spec: docs/spec/vacuum.md#references
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from colonnade.manifests.arrays.entry_block import AddedEntries
from colonnade.manifests.checkpoint.epoch_names import EpochNames
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages
from colonnade.manifests.checkpoint.paged_map import PagePlace
from colonnade.manifests.checkpoint.reader import (
    read_entry_segment,
    read_segment_objects,
    refuse_lost,
)
from colonnade.manifests.checkpoint.segment_choice import touched_segments
from colonnade.manifests.checkpoint.segment_names import NOTHING_KNOWN, SegmentNames
from colonnade.manifests.checkpoint.stored_batches import StoredBatches
from colonnade.manifests.checkpoint.stored_tables import StoredTables
from colonnade.manifests.errors import ConflictError, NotFoundError
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.named_objects import named_objects
from colonnade.manifests.model.operations import AddRowSets, AnchorList, CheckpointRef
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import EntrySegmentRef, RowSets, Snapshot, TableState
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.copies import Parts

_AT_ONCE = 256
"""The most segments whose names are read side by side."""

_User: TypeAlias = tuple[TableState, EntrySegmentRef]
"""A state of a table, and a segment of it."""

_Use: TypeAlias = tuple[tuple[object, ...], tuple[object, ...]]
"""What a state has dropped and changed of a segment. Equal uses name the same objects."""

_WHOLE: _Use = ((), ())
"""The use of a segment of which the state names all RowSets as the segment has them."""


class StateObjects:
    """The objects that states name: RowSets, their vectors, and the objects that list them.

    Kept states share most of the objects that list their RowSets. Each segment and each page of
    tables is read once, however many states share it. Of a segment only the names stay in memory.
    `loaded` has pages that were read before, and `known` the names in whole segments that were.
    `parts` are the objects that list RowSets, tables and batches, and `whole` the names in whole
    segments.
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
        self._uses: dict[str, dict[_Use, _User]] = {}
        self._read: dict[tuple[str, _Use], frozenset[str]] = {}

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
            self.parts.add_segment(ref.segment)
            uses = self._uses.setdefault(ref.segment.object, {})
            uses.setdefault(_use(table, ref), (table, ref))

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
        self._load(self._uses, decode_whole=False)
        for segment, uses in self._uses.items():
            for use in uses:
                names = self._names_in(segment, use)
                self._names |= names
                if use == _WHOLE:
                    self.whole[segment] = names
        self._uses.clear()
        return self._names

    def read_of(
        self, tables: Sequence[tuple[TableState, Iterable[EntrySegmentRef]]]
    ) -> list[set[str]]:
        """Return the objects of each table outside of its segments, and in the given ones.

        Decodes each segment that it reads as a whole, so the tables must have their columns. Costs
        a GET for each segment that is not known and was not read here. Raises as `read`.
        """
        named = [
            (table, [(ref.segment.object, _use(table, ref), ref) for ref in refs])
            for table, refs in tables
        ]
        wanted: dict[str, dict[_Use, _User]] = {}
        for table, uses in named:
            for segment, use, ref in uses:
                wanted.setdefault(segment, {})[use] = table, ref
        self._load(wanted, decode_whole=True)
        return [
            {*AddedEntries(table).object_ids()}.union(
                *(self._names_in(segment, use) for segment, use, _ in uses)
            )
            for table, uses in named
        ]

    def _load(self, wanted: Mapping[str, Mapping[_Use, _User]], *, decode_whole: bool) -> None:
        """Read the names of uses of segments that are neither known nor read before."""
        missing = {
            segment: {use: user for use, user in uses.items() if not self._has(segment, use)}
            for segment, uses in wanted.items()
        }
        waiting = [(segment, uses) for segment, uses in missing.items() if uses]
        for start in range(0, len(waiting), _AT_ONCE):
            part = waiting[start : start + _AT_ONCE]
            calls = [
                partial(_names_of, self._store, [*uses.values()], decode_whole) for _, uses in part
            ]
            for (segment, uses), found in zip(part, self._store.together(calls), strict=True):
                self._read.update(((segment, use), n) for use, n in zip(uses, found, strict=True))

    def _has(self, segment: str, use: _Use) -> bool:
        return (segment, use) in self._read or (use == _WHOLE and segment in self._known)

    def _names_in(self, segment: str, use: _Use) -> frozenset[str]:
        found = self._read.get((segment, use))
        return self._known[segment] if found is None else found


def _names_of(
    store: ObjectStore, users: Sequence[_User], decode_whole: bool
) -> list[frozenset[str]]:
    """Return the objects of the live RowSets in one segment, for each of the users."""
    # A state with newly replaced columns is folded from epochs, so that its tables have columns.
    replaced = (each for each in users if decode_whole or _has_replaced(each[0].rowsets))
    complete = next(replaced, None)
    states = [user.rowsets for user, _ in users]
    if complete is not None:
        block = read_entry_segment(store, *complete)
        live = (block.updated(each.dropped, each.amended) for each in states)
        return [frozenset(each.object_ids()) for each in live]
    ref = users[0][1]
    found = read_segment_objects(store, ref.segment, ref.first_id)
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


def name_the_same(objects: StateObjects, pairs: Iterable[tuple[TableState, TableState]]) -> bool:
    """Return whether both states of each table name the same RowSets and vectors.

    `objects` reads the segments that only one state has, and those whose RowSets one of them has
    dropped or changed. Raises CorruptionError if one cannot be read; StoreError.
    """
    changed = [(one, other) for one, other in pairs if one.rowsets != other.rowsets]
    read = objects.read_of([each for one, other in changed for each in _beside(one, other)])
    return read[::2] == read[1::2]


def _beside(
    one: TableState, other: TableState
) -> Iterator[tuple[TableState, list[EntrySegmentRef]]]:
    """Yield each state with its segments, except those that both states share unchanged."""
    touched = {*_names(touched_segments(one.rowsets)), *_names(touched_segments(other.rowsets))}
    shared = {*_names(one.rowsets.segments)}.intersection(_names(other.rowsets.segments)) - touched
    for table in (one, other):
        refs = table.rowsets.segments
        yield table, [ref for ref in refs if ref.segment.object not in shared]


def _names(refs: Iterable[EntrySegmentRef]) -> Iterator[str]:
    return (ref.segment.object for ref in refs)


def read_later_names(
    log: LogReader, epoch: int, head: Snapshot, known: EpochNames | None = None
) -> EpochNames:
    """Return the objects that the epochs after `epoch` name, up to a head.

    Together with the objects of the state at `epoch`, they are the objects of every later state,
    and those that carry row numbers through compactions. Reads every epoch. `known` are names that
    may be of this log: if the epoch after them follows them, it reads the epochs after them alone.
    Raises CorruptionError; StoreError; ConflictError if a vacuum has freed some of the epochs since
    `head`.
    """
    if known is not None and known.first <= epoch + 1 and epoch <= known.last <= head.epoch:
        later, follows = _read_names(log, known.last, head)
        if follows == known.transaction:
            return known.after(epoch).followed_by(later)
    return _read_names(log, epoch, head)[0]


def _read_names(log: LogReader, epoch: int, head: Snapshot) -> tuple[EpochNames, str | None]:
    """Return the objects that the epochs after one name, and the transaction of that one."""
    names: list[tuple[str, ...]] = []
    transaction = head.transaction
    follows: str | None = transaction
    for each in log.read_epochs(head.epoch, head.epoch - epoch):
        if not names:
            transaction = each.transaction
        names.append(tuple(sorted(_objects_of(log.store, each))))
        follows = each.previous
    if len(names) < head.epoch - epoch:
        raise ConflictError(
            f"Another vacuum of {log.store.url} removed epochs that this one was reading; run it"
            " again."
        )
    return EpochNames(epoch + 1, transaction, tuple(reversed(names))), follows


def _objects_of(store: ObjectStore, epoch: Epoch) -> set[str]:
    """Return the objects that an epoch names, and those in its segments. Reads the segments."""
    found = {*named_objects(epoch.ops)}
    for operation in epoch.ops:
        if isinstance(operation, AddRowSets):
            found.update(read_segment_objects(store, operation.segment).live((), {}))
    return found
