"""Colonnade: a lakehouse table format for Spark, and for Arrow without it.

    import colonnade

    trips = colonnade.create("trips", schema)            # a lone table, or a table in a database
    trips.append(arrow_table)                            # commits one epoch
    trips.scan(["day", "miles"], where="miles > 3").to_arrow()
    colonnade.open("trips").scan(epoch=1).to_pandas()    # as of an earlier epoch

The Spark half needs the extra `colonnade[spark]`. After `colonnade.enable(spark)`, use
`spark.read.format("colonnade").load(path)`, `df.write.format("colonnade")`, `colonnade.Table` and
`colonnade.Database`.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import TYPE_CHECKING, Any

from colonnade.manifests.compaction.plan import CompactionPlan
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.log.upgrade import UpgradeResult
from colonnade.manifests.model.schema import (
    ArrayType,
    IdentityColumn,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.version import VERSION as __version__
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.predicate import Predicate, col
from colonnade.tableformat.repair.rowsets import LostRows, RepairResult
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AddConstraint,
    AlterProperties,
    CommentColumn,
    CommentTable,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPrimaryKey,
    MoveColumn,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetPrimaryKey,
    SetSortKey,
    WidenColumn,
)
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.history import HistoryEntry
from colonnade.tableformat.table.kept_epochs import PinnedEpoch
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.verify.findings import Finding, VerifyReport
from colonnade.tableformat.verify.run import verify_path
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings

if TYPE_CHECKING:
    from colonnade.spark_ext.doctor import doctor as doctor
    from colonnade.spark_ext.jar import jar_path as jar_path
    from colonnade.spark_ext.session import configure as configure
    from colonnade.spark_ext.session import enable as enable
    from colonnade.spark_ext.session import session as session
    from colonnade.spark_ext.table.database import Database as Database
    from colonnade.spark_ext.table.table import Table as Table

create = ArrowTable.create
"""Create an empty table: [`ArrowTable.create`][colonnade.ArrowTable.create]."""
open = ArrowTable.open
"""Open a table: [`ArrowTable.open`][colonnade.ArrowTable.open]."""
create_database = ArrowDatabase.create
"""Create an empty database: [`ArrowDatabase.create`][colonnade.ArrowDatabase.create]."""
open_database = ArrowDatabase.open
"""Open a database: [`ArrowDatabase.open`][colonnade.ArrowDatabase.open]."""
verify = verify_path
"""Look for damage at a path, even where the newest state cannot be read.

Where the newest state can be read, use the `verify` methods of tables and databases instead.
"""

# The Spark half is left out: a star import must work without pyspark, and must be fast. `open` is
# left out, because it would replace Python's own.
__all__ = [
    "AddColumn",
    "AddConstraint",
    "AlreadyExistsError",
    "AlterProperties",
    "ArrayType",
    "ArrowDatabase",
    "ArrowTable",
    "ColonnadeError",
    "CommentColumn",
    "CommentTable",
    "CommitSettings",
    "CommitUnknownError",
    "CompactionPlan",
    "CompactionReport",
    "ConflictError",
    "CorruptionError",
    "DropColumn",
    "DropConstraint",
    "DropDefault",
    "DropNotNull",
    "DropPrimaryKey",
    "Finding",
    "HistoryEntry",
    "IdentityColumn",
    "InvalidInputError",
    "LostRows",
    "MapType",
    "MoveColumn",
    "NotFoundError",
    "PinnedEpoch",
    "Predicate",
    "RenameColumn",
    "RepairResult",
    "ReplaceColumns",
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
    "UnsupportedFormatError",
    "UpgradeResult",
    "VacuumResult",
    "VerifyReport",
    "WidenColumn",
    "WriteSettings",
    "__version__",
    "col",
    "create",
    "create_database",
    "open_database",
    "verify",
]


def _public(found: Any) -> Any:
    """Give a public class, or function, the module from which users import it."""
    if isinstance(found, type | FunctionType):
        found.__module__ = "colonnade"
    return found


for _name in __all__:
    _public(globals()[_name])

_NEEDS_SPARK = {
    "Database": "colonnade.spark_ext.table.database",
    "Table": "colonnade.spark_ext.table.table",
    "configure": "colonnade.spark_ext.session",
    "doctor": "colonnade.spark_ext.doctor",
    "enable": "colonnade.spark_ext.session",
    "jar_path": "colonnade.spark_ext.jar",
    "session": "colonnade.spark_ext.session",
}


def __getattr__(name: str) -> Any:
    """Load the Spark half when a name of it is first used, so that Arrow users need no pyspark.

    Raises `ImportError` if pyspark is not installed, or if its version is not supported.
    """
    if name not in _NEEDS_SPARK:
        raise AttributeError(f"module 'colonnade' has no attribute {name!r}")
    supported = importlib.import_module("colonnade.spark_ext.supported")
    try:
        version = importlib.import_module("pyspark").__version__
        if not supported.is_supported(version):
            raise ImportError(
                f"colonnade.{name} needs {supported.needed()}, but pyspark {version} is installed:"
                " install colonnade[spark]."
            )
        return _public(getattr(importlib.import_module(_NEEDS_SPARK[name]), name))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyspark":
            raise
        raise ImportError(
            f"colonnade.{name} needs Spark: install pyspark, or colonnade[spark]."
        ) from error
