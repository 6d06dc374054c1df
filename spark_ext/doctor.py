"""Report which of the two Spark sources a session uses: `print(colonnade.doctor(spark))`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pyspark
from pyspark.sql import SparkSession

from colonnade.manifests.version import VERSION

# A data source of the jar; its rows are names and values.
_FORMAT = "colonnade_doctor"


@dataclass(frozen=True)
class Diagnosis:
    """The result of `doctor`; prints as a few lines.

    `source` tells which source `format("colonnade")` means in this session. `jar_version` is the
    version of the jar that Spark has loaded. The planner's fields describe the process beside
    Spark's driver. `problem` is a sentence that says why the planner does not run.
    """

    source: Literal["Java", "Python"]
    reason: str
    spark: str
    package: str
    jar_version: str | None = None
    planner_python: str | None = None
    planner_pid: int | None = None
    planner_log: str | None = None
    problem: str | None = None

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
        if self.problem is not None:
            lines.append(f"problem       {self.problem}")
        return "\n".join(lines)


def doctor(spark: SparkSession) -> Diagnosis:
    """Report which source `spark` uses, why, and whether its planner answers.

    Changes nothing, except that in a session with the jar it starts the planner if necessary.
    """
    connect = ".connect." in type(spark).__module__
    kind = "Spark Connect" if connect else "classic"
    found = Diagnosis(
        source="Python",
        reason="this session has no jar of Colonnade; colonnade.enable(spark) adds it",
        spark=f"{spark.version} ({kind}, pyspark {pyspark.__version__})",
        package=f"{VERSION} in {Path(__file__).resolve().parent.parent}",
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
        problem=facts.get("planner.error"),
    )


def _facts(spark: SparkSession) -> dict[str, str] | None:
    """Return what the jar says about itself and its planner; None without the jar."""
    try:
        rows = spark.read.format(_FORMAT).load().collect()
    except Exception as error:  # its class differs between versions, classic and Connect
        if "[DATA_SOURCE_NOT_FOUND]" not in str(error):
            raise
        return None
    return {row["name"]: row["value"] for row in rows}
