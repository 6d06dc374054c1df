"""Second copies of the objects of anchors, so that damage of one copy loses no state.

Above the floor the log also has what a checkpoint holds. An anchor is all that remains of the
epochs that it replaces, so each of its objects is stored at two places.
Spec: docs/spec/checkpoint.md#copies
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from colonnade.manifests.checkpoint.paged_map import PageTable
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.codec import unseal, verify
from colonnade.manifests.model.entries import ByteCheck, EntrySegment
from colonnade.manifests.model.operations import AnchorList, CheckpointRef
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.store.side_by_side import side_by_side

_NEW_BYTES = 2**26
"""The most bytes of new objects that are kept for their copies."""


@dataclass(slots=True)
class AnchorObject:
    """An object of anchors: a root, a segment, or a bundle of pages.

    `check` is absent for a bundle. `tables` are the maps that have pages in the bundle.
    """

    object: str
    length: int
    check: ByteCheck | None = None
    tables: list[PageTable] = field(default_factory=list)

    @property
    def places(self) -> tuple[str, str]:
        """The two names under which the bytes are stored."""
        return checkpoint_name(self.object), copy_name(self.object)

    def read(self, store: ObjectStore, name: str) -> bytes:
        """Return the bytes at one of the places.

        Raises NotFoundError, CorruptionError, StoreError.
        """
        data, location = store.get(name, limit=self.length), store.locate(name)
        if self.check is not None:
            verify(data, self.check, location)
        elif len(data) != self.length:
            raise CorruptionError(f"{location} holds {len(data)} bytes instead of {self.length}.")
        pages = {page for table in self.tables for page in table.pages_in(self.object)}
        for offset, length in pages:
            unseal(data[offset : offset + length], location)
        return data


class Parts:
    """The distinct objects of some anchors. Each of them needs two copies.

    `new` are the bytes of objects that the run has stored, up to 64 MiB of them, so that their
    copies cost no GET.
    """

    def __init__(self) -> None:
        self._parts: dict[str, AnchorObject] = {}
        self._room = _NEW_BYTES
        self.new: dict[str, bytes] = {}

    def __iter__(self) -> Iterator[AnchorObject]:
        return iter(self._parts.values())

    def add_root(self, anchor: CheckpointRef) -> None:
        """Add the root of an anchor."""
        self._add(AnchorObject(anchor.root, anchor.check.length, anchor.check))

    def add_anchor_list(self, anchors: AnchorList) -> None:
        """Add the object that lists anchors."""
        self._add(AnchorObject(anchors.object, anchors.check.length, anchors.check))

    def add_segment(self, segment: EntrySegment) -> None:
        """Add an object with the entries of RowSets."""
        self._add(AnchorObject(segment.object, segment.check.length, segment.check))

    def add_pages(self, table: PageTable) -> None:
        """Add the bundles of a map, and the pages of them that it uses."""
        for bundle in table.bundles:
            self._add(AnchorObject(bundle.object, bundle.length)).tables.append(table)

    def keep_new(self, object_id: str, data: bytes) -> None:
        """Keep the bytes of an object that the run has stored, if there is room for them."""
        if len(data) <= self._room:
            self._room -= len(data)
            self.new[object_id] = data

    def _add(self, part: AnchorObject) -> AnchorObject:
        return self._parts.setdefault(part.object, part)


def copy_what_is_lost(
    store: ObjectStore, parts: Parts, sizes: Mapping[str, int], threads: int
) -> None:
    """Restore missing copies, so that each part is at both places, at most `threads` at once.

    `sizes` are the sizes of objects in bytes by name, from a listing. Costs a GET and a PUT for
    each part that is missing or has another size at a place, and only the PUT for a new part.
    Damage at full size shows only when the part is read (`restore`). Requires: the new parts were
    read back. Raises CorruptionError if a part is intact at neither place; StoreError.
    """
    lost = [each for each in parts if any(sizes.get(n) != each.length for n in each.places)]

    def mend(part: AnchorObject) -> None:
        first, second = part.places
        try:
            # The part may be younger than the listing.
            data = parts.new.get(part.object) or part.read(store, first)
        except (NotFoundError, CorruptionError):
            restore(store, part)
        else:
            store.put(second, data, sync=True)

    side_by_side([partial(mend, part) for part in lost], threads)


def damaged_places(
    store: ObjectStore, part: AnchorObject
) -> dict[str, NotFoundError | CorruptionError]:
    """Return the problem of a part at each place where it is not intact. Costs two GETs."""
    wrong: dict[str, NotFoundError | CorruptionError] = {}
    for name in part.places:
        try:
            part.read(store, name)
        except (NotFoundError, CorruptionError) as error:
            wrong[name] = error
    return wrong


def restore(store: ObjectStore, part: AnchorObject) -> tuple[str, ...]:
    """Copy a part from the intact place to the other one. Returns the names of restored objects.

    A concurrent reader finds the damaged bytes or the restored ones. Costs two GETs; a restored
    part costs a GET and a PUT more. Raises CorruptionError if the part is intact at neither place;
    StoreError.
    """
    wrong = damaged_places(store, part)
    sound = [name for name in part.places if name not in wrong]
    if not sound:
        problem = wrong[part.places[0]]
        raise CorruptionError(f"{problem.message} Its copy is damaged or missing, too.")
    if wrong:
        data = part.read(store, sound[0])
        for name in wrong:
            store.put(name, data, sync=True)
    return tuple(wrong)
