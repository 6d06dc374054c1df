"""What every encoding is given and returns: the index row of a block, and encoded rows."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from colonnade.tableformat.rowset.block_statistics import Statistics


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """What the index states about a block.

    `length` and `crc32c` describe the stored bytes; `decoded` is at least the bytes that the rows
    take as an Arrow array. The Bloom filter has `filter_length` bytes, 0 when there is none.
    """

    rows: int
    length: int
    decoded: int
    crc32c: int
    encoding: str
    base: int | None
    statistics: Statistics
    filter_length: int = 0
    filter_crc32c: int = 0


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded block before it becomes bytes. `base` is what the index states of it."""

    encoding: str
    stream: pa.Array | None
    base: int | None = None
