"""Feeds of long histories, of large rows, and of types that are compared by their bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.types.arrow_types import arrow_type
from tests.tableformat.statements.tables import made

K = pa.field("k", pa.int64(), nullable=False)
MIB = 1 << 20


def kinds(table: ArrowTable, first: int, *, net: bool = False) -> list[tuple[str, int]]:
    return [(each["_change_type"], each["k"]) for each in table.changes(first, net=net)]


def pair(key: int) -> list[tuple[str, int]]:
    return [("update_preimage", key), ("update_postimage", key)]


def test_variants_and_collated_text_differ_where_their_bytes_do() -> None:
    """Two texts that a collation calls equal are different values."""
    lower = {b"colonnade.type": b"string collate UTF8_LCASE"}
    variant = arrow_type(SchemaField(name="any", type="variant"))
    schema = pa.schema([K, pa.field("text", pa.string(), metadata=lower), ("any", variant)])

    def rows(keys: list[int], texts: list[str], numbers: list[int | None]) -> pa.Table:
        encoded = [
            None if n is None else {"value": bytes([12, n]), "metadata": b"\x01\x00\x00"}
            for n in numbers
        ]
        return pa.table({"k": keys, "text": texts, "any": pa.array(encoded, variant)}, schema)

    table = made(MemoryStore(), schema, ["k"])
    table.append(rows([1, 2, 3, 4], ["Ab", "x", "y", "z"], [1, None, 3, 4]))
    first = table.epoch + 1
    table.upsert(rows([1, 2, 3, 4], ["AB", "x", "y", "z"], [1, 2, None, 4]))
    assert sorted(kinds(table, first)) == sorted([*pair(1), *pair(2), *pair(3)])
    table.upsert(rows([1, 2, 3, 4], ["Ab", "x", "y", "z"], [1, None, 3, 5]))
    assert sorted(kinds(table, first, net=True)) == sorted(pair(4))


def test_rows_that_z_order_moved_are_told_when_they_change() -> None:
    schema = pa.schema([K, ("v", pa.int64())])
    table = made(MemoryStore(), schema)
    for first in range(0, 40, 10):
        keys = range(first, first + 10)
        table.append(pa.table({"k": keys, "v": [key % 7 for key in keys]}, schema))
    first = table.epoch + 1
    table.optimize().executeZOrderBy("v", "k")
    assert kinds(table, first) == []
    table.update({"v": 100}, "k = 15")
    table.optimize().executeZOrderBy("k", "v")
    table.delete("k = 16", count_rows=True)
    expected = sorted([*pair(15), ("delete", 16)])
    assert sorted(kinds(table, first)) == expected
    assert sorted(kinds(table, first, net=True)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("net", [False, True])
def test_large_rows_with_many_updates_take_two_blocks_of_memory(tmp_path: Path, net: bool) -> None:
    """Rows of 1 MiB, of which the whole range does not fit."""
    schema = pa.schema([K, ("b", pa.binary())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k"])

    def rows(keys: range) -> pa.Table:
        return pa.table({"k": keys, "b": [os.urandom(MIB) for _ in keys]}, schema)

    for first in range(0, 60, 20):
        table.append(rows(range(first, first + 20)))
    begun = table.epoch
    for turn in range(4):
        table.upsert(rows(range(turn % 2, 60, 2)))
    before, most, seen = pa.total_allocated_bytes(), 0, 0
    for batch in table.changes(begun + 1, net=net).to_batches():
        most = max(most, pa.total_allocated_bytes() - before)
        seen += batch.num_rows
    assert seen == (120 if net else 240)
    assert most < 160 * MIB


@pytest.mark.long
def test_a_history_of_a_thousand_epochs_is_told_and_netted() -> None:
    schema = pa.schema([K, ("v", pa.int64())])
    table = made(MemoryStore(), schema, ["k"])
    table.append(pa.table({"k": range(50), "v": [0] * 50}, schema))
    begun = table.epoch
    for turn in range(1, 1_001):
        table.update({"v": turn}, f"k = {turn % 40}")
        if turn % 100 == 0:
            table.optimize().option("min-rowsets", 2).executeCompaction()
    each = kinds(table, begun + 1)
    assert each == [change for turn in range(1, 1_001) for change in pair(turn % 40)]
    assert len(kinds(table, begun + 1, net=True)) == 80
