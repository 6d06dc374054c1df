"""Values that have expired are NULL in what a reader returns, and nothing else changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.model.lifetimes import ColumnLifetime, Lifetimes
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.regions import Mask
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.predicate import bind, parse_predicate, prune
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored.masks import Masks
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from tests import strategies
from tests.log_samples import table_state
from tests.regions import between, inside, random_regions
from tests.tableformat.predicate.blocks import make_batch, make_schema
from tests.tableformat.rowset.written import PLACES, write

ROWS = 300_000


def reader_of(store: MemoryStore, entry: Any, *masks: Mask) -> RowSetReader:
    view = replace(View.written("t/"), masks={0: masks})
    return RowSetReader(store, view, as_written(entry))


def read(reader: RowSetReader, columns: Any, **more: Any) -> pa.Table:
    batches = [batch for _, batch in reader.read(columns, **more)]
    return pa.Table.from_batches(batches, arrow_schema(TableSchema(fields=tuple(columns))))


@pytest.mark.slow
@given(data=st.data())
def test_masked_values_are_null_and_all_others_are_as_stored(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    if not any(map(has_order, schema.fields)):
        return
    # A column whose values expire is nullable.
    fields = tuple(each.model_copy(update={"nullable": True}) for each in schema.fields)
    schema = TableSchema(fields=fields)
    seed = data.draw(st.integers(0, 2**32))
    rng = random.Random(seed)
    rows = strategies.make_batch(schema, data.draw(st.integers(1, 30)), seed)
    store = MemoryStore()
    [entry] = write(store, schema, rows, block_rows=4, **PLACES[rng.choice(sorted(PLACES))])
    masks = [
        Mask(column=rng.choice(fields).id, region=each)
        for each in random_regions(schema, rows, rng)
    ]
    chosen = rng.sample(fields, rng.randint(1, len(fields)))
    found = read(reader_of(store, entry, *masks), chosen)
    stored = pa.Table.from_batches([rows])
    for field in chosen:
        regions = [mask.region for mask in masks if mask.column == field.id]
        gone = pa.array(inside(regions, rows), pa.bool_())
        kept = stored[field.name].combine_chunks().filter(pa.compute.invert(gone))
        column = found[field.name].combine_chunks()
        assert column.filter(gone).null_count == sum(gone.to_pylist())
        shown = column.filter(pa.compute.invert(gone))
        assert strategies.identical(shown, kept)


def measures() -> tuple[TableSchema, pa.RecordBatch]:
    """Rows with nested values, whose times are mixed."""
    numbers = np.arange(ROWS)
    rng = np.random.default_rng(5)
    times = rng.integers(0, 1_000_000, ROWS)
    points = pa.StructArray.from_arrays(
        [pa.array(numbers), pa.array(numbers % 7).cast(pa.string())], names=["n", "text"]
    )
    offsets = pa.array(np.concatenate([[0], np.cumsum(numbers % 3)]).astype(np.int32))
    flat = pa.array(np.arange(int(offsets[-1].as_py())))
    lists = pa.ListArray.from_arrays(offsets, flat)
    maps = pa.MapArray.from_arrays(offsets, pa.array(np.arange(len(flat)) % 5).cast("string"), flat)
    rows = pa.record_batch(
        {
            "at": pa.array(times).view(pa.timestamp("us", "UTC")),
            "point": points,
            "list": lists,
            "map": maps,
            "note": pa.array(numbers).cast(pa.string()),
            "kept": pa.array(numbers),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    return schema, rows


@pytest.mark.slow
def test_nested_values_expire_as_a_whole_beside_values_that_stay() -> None:
    schema, rows = measures()
    store = MemoryStore()
    [entry] = write(store, schema, rows, block_rows=8_192, **PLACES["packed"])
    fields = {each.name: each for each in schema.fields}
    old = between(fields["at"], None, 400_000)
    older = between(fields["at"], None, 100_000, high_open=True)
    masks = [Mask(column=fields[name].id, region=old) for name in ("point", "list", "map")]
    masks.append(Mask(column=fields["note"].id, region=older))
    reader = reader_of(store, entry, *masks)
    wanted = [fields[name] for name in ("note", "map", "kept", "point", "list")]
    found = read(reader, wanted)
    times = rows["at"].view(pa.int64()).to_numpy()
    for name in ("point", "list", "map", "note"):
        gone = times < 100_000 if name == "note" else times <= 400_000
        column = found[name].combine_chunks()
        assert np.array_equal(column.is_null().to_numpy(False), gone)
        assert column.filter(pa.array(~gone)).equals(
            rows[name].filter(pa.array(~gone)).cast(column.type)
        )
    assert found["kept"].to_pylist() == list(range(ROWS))
    assert found.column_names == [each.name for each in wanted]


def test_a_column_that_decides_is_read_beside_the_others_and_not_returned() -> None:
    schema = make_schema({"a": "long", "b": "long", "c": "long"})
    a, b, c = schema.fields
    masks = Masks(
        [Mask(column=a.id, region=between(b, 5)), Mask(column=c.id, region=between(b, 1))], [a]
    )
    assert masks.added == (b,)
    assert Masks([Mask(column=a.id, region=between(b, 5))], [a, b]).added == ()
    assert Masks([Mask(column=a.id, region=between(b, 5))], [b, c]).added == ()
    rows = make_batch(TableSchema(fields=(a, b)), [{"a": 1, "b": 4}, {"a": 2, "b": 5}])
    assert masks.apply(rows).to_pydict() == {"a": [1, None]}


def test_a_reader_without_masks_returns_the_batch_itself() -> None:
    schema = make_schema({"a": "long"})
    rows = make_batch(schema, [{"a": 1}])
    assert Masks([], schema.fields).apply(rows) is rows
    may_match = partial(prune, bind(parse_predicate("a = 1"), schema))
    assert Masks([], schema.fields).with_open_nulls(may_match) is may_match


@pytest.mark.parametrize(("age_ms", "gone"), [(999, 0), (1000, 40), (10**9, 40)])
@pytest.mark.parametrize("stated", [True, False], ids=["stated", "not stated"])
def test_values_expire_some_time_after_the_write_of_a_rowset_that_stores_no_times(
    age_ms: int, gone: int, stated: bool
) -> None:
    """The log says when all rows of such a RowSet were written, or when they count as written."""
    schema = make_schema({"a": "long"})
    store = MemoryStore()
    rows = make_batch(schema, [{"a": at} for at in range(40)])
    [entry] = write(store, schema, rows, block_rows=16)
    now_ms = 10**12
    written = now_ms - age_ms
    lives = Lifetimes(
        columns=(ColumnLifetime(column=1, ms=1000),), since_ms=1 if stated else written
    )
    dated = entry.model_copy(update={"written_ms": (written, written)}) if stated else entry
    table = replace(table_state(schema), lifetimes=lives)
    view = replace(view_of(table, [as_written(dated)], now_ms), prefix="t/")
    found = read(RowSetReader(store, view, *view.rowsets), schema.fields)
    assert found["a"].null_count == gone


@pytest.mark.parametrize(
    ("where", "matches"),
    [
        ("a IS NULL", lambda a: a is None),
        ("a = 21", lambda a: a == 21),
        ("NOT (a = 21)", lambda a: a is not None and a != 21),
        ("a >= 16", lambda a: a is not None and a >= 16),
        ("a <=> NULL", lambda a: a is None),
    ],
)
def test_blocks_with_masked_values_are_not_skipped_by_what_they_store(
    where: str, matches: Callable[[int | None], bool]
) -> None:
    schema = make_schema({"a": "long", "at": "long"})
    a, at = schema.fields
    store = MemoryStore()
    rows = make_batch(schema, [{"a": each, "at": each % 2} for each in range(64)])
    [entry] = write(store, schema, rows, block_rows=16, bloom_columns=(a.id,))
    bound = bind(parse_predicate(where), schema)
    reader = reader_of(store, entry, Mask(column=a.id, region=between(at, None, 0)))
    found = read(reader, [a], may_match=partial(prune, bound), pruning_columns=[a.id])
    ranges = reader.matching_ranges([a], [(0, 64)], partial(prune, bound))
    shown = [None if each % 2 == 0 else each for each in range(64)]
    assert set(found["a"].to_pylist()) >= {each for each in shown if matches(each)}
    for row in (row for row, each in enumerate(shown) if matches(each)):
        assert any(first <= row < end for first, end in ranges)
