"""The footer of a RowSet: where every column segment and index is, and the column statistics.

The footer is one sealed JSON object. It is `rowset.json` in a directory, and the end of a packed or
inline RowSet. The log states the length and checksum of the footer, the footer those of each index,
and an index those of each block. A column segment of one block has its index row in the footer
(`block`) instead of an index.

Spec: docs/spec/rowset.md#footer
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import numpy as np
from pydantic import Field

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.entries import (
    ColumnNumber,
    ColumnStatistics,
    Count,
    Crc32c,
    RowCount,
)
from colonnade.manifests.model.schema import Model
from colonnade.manifests.model.statistics import WHOLE, decode_bound
from colonnade.tableformat.rowset.block_statistics import from_log
from colonnade.tableformat.rowset.bloom_filter import is_filter_length
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.encodings.registry import ENCODINGS

FOOTER_LIMIT = 2**30
"""The most bytes of a footer."""

if TYPE_CHECKING:
    EncodingName: TypeAlias = str
else:
    EncodingName = Literal[tuple(ENCODINGS)]

Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class Extent(Model):
    """Some bytes of an object, with their checksum."""

    offset: Count
    length: Count
    crc32c: Crc32c


class Block(Model):
    """The only block of a column segment; it has the rows and bounds of the segment."""

    crc32c: Crc32c
    encoding: EncodingName
    base: Int64 | None = None


class Filters(Model):
    """The Bloom filters of the blocks, back to back in the object that has the index.

    The index states their lengths and checksums. Without an index there is one filter, whose
    checksum is here.
    """

    offset: Count
    length: Count
    crc32c: Crc32c | None = None


class ColumnSegment(Model):
    """One column of a RowSet.

    `offset` counts from the start of the column's own file in a directory, and otherwise from the
    start of the RowSet's object. `type` is the type of the column that its values were written
    with, as the log states it; of a nested type only `array`, `map` or `struct`. `decoded` is at
    least the bytes of the rows as Arrow arrays. Exactly one of `index` and `block` is set.
    """

    type: str
    offset: Count
    length: Count
    decoded: Count
    index: Extent | None = None
    block: Block | None = None
    filters: Filters | None = None
    statistics: ColumnStatistics


class Footer(Model):
    """The footer: rows and cuts, both equal to the log entry's, and the segments by column id."""

    format_version: Literal[1] = 1
    rows: RowCount
    cuts: RowCount | tuple[RowCount, ...]
    columns: dict[ColumnNumber, ColumnSegment]


def written_ms(columns: Mapping[int, ColumnSegment]) -> tuple[int, int] | None:
    """Return when the first and the last row were written, in ms since 1970 UTC.

    Returns None if the column of it is not stored. Raises CorruptionError if it has no such bounds.
    """
    segment = columns.get(WRITTEN.id)
    if segment is None:
        return None
    bounds = segment.statistics.min, segment.statistics.max
    first, last = (int(decode_bound(str(each), WHOLE)) for each in bounds)
    return first // 1000, -(-last // 1000)


def block_of(entry: BlockEntry) -> Block:
    """Return the index row of a segment's only block in the form of the footer."""
    return Block(crc32c=entry.crc32c, encoding=entry.encoding, base=entry.base)


def entry_of(block: Block, segment: ColumnSegment, rows: int, prefix: str) -> BlockEntry:
    """Return the index row of a segment's only block.

    Raises CorruptionError for bounds that cannot be read or are of another kind, and for an
    impossible filter.
    """
    filters, of_filter = segment.filters, (0, 0)
    if filters is not None:
        if filters.crc32c is None or not is_filter_length(np.array(filters.length)):
            raise CorruptionError("its Bloom filter has an impossible length or no checksum.")
        of_filter = filters.length, filters.crc32c
    return BlockEntry(
        rows,
        segment.length,
        segment.decoded,
        block.crc32c,
        block.encoding,
        block.base,
        from_log(segment.statistics, prefix),
        *of_filter,
    )
