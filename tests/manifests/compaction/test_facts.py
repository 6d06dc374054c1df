"""Key ranges of RowSets are compared as the sort key orders rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_table import EntryTable
from colonnade.manifests.compaction.facts import facts_of
from colonnade.manifests.model.entries import ColumnStatistics, SortField
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import LOG_BOUND_LENGTH, value_after
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from tests.log_samples import entry
from tests.manifests.compaction.measured import MIB, TABLE, plan, replaced


def sorted_table(kind: str, key: SortField) -> TableState:
    schema = TableSchema(fields=(SchemaField(id=1, name="k", type=kind),))
    return replace(TABLE, schema=schema, sort_orders=((key,),))


@pytest.mark.parametrize("descending", [False, True])
def test_key_ranges_are_compared_as_the_sort_key_orders_them(descending: bool) -> None:
    key = SortField(column=1, descending=descending)
    table = sorted_table("long", key)
    statistics = [
        ColumnStatistics(min="i:5", max="i:8"),
        ColumnStatistics(min="i:8", max="i:9", nulls=1),
        ColumnStatistics(min="i:5", max="i:8", nans=2),
        ColumnStatistics(nulls=10),
        ColumnStatistics(),
        None,
    ]
    entries = [
        entry(rows=10).model_copy(update={"statistics": {1: s} if s else {}}) for s in statistics
    ]
    live = [LiveRowSet(i, 1, each) for i, each in enumerate(entries)]
    found = facts_of(table, EntryTable([block_of(live[:3]), block_of(live[3:])]))
    ends = [(1, 2), (0, 3), (1, 4), (0, 0), (0, 4), (0, 4)]
    assert found.first is not None
    assert found.last is not None
    wanted = [(-b, -a) for a, b in ends] if descending else ends
    assert list(zip(found.first.tolist(), found.last.tolist(), strict=True)) == wanted


def test_rowsets_whose_keys_begin_alike_for_longer_than_the_log_says_do_not_overlap() -> None:
    host = "https://shop.example.com/orders/"
    assert len(host) == LOG_BOUND_LENGTH
    after = value_after(host)
    assert after == "https://shop.example.com/orders0"
    table = sorted_table("string", SortField(column=1))
    ends = [("https", after), *[(host, after)] * 20, (host, "https://x")]
    entries = [
        entry(rows=100_000).model_copy(
            update={
                "bytes": 100 * MIB,
                "statistics": {1: ColumnStatistics(min=f"s:{low}", max=f"s:{high}")},
            }
        )
        for low, high in ends
    ]
    live = [LiveRowSet(i, 1, each) for i, each in enumerate(entries)]
    found = facts_of(table, EntryTable([block_of(live)]))
    assert not plan(found).groups
    # Nor are they in order one after another.
    [group] = plan(found, replaced(target_bytes=2**40)).groups
    assert group.kind == "merge"
