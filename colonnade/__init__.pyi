"""What `__init__.py` has, for type checkers, editors and the reference."""

from colonnade.manifests.compaction.plan import CompactionGroup as CompactionGroup
from colonnade.manifests.compaction.plan import CompactionPlan as CompactionPlan
from colonnade.manifests.compaction.policy import CompactionPolicy as CompactionPolicy
from colonnade.manifests.errors import AlreadyExistsError as AlreadyExistsError
from colonnade.manifests.errors import ColonnadeError as ColonnadeError
from colonnade.manifests.errors import ColumnConflictError as ColumnConflictError
from colonnade.manifests.errors import CommitUnknownError as CommitUnknownError
from colonnade.manifests.errors import ConflictError as ConflictError
from colonnade.manifests.errors import CorruptionError as CorruptionError
from colonnade.manifests.errors import InvalidInputError as InvalidInputError
from colonnade.manifests.errors import MissingObjectError as MissingObjectError
from colonnade.manifests.errors import NotFoundError as NotFoundError
from colonnade.manifests.errors import RepeatedMatchError as RepeatedMatchError
from colonnade.manifests.errors import StoreError as StoreError
from colonnade.manifests.errors import UnsupportedFormatError as UnsupportedFormatError
from colonnade.manifests.model.schema import ArrayType as ArrayType
from colonnade.manifests.model.schema import ColumnDefault as ColumnDefault
from colonnade.manifests.model.schema import Generation as Generation
from colonnade.manifests.model.schema import IdentityColumn as IdentityColumn
from colonnade.manifests.model.schema import MapType as MapType
from colonnade.manifests.model.schema import NameReference as NameReference
from colonnade.manifests.model.schema import SchemaField as SchemaField
from colonnade.manifests.model.schema import StructType as StructType
from colonnade.manifests.model.schema import TableSchema as TableSchema
from colonnade.manifests.vacuum.result import RemovedFile as RemovedFile
from colonnade.manifests.vacuum.result import VacuumResult as VacuumResult
from colonnade.manifests.version import VERSION as __version__
from colonnade.spark_ext.doctor import Diagnosis as Diagnosis
from colonnade.spark_ext.doctor import doctor as doctor
from colonnade.spark_ext.jar import jar_path as jar_path
from colonnade.spark_ext.session import configure as configure
from colonnade.spark_ext.session import enable as enable
from colonnade.spark_ext.session import session as session
from colonnade.spark_ext.table.database import Database as Database
from colonnade.spark_ext.table.merge import MergeBuilder as MergeBuilder
from colonnade.spark_ext.table.optimize import OptimizeBuilder as OptimizeBuilder
from colonnade.spark_ext.table.table import Table as Table
from colonnade.spark_ext.table.table import TableBuilder as TableBuilder
from colonnade.spark_ext.table.transaction import Transaction as Transaction
from colonnade.spark_ext.table.transaction import TransactionTable as TransactionTable
from colonnade.tableformat.compaction.execute import CompactionReport as CompactionReport
from colonnade.tableformat.compaction.optimize import Optimize as Optimize
from colonnade.tableformat.predicate import ColumnBuilder as ColumnBuilder
from colonnade.tableformat.predicate import Predicate as Predicate
from colonnade.tableformat.predicate import col as col
from colonnade.tableformat.progress import Progress as Progress
from colonnade.tableformat.progress import progress as progress
from colonnade.tableformat.repair.caches import LogRepairResult as LogRepairResult
from colonnade.tableformat.repair.rowsets import LostRows as LostRows
from colonnade.tableformat.repair.rowsets import RepairResult as RepairResult
from colonnade.tableformat.scan.arrow_scan import Scan as Scan
from colonnade.tableformat.statements.merge_clauses import Merge as Merge
from colonnade.tableformat.statements.statement import RowCounts as RowCounts
from colonnade.tableformat.table.alteration import AddColumn as AddColumn
from colonnade.tableformat.table.alteration import AddConstraint as AddConstraint
from colonnade.tableformat.table.alteration import AlterProperties as AlterProperties
from colonnade.tableformat.table.alteration import CommentColumn as CommentColumn
from colonnade.tableformat.table.alteration import CommentTable as CommentTable
from colonnade.tableformat.table.alteration import DropColumn as DropColumn
from colonnade.tableformat.table.alteration import DropConstraint as DropConstraint
from colonnade.tableformat.table.alteration import DropDefault as DropDefault
from colonnade.tableformat.table.alteration import DropNotNull as DropNotNull
from colonnade.tableformat.table.alteration import DropPrimaryKey as DropPrimaryKey
from colonnade.tableformat.table.alteration import MoveColumn as MoveColumn
from colonnade.tableformat.table.alteration import RenameColumn as RenameColumn
from colonnade.tableformat.table.alteration import ReplaceColumns as ReplaceColumns
from colonnade.tableformat.table.alteration import SetDefault as SetDefault
from colonnade.tableformat.table.alteration import SetNotNull as SetNotNull
from colonnade.tableformat.table.alteration import SetPartitioning as SetPartitioning
from colonnade.tableformat.table.alteration import SetPrimaryKey as SetPrimaryKey
from colonnade.tableformat.table.alteration import SetSortKey as SetSortKey
from colonnade.tableformat.table.alteration import WidenColumn as WidenColumn
from colonnade.tableformat.table.changes import Changes as Changes
from colonnade.tableformat.table.consumers import Consumer as Consumer
from colonnade.tableformat.table.database import ArrowDatabase as ArrowDatabase
from colonnade.tableformat.table.design.spec import TableSpec as TableSpec
from colonnade.tableformat.table.epochs.history import History as History
from colonnade.tableformat.table.epochs.history import HistoryEntry as HistoryEntry
from colonnade.tableformat.table.epochs.tags_and_pins import PinnedEpoch as PinnedEpoch
from colonnade.tableformat.table.report.report import Report as Report
from colonnade.tableformat.table.scan_polars import scan_polars as scan_polars
from colonnade.tableformat.table.table import ArrowTable as ArrowTable
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction as ArrowTransaction
from colonnade.tableformat.table.transaction.transaction import (
    ArrowTransactionTable as ArrowTransactionTable,
)
from colonnade.tableformat.verify.findings import Finding as Finding
from colonnade.tableformat.verify.findings import VerifyReport as VerifyReport
from colonnade.tableformat.verify.run import verify_path as verify
from colonnade.tableformat.write.settings import CommitSettings as CommitSettings
from colonnade.tableformat.write.settings import WriteSettings as WriteSettings

