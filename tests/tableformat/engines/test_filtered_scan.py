"""A read of a dataset takes from the table only what the columns and the filter need."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade.tableformat.engines.filtered_scan import filtered

ROWS = pa.table({"a": range(50), "b": range(50, 100), "c": ["x"] * 50})


@pytest.fixture
def scan(tmp_path: Path) -> colonnade.Scan:
    return colonnade.create(tmp_path / "t", ROWS).scan()


def test_columns_of_a_filter_are_read_only_where_arrow_evaluates_it(scan: colonnade.Scan) -> None:
    plan = filtered(scan, ["c"], pc.field("a") > 40)
    assert plan.scan.columns == ["c"]
    assert plan.rest is None
    plan = filtered(scan, ["c"], pc.field("a") + 1 > 40)
    assert plan.scan.columns == ["a", "c"]
    assert plan.schema.names == ["c"]
    plan = filtered(scan, ["c", "a"], pc.field("a") + 1 > 40)
    assert plan.scan.columns == ["c", "a"]


def test_a_filter_by_the_number_of_a_column_reads_all_columns(scan: colonnade.Scan) -> None:
    plan = filtered(scan, ["c"], pc.field(1) > 97)
    assert plan.scan.columns == ["a", "b", "c"]
    assert pa.Table.from_batches(plan.batches(None)).to_pydict() == {"c": ["x", "x"]}
    assert plan.count() == 2


def test_rows_without_columns_are_counted(scan: colonnade.Scan) -> None:
    for test in (pc.field("a") >= 40, pc.field("a") + 1 > 40):
        plan = filtered(scan, [], test)
        assert [each.num_rows for each in plan.batches(1)] == [10]
        assert plan.schema.names == []


def test_no_empty_batch_is_returned(scan: colonnade.Scan) -> None:
    assert [*filtered(scan, ["a"], pc.field("a") + 1 > 400).batches(1)] == []
