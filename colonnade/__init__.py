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

import os
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from typing import Any

if not os.path.isdir(os.path.join(os.path.dirname(__file__), "manifests")):
    raise ImportError(
        f"{os.path.dirname(__file__)} has no links to the folders beside it, so this tree of the "
        "sources cannot be run (git makes none with core.symlinks=false): install it with "
        "pip install ., and start Python in another folder.",
        name="colonnade",
    )

# `__init__.pyi` says the same to type checkers and editors, which do not run this module.
_PLACES = {
    "AddColumn": "colonnade.tableformat.table.alteration",
    "AddConstraint": "colonnade.tableformat.table.alteration",
    "AlreadyExistsError": "colonnade.manifests.errors",
    "AlterProperties": "colonnade.tableformat.table.alteration",
    "ArrayType": "colonnade.manifests.model.schema",
    "ArrowDatabase": "colonnade.tableformat.table.database",
    "ArrowTable": "colonnade.tableformat.table.table",
    "ArrowTransaction": "colonnade.tableformat.table.transaction.transaction",
    "ArrowTransactionTable": "colonnade.tableformat.table.transaction.transaction",
    "Changes": "colonnade.tableformat.table.changes",
    "ColonnadeError": "colonnade.manifests.errors",
    "ColumnBuilder": "colonnade.tableformat.predicate",
    "ColumnConflictError": "colonnade.manifests.errors",
    "ColumnDefault": "colonnade.manifests.model.schema",
    "CommentColumn": "colonnade.tableformat.table.alteration",
    "CommentTable": "colonnade.tableformat.table.alteration",
    "CommitSettings": "colonnade.tableformat.write.settings",
    "CommitUnknownError": "colonnade.manifests.errors",
    "CompactionGroup": "colonnade.manifests.compaction.plan",
    "CompactionPlan": "colonnade.manifests.compaction.plan",
    "CompactionPolicy": "colonnade.manifests.compaction.policy",
    "CompactionReport": "colonnade.tableformat.compaction.execute",
    "ConflictError": "colonnade.manifests.errors",
    "Consumer": "colonnade.tableformat.table.consumers",
    "CorruptionError": "colonnade.manifests.errors",
    "Database": "colonnade.spark_ext.table.database",
    "Diagnosis": "colonnade.spark_ext.doctor",
    "DropColumn": "colonnade.tableformat.table.alteration",
    "DropConstraint": "colonnade.tableformat.table.alteration",
    "DropDefault": "colonnade.tableformat.table.alteration",
    "DropNotNull": "colonnade.tableformat.table.alteration",
    "DropPrimaryKey": "colonnade.tableformat.table.alteration",
    "Finding": "colonnade.tableformat.verify.findings",
    "Generation": "colonnade.manifests.model.schema",
    "History": "colonnade.tableformat.table.epochs.history",
    "HistoryEntry": "colonnade.tableformat.table.epochs.history",
    "IdentityColumn": "colonnade.manifests.model.schema",
    "InvalidInputError": "colonnade.manifests.errors",
    "LogRepairResult": "colonnade.tableformat.repair.caches",
    "LostRows": "colonnade.tableformat.repair.rowsets",
    "MapType": "colonnade.manifests.model.schema",
    "Merge": "colonnade.tableformat.statements.merge_clauses",
    "MergeBuilder": "colonnade.spark_ext.table.merge",
    "MissingObjectError": "colonnade.manifests.errors",
    "MoveColumn": "colonnade.tableformat.table.alteration",
    "NameReference": "colonnade.manifests.model.schema",
    "NotFoundError": "colonnade.manifests.errors",
    "Optimize": "colonnade.tableformat.compaction.optimize",
    "OptimizeBuilder": "colonnade.spark_ext.table.optimize",
    "PinnedEpoch": "colonnade.tableformat.table.epochs.tags_and_pins",
    "Predicate": "colonnade.tableformat.predicate",
    "Progress": "colonnade.tableformat.progress",
    "RemovedFile": "colonnade.manifests.vacuum.result",
    "RenameColumn": "colonnade.tableformat.table.alteration",
    "RepairResult": "colonnade.tableformat.repair.rowsets",
    "RepeatedMatchError": "colonnade.manifests.errors",
    "ReplaceColumns": "colonnade.tableformat.table.alteration",
    "Report": "colonnade.tableformat.table.report.report",
    "RowCounts": "colonnade.tableformat.statements.statement",
    "Scan": "colonnade.tableformat.scan.arrow_scan",
    "SchemaField": "colonnade.manifests.model.schema",
    "SetDefault": "colonnade.tableformat.table.alteration",
    "SetNotNull": "colonnade.tableformat.table.alteration",
    "SetPartitioning": "colonnade.tableformat.table.alteration",
    "SetPrimaryKey": "colonnade.tableformat.table.alteration",
    "SetSortKey": "colonnade.tableformat.table.alteration",
    "StoreError": "colonnade.manifests.errors",
    "StructType": "colonnade.manifests.model.schema",
    "Table": "colonnade.spark_ext.table.table",
    "TableBuilder": "colonnade.spark_ext.table.table",
    "TableSchema": "colonnade.manifests.model.schema",
    "TableSpec": "colonnade.tableformat.table.design.spec",
    "Transaction": "colonnade.spark_ext.table.transaction",
    "TransactionTable": "colonnade.spark_ext.table.transaction",
    "UnsupportedFormatError": "colonnade.manifests.errors",
    "VacuumResult": "colonnade.manifests.vacuum.result",
    "VerifyReport": "colonnade.tableformat.verify.findings",
    "WidenColumn": "colonnade.tableformat.table.alteration",
    "WriteSettings": "colonnade.tableformat.write.settings",
    "__version__": "colonnade.manifests.version:VERSION",
    "col": "colonnade.tableformat.predicate",
    "configure": "colonnade.spark_ext.session",
    "create": "colonnade.tableformat.table.table:ArrowTable.create",
    "create_database": "colonnade.tableformat.table.database:ArrowDatabase.create",
    "doctor": "colonnade.spark_ext.doctor",
    "enable": "colonnade.spark_ext.session",
    "jar_path": "colonnade.spark_ext.jar",
    "open": "colonnade.tableformat.table.table:ArrowTable.open",
    "open_database": "colonnade.tableformat.table.database:ArrowDatabase.open",
    "progress": "colonnade.tableformat.progress",
    "scan_polars": "colonnade.tableformat.table.scan_polars",
    "session": "colonnade.spark_ext.session",
    "verify": "colonnade.tableformat.verify.run:verify_path",
}
"""Where each public name is: its module, followed by its name there if that is another."""

