"""Statistics of a block cover every value, and are merged and shortened without loss."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.tableformat.rowset import block_statistics
from colonnade.tableformat.rowset.block import (
    encode_block,
)
from colonnade.tableformat.rowset.block_statistics import Statistics, measure, merge, shorten
from colonnade.tableformat.rowset.column import Order, StoredColumn, column_of
from colonnade.tableformat.types.storage_form import to_storage
from tests.examples_of import examples
from tests.strategies import batches, schemas
from tests.tableformat.rowset.encoded import column, round_trip


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()])
def test_the_first_of_equal_zeros_is_the_bound_on_every_processor(type_: pa.DataType) -> None:
    rng = np.random.default_rng(3)
    name = "float" if type_ == pa.float32() else "double"
    for count in (1, 2, 7, 33, 1000):
        values = np.where(rng.random(count) < 0.5, 0.0, -0.0)
        for array in (values, np.append(np.nan, values)):
            statistics = encode_block(pa.array(array, type_), column(name))[0].statistics
            assert repr((statistics.low, statistics.high)) == repr((values[0].item(),) * 2)


@pytest.mark.parametrize(("type_", "quiet"), [("float32", 2**22), ("float64", 2**51)])
def test_a_nan_of_any_bits_is_no_bound(type_: str, quiet: int) -> None:
    whole = f"u{np.dtype(type_).itemsize}"
    infinite = int(np.array([np.inf], type_).view(whole)[0])
    sign = int(np.array([-0.0], type_).view(whole)[0])
    for bits in (infinite + 1, infinite + sign + 1, infinite + quiet, infinite + sign + quiet + 7):
        for count in (2, 3, 5, 17, 64, 200):
            for at in {0, 1, count // 2, count - 1}:
                values = np.arange(count).astype(type_)
                values.view(whole)[at] = bits
                found = measure(pa.array(values, from_pandas=False), Order.FLOAT, 0)
                low, high = (1 if at == 0 else 0), (count - 2 if at == count - 1 else count - 1)
                assert (found.nans, found.low, found.high) == (1, low, high), (bits, count, at)


def in_order(value: Any) -> Any:
    return value.encode("utf-32-be") if isinstance(value, str) else value


TEXTS = st.text(st.sampled_from("a\x00\x7fé\ud7ff\ue000\U0001f600\U0010ffff"), max_size=9)
BYTES = st.binary(max_size=9) | st.lists(st.sampled_from([0, 255, 254]), max_size=9).map(bytes)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.one_of(st.lists(TEXTS, min_size=1), st.lists(BYTES, min_size=1)), st.integers(1, 5))
def test_short_bounds_still_cover_every_value(values: list[Any], length: int) -> None:
    low, high = min(values, key=in_order), max(values, key=in_order)
    short = shorten(Statistics(0, 0, low, high), length)
    if short.low is None or short.high is None:
        limit = "\U0010ffff" if isinstance(high, str) else b"\xff"
        assert short.low is short.high is None
        assert high[:length] == limit * length
        return
    assert isinstance(short.low, str | bytes)
    assert isinstance(short.high, str | bytes)
    assert max(len(short.low), len(short.high)) <= length
    assert all(in_order(short.low) <= in_order(value) <= in_order(short.high) for value in values)
    assert short.exact == ((short.low, short.high) == (low, high))
    if isinstance(short.high, str):
        short.high.encode("utf-8")


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_bounds_cover_every_value_and_counts_are_right(data: st.DataObject) -> None:
    schema = data.draw(schemas(nested=False))
    batch = data.draw(batches(schema, min_rows=1, max_rows=40))
    for array, field in zip(to_storage(batch, schema), schema.fields, strict=True):
        of = column_of(field)
        half = len(array) // 2
        parts = [part for part in (array.slice(0, half), array.slice(half)) if len(part)]
        one = encode_block(array, of)[0].statistics
        both = merge([encode_block(p, of)[0].statistics for p in parts], [len(p) for p in parts])
        values = array.to_pylist() if of.order is Order.FLOAT else comparable(array, of)
        nans = sum(value is not None and value != value for value in values)
        present = [value for value in values if value is not None and value == value]
        for statistics in (one, both):
            assert (statistics.nulls, statistics.nans) == (array.null_count, nans)
            if of.order is Order.NONE or not present:
                assert statistics.low is statistics.high is None
                continue
            assert statistics.low is not None
            assert statistics.high is not None
            assert all(statistics.low <= value <= statistics.high for value in present)
            if statistics.exact:
                assert statistics.low in present
                assert statistics.high in present


def comparable(array: pa.Array, of: StoredColumn) -> list[Any]:
    """The values as bounds have them, made another way than the writer does."""
    if pa.types.is_decimal(array.type):
        values = array.to_pylist()
        return [None if value is None else int(f"{value:f}".replace(".", "")) for value in values]
    if of.order is Order.INTEGER and not pa.types.is_boolean(array.type):
        width = pa.int32() if array.type.bit_width == 32 else pa.int64()
        small = array.type.bit_width < 32
        array = array if small else array.view(width)
    return list(array.to_pylist())


def test_an_infinite_float_is_a_bound() -> None:
    entry = round_trip(pa.array([math.inf, -math.inf, math.nan]), column("double"))
    assert (entry.statistics.low, entry.statistics.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_long_values_have_the_bounds_that_they_have_uncut(
    kind: pa.DataType, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(str(kind))
    order = Order.BINARY if "binary" in str(kind) else Order.STRING
    for _ in range(200):
        stems = ["é" * 64, "a" * 63, "a" * 64, "a" * 65, "\U0010ffff" * 65, "b"]
        texts = [chance.choice(stems) + "z" * chance.choice((0, 1, 5_000)) for _ in range(3)]
        if chance.random() < 0.3:
            texts = [each[: chance.choice((63, 64, 65))] for each in texts]
        values = [None, *texts] if chance.random() < 0.3 else [*texts, "y" * 9_000]
        array = pa.array(values, pa.string()).cast(kind)
        found = measure(array, order, array.null_count)
        monkeypatch.setattr(block_statistics, "_LONG_BYTES", 2**40)
        assert measure(array, order, array.null_count) == found
        monkeypatch.undo()
