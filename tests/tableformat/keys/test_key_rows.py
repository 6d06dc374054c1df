"""Keys are deleted by a list of them, in each form in which `get` finds their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import colonnade
from colonnade.tableformat.keys.key_rows import are_keys
from tests.tableformat.table.trips import SCHEMA, ids, rows


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(tmp_path / "t", SCHEMA, data=rows(1, 2, 3, 4), primary_key=["id"])


@pytest.mark.parametrize(
    "keys",
    [
        [1, 2],
        [(1,), (2,)],
        [{"id": 1}, {"id": 2}],
        {"id": [1, 2]},
        pa.table({"id": [1, 2]}),
        iter([{"id": 1}, {"id": 2}]),
        [2, 1, 2, 77],
    ],
    ids=["values", "tuples", "dicts", "dict of lists", "table", "iterator", "repeated"],
)
def test_a_list_of_keys_deletes_their_rows(table: colonnade.ArrowTable, keys: Any) -> None:
    assert table.delete_keys(keys).rows_deleted == 2
    assert ids(table.scan()) == [3, 4]


def test_keys_of_several_columns_are_tuples(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", rows(1, 2), primary_key=["name", "id"])
    table.delete_keys([("n1", 1), ("n1", 2)])
    assert table.get([("n1", 1), ("n2", 2)])["id"].to_pylist() == [2]


ARRAYS = {
    "range": range(1, 3),
    "set": {1, 2},
    "numpy": np.array([1, 2]),
    "numpy repeated": np.array([2, 1, 2, 77]),
    "numpy int8": np.array([1, 2], "int8"),
    "pandas": pd.Series([1, 2], index=[7, 8]),
    "pandas index": pd.Index([1, 2]),
    "polars": pl.Series([1, 2]),
    "arrow": pa.array([1, 2]),
    "arrow chunks": pa.chunked_array([[1], [2]]),
    "arrow structs": pa.array([{"id": 1}, {"id": 2}]),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_an_array_of_keys_deletes_as_a_list_of_them(table: colonnade.ArrowTable, kind: str) -> None:
    assert table.delete_keys(ARRAYS[kind]).rows_deleted == 2
    assert table.get([1, 2]).num_rows == 0


def test_an_array_of_times_is_not_read_in_another_unit(tmp_path: Path) -> None:
    times = np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]")
    table = colonnade.create(tmp_path / "t", {"at": "timestamp_ntz"}, primary_key=["at"])
    table.append({"at": times})
    assert table.delete_keys(times[:1]).rows_deleted == 1
    with pytest.raises(colonnade.InvalidInputError, match="without loss"):
        table.delete_keys(times[1:] + np.timedelta64(1, "ns"))
    assert table.count() == 1


def test_no_keys_delete_nothing(table: colonnade.ArrowTable) -> None:
    assert table.delete_keys([]).rows_deleted == 0


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (["x"], "'id'"),
        (pa.array(["x"]), "'id'"),
        (np.array([[1, 2]]), "'id'"),
        ([(1, 2)], "not a key"),
        (7, "int offers no"),
        ([None], "'id'"),
    ],
    ids=str,
)
def test_what_is_no_key_is_refused(table: colonnade.ArrowTable, keys: Any, words: str) -> None:
    with pytest.raises(colonnade.InvalidInputError, match=words):
        table.delete_keys(keys)


def test_a_table_without_a_key_refuses_keys(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", rows(1))
    with pytest.raises(colonnade.InvalidInputError, match="no primary key to delete by"):
        table.delete_keys([1])


def test_a_list_of_rows_is_no_list_of_keys() -> None:
    assert all(map(are_keys, ([1], ["x"], [(1, 2)], [])))
    assert not any(map(are_keys, ([{"id": 1}], [rows(1)], rows(1), iter([1]), {"id": [1]})))
