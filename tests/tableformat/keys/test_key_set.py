"""Keys of every type that can be one find their rows, and equal keys have equal numbers."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys.key_set import key_numbers, rows_by_number
from colonnade.tableformat.table.database import ArrowDatabase

NOON = datetime(2020, 1, 1, 12)
KEYS: dict[pa.DataType, list[Any]] = {
    pa.bool_(): [False, True],
    pa.int8(): [-3, 4],
    pa.int64(): [-(2**62), 7],
    pa.string(): ["a\0'", "é"],
    pa.binary(): [b"\0", b"\xff"],
    pa.date32(): [-719_162, 4_000_000],
    pa.timestamp("us", "UTC"): [NOON, NOON + timedelta(days=1)],
    pa.timestamp("us"): [NOON, NOON + timedelta(microseconds=1)],
    pa.decimal128(38, 10): [Decimal("-0.5"), Decimal(10)],
    pa.time64("ns"): [1, 1_500],
    pa.duration("us"): [timedelta(-1), timedelta(microseconds=1)],
}


@pytest.mark.parametrize("listed", [1, 10])
@pytest.mark.parametrize("kind", KEYS, ids=str)
def test_rows_are_found_by_a_key(
    kind: pa.DataType, listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.tableformat.keys.key_set._LISTED_KEYS", listed)
    store = MemoryStore()
    base = create_database(store, lone_table=False)
    table = ArrowDatabase(store, Log(store), base).create_table(
        "t", pa.schema([("k", kind), ("v", pa.int64())])
    )
    keys = pa.array(KEYS[kind], kind)
    for key in keys:  # RowSets of one key each, so that bounds can leave them out
        table.append(pa.table({"k": pa.array([key], kind), "v": [0]}))
    counts = table.upsert(pa.table({"k": keys, "v": [1, 2]}), on="k")
    assert (counts.rows_updated, counts.rows_inserted) == (2, 0)
    assert sorted(table.scan().to_arrow()["v"].to_pylist()) == [1, 2]


SCHEMA = TableSchema(
    fields=(SchemaField(id=1, name="a", type="long"), SchemaField(id=2, name="b", type="string"))
)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), max_size=20))
def test_keys_are_numbered_as_they_first_occur(rows: list[tuple[int, str]]) -> None:
    table = pa.table(
        {
            "b": pa.array([b for _, b in rows], pa.string()),
            "a": pa.array([a for a, _ in rows], pa.int64()),
        }
    )
    numbers, firsts = key_numbers(table, SCHEMA)
    distinct = list(dict.fromkeys(rows))
    assert numbers.tolist() == [distinct.index(row) for row in rows]
    assert firsts.tolist() == [rows.index(row) for row in distinct]


def test_a_key_that_is_null_is_refused_by_its_column() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    with pytest.raises(InvalidInputError, match="'b' is a key and is NULL in 1 of the rows"):
        key_numbers(table, SCHEMA)


@given(st.lists(st.integers(0, 5), max_size=30), st.permutations(range(20)))
def test_rows_are_put_into_the_order_of_their_numbers(
    repeated: list[int], distinct: list[int]
) -> None:
    for numbers in (np.unique(repeated, return_inverse=True)[1], np.array(distinct)):
        expected = np.argsort(numbers, kind="stable")
        np.testing.assert_array_equal(rows_by_number(numbers.astype(np.int64)), expected)
