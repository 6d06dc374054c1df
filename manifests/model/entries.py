"""Entries: what the log says of RowSets, deletion vectors and other stored things, as values.

Operations, checkpoints, commit messages and plans carry them. Reading one validates it, and
unknown keys are refused. Bytes are stored as base64, bounds as tagged strings (see
`statistics.py`), because JSON has no exact form of either.
Spec: docs/spec/operations.md
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from colonnade.manifests import ids
from colonnade.manifests.model.schema import Model

Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
Crc32c = Annotated[int, Field(ge=0, le=2**32 - 1)]
RowCount = Annotated[int, Field(ge=1, le=2**32 - 1)]
RowSetNumber = Annotated[int, Field(ge=0, le=2**32 - 1)]
ColumnNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]
TableIdText = Annotated[str, StringConstraints(pattern=f"^{ids.TABLE_ID.pattern}$")]
ObjectIdText = Annotated[str, StringConstraints(pattern=f"^{ids.OBJECT_ID.pattern}$")]


class ColumnStatistics(Model):
    """Bounds and counts of one column over some rows.

    `min` and `max` are tagged strings, absent when every value is NULL or NaN or when the type
    has no order. Bounds may be too wide, never too narrow: `exact` says that both are values
    that occur. NaN is counted, not bounded.
    """

    min: str | None = None
    max: str | None = None
    nulls: Count = 0
    nans: Count = 0
    exact: bool = True


class ByteCheck(Model):
    """Length and CRC32C of some bytes, known before they are read."""

    length: Count
    crc32c: Crc32c


PartitionValues = tuple[str | None, ...]
"""What all rows of a RowSet have in common: a tagged value, or None for NULL, for each field."""


class PartitionField(Model):
    """One part of a partition layout: rows of one RowSet have one value under its transform.

    `argument` is the number of buckets, or the width to truncate to. Spec: docs/spec/partitions.md
    """

    transform: Literal["identity", "years", "months", "days", "hours", "bucket", "truncate"]
    column: ColumnNumber
    argument: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None

    @model_validator(mode="after")
    def _check_argument(self) -> PartitionField:
        if (self.argument is None) == (self.transform in ("bucket", "truncate")):
            raise ValueError("bucket and truncate have an argument, and no other transform has")
        return self


class Replacement(Model):
    """Columns of a RowSet that were replaced: as a RowSet of its own with the same rows and cuts.

    `columns` are those that are read from it; its footer may have others, replaced again since.
    The other fields are those of a `RowSetEntry`.
    """

    columns: Annotated[tuple[ColumnNumber, ...], Field(min_length=1)]
    object: ObjectIdText
    place: Literal["directory", "packed", "inline"]
    bytes: Count
    footer: ByteCheck
    data: str | None = None
    unsynced: bool = False


class RowSetEntry(Model):
    """One RowSet as the log knows it; its id is given by the fold, never stored.

    `bytes` counts everything stored for the RowSet but its `replacements`. Packed and inline
    RowSets are one string of that length with the footer at its end. `cuts` is the number of rows
    between cuts where that is regular (the last stretch may be shorter), else the row index at
    which each stretch ends. `data` is present exactly for inline ones. `partition` has a value for
    each field of the layout `partition_layout_id`; it is absent for layout 0, which has none.
    """

    object: ObjectIdText
    place: Literal["directory", "packed", "inline"]
    rows: RowCount
    bytes: Count
    cuts: RowCount | tuple[RowCount, ...]
    footer: ByteCheck
    schema_id: Count = 0
    partition_layout_id: Count = 0
    sort_order_id: Count = 0
    statistics: dict[ColumnNumber, ColumnStatistics] = {}
    data: str | None = None
    unsynced: bool = False
    partition: PartitionValues | None = None
    replacements: tuple[Replacement, ...] | None = None

    @property
    def byte_count(self) -> int:
        """Stored bytes, those of replaced columns included."""
        return self.bytes + sum(each.bytes for each in self.replacements or ())


class DeletionVectorEntry(Model):
    """The rows of one RowSet that are gone: replaces the vector before it, which it names.

    `data` is the Roaring bitmap (portable format) in base64; absent, the bitmap is the object
    of that id.
    """

    object: ObjectIdText
    cardinality: RowCount
    check: ByteCheck
    predecessor: ObjectIdText | None = None
    data: str | None = None


class SegmentEntry(Model):
    """An object that holds the entries of many RowSets of one table, and what they add up to.

    `row_count` counts rows as stored, `deleted_count` those of them that the vectors in the
    segment delete. `statistics` cover the columns for which every entry has statistics.
    """

    object: ObjectIdText
    check: ByteCheck
    rowset_count: RowCount
    row_count: Count
    deleted_count: Count = 0
    byte_count: Count
    statistics: dict[ColumnNumber, ColumnStatistics] = {}


class SortField(Model):
    """One column of a sort key. NULL sorts first ascending and last descending."""

    column: ColumnNumber
    descending: bool = False


class OriginEntry(Model):
    """Where each row of a compaction comes from: an object, or `data` in base64."""

    object: ObjectIdText
    check: ByteCheck
    data: str | None = None
