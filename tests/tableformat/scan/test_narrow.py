"""A narrowed plan reads the same rows from fewer stretches."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.scan.narrow import narrow_plan
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, plan_scan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.table.alteration import AddColumn
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import NUMBERS, add, new, take

BLOCK_ROWS = 10
COLUMNS = st.sampled_from(["id", "n", "late"])
CONDITIONS = st.one_of(
    st.builds("{} {} {}".format, COLUMNS, st.sampled_from(["<", "=", ">="]), st.integers(-5, 130)),
    st.builds("{} IS NULL".format, COLUMNS),
    st.builds("{} IN ({}, {})".format, COLUMNS, st.integers(0, 99), st.integers(0, 99)),
)


def two_rowsets() -> ArrowTable:
    """Ids 0 to 99 in order, in cuts of ten rows; a column was added, some rows were deleted."""
    table = new(NUMBERS)
    for first in (0, 50):
        ids = list(range(first, first + 50))
        numbers = [None if i % 20 < 10 else i * 7 % 100 for i in ids]
        batch = pa.record_batch({"id": ids, "n": pa.array(numbers, pa.int64())})
        add(table, batch, block_rows=BLOCK_ROWS)
    table.alter(AddColumn(SchemaField(name="late", type="long")))
    take(table, [range(3, 8), [49]])
    return table


TABLE = two_rowsets()
VIEW = TABLE._log.rowsets.view(TABLE._state, None, None)


def plan_of(where: str) -> ScanPlan:
    return plan_scan(VIEW, TABLE.epoch, ["id", "n"], parse_predicate(where))


def ids(plan: ScanPlan) -> list[int]:
    return [i for batch in read_plan(TABLE._location.store, plan) for i in batch["id"].to_pylist()]


@pytest.mark.slow
@given(st.lists(CONDITIONS, min_size=1, max_size=3), st.sampled_from([" AND ", " OR "]))
def test_the_same_rows_are_read_in_the_same_order(conditions: list[str], joint: str) -> None:
    plan = plan_of(joint.join(conditions))
    narrowed = narrow_plan(TABLE._location.store, plan)
    assert ids(narrowed) == ids(plan)
    assert narrow_plan(TABLE._location.store, narrowed) == narrowed


def test_stretches_where_no_row_meets_the_predicate_are_left_out() -> None:
    narrowed = narrow_plan(TABLE._location.store, plan_of("id BETWEEN 45 AND 72 OR id = 5"))
    assert [each.ranges for each in narrowed.rowsets] == [((0, 10), (40, 50)), ((0, 30),)]
    assert narrowed.byte_count < plan_of("id >= 0").byte_count
    assert not narrow_plan(TABLE._location.store, plan_of("id > 1000")).rowsets


def test_a_part_of_a_plan_stays_a_part() -> None:
    plan = plan_of("id < 45")
    plan = plan.of([replace(plan.rowsets[0], ranges=((0, 10), (30, 50)))])
    [narrowed] = narrow_plan(TABLE._location.store, plan).rowsets
    assert narrowed.ranges == ((0, 10), (30, 50))


def test_a_footer_that_cannot_be_read_is_an_error() -> None:
    plan = plan_of("id < 45")
    rowset = plan.rowsets[0].rowset
    entry = rowset.entry
    wrong = entry.model_copy(update={"footer": entry.footer.model_copy(update={"crc32c": 1})})
    broken = RowSetScan.whole(replace(rowset, entry=wrong))
    with pytest.raises(ColonnadeError):
        narrow_plan(TABLE._location.store, plan.of([broken]))
