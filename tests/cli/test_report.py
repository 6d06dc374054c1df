"""The report is one whole page, for any database, and counts what there is."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.cli.places import open_database
from colonnade.cli.report import charts
from colonnade.cli.report.facts import (
    DEPTH_POINTS,
    age_cells,
    deleted_counts,
    key_depths,
    read_report,
    size_bins,
)
from colonnade.cli.report.page import render
from colonnade.cli.report.partitions import SHOWN
from colonnade.manifests.arrays.vectors import Integers
from colonnade.manifests.compaction.facts import CompactionFacts
from tests.cli.runner import Run, order_rows
from tests.examples_of import examples
from tests.manifests.store.local.test_store import file_size_limit

MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
VOID = {"meta", "br", "link", "img"}

ROWSETS = st.lists(
    st.tuples(
        st.integers(1, 2**40),  # bytes
        st.integers(1, 10**9),  # rows
        st.floats(0, 1),  # deleted share
        st.integers(0, 10**6),  # epoch
    ),
    max_size=40,
)


class Balanced(HTMLParser):
    """Raises for a tag that is not closed, and collects what is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "srcset")]
        if tag in ("script", "link", "iframe", "img"):
            self.fetched.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


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


def test_the_page_is_whole_and_needs_nothing_from_elsewhere(
    run: Run, shop: Path, tmp_path: Path
) -> None:
    target = tmp_path / "report.html"
    done = run("report", shop, "--output", target, "--json").json
    assert (done["epoch"], done["tables"]) == (6, 2)
    page = target.read_text()
    assert done["bytes"] == len(page.encode())
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert parser.fetched == []
    assert not re.search(r"https?://|url\(|@import", page)
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    assert page.count("<svg") == 5  # the line of epochs, and four drawings of the table with rows


def test_names_that_users_give_are_shown_as_text_and_never_as_markup(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("a<b>&c", pa.schema([("n", pa.int64())]), comment="<script>")
    table.append(pa.table({"n": [1]}))
    page = page_of(tmp_path / "db")
    assert "<script>" not in page
    assert "a&lt;b&gt;&amp;c" in page
    assert "<b>&c" not in page


def test_partitions_are_listed_the_largest_first_and_what_is_of_an_earlier_layout(
    tmp_path: Path,
) -> None:
    database = colonnade.create_database(tmp_path / "db")
    schema = pa.schema([("n", pa.int64()), ("s", pa.string())])
    table = database.create_table("t", schema, partition_by=["s"])
    for word in ("<script>", None):
        table.append(pa.table({"n": [1, 2], "s": [word, word]}, schema))
    table.append(pa.table({"n": range(1000), "s": ["large"] * 1000}, schema))
    place = open_database(str(tmp_path / "db"))
    parts = read_report(place, 200, MADE).tables[0].partitions
    assert parts is not None
    assert parts.largest[0].text == "s=large"
    assert [part.rows for part in parts.largest] == [1000, 2, 2]
    assert (parts.count, parts.most_rowsets, parts.earlier) == (3, 1, 0)
    page = page_of(tmp_path / "db")
    assert "partitioned by s" in page
    assert "s=&lt;script&gt;" in page
    assert "s=null" in page
    table.partition_by("bucket(100, n)")
    for start in (0, 1000):
        table.append(pa.table({"n": range(start, start + 1000), "s": [""] * 1000}, schema))
    place = open_database(str(tmp_path / "db"))
    parts = read_report(place, 200, MADE).tables[0].partitions
    assert parts is not None
    assert (parts.count, len(parts.largest), parts.most_rowsets, parts.earlier) == (
        103,
        SHOWN,
        2,
        3,
    )
    page = page_of(tmp_path / "db")
    assert "103 partitions, of which these are the 20 largest; at most 2 RowSets in one." in page
    assert "3 RowSets are of an earlier layout." in page
    table.partition_by()
    assert "partitioned by" not in page_of(tmp_path / "db")


def test_a_database_without_tables_has_a_page(tmp_path: Path) -> None:
    colonnade.create_database(tmp_path / "db")
    assert "No tables yet." in page_of(tmp_path / "db")


def test_the_page_says_what_compaction_would_do_next(shop: Path) -> None:
    orders = colonnade.open(shop / "orders")
    page = page_of(shop)
    assert "20.0% of the rows are deleted" in page
    assert "RowSets that may hold one key" in page
    orders.overwrite(orders.scan().to_arrow())
    assert "Nothing: the table is as its policy wants it." in page_of(shop)


def test_each_epoch_has_the_colour_of_what_it_did(shop: Path) -> None:
    facts = read_report(open_database(str(shop)), 200, MADE)
    kinds = [charts.family(step.facts.operation) for step in facts.steps]
    assert kinds == ["table", "table", "write", "write", "write", "change", "table"]
    assert [step.rows for step in facts.steps] == [0, 0, 10, 10, 10, 0, 0]
    assert len(read_report(open_database(str(shop)), 2, MADE).steps) == 2


def test_replaced_partitions_have_the_colour_of_a_write(tmp_path: Path) -> None:
    rows = order_rows(0, 1)
    table = colonnade.create(tmp_path / "t", rows.schema, partition_by=["id"])
    table.overwrite_partitions(rows)
    table.append(rows)
    table.optimize().option("min-rowsets", 2).executeCompaction()
    facts = read_report(open_database(str(tmp_path / "t")), 200, MADE)
    kinds = [charts.family(step.facts.operation) for step in facts.steps]
    assert kinds == ["table", "table", "write", "write", "compaction"]


def page_of(database: Path) -> str:
    return render(read_report(open_database(str(database)), 200, MADE))


def test_the_epochs_of_rowsets_are_known_without_making_objects_of_them(shop: Path) -> None:
    database = colonnade.open_database(shop)
    database.repair()  # writes a checkpoint: three RowSets in a segment
    orders = database.table("orders")
    orders.delete("id >= 20")  # takes one of them away
    orders.append(order_rows(30, 5))
    place = open_database(str(shop))
    entries = place.log.read_entries(place.head.table("orders"))
    assert entries.epochs.tolist() == [rowset.epoch for rowset in entries] == [2, 3, 8]


@pytest.mark.parametrize("target", ["page.html", "rows.csv", "rows.parquet"])
def test_a_full_disk_keeps_the_file_that_was_to_be_replaced(
    target: str, run: Run, shop: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out" / target
    path.parent.mkdir()
    path.write_text("old")
    line = ("export", shop / "orders", path, "--yes")
    with file_size_limit(100):
        ran = run("report", shop, "-o", path) if target == "page.html" else run(*line)
    assert ran.code == 9
    assert f"{path} could not be written: File too large." in "".join(ran.err.splitlines())
    assert [each.read_text() for each in path.parent.iterdir()] == ["old"]


def test_a_report_may_go_to_a_device(run: Run, shop: Path) -> None:
    assert run("report", shop, "-o", "/dev/null").code == 0
