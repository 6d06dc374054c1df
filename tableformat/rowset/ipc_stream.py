"""Write one array as one Arrow IPC stream, and read it back without trusting it.

    schema message | dictionary message, if any | record batch message | end of stream

The body is compressed by zstd where that helps. A stream states the decoded sizes of its buffers,
so these are added up before Arrow allocates anything.
Spec: docs/spec/rowset.md#block
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

COMPRESSION_LEVEL = 1
"""The level of zstd by which streams are compressed."""

_PLAIN = pa.ipc.IpcWriteOptions(use_threads=False)
_ZSTD = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", COMPRESSION_LEVEL), use_threads=False)
_READ = pa.ipc.IpcReadOptions(use_threads=False)

COMPRESS_FROM_BYTES = 2048
"""The fewest bytes of a stream that are compressed."""

COMPRESSED_SHARE = 0.95
"""A compressed stream is kept if it takes less than this share of the stream."""

_COPIED_BYTES = 2**16
"""The most bytes of buffers that Arrow collects itself, which copies each of them."""

_JOINED_BYTES = 16 * 2**20
"""The most bytes of a stream that is always in one part."""

_SEEN_BYTES = 2**20
"""The first bytes of a part that say what it holds."""

_SCHEMA, _DICTIONARY, _RECORD_BATCH = 1, 2, 3
_ZSTD_BUFFERS = 1, 0
"""The codec zstd, applied to each buffer."""

_Read = Callable[[memoryview, int], tuple[int, ...]]
_BYTE, _SHORT, _INT, _UINT, _LONG, _PREFIX, _EXTENT = (
    struct.Struct(layout).unpack_from for layout in ("<B", "<H", "<i", "<I", "<q", "<iI", "<qq")
)


def encode_batch(batch: pa.RecordBatch, size_bytes: int) -> pa.Buffer:
    """Write a record batch as a stream. `size_bytes` is the approximate size of its buffers."""
    return _joined(encode_parts(batch, size_bytes))


def encode_parts(batch: pa.RecordBatch, size_bytes: int) -> tuple[pa.Buffer, ...]:
    """Write a record batch as `encode_batch` does. A large stream has several parts.

    They are not joined, because that would copy a huge value once more. Parts of a stream that is
    not compressed are buffers of the batch.
    """
    if size_bytes > COMPRESS_FROM_BYTES:
        parts = _write(batch, _ZSTD, size_bytes)
        if byte_count(parts) < COMPRESSED_SHARE * size_bytes:
            return parts
        del parts  # before as many bytes are written again
    return _write(batch, _PLAIN, size_bytes)


def byte_count(parts: Sequence[pa.Buffer]) -> int:
    """Return how many bytes a stream takes."""
    return sum(part.size for part in parts)


def outline(parts: Sequence[pa.Buffer]) -> pa.Buffer:
    """Return a stream in one buffer, to be measured. It has zeros in place of most data."""
    if len(parts) == 1:
        return parts[0]
    # Memory of zeros takes no room until it is written to.
    found, at = np.zeros(byte_count(parts), np.uint8), 0
    for part in parts:
        seen = np.frombuffer(part, np.uint8, min(part.size, _SEEN_BYTES))
        found[at : at + len(seen)] = seen
        at += part.size
    return pa.py_buffer(found)


def _write(
    batch: pa.RecordBatch, options: pa.ipc.IpcWriteOptions, size_bytes: int
) -> tuple[pa.Buffer, ...]:
    if size_bytes <= _COPIED_BYTES:
        copied = pa.BufferOutputStream()
        with pa.ipc.new_stream(copied, batch.schema, options=options) as writer:
            writer.write_batch(batch)
        return (copied.getvalue(),)
    written = _Written()
    with pa.ipc.new_stream(pa.PythonFile(written, "w"), batch.schema, options=options) as writer:
        writer.write_batch(batch)
    parts = tuple(map(pa.py_buffer, written.parts))
    return parts if byte_count(parts) > _JOINED_BYTES else (_joined(parts),)


def _joined(parts: Sequence[pa.Buffer]) -> pa.Buffer:
    return parts[0] if len(parts) == 1 else pa.py_buffer(b"".join(parts))


class _Written:
    """A file that keeps the buffers which Arrow writes, and copies none."""

    closed = False

    def __init__(self) -> None:
        self.parts: list[bytes | pa.Buffer] = []

    def write(self, data: bytes | pa.Buffer) -> None:
        self.parts.append(data)

    def flush(self) -> None:
        """Do nothing, because nothing waits."""


def decode_batch(data: pa.Buffer, limit_bytes: int) -> pa.RecordBatch:
    """Read the only record batch of a stream whose buffers take at most `limit_bytes`.

    Raises ValueError for a stream that would take more, before anything is allocated. Otherwise it
    has the requirements and the errors of `read_batch`. Its texts are valid UTF-8.
    """
    size = measure(data)
    if size > limit_bytes:
        raise ValueError(f"it would take {size} bytes decoded; at most {limit_bytes} are allowed")
    return _read(data, lambda batch: batch.validate(full=True))


def read_batch(data: pa.Buffer) -> pa.RecordBatch:
    """Read the only record batch of a stream. Its texts may be other bytes than UTF-8.

    Requires that `measure` was called before, since Arrow allocates whatever a stream states. No
    other stream can harm: every offset inside the batch is compared with what it points into. That
    takes about a twentieth of the time of reading texts. Raises ValueError for a malformed stream.
    """
    return _read(data, _check_layout)


def _read(data: pa.Buffer, check: Callable[[pa.RecordBatch], None]) -> pa.RecordBatch:
    try:
        batch = pa.ipc.open_stream(data, options=_READ).read_next_batch()
        batch.validate()
        check(batch)
    except (pa.ArrowException, StopIteration, OSError) as error:
        raise ValueError(f"the Arrow stream cannot be read: {error}") from error
    return batch


def _check_layout(batch: pa.RecordBatch) -> None:
    """Compare every offset and count of a batch, at every depth. Raises ArrowInvalid."""
    for column in batch.columns:
        parts = [column]
        if pa.types.is_dictionary(column.type):
            # Whether each index is inside the dictionary is for the encoding to say.
            parts = [column.indices, column.dictionary]
        for part in parts:
            plain = _without_texts(part.type)
            (part if plain == part.type else part.view(plain)).validate(full=True)


@lru_cache(maxsize=4096)
def _without_texts(found: pa.DataType) -> pa.DataType:
    """Return a type of the same layout, in which binary takes the place of text.

    Arrow would look at each text for bytes that are not UTF-8, which takes seven times as long. No
    field is NOT NULL, since Arrow would look at the values of such a field below a NULL, too.
    """
    if pa.types.is_string(found):
        return pa.binary()
    if pa.types.is_map(found):
        return pa.map_(_without_texts(found.key_type), _field_without_texts(found.item_field))
    if pa.types.is_list(found):
        return pa.list_(_field_without_texts(found.value_field))
    if pa.types.is_struct(found):
        return pa.struct([_field_without_texts(each) for each in found])
    return found


def _field_without_texts(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _without_texts(field.type))


def measure(data: pa.Buffer) -> int:
    """Add up what the buffers of all messages of a stream take decoded, without reading them.

    Raises ValueError for a malformed stream, for a second record batch, and for unknown messages.
    """
    try:
        return _measure(memoryview(data))
    except struct.error as error:
        raise ValueError("the Arrow stream ends inside a message") from error


def _measure(data: memoryview) -> int:
    position = batches = size = 0
    while position < len(data):
        marker, length = _PREFIX(data, position)
        if marker != -1:
            raise ValueError("the Arrow stream is malformed")
        if length == 0:
            break
        body = position + 8 + length
        message = _below(data, position + 8)
        kind = _scalar(data, message, 1, _BYTE)
        if kind == _RECORD_BATCH:
            batches += 1
            size += _buffer_bytes(data, _child(data, message, 2), body)
        elif kind == _DICTIONARY:
            size += _buffer_bytes(data, _child(data, _child(data, message, 2), 1), body)
        elif kind != _SCHEMA:
            raise ValueError("the Arrow stream is malformed")
        position = body + _scalar(data, message, 3, _LONG)
        if not body <= position <= len(data):
            raise ValueError("the Arrow stream ends inside a message")
    if batches > 1:
        raise ValueError("the Arrow stream holds more than one batch")
    return size


def _buffer_bytes(data: memoryview, batch: int, body: int) -> int:
    start = _child(data, batch, 2)
    form = _place(data, batch, 3)
    if form:
        codec = _below(data, form)
        if (_scalar(data, codec, 0, _BYTE), _scalar(data, codec, 1, _BYTE)) != _ZSTD_BUFFERS:
            raise ValueError("the Arrow stream is compressed by something else than zstd")
    size = 0
    for index in range(_UINT(data, start)[0]):
        offset, length = _EXTENT(data, start + 4 + 16 * index)
        if not (0 <= offset <= len(data) and 0 <= length <= len(data)):
            raise ValueError("a buffer of the Arrow stream lies outside it")
        # A compressed buffer begins with its decoded size, or with -1 when it is not compressed.
        if form and length:
            decoded = _LONG(data, body + offset)[0]
            length = length - 8 if decoded == -1 else decoded
        if length < 0:
            raise ValueError("a buffer of the Arrow stream has a negative size")
        size += length
    return size


# A table of a FlatBuffers message begins with the distance to its vtable, which has the distances
# from the table to its fields. Other tables and vectors are named by the distance to them.


def _place(data: memoryview, table: int, field: int) -> int:
    """Return where a field of a table is, or 0 if the table lacks it."""
    vtable = table - _INT(data, table)[0]
    if vtable < 0:
        raise ValueError("the Arrow stream is malformed")
    at = 4 + 2 * field
    if at >= _SHORT(data, vtable)[0]:
        return 0
    distance: int = _SHORT(data, vtable + at)[0]
    return table + distance if distance else 0


def _below(data: memoryview, place: int) -> int:
    """Return where the table or vector is that a place names."""
    return place + int(_UINT(data, place)[0])


def _child(data: memoryview, table: int, field: int) -> int:
    place = _place(data, table, field)
    if not place:
        raise ValueError("the Arrow stream lacks a part")
    return _below(data, place)


def _scalar(data: memoryview, table: int, field: int, read: _Read) -> int:
    place = _place(data, table, field)
    return int(read(data, place)[0]) if place else 0
