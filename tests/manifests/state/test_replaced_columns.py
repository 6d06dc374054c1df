"""Replaced columns: which ones may be, and where each column of a RowSet is stored after it."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.model.entries import (
    ColumnReplacement,
    ColumnStatistics,
    PartitionField,
    SortField,
)
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.state.replaced_columns import (
    replaceable,
    replacement_of,
    stored_as,
    stored_parts,
    with_replacement,
    with_replacements,
)
from colonnade.manifests.state.snapshot import as_written
from tests.log_samples import ORDERS, entry, table_state

NULLS = {2: ColumnStatistics(nulls=4)}


def replacing(column: int = 2, number: int = 1) -> ReplaceColumn:
    own = entry()
    stored = ColumnReplacement(
        columns=(column,),
        object=f"{number:032x}",
        place="packed",
        bytes=7,
        footer=own.footer,
        unsynced=True,
    )
    return ReplaceColumn(table=ORDERS, rowset=0, replacement=stored, statistics=NULLS)


def test_a_column_that_decides_where_a_row_is_cannot_be_replaced() -> None:
    state = table_state()
    days = PartitionField(transform="days", column=2)
    assert replaceable(state) == {1, 2}
    assert replaceable(replace(state, sort_orders=((SortField(column=1),), ()))) == {2}
    # Rows of an earlier layout keep their place, so its columns count as well.
    assert replaceable(replace(state, partition_layouts=((days,), ()))) == {1}


def test_statistics_become_those_of_the_new_values_and_others_stay() -> None:
    before = as_written(entry())
    after = with_replacement(before, replacing())
    assert after.entry.statistics == {1: before.entry.statistics[1], **NULLS}
    bare = replacing().model_copy(update={"statistics": {}})
    assert with_replacement(before, bare).entry.statistics.keys() == {1}


def test_each_part_of_a_rowset_has_the_statistics_of_its_own_columns() -> None:
    rowset = with_replacements(as_written(entry()), [replacing(2, 1), replacing(2, 2)])
    own, stored = stored_parts(rowset)
    assert (own.object, set(own.statistics)) == (rowset.entry.object, {1})
    assert (stored.object, stored.statistics) == (f"{2:032x}", NULLS)
    assert (stored.rows, stored.cuts, stored.bytes) == (rowset.entry.rows, rowset.entry.cuts, 7)
    assert stored_parts(as_written(own)) == [own]


def test_a_replacement_and_the_rowset_that_stores_it_say_the_same() -> None:
    replacement = replacing().replacement
    stored = stored_as(entry(), replacement)
    assert replacement_of(stored, (2,)) == replacement
    assert stored.unsynced
