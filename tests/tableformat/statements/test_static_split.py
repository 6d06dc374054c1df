"""Rows are divided into own columns and the static values of their partition keys."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.statements.static_split import StaticSplit

SCHEMA = pa.schema(
    [("site", pa.int64()), ("at", pa.int64()), ("owner", pa.string()), ("tag", pa.string())]
)


def split(path: Path) -> StaticSplit:
    table = colonnade.create(path, SCHEMA, primary_key=["site", "at"], static=["owner", "tag"])
    return StaticSplit(table._state, "0" * 16)


def test_the_last_value_of_each_key_that_is_not_null_counts(tmp_path: Path) -> None:
    found = split(tmp_path / "t")
    rows = pa.table(
        {
            "at": pa.array([1, 2, 3, 4], pa.int16()),
            "OWNER": ["a", "b", None, "c"],
            "site": pa.array([1, 1, 1, 2], pa.int8()),
        }
    )
    own = found.rows(rows)
    assert own is not None
    assert own.column_names == ["at", "site"]
    brought = found.static_values
    assert brought is not None
    assert brought.rows.to_pydict() == {"site": [1, 2], "owner": ["b", "c"]}


def test_a_million_rows_hold_one_value_for_each_key(tmp_path: Path) -> None:
    found = split(tmp_path / "t")
    for first in range(0, 1_000_000, 50_000):
        sites = pa.array([(first + at) % 10 for at in range(50_000)])
        values = pa.array([str(first + at) for at in range(50_000)])
        part = pa.record_batch([sites, sites, values], names=["site", "at", "owner"])
        assert [each.num_rows for each in found.batches([part])] == [50_000]
        assert sum(each.num_rows for each in found._held) <= 70_000 + 50_000
    brought = found.static_values
    assert brought is not None
    wanted = [str(999_990 + site) for site in range(10)]
    assert sorted(brought.rows["owner"].to_pylist()) == wanted


def test_rows_of_keys_and_static_values_alone_are_no_rows_of_the_table(tmp_path: Path) -> None:
    found = split(tmp_path / "t")
    assert found.rows(pa.table({"site": [3], "tag": ["x"]})) is None
    brought = found.static_values
    assert brought is not None
    assert brought.rows.to_pydict() == {"site": [3], "tag": ["x"]}


def test_a_key_that_is_null_is_refused_by_name(tmp_path: Path) -> None:
    found = split(tmp_path / "t")
    with pytest.raises(InvalidInputError, match="'site'"):
        found.rows(pa.table({"site": pa.array([None], pa.int64()), "tag": ["x"]}))
