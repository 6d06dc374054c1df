"""The footer of a RowSet: where every segment and index lies, and what is known of the columns.

It is one sealed JSON object: `rowset.json` in a directory, the end of a packed or inline RowSet.
The log states its length and checksum; it states those of each index, an index those of each
block. A segment of one block has its index row here (`block`) instead of an index.
Spec: docs/spec/rowset.md#footer
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from manifests.entries import ColumnNumber, ColumnStatistics, Count, Crc32c, RowCount
from manifests.schema import Model
from manifests.statistics import BoundKinds
from tableformat.block import BlockEntry
from tableformat.block_statistics import from_log

FOOTER_LIMIT = 2**30
"""No footer is larger, in bytes."""

Int64 = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class Extent(Model):
    """Some bytes of an object, with their checksum."""

    offset: Count
    length: Count
    crc32c: Crc32c


class Block(Model):
    """The only block of a segment; its rows and bounds are those of the segment."""

    crc32c: Crc32c
    encoding: Literal["plain", "dictionary", "narrowed", "lengths", "constant", "null"]
    base: Int64 | None = None


class Segment(Model):
    """One column of a RowSet.

    `offset` counts from the start of the column's own file in a directory, else from that of the
    RowSet. `decoded` bounds the bytes of the rows as Arrow arrays. Exactly one of `index` and
    `block` is there.
    """

    offset: Count
    length: Count
    decoded: Count
    index: Extent | None = None
    block: Block | None = None
    statistics: ColumnStatistics


class Footer(Model):
    """Rows, cuts (both as in the log's entry) and the segments by column id.

    Version 1 is read too: it lacks the encoding `lengths`.
    """

    format_version: Literal[1, 2] = 2
    rows: RowCount
    cuts: RowCount | tuple[RowCount, ...]
    columns: dict[ColumnNumber, Segment]


def block_of(entry: BlockEntry) -> Block:
    """The index row of a lone block as the footer has it."""
    return Block(crc32c=entry.crc32c, encoding=entry.encoding, base=entry.base)  # type: ignore[arg-type]


def entry_of(block: Block, segment: Segment, rows: int, kinds: BoundKinds) -> BlockEntry:
    """The index row of the lone block of a segment.

    Raises CorruptionError for bounds that cannot be read or are of other kinds.
    """
    return BlockEntry(
        rows,
        segment.length,
        segment.decoded,
        block.crc32c,
        block.encoding,
        block.base,
        from_log(segment.statistics, kinds),
    )
