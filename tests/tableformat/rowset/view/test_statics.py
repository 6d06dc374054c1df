"""A reader shows each row the static values of its partition key, and reads few of them."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.state.view import Statics
from colonnade.tableformat.rowset.view import statics
from colonnade.tableformat.table.table import ArrowTable

KEYS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "boolean": (pa.bool_(), [False, True]),
    "byte": (pa.int8(), [-128, 0, 127]),
    "long": (pa.int64(), [-(2**63), 0, 2**63 - 1]),
    "double": (pa.float64(), [-1e308, 0.0, 0.1, float("inf")]),
    "decimal": (pa.decimal128(38, 5), [Decimal("-1.00000"), Decimal("9" * 33 + ".99999")]),
    "text": (pa.string(), ["", "a", "A", "🦊", "x" * 300]),
    "binary": (pa.binary(), [b"", b"\x00", b"\xff" * 40]),
    "date": (pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [datetime(1, 1, 1, tzinfo=timezone.utc), datetime(1969, 12, 31, 23, tzinfo=timezone.utc)],
    ),
}


@pytest.mark.parametrize("kind", KEYS)
def test_rows_have_the_values_of_their_key_whatever_its_type(tmp_path: Path, kind: str) -> None:
    data_type, keys = KEYS[kind]
    schema = pa.schema([("k", data_type), ("n", pa.int32()), ("v", pa.list_(pa.string()))])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["v"])
    rows = [{"k": k, "n": n, "v": [str(at)]} for at, k in enumerate(keys) for n in range(3)]
    table.append(pa.Table.from_pylist(rows, schema))
    lonely = pa.Table.from_pylist([{"k": keys[0], "n": 9}], schema.remove(2))
    table.append(lonely)
    found = {(str(r["k"]), r["n"]): r["v"] for r in table.scan().to_arrow().to_pylist()}
    wanted = {(str(r["k"]), r["n"]): r["v"] for r in rows} | {(str(keys[0]), 9): ["0"]}
    assert found == wanted


def wide(path: Path, partitions: int, text: int) -> ArrowTable:
    """A table of one row for each partition, whose static values are large."""
    schema = pa.schema([("k", pa.int64()), ("n", pa.int32()), ("v", pa.string())])
    table = colonnade.create(path, schema, primary_key=["k", "n"], static=["v"])
    rng = np.random.default_rng(1)
    for first in range(0, partitions, partitions // 8):
        keys = np.arange(first, first + partitions // 8)
        values = [rng.bytes(text // 2).hex() for _ in keys]
        table.append(pa.table([keys, np.zeros(len(keys), np.int32), values], schema=schema))
    return table


@pytest.mark.slow
def test_large_static_values_are_read_for_the_keys_of_a_rowset_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = wide(tmp_path / "t", 8_000, 3_000)
    stored = sum(each.entry.bytes for each in table._log.rowsets.read(table.statics._state))
    assert stored > statics._WHOLE_BYTES
    seen: list[int] = []
    real = statics._read

    def counted(store: Any, rows: Statics, near: Any, columns: Any) -> Any:
        found = real(store, rows, near, columns)
        seen.append(0 if found.codes is None else len(found.codes.codes[-1]))
        return found

    monkeypatch.setattr(statics, "_read", counted)
    first = table.scan(where="k < 10").to_arrow()
    assert first.num_rows == 10
    assert first["v"].null_count == 0
    assert seen == [1_000]
    assert len(set(table.scan().to_arrow()["v"].to_pylist())) == 8_000


@pytest.mark.slow
def test_a_process_reads_static_values_once_until_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = wide(tmp_path / "t", 80, 20)
    reads: list[Any] = []
    real = statics._read

    def counted(*given: Any) -> statics.ValuesByKey:
        reads.append(given)
        return real(*given)

    monkeypatch.setattr(statics, "_read", counted)
    for _ in range(3):
        table.scan().to_arrow()
    assert len(reads) == 1
    table.update({"v": "'new'"}, "k = 3")
    assert table.scan(where="v = 'new'").to_arrow()["k"].to_pylist() == [3]
    before = len(reads)
    table.scan(["k", "n"]).to_arrow()
    assert len(reads) == before


@pytest.mark.slow
def test_no_row_is_pruned_by_a_column_that_its_rowset_does_not_store(tmp_path: Path) -> None:
    table = wide(tmp_path / "t", 80, 20)
    table.update({"v": "'here'"}, "k >= 40")
    for _ in range(2):
        assert table.scan(where="v = 'here'").to_arrow().num_rows == 40
        assert table.scan(where="v IS NOT NULL").to_arrow().num_rows == 80
        assert table.scan(where="v IS NULL").to_arrow().num_rows == 0
        assert table.scan(where="v <> 'here' AND k < 5").to_arrow().num_rows == 5
        table.optimize().executeCompaction()


@pytest.mark.slow
def test_rowsets_of_almost_the_same_keys_share_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = wide(tmp_path / "t", 8_000, 3_000)
    rng = np.random.default_rng(2)
    for n in range(1, 40):
        keys = rng.choice(2_000, 200, replace=False)
        rows = pa.table({"k": keys, "n": np.full(200, n, np.int32)})
        table.append(rows)
    read: list[Any] = []
    real = statics._read

    def counted(store: Any, rows: Statics, near: Any, columns: Any) -> Any:
        read.append(near)
        return real(store, rows, near, columns)

    monkeypatch.setattr(statics, "_read", counted)
    found = table.scan(["k", "v"], "n > 0").to_arrow()
    assert found.num_rows == 39 * 200
    assert found["v"].null_count == 0
    assert len(read) < 12
    values = table.statics.scan(["k", "v"], "k < 2000").to_arrow().to_pylist()
    by_key = {each["k"]: each["v"] for each in values}
    assert all(each["v"] == by_key[each["k"]] for each in found.to_pylist())


@pytest.mark.slow
def test_values_of_old_states_are_forgotten(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("n", pa.int32()), ("v", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["v"])
    for n in range(statics._KEPT_STATES + 10):
        table.append(pa.table([[1], [n], [str(n)]], schema=schema))
        assert table.scan(["v"]).to_arrow()["v"].to_pylist() == [str(n)] * (n + 1)
    assert len(statics._KEPT._kept) == statics._KEPT_STATES
