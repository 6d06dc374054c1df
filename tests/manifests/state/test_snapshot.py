"""A state answers the same whether its tables are in memory or are loaded on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import (
    ByteCheck,
    EntrySegment,
    PartitionField,
    RowSetEntry,
)
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.model.range_tombstones import RangeTombstone
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.state.snapshot import (
    EntrySegmentRef,
    LiveRowSet,
    RowSets,
    Snapshot,
    TableMap,
    TableState,
    as_written,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import database, entry, table_state, vector

NAMES = st.lists(st.sampled_from(("orders", "Orders", "trips", "ü", "a b")), unique=True)
SHORT = TableSchema(fields=(SchemaField(id=1, name="a", type="short", nullable=False),))
CHECK = ByteCheck(length=1, crc32c=1)


class Loaded(TableMap):
    """Tables as a checkpoint has them: only look-ups by name or id are allowed."""

    def __init__(self, tables: Mapping[TableId, TableState]) -> None:
        self._tables = tables

    def __getitem__(self, key: TableId) -> TableState:
        return self._tables[key]

    def __iter__(self) -> Iterator[TableId]:
        raise AssertionError("loads every table")

    def __len__(self) -> int:
        raise AssertionError("loads every table")

    def find(self, name: str) -> TableState | None:
        return next((each for each in self._tables.values() if each.name == name), None)

    def names(self) -> Mapping[TableId, str]:
        return {key: each.name for key, each in self._tables.items()}

    def held(self) -> Mapping[TableId, TableState | None]:
        return {}

    def stored_objects(self) -> frozenset[str]:
        return frozenset(("page",))

    def with_changes(self, changes: Mapping[TableId, TableState | None], epoch: int) -> TableMap:
        raise AssertionError("changes tables")


def tables(names: list[str]) -> dict[TableId, TableState]:
    made = [
        replace(table_state(), id=TableId(f"{number:016x}"), name=name)
        for number, name in enumerate(names)
    ]
    return {each.id: each for each in made}


def snapshot(tables: Mapping[TableId, TableState]) -> Snapshot:
    return replace(database(MemoryStore()), tables=tables)


@given(NAMES, st.sampled_from(("orders", "ORDERS", "trips", "a")))
def test_a_table_is_found_by_its_exact_name_and_no_other_table_is_loaded(
    names: list[str], wanted: str
) -> None:
    held = snapshot(tables(names))
    loaded = snapshot(Loaded(tables(names)))
    assert held.table_names() == loaded.table_names()
    for state in (held, loaded):
        found = state.find_table(wanted)
        assert (found.name if found else None) == (wanted if wanted in names else None)
        if found:
            assert state.table(wanted) == found
            continue
        known = ", ".join(sorted(names)) or "none yet"
        with pytest.raises(NotFoundError) as caught:
            state.table(wanted)
        assert str(caught.value) == (
            f"Table {wanted!r} does not exist at epoch 0; the tables are: {known}."
        )


def test_only_loaded_tables_need_a_checkpoint() -> None:
    made = tables(["orders"])
    assert snapshot(made).held_tables() == made
    assert snapshot(made).stored_objects() == frozenset()
    assert snapshot(Loaded(made)).held_tables() == {}
    assert snapshot(Loaded(made)).stored_objects() == {"page"}


def test_a_table_names_the_objects_that_list_its_rowsets() -> None:
    segment = EntrySegment(
        object="a" * 32, check=CHECK, rowset_count=2, row_count=9, deleted_count=4, byte_count=1
    )
    ref = EntrySegmentRef(segment, 3, 7, 2)
    state = replace(table_state(), rowsets=RowSets(segments=(ref,)))
    assert state.listing_objects() == {segment.object}
    assert ref.live_row_count == 5
    assert [each for each in range(10) if ref.holds(each)] == [3, 4, 5, 6, 7]


@given(st.integers(1, 50), st.none() | st.integers(1, 50))
def test_the_counts_of_a_rowset_are_those_of_its_entry_and_its_vector(
    rows: int, deleted: int | None
) -> None:
    deleted = None if deleted is None else min(deleted, rows)
    beside = None if deleted is None else vector(deleted)
    written: RowSetEntry = entry(rows=rows)
    rowset = LiveRowSet.of(4, 2, written, beside)
    assert (rowset.row_count, rowset.deleted_count) == (rows - (deleted or 0), deleted or 0)
    assert rowset.byte_count == written.bytes
    assert list(rowset.objects()) == [written.object, *([beside.object] if beside else [])]
    assert rowset.stored_entry == written
    assert as_written(written, 4).with_vector(vector(rows)).row_count == 0
    assert (rowset.vector, rowset.replacements) == (beside, ())


def test_layout_0_has_no_fields_and_every_later_layout_has_its_own() -> None:
    days, ids = (PartitionField(transform=t, column=1) for t in ("days", "identity"))
    state = replace(table_state(), partition_layouts=((days,), (ids, days)), partition_layout_id=2)
    assert [state.partition_layout(each) for each in range(3)] == [(), (days,), (ids, days)]
    assert state.partition_fields == (ids, days)
    assert table_state().partition_fields == ()


def test_a_state_knows_its_anchors_and_its_blocks_of_slots() -> None:
    state = replace(
        database(MemoryStore()),
        anchors=tuple(CheckpointRef(epoch=each, root="a" * 32, check=CHECK) for each in (3, 9)),
        slot_block=4,
    )
    assert state.anchor(9) == state.anchors[1]
    assert state.anchor(4) is None
    assert state.blocks == SlotBlocks(state.database, 4)


def test_a_state_makes_its_deleted_regions_once_and_a_wider_column_gives_new_ones() -> None:
    side = Interval(column=1, low="i:3")
    state = replace(
        table_state(SHORT), range_tombstones=(RangeTombstone(epoch=2, regions=((side,),)),)
    )
    [region] = state.deleted_regions
    assert region.columns == SHORT.fields
    assert state.deleted_regions is state.deleted_regions
    wide = TableSchema(fields=(SHORT.fields[0].model_copy(update={"type": "double"}),))
    [wider] = replace(state, schema=wide).deleted_regions
    assert (wider.columns, wider.ends) == (wide.fields, ((3.0, None),))
    assert state == replace(state)
