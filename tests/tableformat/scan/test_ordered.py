"""Rows in the order of the sort key are those of a sort in memory, and few reads find the first."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade import AddColumn, RenameColumn, SchemaField, SetSortKey, WidenColumn
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.types.stored_value import stored_value
from colonnade.tableformat.write import pipeline
from tests.compaction_tables import NUMBERS, bag, new, rows_in, take
from tests.far_store import FarStore
from tests.faults import FaultyStore
from tests.strategies import PRIMITIVES, make_batch, schemas
from tests.tableformat.scan.tables import append, numbers, reopened
from tests.tableformat.scan.tables import new as scan_table

ORDERED = [t for t in PRIMITIVES if t != "variant" and "collate" not in t]


@contextmanager
def small_parts(block_rows: int = 7) -> Iterator[None]:
    """Blocks of few rows, and sorts in memory of few bytes."""
    options = pipeline.write_options
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            pipeline,
            "write_options",
            lambda *a, **k: replace(options(*a, **k), block_rows=block_rows),
        )
        patch.setattr("colonnade.tableformat.scan.sorting.PART_BYTES", 2000)
        patch.setattr("colonnade.tableformat.scan.sorting._PIECE_BYTES", 300)
        yield


def keys_of(table: ArrowTable, rows: pa.Table) -> list[tuple[Any, ...]]:
    """The keys of rows as plain values."""
    schema = table._state.schema
    key = TableSchema(fields=tuple(schema.by_id(each.column) for each in table._state.sort_key))
    found: list[tuple[Any, ...]] = []
    for batch in rows.select(key.names).to_batches():
        columns = [
            [value(column, i) for i in range(len(batch))] for column in to_storage(batch, key)
        ]
        found += zip(*columns, strict=True)
    return found


def value(column: pa.Array, row: int) -> Any:
    if not column[row].is_valid:
        return None
    found = stored_value(column.slice(row, 1))
    return found + 0.0 if isinstance(found, float) else found  # -0.0 equals 0.0


def compare(left: Any, right: Any) -> int:
    """Spark's order of two values of one column."""
    ranks = [0 if each is None else 1 if each == each else 2 for each in (left, right)]
    if ranks != [1, 1]:
        return ranks[0] - ranks[1]
    return int(left > right) - int(left < right)


