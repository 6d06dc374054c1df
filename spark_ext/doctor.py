"""Report what of Colonnade a session has, and what it lacks: `print(colonnade.doctor(spark))`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pyspark
from pyspark.sql import SparkSession

from colonnade.manifests.public import public
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.settings import (
    CATALOG,
    CATALOG_CLASS,
    EXTENSION_CLASS,
    EXTENSIONS,
    SESSION_CATALOG,
    SESSION_CATALOG_CLASS,
)

# A data source of the jar; its rows are names and values.
_FORMAT = "colonnade_doctor"


@public
@dataclass(frozen=True)
class Diagnosis:
    """The result of `doctor`; prints as a few lines.

    `source` tells which source `format("colonnade")` means in this session. `jar_version` is the
    version of the jar that Spark has loaded. The planner's fields describe the process beside
    Spark's driver. `workers_python` is the Python that runs Python functions on executors; None if
    a server of Spark Connect without the jar decides. `problem` is a sentence that says why the
    planner does not run. Each line of `missing` names a setting that the session lacks.
    """

    source: Literal["Java", "Python"]
    reason: str
    spark: str
    package: str
    jar_version: str | None = None
    planner_python: str | None = None
    planner_pid: int | None = None
    planner_log: str | None = None
    workers_python: str | None = None
    problem: str | None = None
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [
            f"Spark source  {self.source}: {self.reason}",
            f"Spark         {self.spark}",
            f"package       {self.package}",
        ]
        if self.jar_version is not None:
            lines.append(f"jar           {self.jar_version}")
        if self.planner_pid is not None:
            lines.append(f"planner       {self.planner_python}, process {self.planner_pid}")
            lines.append(f"planner's log {self.planner_log}")
        if self.workers_python is not None:
            lines.append(f"workers       {self.workers_python}")
        if self.problem is not None:
            lines.append(f"problem       {self.problem}")
        lines += [f"missing       {line}" for line in self.missing]
        return "\n".join(lines)


@public
def doctor(spark: SparkSession) -> Diagnosis:
    """Report what `spark` has of Colonnade, what it lacks, and whether its planner answers.

    Changes nothing, except that in a session with the jar it starts the planner if necessary.
    """
    connect = ".connect." in type(spark).__module__
    kind = "Spark Connect" if connect else "classic"
    found = Diagnosis(
        source="Python",
        reason="this session has no jar of Colonnade; colonnade.enable(spark) adds it",
        spark=f"{spark.version} ({kind}, pyspark {pyspark.__version__})",
        package=f"{VERSION} in {Path(__file__).resolve().parent.parent}",
        workers_python=None if connect else spark.sparkContext.pythonExec,
    )
    facts = _facts(spark)
    if facts is None:
        return found
    pid = facts.get("planner.pid")
    return replace(
        found,
        source="Java",
        reason="the jar of Colonnade is in this session",
        jar_version=facts["jar"],
        planner_python=facts.get("planner.python"),
        planner_pid=None if pid is None else int(pid),
        planner_log=facts.get("planner.log"),
        workers_python=found.workers_python or facts.get("workers.python"),
        problem=facts.get("planner.error"),
        missing=tuple(_missing(spark, facts)),
    )


def extend(spark: SparkSession) -> None:
    """Give the extension of the jar to a session that has the jar, and may run since before it."""
    spark.read.format(_FORMAT).option("enable", True).load().collect()


def _missing(spark: SparkSession, facts: Mapping[str, str]) -> Iterator[str]:
    """Yield each setting that the session would need to be whole, as a line that sets it."""
    if facts.get("extension") != "true":
        yield f"--conf {EXTENSIONS}={EXTENSION_CLASS}; colonnade.enable(spark) does the same"
    for name, wanted in ((CATALOG, CATALOG_CLASS), (SESSION_CATALOG, SESSION_CATALOG_CLASS)):
        current = spark.conf.get(name, None)
        if current in (None, "builtin"):
            yield f"--conf {name}={wanted}; colonnade.enable(spark) does the same"
        elif current != wanted:
            yield f"--conf {name}={wanted}; it is {current}, which knows no Colonnade tables"


def _facts(spark: SparkSession) -> dict[str, str] | None:
    """Return what the jar says about itself and its planner; None without the jar."""
    try:
        rows = spark.read.format(_FORMAT).load().collect()
    except Exception as error:  # its class differs between versions, classic and Connect
        if "[DATA_SOURCE_NOT_FOUND]" not in str(error):
            raise
        return None
    return {row["name"]: row["value"] for row in rows}
