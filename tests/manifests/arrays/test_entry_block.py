"""Entries as arrays are the same entries: every operation is compared with lists of RowSets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.arrays.entry_block import (
    AddedEntries,
    Entries,
    EntryBlock,
    block_of,
    concat_blocks,
)
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.state.amendments import LaterAmendments
from colonnade.manifests.state.replaced_columns import with_replacements
from colonnade.manifests.state.snapshot import LiveRowSet
from tests.examples_of import examples
from tests.log_samples import ORDERS, table_state, vector
from tests.manifests.arrays.rowsets import SCHEMA, replacement, rowset_lists


def rowsets_of(block: EntryBlock) -> list[LiveRowSet]:
    return block.live(np.arange(len(block)))


def described(entries: Entries) -> tuple[list[object], ...]:
    numbers = (entries.ids, entries.epochs, entries.rows, entries.byte_counts, entries.deleted)
    return (*(each.tolist() for each in numbers), sorted(entries.object_ids()))


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(rowset_lists())
def test_a_block_says_of_its_rowsets_what_they_say_themselves(rowsets: list[LiveRowSet]) -> None:
    block = block_of(rowsets)
    assert rowsets_of(block) == rowsets
    assert described(block) == described(AddedEntries(table_state(SCHEMA, rowsets)))


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(rowset_lists(), st.data())
def test_a_block_gives_the_rowsets_at_any_indexes_in_the_order_asked_for(
    rowsets: list[LiveRowSet], data: st.DataObject
) -> None:
    indexes = data.draw(st.permutations(range(len(rowsets))))
    indexes = indexes[: data.draw(st.integers(0, len(rowsets)))]
    wanted = [rowsets[index] for index in indexes]
    block = block_of(rowsets)
    assert block.live(np.array(indexes, np.int64)) == wanted
    taken = block.take(np.array(indexes, np.int64))
    assert rowsets_of(taken) == wanted
    assert sorted(taken.object_ids()) == sorted(o for each in wanted for o in each.objects())


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(rowset_lists(), st.integers(0, 5), st.integers(0, 5))
def test_blocks_that_are_concatenated_keep_every_rowset_in_order(
    rowsets: list[LiveRowSet], one: int, other: int
) -> None:
    first, last = sorted((one, other))
    parts = [part for part in (rowsets[:first], rowsets[first:last], rowsets[last:]) if part]
    assert rowsets_of(concat_blocks([block_of(part) for part in parts])) == rowsets


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(rowset_lists(), st.data())
def test_a_block_is_updated_as_its_rowsets_are_one_by_one(
    rowsets: list[LiveRowSet], data: st.DataObject
) -> None:
    ids = range(rowsets[0].id - 2, rowsets[-1].id + 3)
    dropped = data.draw(ranges_within(ids))
    vectors = {each: vector(3) for each in data.draw(st.sets(st.sampled_from(ids), max_size=3))}
    replaced = {
        each: [
            ReplaceColumn(table=ORDERS, rowset=each, replacement=replacement(99 + nth, column))
            for nth, column in enumerate(data.draw(st.lists(st.integers(1, 5), max_size=2)))
        ]
        for each in data.draw(st.sets(st.sampled_from(ids), max_size=3))
    }
    expected = [
        with_vector(with_replacements(each, replaced.get(each.id, ())), vectors.get(each.id))
        for each in rowsets
        if not any(first <= each.id <= last for first, last in dropped)
    ]
    amended = {
        each: LaterAmendments(vectors.get(each), tuple(replaced.get(each, ())))
        for each in {*vectors, *replaced}
    }
    found = rowsets_of(block_of(rowsets).updated(dropped, amended))
    assert sorted(found, key=lambda each: each.id) == expected


def with_vector(rowset: LiveRowSet, later: DeletionVectorEntry | None) -> LiveRowSet:
    return rowset if later is None else rowset.with_vector(later)


@st.composite
def ranges_within(draw: st.DrawFn, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Inclusive ranges that ascend and are not adjacent, as a state records dropped RowSets."""
    chosen = sorted(draw(st.sets(st.sampled_from(ids))))
    found: list[tuple[int, int]] = []
    for each in chosen:
        if found and found[-1][1] == each - 1:
            found[-1] = (found[-1][0], each)
        else:
            found.append((each, each))
    return found
