"""A filter knows every value that it was made of, and pruning by filters loses no row."""

from __future__ import annotations

import random
import struct
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from xxhash import xxh64_intdigest

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.columns.bloom import bloom_columns
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.object_names import index_name
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import BoundPredicate, Predicate, bind, col, evaluate, prune
from colonnade.tableformat.rowset.bloom_filter import encode_filter, hash_rows, hash_values, members
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored import filter_pruning
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.strategies import PRIMITIVES, identical, make_batch
from tests.tableformat.predicate.oracle import TYPES, random_predicate, random_value

Row = dict[str, Any]


def one_column(type_name: str) -> TableSchema:
    return TableSchema(fields=(SchemaField(id=1, name="x", type=type_name),))


def filtered_types() -> list[str]:
    properties = {"bloom-filter-enabled.column.x": "true"}
    return [each for each in PRIMITIVES if bloom_columns(properties, one_column(each))]


FILTERED = filtered_types()


def numbers(values: list[int | None]) -> tuple[pa.Array, StoredColumn]:
    schema = one_column("long")
    return pa.array(values, pa.int64()), column_of(schema.fields[0])


@pytest.mark.parametrize("type_name", FILTERED)
def test_rows_and_the_values_of_predicates_have_the_same_hashes(type_name: str) -> None:
    schema = one_column(type_name)
    column = column_of(schema.fields[0])
    for seed in range(20):
        array = make_batch(schema, 30, seed).column(0).slice(seed % 3)
        stored = array if array.type == column.type else array.view(column.type)
        values = [value for value in storage_values(stored) if value is not None]
        present = [value for value in values if value == value]
        assert hash_rows(stored, column).tolist() == hash_values(present).tolist()
        assert members(encode_filter(stored, column), hash_values(present)).all()


def storage_values(array: pa.Array) -> list[Any]:
    if pa.types.is_decimal(array.type):
        return [None if value is None else unscaled(value) for value in array.to_pylist()]
    if pa.types.is_temporal(array.type):
        return array.cast(pa.int32() if array.type == pa.date32() else pa.int64()).to_pylist()
    return array.to_pylist()


def unscaled(value: Decimal) -> int:
    sign, digits, _ = value.as_tuple()
    return int("".join(map(str, digits))) * (-1 if sign else 1)


def test_equal_values_of_wider_types_have_the_same_hashes() -> None:
    whole = hash_values([7])[0]
    for type_name, value in (("byte", 7), ("int", 7), ("long", 7)):
        column = column_of(one_column(type_name).fields[0])
        assert hash_rows(pa.array([value], column.type), column)[0] == whole
    for precision in (3, 18, 19, 38):
        column = column_of(one_column(f"decimal({precision},1)").fields[0])
        stored = pa.array([0.7]).cast(pa.decimal128(precision, 1))
        assert hash_rows(stored, column)[0] == whole
    for type_name in ("float", "double"):
        column = column_of(one_column(type_name).fields[0])
        zeros = pa.array([0.0, -0.0, float("nan"), 0.5], column.type)
        assert hash_rows(zeros, column).tolist() == hash_values([0.0, 0.0, 0.5]).tolist()
    assert hash_values([2**63])[0] == xxh64_intdigest((2**63).to_bytes(16, "little"))
    assert hash_values([0.5])[0] == xxh64_intdigest(struct.pack("<d", 0.5))


