"""Operations, tagged by `op`: what an epoch does to the state of a database.

Reading an operation validates it and refuses unknown keys.
Spec: docs/spec/operations.md
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from colonnade.manifests.model.columns.identity import IdentityCounter
from colonnade.manifests.model.constraints import CheckConstraint, ConstraintName
from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnNumber,
    ColumnReplacement,
    ColumnStatistics,
    Count,
    DeletionVectorEntry,
    EntrySegment,
    Limited,
    ObjectIdText,
    OriginEntry,
    PartitionField,
    RowCount,
    RowSetEntry,
    RowSetNumber,
    SortField,
    TableIdText,
)
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.range_tombstones import Regions
from colonnade.manifests.model.schema import Model, TableSchema

TableName = Annotated[str, Limited("str", min_length=1, max_length=255)]
SlotCount = Annotated[int, Field(ge=1, le=2**32)]
RowKind = Literal["delete", "update", "merge"]
"""The statement that removed rows. After an update or merge, the rows are in another RowSet."""


class TableOperation(Model):
    """An operation on a table that there is."""

    op: str
    table: TableIdText


class CreateDatabase(Model):
    """Create the database. This is the only operation of epoch 0.

    A `lone_table` database has at most one table. Vacuum frees the slots of removed epochs in
    blocks of `slot_block` slots.
    """

    op: Literal["create_database"] = "create_database"
    database: TableIdText
    lone_table: bool = False
    format_version: Literal[1] = 1
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()
    slot_block: SlotCount


class DropDatabase(Model):
    """End the log: no epoch follows, and the files may be removed.

    This is the only operation of its epoch.
    """

    op: Literal["drop_database"] = "drop_database"


class CreateTable(Model):
    """Create a new, empty table with a name. `partition_fields`, if given, become layout 1.

    `identities` are the last values of identity columns, which the table had before it was dropped.
    `primary_key` is as in `SetPrimaryKey`, and `lifetimes` as in `SetLifetimes`.
    `partition_key` has the columns that the values of static columns belong to, each by its first
    id. A table of static values says in `statics_of` which table it belongs to.
    """

    op: Literal["create_table"] = "create_table"
    table: TableIdText
    name: TableName
    table_schema: TableSchema
    next_column_id: ColumnNumber
    sort_key: tuple[SortField, ...] = ()
    properties: dict[str, str] = {}
    comment: str | None = None
    partition_fields: tuple[PartitionField, ...] | None = None
    constraints: tuple[CheckConstraint, ...] | None = None
    identities: tuple[IdentityCounter, ...] | None = None
    primary_key: tuple[ColumnNumber, ...] | None = None
    lifetimes: Lifetimes | None = None
    partition_key: tuple[ColumnNumber, ...] | None = None
    statics_of: TableIdText | None = None


class DropTable(TableOperation):
    """Remove a table and its name. Its files stay until vacuum."""

    op: Literal["drop_table"] = "drop_table"


class AlterSchema(TableOperation):
    """Replace the columns of a table. Fields that stay keep their ids.

    `schema_id` is the current schema id plus one. Ids below the table's `next_column_id` that no
    column has belonged to dropped columns, and are not used again.
    """

    op: Literal["alter_schema"] = "alter_schema"
    table_schema: TableSchema
    schema_id: Count
    next_column_id: ColumnNumber


class SetPartitionLayout(TableOperation):
    """Change the partition fields of RowSets that are written later. Existing RowSets stay.

    `layout_id` is 0 without fields, the id of an earlier layout with the same fields, or the next
    id.
    """

    op: Literal["set_partition_layout"] = "set_partition_layout"
    layout_id: Count
    fields: tuple[PartitionField, ...]


class SetSortOrder(TableOperation):
    """Change the sort key of RowSets that are written later. Existing RowSets stay.

    `order_id` is the id of an earlier sort order with the same fields, or the next id.
    """

    op: Literal["set_sort_order"] = "set_sort_order"
    order_id: Count
    fields: tuple[SortField, ...]


class SetProperties(TableOperation):
    """Set and remove properties of a table. Removing an unknown property has no effect."""

    op: Literal["set_properties"] = "set_properties"
    set: dict[str, str] = {}
    remove: tuple[str, ...] = ()


class SetComment(TableOperation):
    """Set the comment of a table, or remove it if `comment` is absent."""

    op: Literal["set_comment"] = "set_comment"
    comment: str | None = None


class AddCheck(TableOperation):
    """Add a constraint, which all rows of the table meet, and whose name is free in any case."""

    op: Literal["add_check"] = "add_check"
    constraint: CheckConstraint


class DropCheck(TableOperation):
    """Remove a constraint."""

    op: Literal["drop_check"] = "drop_check"
    name: ConstraintName


class SetPrimaryKey(TableOperation):
    """Give a table a primary key, by which all its rows differ, or none without `columns`.

    Each column is named by its id.
    """

    op: Literal["set_primary_key"] = "set_primary_key"
    columns: tuple[ColumnNumber, ...]


class SetLifetimes(TableOperation):
    """Say how long rows and values of a table live, or for ever without `lifetimes`."""

    op: Literal["set_lifetimes"] = "set_lifetimes"
    lifetimes: Lifetimes | None = None


class DrawIdentity(TableOperation):
    """Take the next `count` values of an identity column for the rows of a job.

    `column` is the id of the column. The fold says which values these are.
    """

    op: Literal["draw_identity"] = "draw_identity"
    column: ColumnNumber
    count: Annotated[int, Field(ge=1, le=2**64 - 1)]
    job: TableIdText


class RenameTable(TableOperation):
    """Change the name of a table. The new name must be free. No file moves."""

    op: Literal["rename_table"] = "rename_table"
    name: TableName


class AddRowSet(TableOperation):
    """Add a RowSet. The fold gives it the table's next RowSet id.

    `vector` deletes some of its rows from the beginning, but never all.
    """

    op: Literal["add_rowset"] = "add_rowset"
    rowset: RowSetEntry
    vector: DeletionVectorEntry | None = None


class AddRowSets(TableOperation):
    """Add the RowSets of a segment, for a change with too many entries for one epoch.

    In the segment's order, each RowSet gets the id that an `add_rowset` of its own would give it.
    """

    op: Literal["add_rowsets"] = "add_rowsets"
    segment: EntrySegment


class DropRowSet(TableOperation):
    """Remove RowSets. The ranges of ids are inclusive, ascend and do not overlap.

    With a `kind`, a statement of that kind removed all remaining rows of the RowSets. Without a
    `kind`, the change overwrites all rows that the table had at the base, even if `rowsets` is
    empty.
    """

    op: Literal["drop_rowset"] = "drop_rowset"
    rowsets: tuple[tuple[RowSetNumber, RowSetNumber], ...]
    kind: RowKind | None = None


class AddDeletionVector(TableOperation):
    """Replace the deletion vector of one RowSet.

    Without a `kind`, the rows that the old vector does not have were deleted. With a `kind` they
    were moved: the same epoch adds their new versions.
    """

    op: Literal["add_deletion_vector"] = "add_deletion_vector"
    rowset: RowSetNumber
    vector: DeletionVectorEntry
    kind: Literal["update", "merge"] | None = None


class ReplaceRows(TableOperation):
    """Say which of the rows that the epoch deletes each row that it adds to the table replaces.

    `origin` has a place for each added row, in the order of their RowSets, or none for a new row.
    It counts the deleted rows in the order of their RowSets.
    """

    op: Literal["replace_rows"] = "replace_rows"
    origin: OriginEntry


class AddRangeTombstone(TableOperation):
    """Delete every row that is inside one of the regions and that an earlier epoch has added."""

    op: Literal["add_range_tombstone"] = "add_range_tombstone"
    regions: Regions


class ForgetRangeTombstones(TableOperation):
    """Forget the range tombstones up to an epoch. No row is left that one of them deletes."""

    op: Literal["forget_range_tombstones"] = "forget_range_tombstones"
    through: Count


class ReplaceColumn(TableOperation):
    """Replace the values of some columns of a RowSet. Its rows and other columns stay unchanged.

    `statistics` are the new statistics of the columns. `changed` are the rows whose values differ;
    it is absent if all rows may. `predecessors` are the objects of the replacements that held the
    columns before. A `fill` gives rows a value that they lacked: a change feed does not count it as
    a change of the rows.
    """

    op: Literal["replace_column"] = "replace_column"
    rowset: RowSetNumber
    replacement: ColumnReplacement
    statistics: dict[ColumnNumber, ColumnStatistics] = {}
    changed: DeletionVectorEntry | None = None
    predecessors: tuple[ObjectIdText, ...] | None = None
    fill: Literal[True] | None = None


class CompactionInput(Model):
    """A RowSet that a compaction read: its stored rows, and the deletion vector that it applied."""

    rowset: RowSetNumber
    rows: RowCount
    vector: DeletionVectorEntry | None = None


class CompactionOutput(Model):
    """A RowSet that a compaction wrote. `vector` has the rows deleted during the compaction."""

    rowset: RowSetEntry
    vector: DeletionVectorEntry | None = None

    @property
    def is_empty(self) -> bool:
        """Whether all its rows are deleted."""
        return self.vector is not None and self.vector.cardinality >= self.rowset.rows


class Compaction(TableOperation):
    """Replace RowSets by new RowSets with the same rows.

    The outputs, in order, hold all rows of the inputs that the inputs' vectors do not delete. The
    rows are in the order of the inputs, or in the order that `origin` records. An output without
    live rows takes an id, but is not added.
    """

    op: Literal["compaction"] = "compaction"
    inputs: tuple[CompactionInput, ...]
    outputs: tuple[CompactionOutput, ...]
    origin: OriginEntry | None = None


class Txn(TableOperation):
    """Record that a batch of an application was committed. Versions of an application only grow.

    A change whose version is not above the table's last one was committed before.
    """

    op: Literal["txn"] = "txn"
    app: Annotated[str, StringConstraints(min_length=1, max_length=255)]
    version: Count


class Restore(TableOperation):
    """Restore a table to its state at an epoch. Other operations of the epoch change the rows.

    `table_schema` has the columns of that state if they differ. Ids of columns that were dropped
    since are used again, because the restored RowSets have them. `partition_layout_id`,
    `sort_order_id`, `constraints` and `primary_key` are those of that state if they differ.
    """

    op: Literal["restore"] = "restore"
    epoch: Count
    table_schema: TableSchema | None = None
    partition_layout_id: Count | None = None
    constraints: tuple[CheckConstraint, ...] | None = None
    sort_order_id: Count | None = None
    primary_key: tuple[ColumnNumber, ...] | None = None


class Tag(Model):
    """Name an epoch. The name must be free. The epoch stays readable while it has a name."""

    op: Literal["tag"] = "tag"
    name: TableName
    epoch: Count


class Untag(Model):
    """Remove a name of an epoch."""

    op: Literal["untag"] = "untag"
    name: TableName


class Pin(Model):
    """Keep an epoch readable until `until_ms` (ms since 1970 UTC). Repeat it to extend the time."""

    op: Literal["pin"] = "pin"
    name: TableName
    epoch: Count
    until_ms: Count


class Unpin(Model):
    """End a pin before its time."""

    op: Literal["unpin"] = "unpin"
    name: TableName


class CheckpointRef(Model):
    """The object id and check of the root that stores the state after an epoch.

    An *anchor* is one whose checkpoint was read back whole, and is live data while the newest
    vacuum names it.
    """

    epoch: Count
    root: ObjectIdText
    check: ByteCheck


class Lease(Model):
    """Keep the files of a running job, and epochs from `epoch` on, until `until_ms`.

    `until_ms` is in ms since 1970 UTC; 0 ends the lease. A repeated lease of the same job renews
    it.
    """

    op: Literal["lease"] = "lease"
    job: TableIdText
    epoch: Count
    until_ms: Count


class SetConsumer(Model):
    """Say how far a consumer has read the changes of a table, its `source`.

    `seen` is the last epoch whose changes it has read, and `before` the one before that; absent: it
    is a new consumer. Epochs from `seen` on are kept until `until_ms`, in ms since 1970 UTC; 0: no
    longer. Each of its writers lets it last `keep_ms` from then on.
    """

    op: Literal["set_consumer"] = "set_consumer"
    name: TableName
    source: TableIdText
    seen: Count
    before: Count | None = None
    until_ms: Count
    keep_ms: Count

    def ended(self) -> SetConsumer:
        """Return the operation after which it keeps no epochs."""
        return self.model_copy(update={"before": self.seen, "until_ms": 0})


class DropConsumer(Model):
    """Remove a consumer, which must exist."""

    op: Literal["drop_consumer"] = "drop_consumer"
    name: TableName


class AnchorList(Model):
    """The place of an object that lists anchors (checkpoint/anchor_list.py)."""

    object: ObjectIdText
    check: ByteCheck


class Vacuum(Model):
    """Remove objects and old epochs. Vacuum deletes the files after this epoch names them.

    From this epoch on, epochs below `floor` are removed, except those with an anchor. `anchors`
    lists all anchors: one for the floor, and one for each epoch below it that a tag or pin keeps.
    With an `anchor_list`, the anchors below the floor are in that object instead. `victims` are
    objects that no kept epoch names.
    """

    op: Literal["vacuum"] = "vacuum"
    floor: Count
    anchors: tuple[CheckpointRef, ...] = ()
    anchor_list: AnchorList | None = None
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
    | SetSortOrder
    | SetProperties
    | SetComment
    | AddCheck
    | DropCheck
    | SetPrimaryKey
    | SetLifetimes
    | DrawIdentity
    | RenameTable
    | AddRowSet
    | AddRowSets
    | DropRowSet
    | AddDeletionVector
    | ReplaceRows
    | AddRangeTombstone
    | ForgetRangeTombstones
    | ReplaceColumn
    | Compaction
    | Txn
    | Restore
    | Tag
    | Untag
    | Pin
    | Unpin
    | Lease
    | SetConsumer
    | DropConsumer
    | Vacuum
    | EnableFeatures,
    Field(discriminator="op"),
]