def in_order(table: ArrowTable, keys: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    signs = [-1 if each.descending else 1 for each in table._state.sort_key]

    def ordered(left: tuple[Any, ...], right: tuple[Any, ...]) -> int:
        found = (s * compare(a, b) for s, a, b in zip(signs, left, right, strict=True))
        return next((each for each in found if each), 0)

    return sorted(keys, key=cmp_to_key(ordered))


def check(table: ArrowTable, columns: list[str] | None = None, **ask: Any) -> pa.Table:
    """An ordered scan has the rows of a plain one, in the order of their keys."""
    plain, found = table.scan(**ask).to_arrow(), table.scan(**ask, order="key").to_arrow()
    assert found.schema == plain.schema
    assert repr(keys_of(table, found)) == repr(in_order(table, keys_of(table, plain)))
    assert bag(rows_in(found)) == bag(rows_in(plain))
    if columns is not None:
        part = table.scan(columns, **ask, order="key").to_arrow()
        assert rows_in(part) == rows_in(found.select(columns))
        assert part.num_rows == found.num_rows
    return found


@pytest.mark.slow
@settings(max_examples=20)
@given(
    schemas(max_columns=3),
    st.lists(st.sampled_from(ORDERED), min_size=1, max_size=2),
    st.lists(st.integers(0, 30), min_size=1, max_size=4),
    st.integers(0, 2**32),
)
def test_rows_of_any_types_come_in_the_order_of_any_key(
    others: TableSchema, types: list[str], counts: list[int], seed: int
) -> None:
    rng = random.Random(seed)
    keys = tuple(SchemaField(name=f"k{i}", type=text) for i, text in enumerate(types))
    schema = assign_ids(TableSchema(fields=(*keys, *others.fields)), 1)[0]
    orders = [f"k{i}{rng.choice(('', ' desc'))}" for i in range(len(keys))]
    table = new(schema, orders)
    with small_parts():
        for count in counts:
            if rng.random() < 0.3:
                rng.shuffle(orders)
                table.alter(SetSortKey(tuple(orders[: rng.randint(1, len(orders))])))
            table.append(make_batch(schema, count, rng.randrange(2**32)))
        if any(counts) and rng.random() < 0.5:
            take(table, [rng.sample(range(n), rng.randrange(n + 1)) for n in counts if n])
        found = check(table, columns=[rng.choice(schema.names)])
        nulls = table.scan([], "k0 IS NULL", order="key").to_arrow().num_rows
        assert nulls == found["k0"].null_count


@pytest.mark.slow
def test_columns_that_were_renamed_widened_replaced_and_added_are_read_in_order() -> None:
    numbers = pa.schema([("k", pa.int32()), ("n", pa.int32()), ("p", pa.int32())])
    schema = assign_ids(schema_from_arrow(numbers), 1)[0]
    table = new(schema, ["k desc", "n"])
    rng = np.random.default_rng(5)

    def some(count: int, high: int) -> pa.Table:
        columns = {name: rng.integers(0, high, count) for name in ("k", "n", "p")}
        return pa.table(columns, numbers)

    with small_parts():
        for _ in range(3):
            table.append(some(60, 50))
        before = table.epoch
        table.update({"p": 7}, where="n < 25")
        table.alter(RenameColumn("k", "key"), WidenColumn(("key",), "long"))
        table.alter(AddColumn(SchemaField(name="late", type="string"), default="'x'"))
        table.partition_by("bucket(4, n)")
        wide = some(60, 50).rename_columns(["key", "n", "p"])
        table.append(wide.append_column("late", pa.array(["y"] * 60)))
        table.delete("n BETWEEN 3 AND 9")
        found = check(table, columns=["late"], where="key > 10 AND late = 'x'")
        assert found.schema.field("key").type == pa.int64()
        check(table, columns=["p", "key"])
        then = table.scan(epoch=before, order="key").to_arrow()
        assert then.schema.names == ["k", "n", "p"]
        pairs = list(zip((-then["k"].to_numpy()).tolist(), then["n"].to_pylist(), strict=True))
        assert pairs == sorted(pairs)
        assert len(pairs) == 180
        shown = table.scan(epoch=before, schema_epoch=table.epoch, order="key").to_arrow()
        assert shown["key"].to_pylist() == then["k"].to_pylist()
        assert shown["late"].to_pylist() == ["x"] * 180


def test_rows_of_a_transaction_are_read_in_order(tmp_path: Path) -> None:
    db = colonnade.create_database(tmp_path / "db")
    table = db.create_table("t", pa.schema([("n", pa.int64())]), sort_key=["n desc"])
    table.append(pa.table({"n": [5, 1, 3]}))
    with db.transaction() as transaction:
        mine = transaction.table("t")
        mine.append(pa.table({"n": [4, 2]}))
        mine.delete("n = 3")
        assert mine.scan(order="key").to_arrow()["n"].to_pylist() == [5, 4, 2, 1]


def test_a_scan_cannot_have_an_order_that_the_table_does_not_have() -> None:
    table = new(NUMBERS)
    with pytest.raises(InvalidInputError, match="Table 't' has no sort key"):
        table.scan(order="key")
    table.alter(SetSortKey(("n",)))
    with pytest.raises(InvalidInputError, match="is 'key'.* not 'n'"):
        table.scan(order="n")  # type: ignore[arg-type]
    first = table.epoch
    table.alter(AddColumn(SchemaField(name="late", type="long")), SetSortKey(("late",)))
    with pytest.raises(InvalidInputError, match="a column in its sort key that .* do not have"):
        table.scan(schema_epoch=first, order="key")


def opened(store: FaultyStore) -> set[str]:
    """The RowSets that were read since the trace was cleared."""
    return {call.name.rpartition("/")[2] for call in store.trace if call.name.endswith(".rowset")}


def test_a_reader_of_the_first_rows_opens_only_the_rowsets_that_have_them() -> None:
    disk = MemoryStore()
    made = scan_table(disk, {"n": "long"}, ["n"])
    for first in (400, 0, 300, 100, 200, 50):  # RowSets 0 to 99, 50 to 149, 100 to 199, ...
        append(disk, made, numbers(first, 100), "packed")
    store = FaultyStore(disk)
    table = reopened(made, store)
    batches = table.scan(order="key").to_batches()
    store.trace.clear()
    assert next(batches)["n"].to_pylist() == [*range(16)]
    assert len(opened(store)) == 1
    for _ in range(3):
        last = next(batches)["n"].to_pylist()[-1]
    assert last < 100
    assert len(opened(store)) == 2
    rest = [n for batch in batches for n in batch["n"].to_pylist()]
    assert rest[-1] == 499
    assert len(opened(store)) == 6


@pytest.mark.slow
def test_rowsets_that_are_needed_at_the_same_time_are_opened_side_by_side() -> None:
    inner = MemoryStore()
    inner.files_are_cheap = False
    table = new(NUMBERS, ["n"], inner)
    for part in range(12):
        table.append(pa.table({"id": [part] * 50_000, "n": np.arange(50_000) * 12 + part}))
    store = FarStore(inner)
    plan = table.scan(order="key")._plan
    with store.counted() as cost:
        batches = read_plan(store, plan)
        assert next(batches)["n"].to_pylist()[:3] == [0, 1, 2]
    assert cost.rounds <= 4
    assert sum(batch.num_rows for batch in batches) > 0


@pytest.mark.slow
@pytest.mark.parametrize("same_key", [True, False], ids=["merged", "sorted first"])
def test_real_sizes_are_read_in_order_with_bounded_memory(
    same_key: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(9)
    ids = rng.permutation(300_000)
    lists = pa.ListArray.from_arrays(pa.array(np.arange(300_001) // 3, pa.int32()), pa.array(ids))
    nested = pa.StructArray.from_arrays([pa.array(ids), lists], ["x", "more"])
    texts = pc.binary_join_element_wise(
        pc.cast(pa.array(ids), pa.string()), pc.binary_repeat("long ", ids % 60), " "
    )
    rows = pa.table({"id": ids, "nested": nested, "text": texts})
    table = colonnade.create(tmp_path / "t", rows.schema, sort_key=["id"])
    with small_parts(4096):
        for first in range(0, 300_000, 75_000):
            table.append(rows.slice(first, 75_000))
    order = [("id", "ascending")] if same_key else [("text", "ascending"), ("id", "descending")]
    if not same_key:
        table.alter(SetSortKey(("text", "id desc")))
    monkeypatch.setattr("colonnade.tableformat.scan.sorting.PART_BYTES", 4 * MIB)
    at, expected, most = 0, rows.sort_by(order), 0
    held = pa.total_allocated_bytes()
    for batch in table.scan(order="key").to_batches():
        most = max(most, pa.total_allocated_bytes() - held)
        assert pa.Table.from_batches([batch]).equals(expected.slice(at, batch.num_rows))
        at += batch.num_rows
    assert at == 300_000
    assert most < expected.nbytes / 2
