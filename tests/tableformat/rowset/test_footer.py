"""The footer states its version, and a block in it is as good as one in an index."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.block_statistics import to_log
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.footer import (
    Block,
    ColumnSegment,
    Filters,
    block_of,
    entry_of,
)

COLUMN = column_of(SchemaField(id=1, name="n", type="long"))
STATISTICS = ColumnStatistics(min="i:0", max="i:9", nulls=0)
BLOCK = Block(crc32c=1, encoding="plain")


def segment(filters: Filters | None = None) -> ColumnSegment:
    return ColumnSegment(
        type="long",
        offset=0,
        length=80,
        decoded=80,
        block=BLOCK,
        filters=filters,
        statistics=STATISTICS,
    )


def test_a_block_comes_back_from_the_footer() -> None:
    entry, _ = encode_block(pa.array(range(1000), pa.int64()), COLUMN)
    made = ColumnSegment(
        type="long",
        offset=0,
        length=entry.length,
        decoded=entry.decoded,
        block=block_of(entry),
        statistics=to_log(entry.statistics, "i"),
    )
    stored = ColumnSegment.model_validate_json(made.model_dump_json())
    assert stored.block is not None
    assert entry_of(stored.block, stored, 1000, COLUMN.bound_prefix) == entry


@pytest.mark.parametrize(
    "filters", [Filters(offset=80, length=64), Filters(offset=80, length=7, crc32c=1)]
)
def test_a_filter_that_no_writer_makes_is_damage(filters: Filters) -> None:
    with pytest.raises(CorruptionError, match="Bloom filter"):
        entry_of(BLOCK, segment(filters), 10, COLUMN.bound_prefix)


def test_bounds_of_another_kind_are_damage() -> None:
    wrong = segment().model_copy(update={"statistics": ColumnStatistics(min="s:a", max="s:b")})
    with pytest.raises(CorruptionError):
        entry_of(BLOCK, wrong, 10, COLUMN.bound_prefix)
