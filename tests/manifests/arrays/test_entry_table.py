"""The RowSets of all parts of a table, in the order of their ids, and pruned like a plain list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_table import EntryTable
from colonnade.manifests.state.snapshot import LiveRowSet
from tests.examples_of import examples
from tests.manifests.arrays.rowsets import SCHEMA, rowset_lists


def divided(rowsets: list[LiveRowSet], data: st.DataObject) -> list[list[LiveRowSet]]:
    """Divide RowSets into up to three parts in any order, because segments need not ascend."""
    parts: list[list[LiveRowSet]] = [[], [], []]
    for rowset in rowsets:
        parts[data.draw(st.integers(0, 2))].append(rowset)
    return [part for part in parts if part]


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(rowset_lists(), st.data())
def test_a_table_says_of_each_rowset_what_the_rowset_says(
    rowsets: list[LiveRowSet], data: st.DataObject
) -> None:
    parts = divided(rowsets, data)
    table = EntryTable([block_of(part) for part in parts])
    assert len(table) == len(rowsets)
    assert table.to_list() == rowsets == list(table)
    assert [table[at] for at in range(len(table))] == rowsets
    chosen = data.draw(st.lists(st.integers(0, len(rowsets) - 1)))
    assert table.at(np.array(chosen, np.int64)) == [rowsets[at] for at in chosen]
    assert table.ids.tolist() == [each.id for each in rowsets]
    assert table.epochs.tolist() == [each.epoch for each in rowsets]
    assert table.rows.tolist() == [each.entry.rows for each in rowsets]
    assert table.deleted.tolist() == [each.deleted_count for each in rowsets]
    assert table.byte_counts.tolist() == [each.byte_count for each in rowsets]
    found = table.partitions()
    keys: list[Any] = [found.keys[each] for each in found.index.tolist()]
    assert keys == [
        (each.entry.partition_layout_id, each.entry.partition or ()) for each in rowsets
    ]


@settings(max_examples=examples(40))
@given(rowset_lists(), st.sets(st.integers(5, 20)), st.data())
def test_pruned_rowsets_are_left_out_of_everything_but_the_objects(
    rowsets: list[LiveRowSet], wanted: set[int], data: st.DataObject
) -> None:
    parts = divided(rowsets, data)
    asked = iter([[each.id for each in part] for part in parts])

    def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
        ids = next(asked)
        assert len(ids) == len(bounds.rows)
        return np.array([each in wanted for each in ids])

    table = EntryTable([block_of(part) for part in parts], may_match)
    kept = [each for each in rowsets if each.id in wanted]
    assert table.to_list() == kept
    for column in range(1, 6):
        if all(column in each.entry.statistics for each in rowsets):
            nulls = [each.entry.statistics[column].nulls for each in kept]
            assert table.bounds(SCHEMA.by_id(column)).nulls.tolist() == nulls
    everything = sorted(name for each in rowsets for name in each.objects())
    assert sorted(table.object_ids()) == everything


def test_a_table_without_parts_is_empty() -> None:
    table = EntryTable([])
    assert table.to_list() == []
    assert table.object_ids() == []
    assert table.ids.dtype == np.int64
