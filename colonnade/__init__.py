"""Colonnade: a lakehouse table format for Spark, and for Arrow without it.

    import colonnade

    trips = colonnade.create("trips", schema)            # one table, or one in a database above
    trips.append(arrow_table)                            # one epoch
    trips.scan(["day", "miles"], where="miles > 3").to_arrow()
    colonnade.open("trips").scan(epoch=1).to_pandas()    # as of an earlier epoch

With Spark, which needs the extra `colonnade[spark]`: `colonnade.enable(spark)`, then
`spark.read.format("colonnade").load(path)`, `df.write.format("colonnade")`, and `colonnade.Table`,
`colonnade.Database`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from manifests.compaction.plan import CompactionPlan
from manifests.errors import (
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
from manifests.schema import ArrayType, MapType, SchemaField, StructType, TableSchema
from manifests.vacuum.result import VacuumResult
from manifests.version import VERSION as __version__
from tableformat.arrow_scan import Scan
from tableformat.compaction.execute import CompactionReport
from tableformat.database import Database as ArrowDatabase
from tableformat.history import HistoryEntry
from tableformat.kept_epochs import PinnedEpoch
from tableformat.predicate import Predicate, col
from tableformat.repair.rowsets import LostRows, RepairResult
from tableformat.statements.statement import RowCounts
from tableformat.table import ArrowTable
from tableformat.verify.findings import Finding, VerifyReport
from tableformat.verify.run import verify_path
from tableformat.write_settings import CommitSettings, WriteSettings

if TYPE_CHECKING:
    from spark_ext.database import Database as Database
    from spark_ext.doctor import doctor as doctor
    from spark_ext.session import configure as configure
    from spark_ext.session import enable as enable
    from spark_ext.session import jar_path as jar_path
    from spark_ext.session import session as session
    from spark_ext.table import Table as Table

create = ArrowTable.create
open = ArrowTable.open
create_database = ArrowDatabase.create
open_database = ArrowDatabase.open
verify = verify_path

# Without the Spark half: a star import must work, and be fast, where there is no pyspark.
__all__ = [
    "AlreadyExistsError",
    "ArrayType",
    "ArrowDatabase",
    "ArrowTable",
    "ColonnadeError",
    "CommitSettings",
    "CommitUnknownError",
    "CompactionPlan",
    "CompactionReport",
    "ConflictError",
    "CorruptionError",
    "Finding",
    "HistoryEntry",
    "InvalidInputError",
    "LostRows",
    "MapType",
    "NotFoundError",
    "PinnedEpoch",
    "Predicate",
    "RepairResult",
    "RowCounts",
    "Scan",
    "SchemaField",
    "StoreError",
    "StructType",
    "TableSchema",
    "UnsupportedFormatError",
    "VacuumResult",
    "VerifyReport",
    "WriteSettings",
    "__version__",
    "col",
    "create",
    "create_database",
    "open",
    "open_database",
    "verify",
]

_NEEDS_SPARK = {
    "Database": "spark_ext.database",
    "Table": "spark_ext.table",
    "configure": "spark_ext.session",
    "doctor": "spark_ext.doctor",
    "enable": "spark_ext.session",
    "jar_path": "spark_ext.session",
    "session": "spark_ext.session",
}


def __getattr__(name: str) -> Any:
    """Load the Spark half when it is first named, so that Arrow users need no pyspark.

    Raises `ImportError` where there is none, or an older one than the Spark half can run with.
    """
    if name not in _NEEDS_SPARK:
        raise AttributeError(f"module 'colonnade' has no attribute {name!r}")
    supported = importlib.import_module("spark_ext.supported")
    try:
        version = importlib.import_module("pyspark").__version__
        if not supported.is_supported(version):
            raise ImportError(
                f"colonnade.{name} needs {supported.needed()}, but pyspark {version} is installed:"
                " install colonnade[spark]."
            )
        return getattr(importlib.import_module(_NEEDS_SPARK[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyspark":
            raise
        raise ImportError(
            f"colonnade.{name} needs Spark: install pyspark, or colonnade[spark]."
        ) from error
