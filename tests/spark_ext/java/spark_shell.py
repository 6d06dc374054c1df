"""A Spark session with the jar, in a process of its own, that tests send statements to.

One process has one Spark, and that of the other tests has no jar. `python spark_shell.py FOLDER`
answers one JSON request a line: `{"sql": text}`, or `{"code": expression}` of Python, which
may use `spark`, `F` and `folder`, with `{"value": ...}` or `{"error": text}`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.spark_ext.java.json_process import JsonProcess

ROOT = Path(__file__).parents[3]
JARS = "COLONNADE_TEST_JARS"


class SparkShell(JsonProcess):
    """The tests' side. `folder` holds the warehouses and whatever tests put there."""

    def __init__(self, folder: Path, jars: Sequence[Path] = ()) -> None:
        """Start it. `jars` are beside the jar and those of S3A."""
        self.folder = folder
        inherited = os.environ.get("PYTHONPATH", "")
        path = os.pathsep.join((str(ROOT), inherited))
        command = [sys.executable, __file__, str(folder)]
        more = os.pathsep.join(map(str, jars))
        super().__init__(command, env={**os.environ, "PYTHONPATH": path, JARS: more})

    def sql(self, text: str) -> list[list[Any]]:
        """The rows of a statement; fails with the message that Spark's users see."""
        rows: list[list[Any]] = self._value({"sql": text})
        return rows

    def run(self, code: str) -> Any:
        """The value of an expression, data frames as lists of rows."""
        return self._value({"code": code})

    def refusal(self, text: str) -> str:
        """Return the first line of a failing statement's error."""
        return self._refused({"sql": text})

    def refused_run(self, code: str) -> str:
        """Return the first line of a failing expression's error."""
        return self._refused({"code": code})

    def condition(self, text: str) -> str | None:
        """Return the error condition of a failing statement, if its error has one."""
        reply = self.ask({"sql": text})
        assert "error" in reply, f"{text} gave {reply}"
        condition: str | None = reply["condition"]
        return condition

    def _refused(self, request: dict[str, str]) -> str:
        reply = self.ask(request)
        assert "error" in reply, f"{request} gave {reply}"
        text: str = reply["error"]
        return text.splitlines()[0]

    def _value(self, request: dict[str, str]) -> Any:
        reply = self.ask(request)
        assert "error" not in reply, reply["error"]
        return reply["value"]


def main() -> None:
    """Answer until the input ends."""
    # Imported by the process alone: the tests' own side needs no Spark.
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import functions as F

    import colonnade
    from tests.setup import hadoop_aws
    from tests.spark_ext.java_names import keep_java_names

    folder = sys.argv[1]
    more = filter(None, os.environ[JARS].split(os.pathsep))
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", "-Xmn500m")  # half as many garbage collections
        .config("spark.ui.enabled", "false")
        .config("spark.sql.ui.explainMode", "simple")  # nobody reads it, and it takes time
        .config("spark.ui.retainedJobs", "10")
        .config("spark.ui.retainedStages", "10")
        .config("spark.sql.ui.retainedExecutions", "10")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "America/New_York")
        .config("spark.sql.warehouse.dir", f"{folder}/spark")
        .config("spark.sql.catalog.colonnade.warehouse", f"{folder}/warehouse")
        .config("spark.jars", ",".join([*hadoop_aws.jars(), *more]))
    )
    spark = colonnade.configure(builder).getOrCreate()
    keep_java_names()
    spark.sparkContext.setLogLevel("OFF")
    names = {"spark": spark, "F": F, "folder": folder, "colonnade": colonnade}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            value = spark.sql(request["sql"]) if "sql" in request else eval(request["code"], names)
            if isinstance(value, DataFrame):
                value = [list(row) for row in value.collect()]
            reply = {"value": value}
        except Exception as error:
            condition = getattr(error, "getCondition", lambda: None)()
            reply = {"error": str(error), "condition": condition}
        print(json.dumps(reply, default=str), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
