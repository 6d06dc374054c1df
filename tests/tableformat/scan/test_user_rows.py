"""Whatever has rows can be written, by every statement that takes rows, and comes back equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import colonnade
from colonnade import InvalidInputError

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"]})
LIST = ROWS.to_pylist()


def _dataset(tmp_path: Path) -> ds.Dataset:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    return ds.dataset(tmp_path / "rows.parquet")


def _generator(*parts: Any) -> Iterator[Any]:
    yield from parts


def _other_table(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(tmp_path / "other", ROWS)


KINDS: dict[str, Callable[[Path], Any]] = {
    "table": lambda _: ROWS,
    "batch": lambda _: ROWS.to_batches()[0],
    "reader": lambda _: ROWS.to_reader(),
    "dataset": _dataset,
    "scanner": lambda path: _dataset(path).scanner(),
    "pandas": lambda _: ROWS.to_pandas(),
    "polars": lambda _: pl.DataFrame(ROWS),
    "polars lazy": lambda _: pl.DataFrame(ROWS).lazy(),
    "duckdb": lambda _: duckdb.from_arrow(ROWS),
    "list of dicts": lambda _: LIST,
    "dict of lists": lambda _: ROWS.to_pydict(),
    "dict of arrays": lambda _: {"id": np.array([1, 2, 3]), "name": ROWS["name"]},
    "dict of series": lambda _: {"id": pd.Series([1, 2, 3]), "name": pl.Series(["a", None, "c"])},
    "list of batches": lambda _: ROWS.to_batches(max_chunksize=1),
    "generator of batches": lambda _: _generator(*ROWS.to_batches(max_chunksize=1)),
    "generator of frames": lambda _: _generator(ROWS[:1].to_pandas(), pl.DataFrame(ROWS[1:])),
    "generator of dicts": lambda _: _generator(*LIST),
    "generator of lists": lambda _: _generator(LIST[:2], LIST[2:]),
    "columns in another order": lambda _: _generator(ROWS[:1], ROWS[1:].select(["name", "id"])),
    "scan": lambda path: _other_table(path).scan(),
    "another table": _other_table,
}
WAYS: dict[str, Callable[[colonnade.ArrowTable, Any], object]] = {
    "append": lambda table, data: table.append(data),
    "overwrite": lambda table, data: table.overwrite(data),
    "overwrite where": lambda table, data: table.overwrite(data, "id < 9"),
    "overwrite_partitions": lambda table, data: table.overwrite_partitions(data),
    "upsert": lambda table, data: table.upsert(data, "id"),
    "evolve": lambda table, data: table.append(data, evolve=True),
    "ignore": lambda table, data: table.append(data, ignore_unknown_columns=True),
}


def rows_of(table: colonnade.ArrowTable) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: row["id"])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rows_is_taken_by_every_statement(
    kind: str, way: str, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", ROWS.schema)
    WAYS[way](table, KINDS[kind](tmp_path))
    assert rows_of(table) == LIST


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_rows_tells_the_columns_of_a_new_table(kind: str, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", KINDS[kind](tmp_path))
    assert rows_of(table) == LIST
    assert table.dtypes == {"id": "long", "name": "string"}


NOTHING: dict[str, Callable[[], Any]] = {
    "list": lambda: [],
    "iterator": lambda: iter([]),
    "dict": lambda: {},
    "table": lambda: ROWS[:0],
    "iterator of empty tables": lambda: iter([ROWS[:0], ROWS[:0]]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", NOTHING)
def test_nothing_is_written_where_there_are_no_rows(kind: str, way: str, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", {"id": "long not null", "name": "string"})
    WAYS[way](table, NOTHING[kind]())
    assert len(table) == 0


def test_rows_in_a_transaction_are_taken_in_every_form(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    with database.transaction() as tx:
        made = tx.create("t", LIST[:1])
        made.append(LIST[1:2])
        made.upsert(iter(LIST), "id")
        assert made.count() == 3
    assert rows_of(database["t"]) == LIST


def test_a_stream_is_not_held_as_a_whole(tmp_path: Path) -> None:
    """The number of parts that were made runs only a little ahead of those that were released."""
    alive: set[int] = set()
    most = 0

    class Part:
        def __init__(self, number: int) -> None:
            nonlocal most
            self._number = number
            alive.add(number)
            most = max(most, len(alive))

        def __del__(self) -> None:
            alive.discard(self._number)

        def __arrow_c_stream__(self, schema: object = None) -> object:
            return pa.table({"id": np.arange(1000)}).__arrow_c_stream__(schema)

    table = colonnade.create(tmp_path / "t", {"id": "long"})
    table.append(Part(number) for number in range(50))
    assert len(table) == 50_000
    assert most <= 3


def test_a_column_that_only_a_later_row_has_is_not_lost(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", [{"id": 1}, {"id": 2, "late": "x"}])
    assert table.to_pylist() == [{"id": 1, "late": None}, {"id": 2, "late": "x"}]


def test_types_of_parts_are_joined_where_all_rows_are_held(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", {"id": "long", "x": "double"})
    parts = [pa.table({"id": [1], "x": [None]}), pa.table({"id": [2], "x": [1.5]})]
    table.upsert(iter(parts), "id")
    assert table.to_pylist() == [{"id": 1, "x": None}, {"id": 2, "x": 1.5}]


def test_types_of_parts_are_joined_where_appended_rows_merge(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    merging = {"onDuplicate": "merge"}
    columns = {"id": "long", "x": "double"}
    table = database.create_table("t", columns, primary_key=["id"], properties=merging)
    first = {"id": 1, "x": None}
    parts = [pa.table({"id": [1], "x": [None]}), pa.table({"id": [2], "x": [1.5]})]
    table.append(iter(parts))
    with database.transaction() as tx:
        tx.table("t").append([pa.table({"id": [3]}), pa.table({"id": pa.array([4], pa.int8())})])
    rest = [{"id": 3, "x": None}, {"id": 4, "x": None}]
    assert rows_of(database["t"]) == [first, {"id": 2, "x": 1.5}, *rest]


def test_what_a_table_gives_as_python_rows_it_takes_again(tmp_path: Path) -> None:
    types = {"id": "long", "m": "map<string, array<int>>", "s": "struct<a: date, b: binary>"}
    table = colonnade.create(tmp_path / "t", types)
    table.append([{"id": 1, "m": {"k": [1, 2]}, "s": {"a": None, "b": b"x"}}, {"id": 2}])
    again = colonnade.create(tmp_path / "again", table.schema, data=table.to_pylist())
    assert again.to_arrow().equals(table.to_arrow())


OBJECTS = pl.Series([object()], dtype=pl.Object)
WRONG: list[tuple[Any, str]] = [
    ([1, 2], "list of int"),
    ("text", "type str offers no Arrow interface"),
    ({"id": 1}, "one row is a list with one dict"),
    ({"id": "12"}, "one row is a list with one dict"),
    ({"id": [1], "name": ["a", "b"]}, "different numbers of values"),
    ([{"id": 1}, {"id": "x"}], "Column 'id' of the data has values that have no common type"),
    ([{}], "no columns"),
    ([{1: 2}], "name of a column must be text, not 1"),
    (iter([ROWS, ROWS.select(["id"])]), "other columns than its first part: \\['name'\\]"),
    (iter([{"id": 1}, 5]), "list of int"),
    (pl.DataFrame({"id": OBJECTS}), "'id' of the data has the Polars type Object"),
    (pl.LazyFrame({"id": OBJECTS}), "'id' of the data has the Polars type Object,"),
    ({"id": OBJECTS}, "'id' of the data has the Polars type Object, whose"),
]


@pytest.mark.parametrize(("data", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_has_no_rows_is_refused_and_changes_nothing(
    data: Any, words: str, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", ROWS.schema)
    epoch = table.epoch
    with pytest.raises(InvalidInputError, match=words):
        table.append(data)
    with pytest.raises(InvalidInputError):
        colonnade.create(tmp_path / "new", 5)
    assert colonnade.open(table.path).epoch == epoch
