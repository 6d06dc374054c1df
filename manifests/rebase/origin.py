"""Which row of a compaction came from where: what carries row numbers through it.

Rows that were put one after another follow by arithmetic on the vectors that the compaction left
out. For any other order an origin says for each output row which input it is from, and which row
of it: 64-bit little-endian integers, input << 32 | row, deflated (zlib).
Spec: docs/spec/operations.md#compaction
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from manifests.codec import byte_check, verify
from manifests.entries import OriginEntry
from manifests.errors import CorruptionError, NotFoundError
from manifests.ids import new_object_id
from manifests.names import origin_name
from manifests.operations import Compaction
from manifests.store.base import ObjectStore

INLINE_LIMIT = 1024
"""Origins of at most so many bytes are stored in the log."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowMap:
    """Where the rows of each input of a compaction went.

    `live` are the rows of each input that it read, ascending; `position` is where each of them
    stands among the rows of all outputs; `starts` where each output begins, and the end.
    """

    live: tuple[Rows, ...]
    position: tuple[Rows, ...]
    starts: Rows

    def carry(self, index: int, rows: FrozenBitMap) -> dict[int, FrozenBitMap]:
        """Rows of input `index` as rows of outputs, by output. Requires: it has read them."""
        wanted = np.asarray(rows.to_array(), np.int64)
        at = np.searchsorted(self.live[index], wanted)
        assert np.array_equal(self.live[index].take(at, mode="clip"), wanted)
        places = np.sort(self.position[index][at])
        outputs = np.searchsorted(self.starts, places, side="right") - 1
        return {
            int(output): FrozenBitMap(places[outputs == output] - self.starts[output])
            for output in np.unique(outputs)
        }


def row_map(op: Compaction, gone: Sequence[FrozenBitMap], origin: Rows | None) -> RowMap:
    """How a compaction moved rows, `gone` being the vectors that it left out, by input.

    Raises CorruptionError where it does not hold the rows that it should.
    """
    live = tuple(
        np.setdiff1d(np.arange(each.rows), np.asarray(left.to_array(), np.int64))
        for each, left in zip(op.inputs, gone, strict=True)
    )
    starts = np.cumsum([0, *(output.rowset.rows for output in op.outputs)])
    counts = np.cumsum([0, *map(len, live)])
    if starts[-1] != counts[-1]:
        raise CorruptionError(
            f"A compaction of table {op.table} has {starts[-1]} rows of {counts[-1]}."
        )
    if origin is None:
        position = tuple(np.arange(a, b) for a, b in pairwise(counts))
    else:
        sources = np.concatenate([(i << 32) + rows for i, rows in enumerate(live)])
        order = np.argsort(origin)
        if not np.array_equal(origin[order], sources):
            raise CorruptionError(f"The origin of a compaction of table {op.table} is not its own.")
        position = tuple(np.split(order, counts[1:-1]))
    return RowMap(live, position, starts)


def write_origin(store: ObjectStore, prefix: str, job: str, origin: Rows) -> OriginEntry:
    """Store where the rows of a compaction come from, and return the entry. Raises StoreError."""
    data = zlib.compress(np.asarray(origin, "<i8").tobytes(), 1)
    object_id = new_object_id(job)
    inline = len(data) <= INLINE_LIMIT
    if not inline:
        with store.create(origin_name(prefix, object_id), sync=True) as writer:
            writer.write(data)
    text = base64.b64encode(data).decode("ascii") if inline else None
    return OriginEntry(object=object_id, check=byte_check(data), data=text)


def read_origin(store: ObjectStore, prefix: str, entry: OriginEntry, rows: int) -> Rows:
    """Read the origin of `rows` rows. Raises CorruptionError also where it is gone, StoreError."""
    name = store.locate(origin_name(prefix, entry.object))
    try:
        if entry.data is None:
            data = store.get(origin_name(prefix, entry.object), limit=entry.check.length)
        else:
            data = base64.b64decode(entry.data, validate=True)
        verify(data, entry.check, name)
        inflate = zlib.decompressobj()
        plain = inflate.decompress(data, 8 * rows + 1)
    except NotFoundError as error:
        raise CorruptionError(f"{name} is missing, though the log names it.") from error
    except (ValueError, binascii.Error, zlib.error) as error:
        raise CorruptionError(f"{name} is no origin of rows.") from error
    if len(plain) != 8 * rows:
        raise CorruptionError(f"{name} is the origin of another number of rows than {rows}.")
    return np.frombuffer(plain, "<i8").astype(np.int64)
