"""Operations, tagged by `op`, and the epoch that says them: the schema of the log.

Reading an epoch validates it, and unknown operations or keys are refused.
Spec: docs/spec/operations.md
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from colonnade.manifests import ids
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnNumber,
    ColumnStatistics,
    Count,
    DeletionVectorEntry,
    ObjectIdText,
    OriginEntry,
    PartitionField,
    Replacement,
    RowCount,
    RowSetEntry,
    RowSetNumber,
    SegmentEntry,
    SortField,
    TableIdText,
)
from colonnade.manifests.model.schema import Model, TableSchema

FORMAT_VERSION = 1
"""The version of the bytes that this code writes, and the only one that it reads."""

TableName = Annotated[str, StringConstraints(min_length=1, max_length=255)]
TransactionIdText = Annotated[str, StringConstraints(pattern=f"^{ids.TRANSACTION_ID.pattern}$")]
SlotCount = Annotated[int, Field(ge=1, le=2**32)]
RowKind = Literal["delete", "update", "merge"]
"""The statement that rows are gone by; after the latter two they live on in another RowSet."""


class CreateDatabase(Model):
    """The only operation of epoch 0.

    A `lone_table` database holds one table at most, whose objects lie at the root. Slots of the log
    are freed in blocks of `slot_block`; without it they stay taken.
    """

    op: Literal["create_database"] = "create_database"
    database: TableIdText
    lone_table: bool = False
    format_version: Literal[1] = 1
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()
    slot_block: SlotCount | None = None


class DropDatabase(Model):
    """End the log: no epoch follows, and whoever removes the files may begin.

    The only operation of its epoch.
    """

    op: Literal["drop_database"] = "drop_database"


class CreateTable(Model):
    """Give a name to a new, empty table; `partition_fields`, where it has some, are layout 1."""

    op: Literal["create_table"] = "create_table"
    table: TableIdText
    name: TableName
    table_schema: TableSchema
    next_column_id: ColumnNumber
    sort_key: tuple[SortField, ...] = ()
    properties: dict[str, str] = {}
    comment: str | None = None
    partition_fields: tuple[PartitionField, ...] | None = None


class DropTable(Model):
    """Remove a table and its name; its files stay until vacuum."""

    op: Literal["drop_table"] = "drop_table"
    table: TableIdText


class AlterSchema(Model):
    """Replace the columns of a table; fields that stay keep their ids.

    `schema_id` is the one after the current. Ids below the table's `next_column_id` that its
    columns do not have belonged to dropped ones and do not come back.
    """

    op: Literal["alter_schema"] = "alter_schema"
    table: TableIdText
    table_schema: TableSchema
    schema_id: Count
    next_column_id: ColumnNumber


class SetPartitionLayout(Model):
    """Partition what is written from here on by other fields; RowSets that are there stay.

    `layout_id` is that of an earlier layout with the same fields, 0 without fields, or the next.
    """

    op: Literal["set_partition_layout"] = "set_partition_layout"
    table: TableIdText
    layout_id: Count
    fields: tuple[PartitionField, ...]


class SetProperties(Model):
    """Set properties of a table, and remove some; removing one that is not there does nothing."""

    op: Literal["set_properties"] = "set_properties"
    table: TableIdText
    set: dict[str, str] = {}
    remove: tuple[str, ...] = ()


class SetComment(Model):
    """Say what a table is for; without a comment, remove it."""

    op: Literal["set_comment"] = "set_comment"
    table: TableIdText
    comment: str | None = None


class RenameTable(Model):
    """Give a table another name, which must be free. Moves no file."""

    op: Literal["rename_table"] = "rename_table"
    table: TableIdText
    name: TableName


class AddRowSet(Model):
    """Add a RowSet; the fold gives it the table's next RowSet id.

    `vector`: rows of it that are gone from the beginning, but never all.
    """

    op: Literal["add_rowset"] = "add_rowset"
    table: TableIdText
    rowset: RowSetEntry
    vector: DeletionVectorEntry | None = None


class AddRowSets(Model):
    """Add the RowSets of a segment: what a change does whose entries are too many for an epoch.

    Each gets the id that it would get from an `add_rowset` of its own, in the segment's order.
    """

    op: Literal["add_rowsets"] = "add_rowsets"
    table: TableIdText
    segment: SegmentEntry


class DropRowSet(Model):
    """Remove RowSets: inclusive ranges of ids that ascend and do not overlap.

    With a `kind`, a statement of that kind took all rows that they still had. Without one, even
    without ranges, the change replaces what the table held at its base.
    """

    op: Literal["drop_rowset"] = "drop_rowset"
    table: TableIdText
    rowsets: tuple[tuple[RowSetNumber, RowSetNumber], ...]
    kind: RowKind | None = None


class AddDeletionVector(Model):
    """Replace the deletion vector of one RowSet; the rows that are newly gone were deleted.

    With a `kind` they were moved: the same epoch adds what became of them.
    """

    op: Literal["add_deletion_vector"] = "add_deletion_vector"
    table: TableIdText
    rowset: RowSetNumber
    vector: DeletionVectorEntry
    kind: Literal["update", "merge"] | None = None


class ReplaceColumn(Model):
    """Give a RowSet other values in some columns; all others, and its rows, stay as they are.

    `statistics` are those of the columns from here on. `changed` are the rows whose values are
    other ones, absent for all rows. `predecessors` are the objects of replacements that had the
    columns until then.
    """

    op: Literal["replace_column"] = "replace_column"
    table: TableIdText
    rowset: RowSetNumber
    replacement: Replacement
    statistics: dict[ColumnNumber, ColumnStatistics] = {}
    changed: DeletionVectorEntry | None = None
    predecessors: tuple[ObjectIdText, ...] | None = None


class CompactionInput(Model):
    """A RowSet that a compaction read: its rows as stored, and the vector that it left out."""

    rowset: RowSetNumber
    rows: RowCount
    vector: DeletionVectorEntry | None = None


class CompactionOutput(Model):
    """A RowSet that a compaction wrote; `vector`: rows that went while it was at work."""

    rowset: RowSetEntry
    vector: DeletionVectorEntry | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no row of it is left."""
        return self.vector is not None and self.vector.cardinality >= self.rowset.rows


