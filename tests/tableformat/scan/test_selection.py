"""A condition selects the same rows as a filter in memory, and reads only what it needs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import Predicate, bind, parse_predicate
from colonnade.tableformat.scan.selection import (
    Selection,
    judge,
    read_selected,
    select_rows,
    selected_numbers,
    stored_matches,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.examples_of import examples
from tests.faults import FaultyStore
from tests.tableformat.scan.tables import append, delete, new

ROWS = 40
DELETED = (0, 7, 39)


def where(text: str) -> Predicate:
    return parse_predicate(text)


def made() -> tuple[FaultyStore, ArrowTable]:
    """Two packed RowSets, with n from 0 and from 1000 on. Some rows of the first are deleted."""
    store = FaultyStore(MemoryStore())
    table = new(store, {"n": "long", "m": "long"})
    for first in (0, 1000):
        numbers = np.arange(first, first + ROWS)
        append(store, table, pa.table({"n": numbers, "m": numbers % 7}), "packed", block_rows=8)
    delete(store, table, 0, DELETED, inline=True)
    return store, table


STORE, TABLE = made()
VIEW = TABLE._log.rowsets.view(TABLE._state, None, None)


def selected(text: str | None) -> list[Selection]:
    condition = None if text is None else where(text)
    return list(select_rows(STORE, VIEW, condition))


def values(found: list[Selection]) -> list[tuple[int, int]]:
    """The values of n and m of the selected rows, as `read_selected` gives them."""
    rows: list[tuple[int, int]] = []
    for each in found:
        numbers: list[int] = []
        for chosen, batch in read_selected(STORE, each, TABLE._state.schema):
            assert len(chosen) == batch.num_rows
            rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
            numbers += chosen.tolist()
        assert numbers == selected_numbers(STORE, each).tolist()
        assert len(numbers) == each.count
    return rows


ALIVE = [(n, n % 7) for n in (*range(ROWS), *range(1000, 1000 + ROWS)) if n not in DELETED]
COLUMNS = st.sampled_from(("n", "m"))
COMPARED = st.tuples(COLUMNS, st.sampled_from(("=", "<", ">=", "<>")), st.integers(-1, 1041))


@settings(max_examples=examples(50))
@given(COMPARED, COMPARED, st.sampled_from(("and", "or")))
def test_exactly_the_live_rows_that_meet_a_condition_are_selected(
    one: tuple[str, str, int], two: tuple[str, str, int], joined: str
) -> None:
    text = f"({one[0]} {one[1]} {one[2]}) {joined} ({two[0]} {two[1]} {two[2]})"
    ops = {
        "=": int.__eq__,
        "<": int.__lt__,
        ">=": int.__ge__,
        "<>": int.__ne__,
    }

    def meets(row: tuple[int, int], part: tuple[str, str, int]) -> bool:
        return bool(ops[part[1]](row["nm".index(part[0])], part[2]))

    both = all if joined == "and" else any
    expected = [row for row in ALIVE if both(meets(row, part) for part in (one, two))]
    assert values(selected(text)) == expected


def test_without_a_condition_every_rowset_is_selected_as_a_whole_and_not_read() -> None:
    STORE.trace.clear()
    found = selected(None)
    assert [each.rows for each in found] == [None, None]
    assert [each.count for each in found] == [ROWS - len(DELETED), ROWS]
    assert not STORE.trace
    assert values(found) == ALIVE


def test_rowsets_that_the_bounds_in_the_log_decide_are_not_read() -> None:
    STORE.trace.clear()
    [found] = selected("n >= 1000")
    assert found.rows is None
    assert found.rowset.id == 1
    assert selected("n > 5000") == []
    assert not STORE.trace
    some, others = judge(VIEW, where("n >= 20"))
    assert (some.tolist(), others.tolist()) == ([True, True], [True, False])


def test_stored_matches_include_deleted_rows_and_a_selection_does_not() -> None:
    bound = bind(where("n < 9"), VIEW.columns)
    matching = stored_matches(STORE, VIEW, VIEW.rowsets[0], bound)
    assert [*matching] == [*range(9)]
    [found] = selected("n < 9")
    assert found.rows is not None
    assert [*found.rows] == [1, 2, 3, 4, 5, 6, 8]


def test_a_condition_on_an_unknown_column_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="absent"):
        selected("absent = 1")


@pytest.mark.parametrize(
    ("limits", "sizes"),
    [
        ({}, [[37], [40]]),
        ({"_JOINED_ROWS": 16}, [[14, 16, 7], [16, 16, 8]]),
        ({"_JOINED_BYTES": 1}, [[6, 8, 8, 8, 7], [8, 8, 8, 8, 8]]),
    ],
)
def test_rows_of_several_blocks_come_together_up_to_a_size(
    limits: dict[str, int], sizes: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in limits.items():
        monkeypatch.setattr(f"colonnade.tableformat.scan.selection.{name}", limit)
    found, schema = selected(None), TABLE._state.schema
    batches = [[len(rows) for rows, _ in read_selected(STORE, each, schema)] for each in found]
    assert batches == sizes
    assert values(found) == ALIVE
