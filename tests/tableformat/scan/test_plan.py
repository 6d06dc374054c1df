"""Scan plans: plain values that divide without losing or doubling a row."""

import json
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import getitem

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    DeletionVectorEntry,
    RowSetEntry,
)
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema, walk
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.predicate import col
from colonnade.tableformat.scan.plan import (
    ScanPlan,
    cut_rows,
    divide_by_rowset,
    divide_plan,
    plan_scan,
    split_plan,
)

SCHEMA = TableSchema(
    fields=(SchemaField(id=1, name="a", type="long"), SchemaField(id=2, name="B", type="string"))
)
TABLE = TableState(
    id=TableId("0" * 16), name="t", schema=SCHEMA, schema_id=0, next_column_id=3,
    sort_orders=((),), stored_properties={}, comment=None, created_epoch=1, changed_epoch=1,
)  # fmt: skip

CHECK = ByteCheck(length=1, crc32c=1)
VECTOR = DeletionVectorEntry(object="d" * 32, cardinality=1, check=CHECK)
REPLACEMENT = ColumnReplacement(
    columns=(1,), object="e" * 32, place="packed", bytes=9, footer=CHECK
)


@st.composite
def rowsets(draw: st.DrawFn) -> LiveRowSet:
    if draw(st.booleans()):
        rows = draw(st.integers(1, 300_000))
        cuts: int | tuple[int, ...] = draw(st.sampled_from([1000, 65_536]))
    else:
        cuts = tuple(sorted(draw(st.sets(st.integers(1, 300_000), min_size=1, max_size=20))))
        rows = cuts[-1]
    entry = RowSetEntry(
        object=f"{draw(st.integers(0, 2**64)):032x}",
        place="directory",
        rows=rows,
        bytes=draw(st.integers(1, 10**9)),
        cuts=cuts,
        footer=CHECK,
    )
    deleted, replaced = draw(st.tuples(st.booleans(), st.booleans()))
    later = VECTOR if deleted else None, (REPLACEMENT,) if replaced else ()
    return LiveRowSet(draw(st.integers(0, 2**32 - 1)), 1, entry, *later)


def row_ranges(plan: ScanPlan) -> list[tuple[str, int, int]]:
    """What a plan reads, neighbouring ranges of one RowSet joined."""
    joined: list[tuple[str, int, int]] = []
    for each in plan.rowsets:
        name = each.rowset.entry.object
        for start, end in each.ranges:
            if joined and joined[-1][0] == name and joined[-1][2] == start:
                joined[-1] = (name, joined[-1][1], end)
            else:
                joined.append((name, start, end))
    return joined


@pytest.mark.slow
@given(
    st.lists(rowsets(), max_size=8, unique_by=(lambda r: r.id, lambda r: r.entry.object)),
    st.integers(1, 10**9),
)
def test_shares_read_every_row_once_in_order_and_end_at_cuts(
    live: list[LiveRowSet], target_bytes: int
) -> None:
    plan = plan_scan(View.stored(TABLE, live), 1)
    shares = split_plan(plan, target_bytes)
    together = plan.of(r for s in shares for r in s.rowsets)
    assert row_ranges(together) == row_ranges(plan)
    for share in shares:
        assert share.rowsets or not live
        for each in share.rowsets:
            allowed = set(cut_rows(each.rowset.entry))
            assert all({start, end} <= allowed for start, end in each.ranges)
    assert all(
        first.byte_count + following.rowsets[0].byte_count > target_bytes
        for first, following in pairwise(shares)
    )


def test_a_plan_carries_no_metadata_of_columns_to_each_task() -> None:
    inner = SchemaField(id=2, name="x", type="int", comment="c", metadata='{"long":"text"}')
    column = SchemaField(id=1, name="a", type=StructType(fields=(inner,)), metadata='{"k":1}')
    told = replace(TABLE, schema=TableSchema(fields=(column,)))
    plan = plan_scan(View.stored(told), 7)
    assert "long" not in plan.to_json()
    assert [field.name for field in walk(plan.view.columns.fields)] == ["a", "x"]
    assert told.schema.fields[0].children()[0].metadata is not None


