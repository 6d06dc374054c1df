"""A table is counted and read by the words that people know, and the log answers what it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pytest

from colonnade import ArrowTable, InvalidInputError, NotFoundError, Scan
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore
from tests.tableformat.scan.tables import append, delete, new, numbers, reopened


def hundreds() -> tuple[FaultyStore, ArrowTable]:
    """Rows 0 to 299 in three RowSets, without row 150."""
    disk = MemoryStore()
    made = new(disk, {"n": "long", "s": "string"})
    for first in (0, 100, 200):
        rows = numbers(first, 100).append_column("s", pa.array(["a", "b"] * 50))
        append(disk, made, rows, "directory")
    delete(disk, made, 1, [50], inline=True)
    store = FaultyStore(disk)
    return store, reopened(made, store)


def data_requests(store: FaultyStore) -> int:
    return sum(not call.name.startswith("_manifest") for call in store.trace)


@pytest.mark.parametrize(
    ("count", "rows"),
    [
        (lambda t: t.count(), 299),
        (len, 299),
        (lambda t: t.num_rows, 299),
        (lambda t: t.count("n >= 100"), 199),
        (lambda t: t.count("n < 0"), 0),
        (lambda t: t.scan(["s"], "n < 100").count(), 100),
        (lambda t: len(t.scan().limit(7)), 7),
        (lambda t: len(t.scan(where="n < 100").limit(1000)), 100),
        (lambda t: t.scan(epoch=2).count(), 100),
    ],
)
def test_a_count_that_the_log_can_tell_opens_no_data(
    count: Callable[[ArrowTable], int], rows: int
) -> None:
    store, table = hundreds()
    assert count(table) == rows
    assert data_requests(store) == 0


def test_a_count_reads_only_rowsets_that_bounds_do_not_decide() -> None:
    store, table = hundreds()
    assert table.count("n >= 250") == 50
    opened = {call.name.split("/")[-2] for call in store.trace if "_manifest" not in call.name}
    assert len(opened) == 1


def test_a_limit_opens_no_rowset_after_the_last_row_that_it_needs() -> None:
    store, table = hundreds()
    assert table.head(100)["n"].to_pylist() == list(range(100))
    opened = {call.name.split("/")[-2] for call in store.trace if "_manifest" not in call.name}
    assert len(opened) == 1


@pytest.mark.slow
def test_the_words_for_reading_rows_give_the_same_rows() -> None:
    _, table = hundreds()
    trips = table  # noqa: F841  # DuckDB finds it by its name
    first = [{"n": 0, "s": "a"}, {"n": 1, "s": "b"}]
    assert table.take(2) == table.head(2).to_pylist() == list(table.limit(2)) == first
    assert table.limit(2).to_pylist() == first
    assert table.head(10**30).num_rows == table.count()
    assert len(table.head()) == 5
    assert table.to_pylist(["n"], "n < 2") == [{"n": 0}, {"n": 1}]
    assert table.to_arrow().equals(table.scan().to_arrow())
    assert table.to_pandas(["n"]).n.sum() == table.to_polars(["n"])["n"].sum() == 44_700
    assert polars.DataFrame(table).height == 299
    assert duckdb.sql("SELECT count(*) FROM trips").fetchall() == [(299,)]
    assert pa.table(table).num_rows == 299


def test_a_table_says_its_columns_and_their_types() -> None:
    _, table = hundreds()
    assert table.columns == ["n", "s"]
    assert table.dtypes == {"n": "long", "s": "string"}
    assert table.scan(["s"]).columns == ["s"]


def test_an_empty_table_is_not_false() -> None:
    table = new(MemoryStore(), {"n": "long"})
    assert len(table) == len(table.scan()) == 0
    assert bool(table)
    assert bool(table.scan())
    assert table.take(3) == []


def test_a_scan_is_narrowed_without_reading_and_stays_at_its_epoch() -> None:
    store, table = hundreds()
    scan = table.scan(where="n >= 100")
    append(store, table, numbers(1000, 1).append_column("s", pa.array(["a"])), "inline")
    store.trace.clear()
    narrow = scan.filter("n < 200").filter("s = 'b'").select("n")
    assert data_requests(store) == 0
    assert (narrow.epoch, narrow.columns) == (scan.epoch, ["n"])
    assert [row["n"] for row in narrow] == list(range(101, 200, 2))
    assert scan.filter("n >= 1000").count() == 0
    assert scan.select(["s", "n"]).schema.names == ["s", "n"]


WRONG: list[tuple[Callable[[Scan], object], type[Exception], str]] = [
    (lambda scan: scan.limit(-1), InvalidInputError, "from 0, not -1"),
    (lambda scan: scan.limit(True), InvalidInputError, "not True"),
    (lambda scan: scan.limit("3"), InvalidInputError, "not '3'"),  # type: ignore[arg-type]
    (lambda scan: scan.select("no"), NotFoundError, "'no'"),
    (lambda scan: scan.select("n").select("s"), NotFoundError, "'s'"),
    (lambda scan: scan.select("n", "n"), InvalidInputError, "more than once"),
    (lambda scan: scan.filter("no = 1"), InvalidInputError, "'no'"),
    (lambda scan: scan.limit(3).filter("n = 1"), InvalidInputError, "filter before limit"),
]


@pytest.mark.parametrize(("call", "kind", "words"), WRONG)
def test_a_scan_refuses_what_it_cannot_mean(
    call: Callable[[Scan], object], kind: type[Exception], words: str
) -> None:
    _, table = hundreds()
    with pytest.raises(kind, match=words):
        call(table.scan())


def test_rows_are_not_taken_by_numbers() -> None:
    _, table = hundreds()
    numbers_of_rows: Any = [0, 2]
    with pytest.raises(InvalidInputError, match="rows of a table have no numbers"):
        table.take(numbers_of_rows)


def test_a_value_that_python_cannot_hold_is_named() -> None:
    store = MemoryStore()
    table = new(store, {"n": "long", "at": "timestamp_ntz"})
    far = pa.array([2**62], pa.int64()).cast(pa.timestamp("us"))
    append(store, table, pa.table({"n": [1], "at": far}), "inline")
    with pytest.raises(InvalidInputError, match="Column 'at' has a value that Python cannot hold"):
        table.to_pylist()
    assert table.to_pylist(["n"]) == [{"n": 1}]
