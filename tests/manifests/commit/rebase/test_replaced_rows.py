"""Replaced rows are named by their places among deleted rows, and followed through compactions."""

from __future__ import annotations

import numpy as np
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, RowOrigins, encode_origins, origins_of
from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.commit.rebase.replaced_rows import (
    OriginWriter,
    carried_origins,
    replaced_places,
)
from colonnade.manifests.commit.rebase.row_map import row_map
from colonnade.manifests.commit.rebase.targets import ChangedRows, RowSetAt, TargetRowSet
from colonnade.manifests.limits import Limits
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS
from tests.manifests.commit.rebase.test_row_map import compaction


def origins(*places: tuple[int, int] | None) -> RowOrigins:
    """Where rows come from, by RowSets and rows."""
    found = [NEW if each is None else (each[0] << 32) + each[1] for each in places]
    return RowOrigins.of(np.array(found, np.int64))


def target(rowset: int, *rows: int) -> TargetRowSet:
    found = RowSetAt(rowset, 1000, FrozenBitMap(), None)
    return TargetRowSet(found, (ChangedRows("update", FrozenBitMap(rows)),))


def test_places_count_the_deleted_rows_of_each_rowset_in_order() -> None:
    deleted = {7: FrozenBitMap([1, 5]), 2: FrozenBitMap([0, 3, 9]), 4: FrozenBitMap([6])}
    added = (origins((7, 5), None, (2, 3)), RowOrigins(2), origins((4, 6), (7, 1), (2, 0)))
    places = np.concatenate([*replaced_places(added, deleted)])
    second, third = 1 << 32, 2 << 32
    assert places.tolist() == [third + 1, NEW, 1, NEW, NEW, second, third, 0]


def test_an_update_of_scattered_rows_in_their_order_takes_next_to_no_bytes() -> None:
    order = np.random.default_rng(0)
    deleted, added = {}, []
    for rowset in range(10):
        rows = np.sort(order.choice(1_000_000, 10_000, replace=False))
        deleted[rowset] = FrozenBitMap(rows)
        added.append(RowOrigins.of(origins_of(rowset, rows)))
    assert len(encode_origins(replaced_places(added, deleted))) < 1_000


def test_replaced_rows_are_followed_through_a_compaction_and_others_stay() -> None:
    op = compaction([4, 3], [3, 3])  # its inputs are RowSets 0 and 1; row 2 of 0 is deleted
    order = [(1, 2), (0, 3), (0, 0), (1, 0), (0, 1), (1, 1)]
    moves = row_map(
        op,
        [FrozenBitMap([2]), FrozenBitMap()],
        np.array([(i << 32) + row for i, row in order], np.int64),
    )
    before = (origins((0, 3), None, (5, 3), (1, 1)), RowOrigins(2), origins((5, 0)))
    after = carried_origins(op, 9, before, moves)
    assert after == (origins((9, 1), None, (5, 3), (10, 2)), *before[1:])
    assert after[2] is before[2]


def test_what_is_written_serves_for_each_slot_until_other_rows_are_deleted() -> None:
    store, limits = MemoryStore(), Limits(inline_bytes=0)
    writer = OriginWriter(store, None, limits)
    added = (origins((3, 7), None),)
    first = writer.write(ORDERS, added, {3: target(3, 7, 8), 5: target(5)})
    assert writer.write(ORDERS, added, {3: target(3, 7, 8)}) == first
    prefix = table_prefix(ORDERS)
    assert read_origin(store, prefix, first.origin, 2).tolist() == [0, NEW]
    second = writer.write(ORDERS, added, {3: target(3, 6, 7, 8)})
    assert read_origin(store, prefix, second.origin, 2).tolist() == [1, NEW]
    writer.forget({second.origin.object})
    third = writer.write(ORDERS, added, {3: target(3, 6, 7, 8)})
    assert third.origin.object != second.origin.object
    assert third.origin.check == second.origin.check
