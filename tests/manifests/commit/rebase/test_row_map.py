"""Rows are carried through compactions correctly, at a cost that depends on these rows alone."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import FrozenBitMap

from colonnade.manifests.commit.rebase.row_map import row_map
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.operations import Compaction, CompactionInput, CompactionOutput
from tests.log_samples import ORDERS, entry


def compaction(inputs: Sequence[int], outputs: Sequence[int]) -> Compaction:
    """A compaction of RowSets with the given numbers of rows."""
    return Compaction(
        table=ORDERS,
        inputs=tuple(CompactionInput(rowset=i, rows=rows) for i, rows in enumerate(inputs)),
        outputs=tuple(CompactionOutput(rowset=entry(rows)) for rows in outputs),
    )


@given(st.data())
def test_each_row_is_carried_to_where_the_compaction_wrote_it(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    gone = [data.draw(st.sets(st.integers(0, count - 1))) for count in counts]
    live = [(i, row) for i, n in enumerate(counts) for row in range(n) if row not in gone[i]]
    ordered = data.draw(st.booleans())
    written = data.draw(st.permutations(live)) if ordered else live
    cut = data.draw(st.integers(0, len(written)))
    outputs = [part for part in (written[:cut], written[cut:]) if part]
    origin = np.array([(i << 32) + row for i, row in written], np.int64) if ordered else None
    op = compaction(counts, [len(part) for part in outputs])
    moves = row_map(op, [FrozenBitMap(each) for each in gone], origin)
    for index in range(len(counts)):
        mine = [row for i, row in live if i == index]
        wanted = data.draw(st.sets(st.sampled_from(mine))) if mine else set()
        found = moves.carry(index, FrozenBitMap(wanted))
        assert {output: [*rows] for output, rows in found.items()} == {
            output: [at for at, each in enumerate(part) if each in {(index, w) for w in wanted}]
            for output, part in enumerate(outputs)
            if any((index, w) in part for w in wanted)
        }


@pytest.mark.parametrize(
    "origin",
    [
        [0, 1, 1 << 32, 1 << 32],
        [0, 1, 2, 1 << 32],
        [0, 1, (1 << 32) + 1, (1 << 32) + 2],
        [0, 1, 1 << 32, 2 << 32],
        [-1, 1, 1 << 32, (1 << 32) + 1],
        [0, 2, 1 << 32, (1 << 32) + 1],
    ],
    ids=["twice", "left out", "beyond the input", "no such input", "negative", "row left out"],
)
def test_an_origin_that_is_not_an_order_of_the_rows_is_refused(origin: list[int]) -> None:
    gone = [FrozenBitMap([2]), FrozenBitMap()]
    with pytest.raises(CorruptionError, match="does not fit its rows"):
        row_map(compaction([3, 2], [4]), gone, np.array(origin, np.int64))


def test_a_compaction_of_another_number_of_rows_is_refused() -> None:
    with pytest.raises(CorruptionError, match="has 4 rows instead of 5"):
        row_map(compaction([3, 2], [4]), [FrozenBitMap()] * 2, None)


def test_carrying_a_row_through_a_concatenation_takes_no_memory_for_other_rows() -> None:
    op = compaction([17_000_000, 17_000_000], [33_999_999])
    tracemalloc.start()
    try:
        moves = row_map(op, [FrozenBitMap(), FrozenBitMap([5])], None)
        assert moves.carry(1, FrozenBitMap([7])) == {0: FrozenBitMap([17_000_006])}
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
