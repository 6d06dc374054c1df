"""An index survives its bytes, sums up its blocks, and is refused where blocks have gaps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import Order
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.sparse_index import (
    bounds_of,
    decode_index,
    encode_index,
    index_of,
    index_of_one,
)
from tests.examples_of import examples

VALUES: dict[Order, st.SearchStrategy[Any]] = {
    Order.INTEGER: st.integers(-(2**63), 2**63 - 1),
    Order.FLOAT: st.floats(allow_nan=False),
    Order.DECIMAL: st.integers(-(10**37), 10**37),
}


@st.composite
def entries(draw: st.DrawFn, order: Order, min_size: int = 1) -> list[BlockEntry]:
    made = []
    for _ in range(draw(st.integers(min_size, 4))):
        low = high = None
        if draw(st.booleans()):
            low, high = sorted(draw(st.tuples(VALUES[order], VALUES[order])))
        rows = draw(st.integers(1, 100))
        nulls = rows if low is None and draw(st.booleans()) else 0
        made.append(
            BlockEntry(
                rows=rows,
                length=draw(st.integers(0, 2**32 - 1)),
                decoded=draw(st.integers(0, 2**32 - 1)),
                crc32c=draw(st.integers(0, 2**32 - 1)),
                encoding="plain",
                base=None,
                statistics=Statistics(nulls, 0, low, high, draw(st.booleans())),
            )
        )
    return made


ORDERS = st.sampled_from(sorted(VALUES, key=lambda each: each.name))


@settings(max_examples=examples(40))
@given(st.data(), ORDERS)
def test_an_index_and_its_bytes_say_the_same_of_every_block(
    data: st.DataObject, order: Order
) -> None:
    blocks = data.draw(entries(order))
    made = index_of(blocks)
    read = decode_index(encode_index(blocks, order), order, False, "x")
    assert [*read.entries] == blocks == [*made.entries]
    ends = [sum(each.rows for each in blocks[:n]) for n in range(len(blocks) + 1)]
    assert read.first_rows.tolist() == made.first_rows.tolist() == ends
    assert read.offsets.tolist() == made.offsets.tolist()
    assert read.offsets[-1] == sum(each.length for each in blocks)
    assert [*read.checksums] == [*made.checksums]
    assert read.whole() == made.whole()
    known = bounds_of([each.statistics for each in blocks], "i").known.tolist()
    assert known == [each.statistics.low is not None for each in blocks]


@settings(max_examples=20)
@given(st.data(), ORDERS)
def test_the_index_of_one_block_is_that_of_a_list_with_it(
    data: st.DataObject, order: Order
) -> None:
    [block] = data.draw(entries(order))[:1]
    one, many = index_of_one(block), index_of([block])
    assert one.first_rows.tolist() == many.first_rows.tolist()
    assert one.offsets.tolist() == many.offsets.tolist()
    assert one.whole() == many.whole()
    assert [*one.entries] == [*many.entries]


@settings(max_examples=20)
@given(st.data())
def test_an_index_of_another_kind_of_column_is_refused(data: st.DataObject) -> None:
    encoded = encode_index(data.draw(entries(Order.INTEGER)), Order.INTEGER)
    for order, filters in ((Order.FLOAT, False), (Order.INTEGER, True)):
        with pytest.raises(ValueError, match="its columns are not those of an index"):
            decode_index(encoded, order, filters, "x")


def test_an_impossible_block_is_refused() -> None:
    statistics = Statistics(0, 0, 1, 2, True)
    block = BlockEntry(0, 1, 1, 1, "plain", None, statistics)
    with pytest.raises(ValueError, match="an impossible block"):
        decode_index(encode_index([block, block], Order.INTEGER), Order.INTEGER, False, "x")
