"""Entry segments: many entries in one sealed JSON object of arrays. Pure.

A reader loads a segment only when it is needed. Spec: docs/spec/checkpoint.md#segments
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from colonnade.manifests.arrays.entry_block import (
    NUMBERS,
    PLACES,
    UNSTATED,
    EntryBlock,
)
from colonnade.manifests.arrays.json_arrays import (
    Integers,
    decode_between,
    decode_objects,
    encode_integers,
    encode_objects,
)
from colonnade.manifests.arrays.partitions import NO_PARTITION, Partitions
from colonnade.manifests.arrays.segment_statistics import (
    COUNT_LIMITS,
    StatisticsArrays,
    decode_statistics,
    encode_statistics,
)
from colonnade.manifests.arrays.statistics_block import HAS_MIN, StatisticsBlock
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import byte_check, decode_model, encode_model, verify
from colonnade.manifests.model.entries import (
    ColumnNumber,
    ColumnReplacement,
    Count,
    DeletionVectorEntry,
    EntrySegment,
    PartitionValues,
    RowCount,
    SortField,
    TableIdText,
)
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.partition_layout import check_partition
from colonnade.manifests.state.snapshot import EntrySegmentRef, TableState
from colonnade.manifests.state.sort_order import check_order

_LIMITS = {
    "ids": (0, 2**32 - 1),
    "places": (0, len(PLACES) - 1),
    "rows": (1, 2**32 - 1),
    "cuts": (0, 2**32 - 1),
    "footer_crc32cs": (0, 2**32 - 1),
    "unsynced": (0, 1),
    "clean_epochs": (UNSTATED, 2**53 - 1),
    "first_written_ms": (UNSTATED, 2**53 - 1),
    "last_written_ms": (UNSTATED, 2**53 - 1),
}


_FROM_REFERENCE = ("ids", "epochs")
"""The numbers that count from the least one, because the fold gives both at the slot."""


class EntrySegmentBody(Model):
    """The stored form of a segment. Arrays have `count` elements. Keys of maps are indexes.

    `ids` and `epochs` count from the least id and the least epoch, which the reference to the
    segment states.
    """

    format_version: Literal[1] = 1
    table: TableIdText
    count: RowCount
    objects: str
    ids: IntegerArray
    epochs: IntegerArray
    places: IntegerArray
    rows: IntegerArray
    bytes: IntegerArray
    cuts: IntegerArray
    footer_lengths: IntegerArray
    footer_crc32cs: IntegerArray
    partition_layout_ids: IntegerArray
    sort_order_ids: IntegerArray
    unsynced: IntegerArray
    clean_epochs: IntegerArray
    first_written_ms: IntegerArray
    last_written_ms: IntegerArray
    irregular_cuts: dict[Count, tuple[RowCount, ...]] = {}
    data: dict[Count, str] = {}
    vectors: dict[Count, DeletionVectorEntry] = {}
    columns: dict[ColumnNumber, StatisticsArrays] = {}
    partitions: tuple[PartitionValues, ...] | None = None
    partition_indexes: IntegerArray | None = None
    replacements: dict[Count, tuple[ColumnReplacement, ...]] | None = None


def encode_entry_segment(table: str, block: EntryBlock) -> bytes:
    """Write a block as a segment."""
    counted = {name: block.numbers[name] - block.numbers[name].min() for name in _FROM_REFERENCE}
    arrays = {**block.numbers, **counted}
    numbers: dict[str, Any] = {name: encode_integers(arrays[name]) for name in NUMBERS}
    partitions, index = block.partitioned.keys, block.partitioned.index
    partitioned = any(values for _, values in partitions)
    body = EntrySegmentBody(
        table=table,
        count=len(block),
        objects=encode_objects(block.objects),
        irregular_cuts=dict(block.irregular_cuts),
        data=dict(block.data),
        vectors=dict(block.vectors),
        columns={column: encode_statistics(s) for column, s in block.columns.items()},
        partitions=tuple(values for _, values in partitions) if partitioned else None,
        partition_indexes=encode_integers(index) if partitioned else None,
        replacements=dict(block.replacements) or None,
        **numbers,
    )
    return encode_model(body)


def describe_entry_segment(object_id: str, data: bytes, block: EntryBlock) -> EntrySegment:
    """Return the entry for the log of a segment whose bytes are `data`."""
    summaries = {c: s.summary(block.rows) for c, s in block.columns.items()}
    return EntrySegment(
        object=object_id,
        check=byte_check(data),
        rowset_count=len(block),
        row_count=int(block.rows.sum()),
        deleted_count=int(block.deleted.sum()),
        byte_count=int(block.byte_counts.sum()),
        statistics={column: s for column, s in summaries.items() if s is not None},
    )


def decode_entry_segment(
    data: bytes, table: TableState, ref: EntrySegmentRef, name: str
) -> EntryBlock:
    """Read a segment of a table.

    Raises CorruptionError if the segment is not the one that `ref` names, or is malformed;
    UnsupportedFormatError if a newer version wrote it.
    """
    verify(data, ref.segment.check, name)
    body = decode_model(EntrySegmentBody, data, name)
    count = body.count
    if body.table != table.id or count != ref.segment.rowset_count:
        raise CorruptionError(f"{name} is a segment of another table or size.")
    arrays: dict[str, IntegerArray] = {n: getattr(body, n) for n in NUMBERS}
    # Objects are decoded first, because their length must match the count: a forged count must not
    # use up the memory.
    objects = decode_objects(body.objects, count, name)
    numbers = {n: _decode_number(n, arrays[n], count, name) for n in NUMBERS}
    numbers["ids"] = numbers["ids"] + ref.first_id
    numbers["epochs"] = numbers["epochs"] + ref.epoch
    block = EntryBlock(
        numbers,
        objects,
        body.irregular_cuts,
        body.data,
        body.vectors,
        body.replacements or {},
        _decode_columns(body, table, name),
        _decode_partitions(body, numbers["partition_layout_ids"], table, name),
    )
    _check_block(block, ref, name)
    _check_orders(numbers["sort_order_ids"], table, name)
    return block


def _decode_number(field: str, array: IntegerArray, count: int, name: str) -> Integers:
    return decode_between(array, _LIMITS.get(field, COUNT_LIMITS), count, f"{name}: {field}")


def _decode_partitions(
    body: EntrySegmentBody, layouts: Integers, table: TableState, name: str
) -> Partitions:
    count = body.count
    values, vector = body.partitions, body.partition_indexes
    if values is None or vector is None:
        if values is not None or vector is not None or layouts.any():
            raise CorruptionError(f"{name} is malformed: partitions of its entries are missing.")
        return Partitions((NO_PARTITION,), np.zeros(count, np.int64))
    index = decode_between(vector, (0, len(values) - 1), count, f"{name}: partition_indexes")
    # Equal values in two layouts are two partitions.
    used, numbers = np.unique(layouts * len(values) + index, return_inverse=True)
    keys = tuple((code // len(values), values[code % len(values)]) for code in used.tolist())
    for layout, each in keys:
        try:
            check_partition(table, layout, each or None)
        except CorruptionError as error:
            raise CorruptionError(f"{name} is malformed: {error.message}") from error
    return Partitions(keys, numbers.reshape(-1).astype(np.int64))


def _check_orders(orders: Integers, table: TableState, name: str) -> None:
    try:
        check_order(table, int(orders.max()))
    except CorruptionError as error:
        raise CorruptionError(f"{name} is malformed: {error.message}") from error


def _check_block(block: EntryBlock, ref: EntrySegmentRef, name: str) -> None:
    """Check the arrays against each other: some entries need a value in another array."""
    count = len(block)
    irregular = np.flatnonzero(block.numbers["cuts"] == 0).tolist()
    inline = np.flatnonzero(block.numbers["places"] == PLACES.index("inline")).tolist()
    keys = (*block.irregular_cuts, *block.data, *block.vectors, *block.replacements)
    first, last = block.numbers["first_written_ms"], block.numbers["last_written_ms"]
    if (
        set(irregular) != set(block.irregular_cuts)
        or set(inline) != set(block.data)
        or any(key >= count for key in keys)
        or bool((first > last).any() or ((first == UNSTATED) != (last == UNSTATED)).any())
        or int(block.ids.max()) > ref.last_id
        or len(np.unique(block.ids)) != count
        or any(each.cardinality > block.rows[row] for row, each in block.vectors.items())
    ):
        raise CorruptionError(f"{name} is malformed: its arrays do not fit together.")
    found = (block.rows.sum(), block.deleted.sum(), block.byte_counts.sum())
    stated = (ref.segment.row_count, ref.segment.deleted_count, ref.segment.byte_count)
    if found != stated:
        raise CorruptionError(f"{name} holds counts that differ from the log.")


def split_block(
    block: EntryBlock, sort_key: tuple[SortField, ...], limits: Limits = LIMITS
) -> Iterator[EntryBlock]:
    """Divide entries into blocks, one for each segment, ordered by the sort key if there is one."""
    ordered = block.take(_key_order(block, sort_key))
    inline = np.zeros(len(block), np.int64)
    for row, data in ordered.data.items():
        inline[row] += len(data)
    for row, vector in ordered.vectors.items():
        inline[row] += len(vector.data or "")
    for row, replacements in ordered.replacements.items():
        inline[row] += sum(len(each.data or "") for each in replacements)
    filled = np.cumsum(inline)
    start = 0
    while start < len(ordered):
        before = int(filled[start - 1]) if start else 0
        by_bytes = int(np.searchsorted(filled, before + limits.segment_inline_bytes)) + 1
        end = min(len(ordered), start + limits.segment_rowsets, by_bytes)
        yield ordered.take(np.arange(start, end))
        start = end


def _key_order(block: EntryBlock, sort_key: tuple[SortField, ...]) -> Integers:
    """Return indexes ordered by the first key column's minimum (unknown ones last), else by id."""
    column = block.columns.get(sort_key[0].column) if sort_key else None
    if column is None:
        return np.argsort(block.ids, kind="stable")
    missing = column.flags & HAS_MIN == 0
    known = np.flatnonzero(~missing)
    by_key = known[np.argsort(column.low[known], kind="stable")]
    return np.concatenate([by_key, np.flatnonzero(missing)])


def _decode_columns(
    body: EntrySegmentBody, table: TableState, name: str
) -> dict[int, StatisticsBlock]:
    """Read the statistics of all columns.

    Dropped columns may have bounds of any kind, because no reader uses them.
    """
    fields = {field.id: field for field in table.schema.fields}
    decoded = {}
    for column, vectors in body.columns.items():
        field = fields.get(column)
        title = column if field is None else field.name
        place = f"{name}: column {title!r} of table {table.name!r}"
        decoded[column] = decode_statistics(vectors, body.count, field, place)
    return decoded
