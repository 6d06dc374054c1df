"""Streams are read back, and their stated sizes are added up before Arrow trusts them."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.rowset.ipc_stream import decode_batch, encode_batch, measure
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.strategies import identical, make_batch, schemas

FEW = pa.record_batch({"n": list(range(100)), "t": ["a text"] * 100})
MANY = pa.record_batch({"n": [7] * 5000, "t": ["a text"] * 5000})


@given(schemas(), st.integers(0, 50), st.integers(0, 2**32))
def test_every_batch_is_read_back_within_the_size_that_its_stream_states(
    schema: TableSchema, rows: int, seed: int
) -> None:
    batch = make_batch(schema, rows, seed)
    data = encode_batch(batch, batch.nbytes)
    found = decode_batch(data, measure(data))
    assert found.schema.equals(arrow_schema(schema))
    assert all(identical(*pair) for pair in zip(found.columns, batch.columns, strict=True))


@pytest.mark.parametrize("batch", [FEW, MANY])
def test_a_stream_above_the_limit_is_refused_compressed_or_not(batch: pa.RecordBatch) -> None:
    data = encode_batch(batch, batch.nbytes)
    assert (data.size < batch.nbytes) == (batch is MANY)
    total = measure(data)
    assert total >= batch.num_rows * (8 + len("a text"))
    with pytest.raises(ValueError, match=f"would take {total} bytes decoded"):
        decode_batch(data, total - 1)


@pytest.mark.parametrize("batch", [FEW, MANY])
def test_a_stream_that_was_cut_off_or_changed_is_measured_or_refused(
    batch: pa.RecordBatch,
) -> None:
    """Nothing else may happen: no other error, and no endless loop."""
    whole = encode_batch(batch, batch.nbytes).to_pybytes()
    for end in range(0, len(whole), 7):
        _measured(whole[:end])
    for at in range(min(len(whole), 2000)):
        for bit in (1, 128):
            _measured(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])


def _measured(data: bytes) -> None:
    try:
        size = measure(pa.py_buffer(data))
    except ValueError:
        return
    assert size >= 0


@pytest.mark.parametrize("length", [-1, -8, -(2**31)])
def test_a_message_of_negative_length_is_refused(length: int) -> None:
    """A message that ends where it begins would otherwise be read for ever."""
    data = bytearray(encode_batch(FEW, FEW.nbytes).to_pybytes())
    struct.pack_into("<i", data, 4, length)
    with pytest.raises(ValueError, match="ends inside a message"):
        measure(pa.py_buffer(bytes(data)))


def test_a_second_batch_is_refused() -> None:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, FEW.schema) as writer:
        writer.write_batch(FEW)
        writer.write_batch(FEW)
    with pytest.raises(ValueError, match="more than one batch"):
        measure(sink.getvalue())


def test_a_stream_that_is_compressed_by_something_else_than_zstd_is_refused() -> None:
    """Another codec is none of the format's, and the reader in Java refuses it, too."""
    sink, batch = pa.BufferOutputStream(), pa.record_batch({"1": [7] * 1000})
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    with pytest.raises(ValueError, match="compressed by something else than zstd"):
        measure(sink.getvalue())
