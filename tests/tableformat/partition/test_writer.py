"""A task's rows by partition: each RowSet of one, and memory within its bound."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.partition_layout import parse_layout
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.partition.writer import PartitionedWriter
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.storage_form import to_storage
from tests.faults import Fault, FaultyStore

JOB = "0" * 16
SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="k", type="long"),
        SchemaField(id=2, name="s", type="string"),
        SchemaField(id=3, name="n", type="int"),
    )
)
KEY = (SortField(column=3, descending=True), SortField(column=1))
SMALL = WriteOptions(run_bytes=2_000, block_rows=50, inline_bytes=0, packed_bytes=300)


def writer(store: ObjectStore, layout: list[str], **changed: Any) -> PartitionedWriter:
    chosen = {"options": SMALL, **changed}
    return PartitionedWriter(store, "", JOB, SCHEMA, parse_layout(layout, SCHEMA), **chosen)


def batch(order: random.Random, rows: int, keys: int) -> pa.RecordBatch:
    columns = {
        "k": [order.choice((None, order.randrange(keys))) for _ in range(rows)],
        "s": [order.choice((None, "", "a", "ab", "é")) for _ in range(rows)],
        "n": [order.choice((None, order.randrange(50))) for _ in range(rows)],
    }
    return pa.RecordBatch.from_pydict(columns, arrow_schema(SCHEMA))


def by_key(row: dict[str, Any]) -> tuple[Any, ...]:
    """The order of KEY: NULL is last descending and first ascending."""
    n, k = row["n"], row["k"]
    return n is None, -(n or 0), k is not None, k or 0


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from((["bucket(5, k)"], ["s", "truncate(10, k)"], ["k"])),
    st.sampled_from(((), KEY)),
)
def test_each_rowset_holds_rows_of_its_partition_and_origins_name_them(
    seed: int, layout: list[str], sort_key: tuple[SortField, ...]
) -> None:
    order, store = random.Random(seed), MemoryStore()
    given_rows: list[Any] = []
    with writer(store, layout, sort_key=sort_key) as out:
        for _ in range(order.randint(0, 12)):
            rows = batch(order, order.randint(0, 60), order.choice((2, 400)))
            origin = np.arange(len(given_rows), len(given_rows) + rows.num_rows)
            out.write_storage(to_storage(rows, SCHEMA), origin)
            given_rows += rows.to_pylist()
        entries = out.close()
    found: list[Any] = []
    for entry in entries:
        own = [
            b
            for _, b in RowSetReader(store, View.written(""), as_written(entry)).read(SCHEMA.fields)
        ]
        for each in own:
            arrays = dict(zip((1, 2, 3), to_storage(each, SCHEMA), strict=True))
            _, partitions = divide(parse_layout(layout, SCHEMA), SCHEMA, arrays)
            assert partitions == [entry.partition]
        rows_of_it = [row for each in own for row in each.to_pylist()]
        if sort_key:
            keys = [
                (r["n"] is None, -(r["n"] or 0), r["k"] is not None, r["k"]) for r in rows_of_it
            ]
            assert keys == sorted(keys, key=lambda key: (*key[:3], key[3] or 0))
        found += rows_of_it
    assert [given_rows[place] for each in out.take_origins() for place in each] == found
    assert Counter(map(str, found)) == Counter(map(str, given_rows))


@pytest.mark.slow
@pytest.mark.parametrize("sort_key", [(), KEY])
def test_memory_stays_within_a_run_however_many_partitions_there_are(
    sort_key: tuple[SortField, ...],
) -> None:
    # 1 MB of rows in 100 partitions, in random order, through runs of 200 kB.
    options = WriteOptions(run_bytes=200_000)
    order, rows = np.random.default_rng(7), 1_000
    texts = pa.array(["x" * 100] * rows)
    before = most = pa.total_allocated_bytes()
    with writer(MemoryStore(), ["bucket(100, k)"], options=options, sort_key=sort_key) as out:
        for _ in range(8):
            keys = pa.array(order.integers(0, 10**9, rows))
            numbers = pa.array(order.integers(0, 10**6, rows), pa.int32())
            columns = [keys, texts, numbers]
            out.write(pa.RecordBatch.from_arrays(columns, schema=arrow_schema(SCHEMA)))
            most = max(most, pa.total_allocated_bytes())
        entries = out.close()
    assert most - before < 2 * options.run_bytes
    assert sum(entry.rows for entry in entries) == 8 * rows
    assert len({entry.partition for entry in entries}) == 100


@pytest.mark.slow
def test_few_partitions_make_few_rowsets() -> None:
    order, options = random.Random(3), WriteOptions(run_bytes=20_000, block_rows=10, packed_bytes=0)
    with writer(MemoryStore(), ["bucket(4, k)"], options=options) as out:
        for _ in range(30):
            out.write(batch(order, 100, 10**6))
        entries = out.close()
    assert len(entries) == 5  # one of them of NULL


def write_all(store: ObjectStore, layout: list[str], batches: list[pa.RecordBatch]) -> int:
    """Write batches; the number of RowSets."""
    with writer(store, layout) as out:
        for each in batches:
            out.write(each)
        return len(out.close())


def test_a_value_too_long_for_the_log_is_refused_and_nothing_is_left() -> None:
    store = MemoryStore()
    rows = {"k": [1, 2], "s": ["a", "é" * 513], "n": [0, 0]}
    long = pa.RecordBatch.from_pydict(rows, arrow_schema(SCHEMA))
    with pytest.raises(InvalidInputError, match=r"'s' cannot be partitioned by: .* 1026 bytes"):
        write_all(store, ["s"], [batch(random.Random(1), 200, 3), long])
    assert not list(store.list(""))
    assert write_all(store, ["truncate(512, s)"], [long]) == 2


def test_a_store_that_fails_leaves_no_file_of_any_partition() -> None:
    store = MemoryStore()
    batches = [batch(random.Random(seed), 50, 30) for seed in range(20)]
    with pytest.raises(StoreError):
        write_all(FaultyStore(store, {40: Fault.FAIL_BEFORE}), ["k"], batches)
    assert not list(store.list(""))


def test_a_writer_is_used_once() -> None:
    out = writer(MemoryStore(), ["k"])
    out.close()
    with pytest.raises(InvalidInputError, match="closed or aborted"):
        out.write(batch(random.Random(1), 1, 3))
