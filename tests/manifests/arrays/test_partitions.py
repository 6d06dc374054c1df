"""Partitions of many RowSets as arrays say what a list of the RowSets' partitions says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.partitions import (
    NO_PARTITION,
    PartitionKey,
    Partitions,
    concat_partitions,
    partition_of,
    partitions_of,
)
from colonnade.manifests.model.entries import RowSetEntry
from tests.log_samples import entry

KEYS = st.one_of(
    st.just(NO_PARTITION),
    st.tuples(st.just(1), st.tuples(st.sampled_from(("i:0", "i:1", "s:", None)))),
    st.tuples(
        st.just(2), st.tuples(st.sampled_from(("i:1", None)), st.sampled_from(("s:é", None)))
    ),
)
KEY_LISTS = st.lists(KEYS, max_size=30)


def stored(key: PartitionKey) -> RowSetEntry:
    layout, values = key
    update = {"partition_layout_id": layout, "partition": values or None}
    return entry().model_copy(update=update)


def as_list(partitions: Partitions) -> list[PartitionKey]:
    return [partitions.keys[each] for each in partitions.index.tolist()]


@given(KEY_LISTS)
def test_every_rowset_keeps_its_partition_and_every_partition_is_stored_once(
    keys: list[PartitionKey],
) -> None:
    entries = [stored(key) for key in keys]
    found = partitions_of(entries)
    assert [partition_of(each) for each in entries] == keys
    assert as_list(found) == keys
    assert len(found) == len(keys)
    assert sorted(map(repr, found.keys)) == sorted(map(repr, {*keys}))


@given(KEY_LISTS, st.data())
def test_chosen_rowsets_keep_their_partitions_and_unused_ones_are_forgotten(
    keys: list[PartitionKey], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(keys) - 1), max_size=40)) if keys else []
    taken = partitions_of(map(stored, keys)).take(np.array(rows, np.int64))
    assert as_list(taken) == [keys[row] for row in rows]
    assert {*taken.keys} == {keys[row] for row in rows}


@given(st.lists(KEY_LISTS, max_size=5))
def test_concatenated_lists_are_one_list_with_every_partition_once(
    parts: list[list[PartitionKey]],
) -> None:
    whole = concat_partitions([partitions_of(map(stored, part)) for part in parts])
    assert as_list(whole) == [key for part in parts for key in part]
    assert len(whole.keys) == len({*whole.keys})


@given(KEY_LISTS, KEYS)
def test_a_test_is_asked_once_for_a_partition_and_answers_for_each_rowset(
    keys: list[PartitionKey], wanted: PartitionKey
) -> None:
    asked = []

    def is_wanted(key: PartitionKey) -> bool:
        asked.append(key)
        return key == wanted

    found = partitions_of(map(stored, keys)).where(is_wanted)
    assert found.tolist() == [key == wanted for key in keys]
    assert len(asked) == len({*keys})


def test_a_hundred_thousand_rowsets_of_ten_thousand_partitions_are_concatenated_exactly() -> None:
    keys = tuple((1, (f"i:{number}",)) for number in range(10_000))
    one = Partitions(keys, np.arange(50_000) % 10_000)
    other = Partitions(keys[::-1], np.arange(50_000) % 10_000)
    whole = concat_partitions([one, other])
    assert len(whole.keys) == 10_000
    assert as_list(whole) == as_list(one) + as_list(other)
