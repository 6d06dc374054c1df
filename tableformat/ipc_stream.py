"""One array as one Arrow IPC stream, and back without trusting the stream.

    schema message | dictionary message, if any | record batch message | end of stream

The body is compressed by zstd where that helps. A stream says itself how large its buffers
become, so those words are added up before Arrow allocates anything.
Spec: docs/spec/rowset.md#block
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

_PLAIN = pa.ipc.IpcWriteOptions(use_threads=False)
_ZSTD = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", 1), use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)

_COMPRESS_FROM_BYTES = 2048
_WORTH_IT = 0.95

_SLACK_BYTES = 4096
"""Buffers are padded, and bitmaps may come and go, so sizes agree only roughly."""

_SCHEMA, _RECORD_BATCH, _DICTIONARY = 1, 3, 2


def encode_batch(batch: pa.RecordBatch, size_bytes: int) -> pa.Buffer:
    """Write a record batch as a stream; `size_bytes` is about what its buffers take."""
    if size_bytes > _COMPRESS_FROM_BYTES:
        data = _write(batch, _ZSTD)
        if data.size < _WORTH_IT * size_bytes:
            return data
    return _write(batch, _PLAIN)


def _write(batch: pa.RecordBatch, options: pa.ipc.IpcWriteOptions) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def decode_batch(data: pa.Buffer, limit_bytes: int) -> pa.RecordBatch:
    """Read the only record batch of a stream.

    Raises ValueError when it would take more than `limit_bytes` (before anything is allocated),
    holds more or less than one batch, or is malformed. Requires: a checksum was verified; Arrow
    does not survive every wrong byte.
    """
    try:
        size = sum(_message_sizes(memoryview(data)))
    except struct.error as error:
        raise ValueError("the Arrow stream ends inside a message") from error
    if size > limit_bytes + _SLACK_BYTES:
        raise ValueError(f"it would take {size} bytes decoded where {limit_bytes} are stated")
    try:
        with pa.ipc.open_stream(data, options=_READ) as reader:
            batch = reader.read_next_batch()
            batch.validate()
            _expect_end(reader)
    except (pa.ArrowException, StopIteration, OSError) as error:
        raise ValueError(f"the Arrow stream cannot be read: {error}") from error
    return batch


def _expect_end(reader: pa.RecordBatchReader) -> None:
    try:
        reader.read_next_batch()
    except StopIteration:
        return
    raise ValueError("the Arrow stream holds more than one batch")


def _message_sizes(data: memoryview) -> Iterator[int]:
    """The decoded size of the buffers of each message of a stream."""
    position = 0
    while position < len(data):
        marker, length = struct.unpack_from("<iI", data, position)
        if marker != -1:
            raise ValueError("the Arrow stream is malformed")
        if length == 0:
            return
        body = position + 8 + length
        message = _Table.root(data, position + 8)
        kind, header = message.scalar(1, "<B"), message.table(2)
        if kind != _SCHEMA:
            batch = header.table(1) if kind == _DICTIONARY else header
            yield sum(_buffer_sizes(batch, data, body))
        position = body + message.scalar(3, "<q")
        if not body <= position <= len(data):
            raise ValueError("the Arrow stream ends inside a message")


def _buffer_sizes(batch: _Table, data: memoryview, body: int) -> Iterator[int]:
    start = batch.vector(2)
    compressed = batch.position_of(3) is not None
    for index in range(struct.unpack_from("<I", data, start)[0]):
        offset, length = struct.unpack_from("<qq", data, start + 4 + 16 * index)
        if not (0 <= offset <= len(data) and 0 <= length <= len(data)):
            raise ValueError("a buffer of the Arrow stream lies outside it")
        # A compressed buffer begins with its decoded size, or -1 when it is kept as it is.
        decoded = struct.unpack_from("<q", data, body + offset)[0] if compressed and length else -1
        if decoded < -1:
            raise ValueError("a buffer of the Arrow stream has a negative size")
        yield length if decoded == -1 else decoded


class _Table:
    """A table of a FlatBuffers message: fields found through the offsets in its vtable."""

    __slots__ = ("_data", "_start", "_vtable", "_vtable_size")

    def __init__(self, data: memoryview, start: int) -> None:
        self._data = data
        self._start = start
        self._vtable = start - int(struct.unpack_from("<i", data, start)[0])
        if self._vtable < 0:
            raise ValueError("the Arrow stream is malformed")
        self._vtable_size = int(struct.unpack_from("<H", data, self._vtable)[0])

    @classmethod
    def root(cls, data: memoryview, start: int) -> _Table:
        return cls(data, start + int(struct.unpack_from("<I", data, start)[0]))

    def position_of(self, field: int) -> int | None:
        if 4 + 2 * field >= self._vtable_size:
            return None
        offset = int(struct.unpack_from("<H", self._data, self._vtable + 4 + 2 * field)[0])
        return self._start + offset if offset else None

    def scalar(self, field: int, layout: str) -> int:
        position = self.position_of(field)
        return 0 if position is None else int(struct.unpack_from(layout, self._data, position)[0])

    def vector(self, field: int) -> int:
        position = self.position_of(field)
        if position is None:
            raise ValueError("the Arrow stream lacks a part")
        return position + int(struct.unpack_from("<I", self._data, position)[0])

    def table(self, field: int) -> _Table:
        return _Table(self._data, self.vector(field))