class Compaction(Model):
    """Replace RowSets by others with the same rows.

    The outputs, in order, hold the rows of all inputs that their vectors leave: in the order of
    the inputs, or in any order that `origin` then tells. An output of which no row is left takes
    its id and is not added.
    """

    op: Literal["compaction"] = "compaction"
    table: TableIdText
    inputs: tuple[CompactionInput, ...]
    outputs: tuple[CompactionOutput, ...]
    origin: OriginEntry | None = None


class Txn(Model):
    """A batch of an application has landed; its versions grow, and are told apart by nothing else.

    A change that brings a version not above the table's last one has landed before.
    """

    op: Literal["txn"] = "txn"
    table: TableIdText
    app: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    version: Count


class Restore(Model):
    """The table is again as it was at an epoch; the rows come and go by operations beside this.

    `table_schema` are its columns then, where they differ: ids of columns that were dropped since
    come back, because the RowSets that come back have them. `partition_layout_id` is the layout
    then, where it is another.
    """

    op: Literal["restore"] = "restore"
    table: TableIdText
    epoch: Count
    table_schema: TableSchema | None = None
    partition_layout_id: Count | None = None


class Tag(Model):
    """Give an epoch a name, which must be free; it stays readable as long as it has one."""

    op: Literal["tag"] = "tag"
    name: TableName
    epoch: Count


class Untag(Model):
    """Take a name away from its epoch."""

    op: Literal["untag"] = "untag"
    name: TableName


class Pin(Model):
    """Keep an epoch readable until a time, in ms since 1970 UTC; again under its name: longer."""

    op: Literal["pin"] = "pin"
    name: TableName
    epoch: Count
    until_ms: Count


class Unpin(Model):
    """Give a pin up before its time."""

    op: Literal["unpin"] = "unpin"
    name: TableName


class Anchor(Model):
    """A checkpoint that was read back whole and is live data from here on (retention)."""

    op: Literal["anchor"] = "anchor"
    epoch: Count
    root: ObjectIdText
    check: ByteCheck


class Lease(Model):
    """A job is at work since an epoch: its files, and epochs from there on, are kept until a time.

    In ms since 1970 UTC; 0 ends the lease. Again for the same job: renew it.
    """

    op: Literal["lease"] = "lease"
    job: TableIdText
    epoch: Count
    until_ms: Count


class Vacuum(Model):
    """Let go of what is not needed any more: named here first, and removed afterwards.

    From here on epochs below `floor` are gone, but for those that an anchor stores. `anchors` are
    all there are: one for the floor, one for each epoch below it that a tag or pin keeps.
    `victims` are objects that no epoch names that is kept.
    """

    op: Literal["vacuum"] = "vacuum"
    floor: Count
    anchors: tuple[Anchor, ...] = ()
    victims: tuple[ObjectIdText, ...] = ()


class EnableFeatures(Model):
    """Require features of every later reader or writer of the database."""

    op: Literal["enable_features"] = "enable_features"
    reader: tuple[str, ...] = ()
    writer: tuple[str, ...] = ()


Operation = Annotated[
    CreateDatabase
    | DropDatabase
    | CreateTable
    | DropTable
    | AlterSchema
    | SetPartitionLayout
    | SetProperties
    | SetComment
    | RenameTable
    | AddRowSet
    | AddRowSets
    | DropRowSet
    | AddDeletionVector
    | ReplaceColumn
    | Compaction
    | Txn
    | Restore
    | Tag
    | Untag
    | Pin
    | Unpin
    | Anchor
    | Lease
    | Vacuum
    | EnableFeatures,
    Field(discriminator="op"),
]


class Epoch(Model):
    """One committed step of the log.

    `transaction` identifies the change across re-sends, `previous` is the transaction of the
    epoch before (none for epoch 0), `base` the epoch that the change was planned on. `time_ms`
    is milliseconds since 1970 UTC and grows strictly along the log. `metrics` count, for people,
    what a statement did.
    """

    format_version: Literal[1] = 1
    epoch: Count
    transaction: TransactionIdText
    previous: TransactionIdText | None = None
    base: Count
    time_ms: Count
    operation: str
    parameters: dict[str, str] = {}
    engine: str
    metrics: dict[str, Count] | None = None
    ops: tuple[Operation, ...]


class EpochIdentity(Model):
    """What tells one epoch from all others, and a stub (no transaction) from an epoch."""

    model_config = ConfigDict(extra="ignore")

    transaction: TransactionIdText | None = None


class Stub(Model):
    """What retention leaves in the slot of a removed epoch, so that the slot is never free.

    `floor` is the oldest epoch that can still be read; its state is the anchored checkpoint.
    """

    format_version: Literal[1] = 1
    removed: Count
    floor: Count
    anchor: Anchor


class FreedBlock(Model):
    """The mark of a block of slots that are free again: their epochs are below the floor.

    `floor` and `anchor` are those of the vacuum that put it, as in a stub.
    """

    format_version: Literal[1] = 1
    freed: Count
    floor: Count
    anchor: Anchor
