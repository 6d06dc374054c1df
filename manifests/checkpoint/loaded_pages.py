"""The tables of several states without their columns, each page of a checkpoint read once.

A vacuum goes through all tables, and needs their properties and the names of their objects. It
leaves out columns and statistics, which take most of a record and most of the time to decode it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from colonnade.manifests.checkpoint.page_summary import PageSummary, summarize
from colonnade.manifests.checkpoint.paged_map import Page, PagePlace, decode_page, page_of
from colonnade.manifests.checkpoint.reader import UNUSABLE, state_of
from colonnade.manifests.checkpoint.root import Root, decode_root, decode_root_value
from colonnade.manifests.checkpoint.stored_object import read_checkpoint_object
from colonnade.manifests.checkpoint.stored_tables import CheckpointTables, StoredTables
from colonnade.manifests.model.codec import unseal, verify
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.model.schema import SchemaField, is_primitive
from colonnade.manifests.model.statics import with_own_statics
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store.base import ObjectStore

_FIELD_KEYS = frozenset(SchemaField.model_fields)


class TableRetention(NamedTuple):
    """A table and its properties about retention, perhaps with other properties.

    Without a `table`, the entry is about all tables without such properties.
    """

    table: str | None
    properties: Mapping[str, str]


class LoadedPages:
    """The pages of tables that were read so far, in memory: about 2 KB for each table.

    `known` has summaries of pages, which are not read unless a table in them has changed. Only
    pages of checkpoints are shared. The tables of a state without such pages have all columns, and
    so have tables that changed since a checkpoint.
    """

    def __init__(self, known: Mapping[PagePlace, PageSummary] | None = None) -> None:
        self._known = dict(known or {})
        self._pages: dict[PagePlace, tuple[TableState, ...]] = {}
        self._used = set[PagePlace]()
        # The checkpoint that was read last, with its places. The next one shares most of them.
        self._last: tuple[CheckpointTables, frozenset[PagePlace]] | None = None

    def read(
        self,
        state: Snapshot,
        seen: set[PagePlace] | None = None,
        *,
        objects: bool = False,
        apart: Collection[str] = (),
    ) -> tuple[list[PageSummary], Iterable[TableState]]:
        """Return the summaries of known pages of a state, and the tables that are not in them.

        The tables perhaps lack columns, statistics and sort key. The tables with ids in `apart` are
        among them. With `objects`, a page is known only if the summary has the objects of its
        RowSets. Leaves out pages that are in `seen`, and adds the places of all pages to it.

        Costs a GET for each object with pages that were not read before. If a page of a checkpoint
        above the floor cannot be read, the log gives the same tables. Raises CorruptionError,
        StoreError.
        """
        tables = state.tables
        if not isinstance(tables, StoredTables):
            return [], tables.values()
        records, changed = tables.stored.records.table, tables.held()
        places = self._places(tables.stored)
        # A summary of a page says nothing about the newer state of a table in it.
        touched = {
            records.place(page_of(table, records.page_count)) for table in (*changed, *apart)
        }
        known = {*places}.intersection(self._known) - touched
        if objects:
            known = {place for place in known if self._known[place].objects is not None}
        try:
            self._load(tables.stored, places.difference(known, self._pages))
        except UNUSABLE:
            return [], tables.values()
        self._used |= places
        fresh = places
        if not changed and seen is not None:
            fresh = places - seen
            seen |= places
        # A state with changes hides tables of its pages, which other states may still contain.
        stored = [
            table
            for place in fresh - known
            for table in self._pages.get(place, ())
            if table.id not in changed
        ]
        held = [table for table in changed.values() if table is not None]
        return [self._known[place] for place in fresh & known], [*stored, *held]

    def knows(self, place: PagePlace, *, objects: bool) -> bool:
        """Return whether a page need not be read, perhaps not even for its RowSets' objects."""
        known = self._known.get(place)
        return known is not None and not (objects and known.objects is None)

    def has(self, place: PagePlace) -> bool:
        """Return whether all is known of a page, or the page was read."""
        return place in self._pages or self.knows(place, objects=True)

    def known(self, place: PagePlace) -> PageSummary:
        """Return the summary of a page. Requires: the page is known."""
        return self._known[place]

    def page(self, place: PagePlace) -> tuple[TableState, ...] | None:
        """Return the tables in a page that was read, or None."""
        return self._pages.get(place)

    def pages_in(
        self, places: set[PagePlace]
    ) -> Iterator[tuple[PagePlace, tuple[TableState, ...]]]:
        """Yield the pages at these places that were read, with their tables."""
        for place in places.intersection(self._pages):
            yield place, self._pages[place]

    def retentions(self, state: Snapshot, only: str | None = None) -> list[TableRetention]:
        """Return the properties about retention of all tables.

        Table `only` and its static values are named by their ids. Costs as `read`.
        """
        apart = () if only is None else with_own_statics(only)
        summaries, tables = self.read(state, apart=apart)
        found = [TableRetention(table.id, table.stored_properties) for table in tables]
        for summary in summaries:
            if summary.retention:
                found += map(TableRetention, summary.retention, summary.retention.values())
        if any(summary.tables > len(summary.retention) for summary in summaries):
            found.append(TableRetention(None, {}))
        return found

    def summaries(
        self, objects: Mapping[PagePlace, frozenset[str]]
    ) -> dict[PagePlace, PageSummary]:
        """Return summaries of all pages of the states that were read.

        `objects` has the objects of the RowSets of each page that was read for them.
        """
        found = {place: self._known[place] for place in self._used.intersection(self._known)}
        for place in self._used.intersection(self._pages):
            if place not in found or place in objects:
                found[place] = summarize(self._pages[place], objects.get(place))
        return found

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
