"""Entries: values that describe stored RowSets, deletion vectors and other objects in the log.

Operations, checkpoints, commit messages and plans carry entries. Reading one validates it and
refuses unknown keys. Bytes are stored as base64, and bounds as texts with a prefix (see
`statistics.py`), because JSON has no exact form of either.
Spec: docs/spec/operations.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, field_validator, model_validator

from colonnade.manifests import ids
from colonnade.manifests.model.partition_transforms import TRANSFORMS
from colonnade.manifests.model.schema import Model


class Limited:
    """The limits of a plain value of one of pydantic's types, by the names that pydantic has.

    `Field` and `StringConstraints` mean the same. It takes pydantic three times as long to prepare
    them, and each program that opens a database prepares hundreds of fields.
    """

    def __init__(self, type: str, **limits: int | str) -> None:
        self._schema = {"type": type, **limits}

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> dict[str, Any]:
        """Return the limits in pydantic's form, which it may add to."""
        return {**self._schema}


Count = Annotated[int, Limited("int", ge=0, le=2**53 - 1)]
Crc32c = Annotated[int, Limited("int", ge=0, le=2**32 - 1)]
RowCount = Annotated[int, Limited("int", ge=1, le=2**32 - 1)]
RowSetNumber = Annotated[int, Limited("int", ge=0, le=2**32 - 1)]
ColumnNumber = Annotated[int, Limited("int", ge=1, le=2**31 - 1)]
TableIdText = Annotated[str, Limited("str", pattern=f"^{ids.TABLE_ID.pattern}$")]
ObjectIdText = Annotated[str, Limited("str", pattern=f"^{ids.OBJECT_ID.pattern}$")]


class ColumnStatistics(Model):
    """Bounds and counts of one column over some rows.

    `min` and `max` are texts with the prefix of the type that the rows were written with. They are
    absent if every value is NULL or NaN, or if the type has no order. Bounds may be too wide, but
    never too narrow. `exact` means that both are values of the column. `nans` counts NaN, which
    bounds never cover.
    """

    min: str | None = None
    max: str | None = None
    nulls: Count = 0
    nans: Count = 0
    exact: bool = True


class ByteCheck(Model):
    """Length and CRC32C of some bytes, which a reader compares before it uses them."""

    length: Count
    crc32c: Crc32c


if TYPE_CHECKING:
    TransformName: TypeAlias = str
else:
    TransformName = Literal[tuple(TRANSFORMS)]

PartitionValues = tuple[str | None, ...]
"""The partition of all rows of a RowSet: for each field a bound, or None for NULL."""


class PartitionField(Model):
    """One field of a partition layout: all rows of a RowSet have one value under its transform.

    `argument` is the number of buckets, or the width to truncate to. Spec: docs/spec/partitions.md
    """

    transform: TransformName
    column: ColumnNumber
    argument: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None

    @model_validator(mode="after")
    def _check_argument(self) -> PartitionField:
        has_argument = TRANSFORMS[self.transform].example is not None
        if (self.argument is None) == has_argument:
            raise ValueError(f"{self.transform} has {'an' if has_argument else 'no'} argument")
        return self


class ColumnReplacement(Model):
    """Replaced columns of a RowSet, stored as a RowSet of their own with the same rows and cuts.

    Readers read `columns` from it. Its footer may list more columns, which were replaced again
    later. The other fields are those of a `RowSetEntry`.
    """

    columns: Annotated[tuple[ColumnNumber, ...], Field(min_length=1)]
    object: ObjectIdText
    place: Literal["directory", "packed", "inline"]
    bytes: Count
    footer: ByteCheck
    data: str | None = None
    unsynced: bool = False


class RowSetEntry(Model):
    """The description of one RowSet in the log. The fold gives the RowSet its id.

    `bytes` counts all stored bytes of the RowSet except its `replacements`. A packed or inline
    RowSet is one string of that length, with the footer at its end. `cuts` is the number of rows
    between cuts if that number is regular (the last stretch may be shorter). Otherwise it lists the
    row index at the end of each stretch. `data` is present only for inline RowSets. `partition` has
    a value for each field of the layout `partition_layout_id`. It is absent for layout 0, which has
    no fields.

    `clean_epoch` is the last epoch whose range tombstone the rows have met; absent: the epoch that
    adds the RowSet. `written_ms` says when the first and the last of the rows were written, in ms
    since 1970 UTC; absent: unknown.
    """

    object: ObjectIdText
    place: Literal["directory", "packed", "inline"]
    rows: RowCount
    bytes: Count
    cuts: RowCount | tuple[RowCount, ...]
    footer: ByteCheck
    partition_layout_id: Count = 0
    sort_order_id: Count = 0
    statistics: dict[ColumnNumber, ColumnStatistics] = {}
    data: str | None = None
    unsynced: bool = False
    partition: PartitionValues | None = None
    clean_epoch: Count | None = None
    written_ms: tuple[Count, Count] | None = None
    replacements: tuple[ColumnReplacement, ...] | None = None

    @field_validator("written_ms")
    @classmethod
    def _check_times(cls, times: tuple[int, int] | None) -> tuple[int, int] | None:
        if times is not None and times[0] > times[1]:
            raise ValueError("the first row is not written after the last one")
        return times


class DeletionVectorEntry(Model):
    """The deleted rows of one RowSet. It replaces the vector that `predecessor` names.

    `data` is the Roaring bitmap (portable format) in base64. If it is absent, the bitmap is the
    object `object`.
    """

    object: ObjectIdText
    cardinality: RowCount
    check: ByteCheck
    predecessor: ObjectIdText | None = None
    data: str | None = None


class EntrySegment(Model):
    """An object that holds the entries of many RowSets of one table, and their totals.

    `row_count` counts rows as stored. `deleted_count` counts those rows that the vectors in the
    segment delete. `statistics` cover a column if every entry has statistics of it.
    """

    object: ObjectIdText
    check: ByteCheck
    rowset_count: RowCount
    row_count: Count
    deleted_count: Count = 0
    byte_count: Count
    statistics: dict[ColumnNumber, ColumnStatistics] = {}


class SortField(Model):
    """One column of a sort key. NULL sorts first if ascending, and last if descending."""

    column: ColumnNumber
    descending: bool = False


class OriginEntry(Model):
    """Where rows come from (`arrays/origins.py`): an object, or `data` in base64."""

    object: ObjectIdText
    check: ByteCheck
    data: str | None = None