_SPARK = "colonnade.spark_ext."
"""What the place of a name begins with if the name needs pyspark."""

# The Spark half is left out: a star import must work without pyspark, and must be fast. `open` is
# left out, because it would replace Python's own.
__all__ = [name for name in _PLACES if name != "open" and not _PLACES[name].startswith(_SPARK)]


def __dir__() -> list[str]:
    """The public names; those of the Spark half are among them if pyspark is installed."""
    spark = find_spec("pyspark") is not None
    return [name for name in _PLACES if spark or not _PLACES[name].startswith(_SPARK)]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that the import itself costs nothing.

    Raises `ImportError` for a name of the Spark half if pyspark is not installed, or if its version
    is not supported.
    """
    if name not in _PLACES:
        raise AttributeError(f"module 'colonnade' has no attribute {name!r}")
    place = _PLACES[name]
    found = _find_with_spark(name) if place.startswith(_SPARK) else _find(name)
    globals()[name] = found
    return found


def _find(name: str) -> Any:
    module, _, path = _PLACES[name].partition(":")
    return attrgetter(path or name)(import_module(module))


def _find_with_spark(name: str) -> Any:
    supported = import_module("colonnade.spark_ext.supported")
    try:
        version = import_module("pyspark").__version__
        if not supported.is_supported(version):
            raise ImportError(
                f"colonnade.{name} needs {supported.needed()}, but pyspark {version} is installed:"
                " install colonnade[spark]."
            )
        return _find(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyspark":
            raise
        raise ImportError(
            f"colonnade.{name} needs Spark: install pyspark, or colonnade[spark]."
        ) from error
