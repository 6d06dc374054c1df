"""Rows of columns as encoded blocks, several at a time.

Encoding releases the interpreter for most of its time, so threads share it. Blocks come in the
order of the rows, and their bytes do not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

import pyarrow as pa

from colonnade.tableformat.jobs import JobRunner, Stop, run_in_order
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.bloom_filter import encode_filter
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.types.array_size import array_bytes

_MANY_ROWS = 16_384
"""Fewer rows are encoded in about the time that a thread takes to begin."""

_MOST_THREADS = 4
"""Each thread adds two decoded blocks to the memory of a write."""


class EncodedBlock(NamedTuple):
    """A block of a column. `bloom` is its Bloom filter, which is empty if it has none."""

    entry: BlockEntry
    data: Sequence[pa.Buffer]
    bloom: bytes


class BlockTarget(Protocol):
    """What takes the blocks of one column."""

    column: StoredColumn
    has_filters: bool


Target = TypeVar("Target", bound=BlockTarget)


def encode_blocks(
    arrays: Iterable[tuple[Target, pa.Array]], rows: int, block_bytes: int
) -> Generator[tuple[Target, EncodedBlock], None, None]:
    """Encode storage values as blocks of at most `block_bytes` decoded bytes, or of one row.

    `rows` is the length of each array. If it is large, threads encode a few blocks ahead. The
    caller closes the generator. Raises the errors of `encode_block`.
    """
    pieces = ((target, each) for target, array in arrays for each in _pieces(array, block_bytes))
    if rows < _MANY_ROWS:
        yield from map(_encoded, pieces)
        return
    threads = min(_MOST_THREADS, pa.cpu_count())
    encoder: JobRunner[tuple[Target, pa.Array], tuple[Target, EncodedBlock]]
    encoder = JobRunner(_encoded, threads)
    yield from run_in_order(encoder, pieces, held=2 * threads)


def _encoded(
    piece: tuple[Target, pa.Array], stop: Stop | None = None
) -> tuple[Target, EncodedBlock]:
    if stop is not None:
        stop.check()
    target, array = piece
    entry, data = encode_block(array, target.column)
    bloom = encode_filter(array, target.column) if target.has_filters and data else b""
    return target, EncodedBlock(entry, data, bloom)


def _pieces(array: pa.Array, block_bytes: int) -> Iterator[pa.Array]:
    if len(array) == 1 or array_bytes(array) <= block_bytes:
        yield array
        return
    half = len(array) // 2
    yield from _pieces(array.slice(0, half), block_bytes)
    yield from _pieces(array.slice(half), block_bytes)