create = ArrowTable.create
"""Create an empty table: [`ArrowTable.create`][colonnade.ArrowTable.create]."""
open = ArrowTable.open
"""Open a table: [`ArrowTable.open`][colonnade.ArrowTable.open]."""
create_database = ArrowDatabase.create
"""Create an empty database: [`ArrowDatabase.create`][colonnade.ArrowDatabase.create]."""
open_database = ArrowDatabase.open
"""Open a database: [`ArrowDatabase.open`][colonnade.ArrowDatabase.open]."""

__all__ = [
    "AddColumn",
    "AddConstraint",
    "AlreadyExistsError",
    "AlterProperties",
    "ArrayType",
    "ArrowDatabase",
    "ArrowTable",
    "ArrowTransaction",
    "ArrowTransactionTable",
    "Changes",
    "ColonnadeError",
    "ColumnBuilder",
    "ColumnConflictError",
    "ColumnDefault",
    "CommentColumn",
    "CommentTable",
    "CommitSettings",
    "CommitUnknownError",
    "CompactionGroup",
    "CompactionPlan",
    "CompactionPolicy",
    "CompactionReport",
    "ConflictError",
    "Consumer",
    "CorruptionError",
    "DropColumn",
    "DropConstraint",
    "DropDefault",
    "DropNotNull",
    "DropPrimaryKey",
    "Finding",
    "Generation",
    "History",
    "HistoryEntry",
    "IdentityColumn",
    "InvalidInputError",
    "LogRepairResult",
    "LostRows",
    "MapType",
    "Merge",
    "MissingObjectError",
    "MoveColumn",
    "NameReference",
    "NotFoundError",
    "Optimize",
    "PinnedEpoch",
    "Predicate",
    "Progress",
    "RemovedFile",
    "RenameColumn",
    "RepairResult",
    "RepeatedMatchError",
    "ReplaceColumns",
    "Report",
    "RowCounts",
    "Scan",
    "SchemaField",
    "SetDefault",
    "SetNotNull",
    "SetPartitioning",
    "SetPrimaryKey",
    "SetSortKey",
    "StoreError",
    "StructType",
    "TableSchema",
    "TableSpec",
    "UnsupportedFormatError",
    "VacuumResult",
    "VerifyReport",
    "WidenColumn",
    "WriteSettings",
    "__version__",
    "col",
    "create",
    "create_database",
    "open_database",
    "progress",
    "scan_polars",
    "verify",
]
