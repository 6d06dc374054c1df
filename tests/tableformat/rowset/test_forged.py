"""Bytes that a checksum covers but no writer makes are an error, and never end the process."""

from __future__ import annotations

import base64
import multiprocessing
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pyarrow as pa
import pytest
from google_crc32c import value as crc32c

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.model.codec import byte_check, encode_model
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset import sparse_index
from colonnade.tableformat.rowset.block import decode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import Order, StoredColumn, column_of
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.footer import Footer
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.sparse_index import decode_index, encode_index
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.storage_form import relabel
from tests.examples_of import examples
from tests.tableformat.rowset.encoded import column, encode_block

TYPES = {
    "text": pa.string(),
    "binary": pa.binary(),
    "list": pa.list_(pa.list_(pa.string())),
    "struct": pa.struct([("x", pa.string()), ("y", pa.int64())]),
    "map": pa.map_(pa.string(), pa.float64()),
    "decimal": pa.decimal128(38, 3),
}
VALUES: dict[str, list[Any]] = {
    "text": [f"a value {i}" for i in range(90)],
    "binary": [bytes(range(i)) for i in range(90)],
    "list": [[["a", "bc"], [], None, ["d" * i]] for i in range(90)],
    "struct": [None if i % 7 == 0 else {"x": "z" * i, "y": i} for i in range(90)],
    "map": [[("k" * i, 0.5), ("m", None)] for i in range(90)],
    "decimal": [None if i % 7 == 0 else i for i in range(90)],
}
REPEATED = ("few texts", "many texts")


def changes(data: bytes, times: int, seed: str) -> Iterator[bytes]:
    """The same bytes with up to four runs of them changed, as a forger would."""
    rng = random.Random(seed)
    for _ in range(times):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            at, length = rng.randrange(len(data)), rng.choice((1, 2, 4, 8))
            changed[at : at + length] = rng.choice((b"\xff", b"\x00", b"\x7f", b"\x80")) * length
        yield bytes(changed[: len(data)])


def forged_block(kind: str) -> tuple[BlockEntry, bytes, StoredColumn]:
    if kind in REPEATED:
        texts = [f"text {i % 5}" if kind == "few texts" else f"{i:x}" for i in range(400)]
        array, of = pa.array(texts), column("string")
    else:
        schema = schema_from_arrow(pa.schema([("a", TYPES[kind])]))
        of = column_of(assign_ids(schema, 1)[0].fields[0])
        array = relabel(pa.array(VALUES[kind], TYPES[kind]), of.type)
    entry, data = encode_block(array, of)
    assert data is not None
    return entry, data.to_pybytes(), of


def read_forged_blocks(kind: str, times: int) -> set[str]:
    entry, whole, of = forged_block(kind)
    found = set()
    for data in changes(whole, times, kind):
        forged = BlockEntry(
            entry.rows, len(data), 2**20, crc32c(data), entry.encoding, 0, Statistics(0)
        )
        try:
            array = decode_block(pa.py_buffer(data), forged, of)
        except ValueError:
            found.add("refused")
        else:
            assert len(array) == entry.rows
            # Reads each value, and so every byte that the block leads to.
            pa.concat_arrays([array.take(pa.array([row])) for row in range(len(array))])
            found.add("read")
    return found


def read_forged_indexes(order: Order, times: int) -> set[str]:
    bounds = ("a" * 30, "b" * 40) if order is Order.STRING else (3, 10**9)
    blocks = [
        BlockEntry(9, 100 + i, 300, i, "plain", None, Statistics(i % 3, 0, *bounds))
        for i in range(20)
    ]
    found = set()
    for data in changes(encode_index(blocks, order), times, order.name):
        try:
            index = decode_index(data, order, False, "an index")
        except (ValueError, UnsupportedFormatError):
            found.add("refused")
        else:
            assert len(index.entries) == len(index.offsets) - 1
            index.whole()
            found.add("read")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TYPES, *REPEATED])
def test_a_forged_block_never_ends_the_process(kind: str) -> None:
    assert in_a_process(read_forged_blocks, kind, examples(1000)) == {"refused", "read"}


@pytest.mark.slow
@pytest.mark.parametrize("order", [Order.STRING, Order.INTEGER])
def test_a_forged_index_never_ends_the_process(order: Order) -> None:
    assert in_a_process(read_forged_indexes, order, examples(2000)) == {"refused", "read"}


def in_a_process(work: Any, *arguments: Any) -> Any:
    """Run a function elsewhere: where a process ends, only its caller learns of it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


@pytest.mark.parametrize(
    "entry",
    [
        BlockEntry(65536, 0, 9, 0, "constant", None, Statistics(0, 0, "x" * 2**15, "x" * 2**15)),
        BlockEntry(2**32 - 1, 0, 9, 0, "constant", None, Statistics(0, 0, "x", "x")),
        BlockEntry(2**32 - 1, 0, 9, 0, "null", None, Statistics(2**32 - 1)),
    ],
)
def test_a_block_without_bytes_is_refused_where_its_rows_would_take_too_many(
    entry: BlockEntry,
) -> None:
    with pytest.raises(ValueError, match="its rows would take [0-9]+ bytes; at most"):
        decode_block(None, entry, column("string"))


def test_an_index_of_too_many_blocks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    block = BlockEntry(9, 100, 300, 0, "plain", None, Statistics(0, 0, 1, 2))
    data = encode_index([block] * 5, Order.INTEGER)
    assert len(decode_index(data, Order.INTEGER, False, "an index").entries) == 5
    monkeypatch.setattr(sparse_index, "BLOCK_LIMIT", 4)
    with pytest.raises(ValueError, match="it describes 5 blocks; at most 4 are allowed"):
        decode_index(data, Order.INTEGER, False, "an index")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "cuts"), [(2**32 - 1, 1), (2**20 + 1, tuple(range(1, 2**20 + 2)))]
)
def test_cuts_that_make_too_many_stretches_are_refused(rows: int, cuts: Any) -> None:
    footer = encode_model(Footer(rows=rows, cuts=cuts, columns={}))
    entry = RowSetEntry(
        object="0" * 32,
        place="inline",
        rows=rows,
        bytes=len(footer),
        cuts=cuts,
        footer=byte_check(footer),
        data=base64.b64encode(footer).decode(),
    )
    with pytest.raises(CorruptionError, match="stretches; at most 1048576 are allowed"):
        RowSetReader(MemoryStore(), View.written(""), as_written(entry))
