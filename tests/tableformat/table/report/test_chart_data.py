"""The facts of a report: each RowSet and each epoch is counted once."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.tableformat.table.report import charts
from colonnade.tableformat.table.report.chart_data import (
    DEPTH_POINTS,
    ReportFacts,
    age_cells,
    deleted_counts,
    key_depths,
    read_report,
    size_bins,
)
from colonnade.tableformat.table.report.partitions import SHOWN
from tests.cli.runner import make_shop, order_rows
from tests.examples_of import examples

MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)

ROWSETS = st.lists(
    st.tuples(
        st.integers(1, 2**40),  # bytes
        st.integers(1, 10**9),  # rows
        st.floats(0, 1),  # deleted share
        st.integers(0, 10**6),  # epoch
    ),
    max_size=40,
)


def read(path: Path, epochs: int = 200, only: str | None = None) -> ReportFacts:
    database = colonnade.open_database(path)
    head = database._snapshot
    return read_report(
        database._log, head, epochs, MADE, None if only is None else head.table(only)
    )


def facts_of(rowsets: list[tuple[int, int, float, int]]) -> tuple[CompactionFacts, Integers]:
    table = np.array([(b, r, int(r * d), e) for b, r, d, e in rowsets], np.int64).reshape(-1, 4)
    ids = np.arange(len(table))
    return CompactionFacts(ids, table[:, 1], table[:, 2], table[:, 0]), table[:, 3]


@settings(max_examples=30)
@given(ROWSETS)
def test_every_rowset_is_in_one_bin_of_each_drawing(
    rowsets: list[tuple[int, int, float, int]],
) -> None:
    facts, epochs = facts_of(rowsets)
    bins = size_bins(facts.byte_counts)
    assert sum(each.rowsets for each in bins) == len(rowsets)
    assert sum(each.bytes for each in bins) == sum(bytes for bytes, *_ in rowsets)
    cells = age_cells(facts, epochs)
    assert sum(cell.rowsets for cell in cells) == len(rowsets)
    for cell in cells:
        assert cell.first_epoch <= cell.last_epoch
        assert 0 <= cell.deleted_share <= 1
    counts = deleted_counts(facts)
    assert sum(counts) == len(rowsets)
    drawings = (
        charts.size_histogram(bins, 2**27),
        charts.age_map(cells),
        charts.deleted_bars(counts),
    )
    for drawing in drawings:
        ElementTree.fromstring(drawing)


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)).map(sorted), min_size=1))
def test_the_depth_of_a_key_is_the_number_of_ranges_that_hold_it(ranges: list[list[int]]) -> None:
    first, last = np.array(ranges, np.int64).T
    depths, mean = key_depths(first, last)
    keys = sorted({*first.tolist(), *last.tolist()})
    expected = [sum(low <= key <= high for low, high in ranges) for key in keys]
    assert max(depths) == max(expected)
    assert mean == pytest.approx(np.mean(expected))
    assert len(depths) == min(len(keys), DEPTH_POINTS)
    if len(keys) <= DEPTH_POINTS:
        assert list(depths) == expected


def test_partitions_are_listed_the_largest_first_and_what_is_of_an_earlier_layout(
    tmp_path: Path,
) -> None:
    database = colonnade.create_database(tmp_path / "db")
    schema = pa.schema([("n", pa.int64()), ("s", pa.string())])
    table = database.create_table("t", schema, partition_by=["s"])
    for word in ("<script>", None):
        table.append(pa.table({"n": [1, 2], "s": [word, word]}, schema))
    table.append(pa.table({"n": range(1000), "s": ["large"] * 1000}, schema))
    parts = read(tmp_path / "db").tables[0].partitions
    assert parts is not None
    assert parts.largest[0].text == "s=large"
    assert [part.rows for part in parts.largest] == [1000, 2, 2]
    assert (parts.count, parts.most_rowsets, parts.earlier) == (3, 1, 0)
    page = colonnade.open_database(tmp_path / "db").report().html
    assert "partitioned by s" in page
    assert "s=&lt;script&gt;" in page
    assert "s=null" in page
    table.partition_by("bucket(100, n)")
    for start in (0, 1000):
        table.append(pa.table({"n": range(start, start + 1000), "s": [""] * 1000}, schema))
    parts = read(tmp_path / "db").tables[0].partitions
    assert parts is not None
    assert (parts.count, len(parts.largest), parts.most_rowsets, parts.earlier) == (
        103,
        SHOWN,
        2,
        3,
    )
    page = colonnade.open_database(tmp_path / "db").report().html
    assert "103 partitions, of which these are the 20 largest; at most 2 RowSets in one." in page
    assert "3 RowSets are of an earlier layout." in page
    table.partition_by()
    assert "partitioned by" not in colonnade.open_database(tmp_path / "db").report().html


def test_each_epoch_has_the_colour_of_what_it_did(tmp_path: Path) -> None:
    shop = make_shop(tmp_path)
    facts = read(shop)
    kinds = [charts.family(step.facts.operation) for step in facts.steps]
    assert kinds == ["table", "table", "write", "write", "write", "change", "table"]
    assert [step.rows for step in facts.steps] == [0, 0, 10, 10, 10, 0, 0]
    assert len(read(shop, 2).steps) == 2


def test_replaced_partitions_have_the_colour_of_a_write(tmp_path: Path) -> None:
    rows = order_rows(0, 1)
    table = colonnade.create(tmp_path / "t", rows.schema, partition_by=["id"])
    table.overwrite_partitions(rows)
    table.append(rows)
    table.optimize().option("min-rowsets", 2).executeCompaction()
    facts = read(tmp_path / "t")
    kinds = [charts.family(step.facts.operation) for step in facts.steps]
    assert kinds == ["table", "table", "write", "write", "compaction"]


def test_the_epochs_of_rowsets_are_known_without_making_objects_of_them(tmp_path: Path) -> None:
    database = colonnade.open_database(make_shop(tmp_path))
    database.repair()  # writes a checkpoint: three RowSets in a segment
    orders = database.table("orders")
    orders.delete("id >= 20")  # takes one of them away
    orders.append(order_rows(30, 5))
    entries = orders._log.rowsets.read_entries(orders._state)
    assert entries.epochs.tolist() == [rowset.epoch for rowset in entries] == [2, 3, 8]


def test_a_report_of_a_table_counts_its_own_rows_and_shows_the_epochs_that_changed_it(
    tmp_path: Path,
) -> None:
    shop = make_shop(tmp_path)
    database = colonnade.open_database(shop)
    with database.transaction() as tx:
        tx.table("users").append(pa.table({"name": ["Ada"]}))
        tx.table("orders").append(order_rows(30, 5))
    for name, rows, epochs in (("users", [0, 1], [6, 7]), ("orders", [0, 10, 10, 10, 0, 5], None)):
        facts = read(shop, only=name)
        assert [step.rows for step in facts.steps] == rows
        assert epochs in (None, [step.facts.epoch for step in facts.steps])
        assert [page.facts.name for page in facts.tables] == [name]
        assert facts.database.rows == database.table(name).count()
        assert (facts.table, facts.epochs) == (f"{shop}/{name}", 8)
    assert [step.facts.epoch for step in read(shop, 2, "orders").steps] == [7]