@given(st.lists(rowsets(), max_size=5, unique_by=lambda r: r.id), st.booleans())
def test_a_plan_survives_the_way_through_json(live: list[LiveRowSet], whole: bool) -> None:
    """Also with every value written, as another version may write it."""
    nested = SchemaField(id=3, name="c", type=StructType(fields=SCHEMA.fields))
    table = replace(TABLE, schema=TableSchema(fields=(*SCHEMA.fields, nested)))
    plan = plan_scan(
        View.stored(table, live), 7, ["b"], (col("a") > 3) & ~col("B").isin(["x", None])
    )
    text = TypeAdapter(ScanPlan).dump_json(plan).decode() if whole else plan.to_json()
    again = ScanPlan.from_json(text)
    assert again == plan
    assert again.bound_predicate() == plan.bound_predicate()
    if not whole:
        assert text.count('"vector"') == sum(each.vector is not None for each in live)
        assert text.count('"replacements"') == sum(bool(each.replacements) for each in live)


@pytest.mark.parametrize("path", [(), ("view",), ("view", "columns")])
def test_a_plan_with_a_key_or_a_type_that_is_unknown_is_refused(path: tuple[str, ...]) -> None:
    text = plan_scan(View.stored(TABLE), 7).to_json()
    for key, value in (("later", 1), ("epoch" if path != ("view", "columns") else "fields", "7")):
        plan = json.loads(text)
        reduce(getitem, path, plan)[key] = value
        with pytest.raises(ValidationError, match=key):
            ScanPlan.from_json(json.dumps(plan))


def test_many_small_rowsets_share_a_task() -> None:
    entry = RowSetEntry(
        object="0" * 32, place="inline", rows=10, bytes=3000, cuts=65_536,
        footer=ByteCheck(length=1, crc32c=1), data="",
    )  # fmt: skip
    plan = plan_scan(View.stored(TABLE, [LiveRowSet(i, 1, entry) for i in range(1000)]), 1)
    assert len(split_plan(plan, 32 * 2**20)) == 1


def test_an_empty_table_is_one_share() -> None:
    assert len(split_plan(plan_scan(View.stored(TABLE), 1), 1)) == 1


def test_columns_keep_the_tables_spelling_and_are_asked_for_once() -> None:
    assert plan_scan(View.stored(TABLE), 1, ["b", "A"]).projection == ("B", "a")
    with pytest.raises(NotFoundError, match="'c'"):
        plan_scan(View.stored(TABLE), 1, ["c"])
    with pytest.raises(InvalidInputError, match="'a'"):
        plan_scan(View.stored(TABLE), 1, ["a", "A"])


@pytest.mark.slow
@given(
    st.lists(rowsets(), max_size=8, unique_by=(lambda r: r.id, lambda r: r.entry.object)),
    st.integers(1, 40),
    st.booleans(),
)
def test_dividing_a_plan_reads_every_row_once_in_order(
    live: list[LiveRowSet], count: int, apart: bool
) -> None:
    plan = plan_scan(View.stored(TABLE, live), 1)
    shares = divide_plan(plan, count, apart=apart)
    together = plan.of(r for s in shares for r in s.rowsets)
    assert row_ranges(together) == row_ranges(plan)
    assert all(share.rowsets for share in shares)
    assert len(shares) <= count or (apart and len(shares) < count + len(live))
    for share in shares:
        numbers = [each.rowset.id for each in share.rowsets]
        assert len(set(numbers)) == len(numbers), "a footer is read once a task"
        assert len(numbers) == 1 or not apart
        for each in share.rowsets:
            rows = {row for ends in each.ranges for row in ends}
            assert rows <= set(cut_rows(each.rowset.entry))


@pytest.mark.slow
@given(
    st.lists(rowsets(), max_size=9, unique_by=(lambda r: r.id, lambda r: r.entry.object)),
    st.integers(1, 5),
)
def test_dividing_by_rowset_gives_each_share_whole_rowsets_by_their_ids(
    live: list[LiveRowSet], count: int
) -> None:
    plan = plan_scan(View.stored(TABLE, live), 1)
    shares = divide_by_rowset(plan, count)
    assert len(shares) == count
    for number, share in enumerate(shares):
        ids = [each.rowset.id for each in share.rowsets]
        assert ids == sorted(each.id for each in live if each.id % count == number)
        assert all(each.ranges == ((0, each.rowset.entry.rows),) for each in share.rowsets)


def test_shares_are_of_nearly_equal_size() -> None:
    entry = RowSetEntry(
        object="1" * 32, place="directory", rows=6_000_000, bytes=100_000_000, cuts=65_536,
        footer=ByteCheck(length=1, crc32c=1),
    )  # fmt: skip
    plan = plan_scan(View.stored(TABLE, [LiveRowSet(number, 1, entry) for number in range(3)]), 1)
    sizes = [share.byte_count for share in divide_plan(plan, 4)]
    assert len(sizes) == 4
    assert max(sizes) < 1.15 * min(sizes)
