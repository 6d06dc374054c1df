"""The tables of several states without their columns, each page of a checkpoint read once.

A vacuum goes through all tables, and needs their properties and the names of their objects. It
leaves out columns and statistics, which take most of a record and most of the time to decode it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import orjson

from colonnade.manifests.checkpoint.paged_map import Page, PagePlace, decode_page
from colonnade.manifests.checkpoint.reader import UNUSABLE, state_of
from colonnade.manifests.checkpoint.root import Root, decode_root, decode_root_value
from colonnade.manifests.checkpoint.stored_object import read_checkpoint_object
from colonnade.manifests.checkpoint.stored_tables import CheckpointTables, StoredTables
from colonnade.manifests.model.codec import unseal, verify
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.model.schema import SchemaField, is_primitive
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store.object_store import ObjectStore

_FIELD_KEYS = frozenset(SchemaField.model_fields)


class LoadedPages:
    """The pages of tables that were read so far, in memory: about 2 KB for each table.

    Only pages of checkpoints are shared. The tables of a state without such pages have all columns,
    and so have tables that changed since a checkpoint.
    """

    def __init__(self) -> None:
        self._pages: dict[PagePlace, tuple[TableState, ...]] = {}
        # The checkpoint that was read last, with its places. The next one shares most of them.
        self._last: tuple[CheckpointTables, frozenset[PagePlace]] | None = None

    def read(self, state: Snapshot, seen: set[PagePlace] | None = None) -> Iterable[TableState]:
        """Return the tables of a state, perhaps without columns, statistics and sort key.

        Leaves out pages that are in `seen`, and adds the places of all pages to it.

        Costs a GET for each object with pages that were not read before. If a page of a checkpoint
        above the floor cannot be read, the log gives the same tables. Raises CorruptionError,
        StoreError.
        """
        tables = state.tables
        if not isinstance(tables, StoredTables):
            return tables.values()
        changed, places = tables.held(), self._places(tables.stored)
        try:
            self._load(tables.stored, places.difference(self._pages))
        except UNUSABLE:
            return tables.values()
        fresh = places
        if not changed and seen is not None:
            fresh = places - seen
            seen |= places
        # A state with changes hides tables of its pages, which other states may still contain.
        stored = [t for place in fresh for t in self._pages[place] if t.id not in changed]
        return [*stored, *(table for table in changed.values() if table is not None)]

    def _places(self, stored: CheckpointTables) -> frozenset[PagePlace]:
        """Return the places of all pages of a checkpoint."""
        if self._last is None:
            self._last = stored, stored.places
        elif self._last[0] is not stored:
            self._last = stored, stored.places_beside(*self._last)
        return self._last[1]

    def _load(self, stored: CheckpointTables, wanted: Collection[PagePlace]) -> None:
        if not wanted:
            return
        for page_map in (stored.records, stored.names):
            for page, data in page_map.read_pages(page_map.table.pages_at(wanted)):
                place = page_map.table.place(page)
                assert place is not None
                entries = _parsed(data, page_map.store.url)
                # Pages of names are read only to check that they are readable.
                found = entries.items() if page_map is stored.records else ()
                self._pages[place] = tuple(
                    stored.decode(key, _without_columns(value)) for key, value in found
                )


def read_plain_state(store: ObjectStore, anchor: CheckpointRef) -> Snapshot:
    """Return the state of an anchor, perhaps without columns and statistics of its tables.

    It serves callers that need only the names of objects. Raises as `read_state`.
    """

    def decode(data: bytes, location: str) -> Root:
        verify(data, anchor.check, location)
        try:
            value = orjson.loads(unseal(data, location))
            tables = [_without_columns(each) for each in value.get("tables", ())]
        except (ValueError, TypeError, AttributeError):
            return decode_root(data, anchor.epoch, location)  # which explains what is wrong
        return decode_root_value({**value, "tables": tables}, anchor.epoch, location)

    return state_of(
        store, anchor, read_checkpoint_object(store, anchor.root, anchor.check.length, decode)
    )


def _without_columns(value: Any) -> Any:
    """Return the record of a table without columns and statistics, if nothing in them is unknown.

    An unknown kind of column must be refused: what belongs to it may be unknown, too.
    """
    try:
        if not _are_plain(value["table_schema"]["fields"]):
            return value
        segments = [
            {**each, "segment": {**each["segment"], "statistics": {}}} for each in value["segments"]
        ]
    except (KeyError, TypeError):
        return value  # the decoder then says what is wrong
    return {**value, "table_schema": {"fields": []}, "segments": segments}


def _are_plain(fields: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether all columns have known primitive types and no unknown keys."""
    kinds = [field["type"] for field in fields]
    plain = all(isinstance(kind, str) and is_primitive(kind) for kind in kinds)
    return plain and set[str]().union(*fields) <= _FIELD_KEYS


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    """Return the entries of a page. Faster than `decode_page`, which explains what is wrong."""
    try:
        page = orjson.loads(unseal(data, name))
        if page.keys() == Page.model_fields.keys() and page["format_version"] == 1:
            return dict(page["entries"])
    except (ValueError, TypeError, AttributeError):
        pass
    return decode_page(data, name)