@given(st.sets(st.integers(-(2**63), 2**63 - 1), max_size=200))
def test_a_filter_never_denies_a_value_that_it_has(values: set[int]) -> None:
    bloom = encode_filter(*numbers([*values, None]))
    assert len(bloom) == 32 * max(1, -(-10 * len(values) // 256))
    assert members(bloom, hash_values(list(values))).all()


def test_a_filter_is_wrong_about_one_value_in_a_hundred() -> None:
    bloom = encode_filter(*numbers(list(range(0, 400_000, 2))))
    wrong = members(bloom, hash_values(range(1, 100_001, 2))).mean()
    assert 0.002 < wrong < 0.015
    assert not members(encode_filter(*numbers([None])), hash_values(range(1000))).any()


def written(rows: pa.RecordBatch, schema: TableSchema, **options: Any) -> tuple[Any, RowSetEntry]:
    store = MemoryStore()
    chosen = WriteOptions(**{"block_rows": 5, "inline_bytes": 0, "packed_bytes": 0, **options})
    with RowSetWriter(store, "", "0" * 16, schema, (), chosen) as writer:
        writer.write(rows)
        (entry,) = writer.close()
    return store, entry


def read(
    store: MemoryStore, entry: RowSetEntry, schema: TableSchema, predicate: Predicate
) -> list[tuple[int, pa.RecordBatch]]:
    bound = bind(predicate, schema)
    reader = RowSetReader(store, View.written(""), as_written(entry))
    may_match = partial(prune, bound)
    return list(reader.read(schema.fields, may_match=may_match, pruning_columns=bound.column_ids))


def random_lookup(rng: random.Random, types: dict[str, str], rows: list[Row]) -> Predicate:
    """A predicate that asks, among other things, for values that are there and that are not."""

    def equal() -> Predicate:
        name = rng.choice(list(types))
        pool = [row[name] for row in rows if row[name] is not None and row[name] == row[name]]
        values = [rng.choice(pool) if pool and rng.random() < 0.4 else None for _ in range(3)]
        found = random_predicate(rng, types)
        known = [value for value in values if value is not None]
        if types[name] in ("long", "string", "double", "decimal(38,10)") and known:
            found = col(name).isin(known) if rng.random() < 0.5 else col(name) == known[0]
        return ~found if rng.random() < 0.2 else found

    first, second = equal(), equal()
    return rng.choice((first, first & second, first | second))


@pytest.mark.slow
def test_pruning_by_filters_loses_no_row() -> None:
    fewer = 0
    for seed in range(2 * len(TYPES)):
        rng = random.Random(seed)
        types = {"x": TYPES[seed % len(TYPES)], "y": rng.choice(TYPES)}
        numbered = enumerate(types.items(), 1)
        schema = TableSchema(
            fields=tuple(SchemaField(id=i, name=n, type=t) for i, (n, t) in numbered)
        )
        rows = [
            {n: None if rng.random() < 0.1 else random_value(rng, t) for n, t in types.items()}
            for _ in range(20)
        ]
        batch = batch_of(schema, rows)
        on = {f"bloom-filter-enabled.column.{name}": "true" for name in types}
        place = rng.choice(({}, {"inline_bytes": 2**20}, {"packed_bytes": 2**20}))
        filtered = bloom_columns(on, schema)
        store, entry = written(batch, schema, bloom_columns=frozenset(filtered), **place)
        for _ in range(10):
            bound = bind(random_lookup(rng, types, rows), schema)
            may_match, by_bounds = noting(bound)
            reader = RowSetReader(store, View.written(""), as_written(entry))
            found = reader.read(schema.fields, may_match=may_match, pruning_columns=[1, 2])
            kept = [part for _, part in found]
            expected = matching(bound, [batch])
            assert identical(matching(bound, [batch.slice(0, 0), *kept]), expected), seed
            fewer += by_bounds[0] - len(kept)
    assert fewer > 100


def batch_of(schema: TableSchema, rows: list[Row]) -> pa.RecordBatch:
    fields = arrow_schema(schema)
    arrays = [pa.array([row[field.name] for row in rows], field.type) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=fields)


def noting(bound: BoundPredicate) -> tuple[BoundsFilter, list[int]]:
    """What prunes by a predicate, and how many stretches it kept each time it was asked."""
    counts: list[int] = []

    def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
        kept = prune(bound, bounds)
        counts.append(int(kept.sum()))
        return kept

    return may_match, counts


def matching(bound: BoundPredicate, parts: list[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows that a predicate selects. Requires: at least one batch, which may be empty."""
    chosen = [part.filter(evaluate(bound, part).fill_null(False)) for part in parts]
    return pa.concat_batches(chosen)


LONGS = one_column("long")


def shuffled(rows: int) -> pa.RecordBatch:
    values = np.random.default_rng(1).permutation(rows) * 2
    return pa.RecordBatch.from_arrays([pa.array(values)], schema=arrow_schema(LONGS))


def test_only_filters_that_can_decide_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = RowSetSource.read

    def noted(self: RowSetSource, name: str, ranges: Any) -> Any:
        asked.extend(offset for offset, length in ranges if name.endswith(".idx") and length == 32)
        return real(self, name, ranges)

    monkeypatch.setattr(RowSetSource, "read", noted)
    store, entry = written(shuffled(100), LONGS, block_rows=20, bloom_columns=frozenset({1}))
    found = partial(read, store, entry, LONGS)
    for predicate in (col("x") > 30, col("x") != 4, (col("x") == 4) | col("x").is_not_null()):
        assert len(found(predicate)) == 5
    assert len(found(col("x").isin(range(300)))) == 5
    assert not found(col("x") == 1000)
    assert asked == []
    assert len(found(col("x") == 100)) == 1
    assert asked == [0, 32, 64, 96, 128]
    assert 1 <= len(found((col("x") == 100) | (col("x") == 102))) <= 2
    assert len(asked) == 10


@pytest.mark.slow
def test_many_filters_are_read_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    store, entry = written(shuffled(100), LONGS, bloom_columns=frozenset({1}))
    monkeypatch.setattr(filter_pruning, "_WINDOW_BYTES", 70)
    for value in range(0, 200, 2):
        assert 1 <= len(read(store, entry, LONGS, col("x") == value)) <= 3


@pytest.mark.parametrize("rows", [3, 10])
def test_a_damaged_filter_is_an_error_that_names_it(rows: int) -> None:
    store, entry = written(shuffled(rows), LONGS, bloom_columns=frozenset({1}))
    name = index_name("", entry.object, 1)
    data = bytearray(store.get(name))
    data[5] ^= 1
    store.put(name, bytes(data), sync=False)
    with pytest.raises(
        CorruptionError, match=rf"'x' \(id 1\).* block 0: its Bloom filter in .*{name}"
    ):
        read(store, entry, LONGS, col("x") == 2)
    # Whoever does not ask the filter is not disturbed.
    assert read(store, entry, LONGS, col("x") >= 0)
    store.delete(name)
    with pytest.raises(CorruptionError, match=f"{name} is missing"):
        read(store, entry, LONGS, col("x") == 2)


def test_blocks_of_one_stretch_are_asked_one_by_one() -> None:
    schema = one_column("string")
    rows = pa.record_batch({"x": [f"{i}" * 50 for i in range(40)]}, arrow_schema(schema))
    store, entry = written(
        rows, schema, block_rows=20, block_bytes=400, bloom_columns=frozenset({1})
    )
    for i in range(40):
        [(first, batch)] = read(store, entry, schema, col("x") == f"{i}" * 50)
        assert (first, batch.num_rows) == (i // 20 * 20, 20)
    assert not read(store, entry, schema, col("x") == "0x")


def test_a_stretch_without_a_filter_is_left_to_its_bounds() -> None:
    # A block of one value alone, and one of NULL, have no bytes and no filter.
    rows = [7] * 5 + [None] * 5 + list(range(1, 40, 8)) + list(range(2, 42, 8))
    batch = pa.RecordBatch.from_arrays([pa.array(rows, pa.int64())], schema=arrow_schema(LONGS))
    store, entry = written(batch, LONGS, bloom_columns=frozenset({1}))
    for value, firsts in ((7, [0]), (9, [10]), (10, [15]), (11, [])):
        assert [first for first, _ in read(store, entry, LONGS, col("x") == value)] == firsts
