"""Rows that a change removes, after concurrent statements: each row is removed or is a conflict."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import FrozenBitMap

from colonnade.manifests.commit.rebase.targets import (
    ChangedRows,
    Overlap,
    RowSetAt,
    TargetRowSet,
    all_rows,
    id_ranges,
    ids_of,
    rows_text,
)
from colonnade.manifests.model.operations import RowKind

ROWS = 12
LAST = 2**32 - 1
SETS = st.frozensets(st.integers(0, ROWS - 1))
KINDS: st.SearchStrategy[RowKind] = st.sampled_from(("delete", "update", "merge"))


def target(gone: frozenset[int], *taken: ChangedRows) -> TargetRowSet:
    return TargetRowSet(RowSetAt(3, ROWS, FrozenBitMap(gone), None), taken)


@given(SETS, SETS, SETS, KINDS, KINDS, st.booleans())
def test_two_deletions_add_up_and_any_other_shared_row_is_a_conflict(
    gone: frozenset[int],
    mine: frozenset[int],
    theirs: frozenset[int],
    my_kind: RowKind,
    their_kind: RowKind,
    overwrites: bool,
) -> None:
    before = target(gone, ChangedRows(my_kind, FrozenBitMap(mine - gone)))
    shared = (mine & theirs) - gone
    both_delete = my_kind == their_kind == "delete"
    if shared and (overwrites or not both_delete):
        with pytest.raises(Overlap) as caught:
            before.after(their_kind, FrozenBitMap(gone | theirs), None, overwrites=overwrites)
        assert {*caught.value.rows} == shared
        return
    after = before.after(their_kind, FrozenBitMap(gone | theirs), None, overwrites=overwrites)
    assert {*after.found.deleted} == gone | theirs
    assert {*after.rows} == mine - gone - theirs
    assert {*after.found.deleted} | {*after.rows} == gone | mine | theirs


Order = list[tuple[Literal["delete", "update", "merge", "replace"], frozenset[int]]]


@given(st.lists(st.tuples(st.sampled_from(("delete", "update", "merge", "replace")), SETS)))
def test_statements_of_a_kind_in_a_row_share_a_vector_and_no_removed_row_is_lost(
    order: Order,
) -> None:
    found = target(frozenset())
    removed = set[int]()
    for kind, rows in order:
        found = found.with_change(ChangedRows(kind, FrozenBitMap(rows)))
        removed |= rows if kind != "replace" else set()
    assert {*found.rows} == removed
    kinds = [each.kind for each in found.changes]
    assert all(a != b or a == "replace" for a, b in pairwise(kinds))
    assert kinds.count("replace") == sum(kind == "replace" for kind, _ in order)


@pytest.mark.parametrize("kind", ["delete", "update", "merge"])
@pytest.mark.parametrize("reads", [None, frozenset(), frozenset((1,)), frozenset((2,))])
def test_new_values_in_a_row_concern_whoever_moves_the_row_or_has_read_the_column(
    kind: RowKind, reads: frozenset[int] | None
) -> None:
    before = target(frozenset(), ChangedRows(kind, FrozenBitMap((5,)), reads))
    concerned = kind != "delete" or reads is None or 1 in reads
    columns = frozenset((1,))
    for changed, overwrites in ((4, True), (4, False), (5, True), (5, False)):
        if changed == 5 and (overwrites or concerned):
            with pytest.raises(Overlap):
                before.after_replacement(columns, FrozenBitMap((5,)), overwrites=overwrites)
        else:
            rows = FrozenBitMap((changed,))
            assert before.after_replacement(columns, rows, overwrites=overwrites) is before


def test_two_replacements_of_a_column_conflict_even_if_they_change_different_rows() -> None:
    mine = ChangedRows("replace", FrozenBitMap((1,)), frozenset(), frozenset((7,)))
    with pytest.raises(Overlap, match="Row 1 of RowSet 3"):
        target(frozenset(), mine).after_replacement(
            frozenset((7, 8)), FrozenBitMap((2,)), overwrites=False
        )


@given(st.frozensets(st.integers(0, 40) | st.integers(LAST - 5, LAST)))
def test_ids_and_their_ranges_say_the_same_up_to_the_last_id(ids: frozenset[int]) -> None:
    ranges = id_ranges(sorted(ids))
    assert {*ids_of(ranges)} == ids
    assert sum(last - first + 1 for first, last in ranges) == len(ids)
    assert all(a[1] + 1 < b[0] for a, b in pairwise(ranges))


def test_all_rows_of_the_largest_rowset_are_one_run() -> None:
    rows = all_rows(LAST)
    assert (len(rows), rows.min(), rows.max()) == (LAST, 0, LAST - 1)
    assert rows_text(rows) == f"{LAST} rows (0, 1, 2, 3, 4, …)"
    assert not all_rows(0)
