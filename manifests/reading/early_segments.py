"""Entry segments of a small checkpoint, read beside the slots of the log before they are asked for.

Behind a network, a plan of a scan then needs no further round of requests.
Spec: docs/spec/checkpoint.md#segments
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.model.entries import EntrySegment
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.state.snapshot import Snapshot, TableMap
from colonnade.manifests.store.object_store import ObjectStore

MOST = 4
"""A checkpoint with more segments is not small: a scan perhaps needs few of them."""

MOST_BYTES = 2**20


class EarlySegments:
    """Bytes of segments that were read early. Each is given away once. Threads may share it."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._held: dict[str, bytes] = {}

    def reads(self, state: Snapshot) -> list[Callable[[], None]]:
        """Return the calls that read the segments of a state: none unless it has few small ones."""
        if isinstance(state.tables, TableMap):
            return []
        tables = state.tables.values()
        segments = [ref.segment for table in tables for ref in table.rowsets.segments]
        if len(segments) > MOST or sum(each.check.length for each in segments) > MOST_BYTES:
            return []
        return [partial(self._read, each) for each in segments]

    def take(self, segment: EntrySegment) -> bytes | None:
        """Return the bytes of a segment if they were read early. They are not checked yet."""
        return self._held.pop(segment.object, None)

    def _read(self, segment: EntrySegment) -> None:
        name = checkpoint_name(segment.object)
        with suppress(ColonnadeError):  # The later read says what is wrong.
            self._held[segment.object] = self._store.get(name, limit=segment.check.length)
