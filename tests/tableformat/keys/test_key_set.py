"""Keys of every type that can be one find their rows, few of them and many."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
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
