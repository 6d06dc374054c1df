"""What came to a RowSet after it was written is a part of its state."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.entries import ColumnReplacement, ColumnStatistics, RowSetEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.state.amendments import LaterAmendments
from colonnade.manifests.state.replaced_columns import (
    stored_parts,
    with_replacement,
    with_replacements,
)
from colonnade.manifests.state.snapshot import LiveRowSet, as_written
from tests.log_samples import ORDERS, entry, vector

COLUMNS = st.sets(st.integers(1, 5), min_size=1).map(sorted)


def replacing(number: int, columns: Sequence[int]) -> ReplaceColumn:
    """The operation that stores these columns of RowSet 0 in object `number`."""
    own = entry()
    return ReplaceColumn(
        table=ORDERS,
        rowset=0,
        replacement=ColumnReplacement(
            columns=tuple(columns),
            object=f"{number:032x}",
            place="packed",
            bytes=100 + number,
            footer=own.footer,
        ),
        statistics={column: ColumnStatistics(nulls=number) for column in columns},
    )


OPERATIONS = st.lists(COLUMNS, max_size=6).map(
    lambda found: [replacing(number, columns) for number, columns in enumerate(found, start=1)]
)


def current(rowset: LiveRowSet) -> dict[int, str]:
    """Where each replaced column is read from."""
    pairs = [(c, each.object) for each in rowset.replacements for c in each.columns]
    found = dict(pairs)
    assert len(found) == len(pairs), "no column is in two replacements"
    return found


@given(OPERATIONS)
def test_a_column_is_read_from_its_last_replacement(operations: list[ReplaceColumn]) -> None:
    rowset = with_replacements(as_written(entry()), operations)
    last = {c: op.replacement.object for op in operations for c in op.replacement.columns}
    assert current(rowset) == last
    assert {c: f"{rowset.entry.statistics[c].nulls:032x}" for c in last} == last
    for columns in ({1}, {2, 5}, set(last)):
        held = {last[column] for column in columns if column in last}
        assert set(rowset.holders(columns)) == held
    assert {*rowset.objects()} == {rowset.entry.object, *last.values()}
    assert [each.object for each in stored_parts(rowset)] == [*rowset.objects()]
    assert rowset.byte_count == sum(each.bytes for each in stored_parts(rowset))


@given(OPERATIONS, OPERATIONS)
def test_changes_since_a_segment_was_written_amount_to_all_of_their_operations(
    before: list[ReplaceColumn], since: list[ReplaceColumn]
) -> None:
    stored = with_replacements(as_written(entry()), before)
    deleted = vector(2)
    later = LaterAmendments(deleted)
    for operation in since:
        later = later.with_replacement(operation)
    assert later.vector == deleted
    assert {*later.objects()} >= {deleted.object, *(op.replacement.object for op in since[-1:])}
    assert len(later.replaced) <= len(since)
    assert with_replacements(stored, later.replaced) == with_replacements(stored, since)


@pytest.mark.parametrize("deleted", [None, 3])
@given(operations=OPERATIONS)
def test_the_log_stores_replaced_columns_in_the_entry_and_the_vector_beside_it(
    deleted: int | None, operations: list[ReplaceColumn]
) -> None:
    beside = None if deleted is None else vector(deleted)
    rowset = LiveRowSet.of(4, 2, with_replacements(as_written(entry()), operations).entry, beside)
    for operation in operations:
        rowset = with_replacement(rowset, operation)
    stored = rowset.stored_entry
    assert bool(stored.replacements) is bool(operations)
    assert LiveRowSet.of(4, 2, stored, beside) == rowset
    text = RowSetEntry.model_validate_json(stored.model_dump_json(exclude_none=True))
    assert LiveRowSet.of(4, 2, text, beside) == rowset
    assert rowset.row_count == rowset.entry.rows - (deleted or 0)
    more = vector(4)
    assert rowset.with_vector(more) == LiveRowSet.of(4, 2, stored, more)


def test_no_reader_of_a_stored_entry_forgets_its_replaced_columns() -> None:
    """A RowSet made of the entry alone would be read with its old values."""
    rowset = with_replacement(as_written(entry()), replacing(1, [2]))
    for forgetful in (None, vector(1)):
        with pytest.raises(AssertionError, match="with replacements"):
            LiveRowSet(0, 0, rowset.stored_entry, forgetful)
    with pytest.raises(AssertionError, match="with replacements"):
        as_written(rowset.stored_entry)
