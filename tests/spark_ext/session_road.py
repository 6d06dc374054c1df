"""One Spark session and all that can happen to its planner: `python session_road.py KIND FOLDER`.

A process of its own for test_session.py, because one process has one Spark. KIND is
`session`, `enable`, `connect`, or `doctored` for a session with another jar in it. What was seen
goes to FOLDER/seen.json, for the tests to judge.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import colonnade
from colonnade.spark_ext.settings import PYTHON

SECONDS = "spark.colonnade.planner.startSeconds"


def session(kind: str, seen: dict[str, Any]) -> SparkSession:
    """Start a session, and enable Colonnade in it by the way that `kind` names."""
    if kind == "session":
        return colonnade.session()
    builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "1")
    builder = builder.config("spark.sql.ui.explainMode", "simple")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    if kind == "connect":
        spark = builder.remote("local[1]").getOrCreate()
    else:
        builder = builder.master("local[1]").config("spark.ui.enabled", "false")
        if kind == "doctored":
            return builder.config("spark.jars", "doctored.jar").getOrCreate()
        spark = builder.getOrCreate()
    seen["before"] = asdict(colonnade.doctor(spark))
    return colonnade.enable(spark)


def sentence(action: Callable[[], object]) -> str:
    """Return the first line of the error of `action`; an empty text if it succeeds."""
    try:
        action()
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    """Other settings of the planner for a while: `python`, `seconds`."""
    names = {"python": PYTHON, "seconds": SECONDS}
    before = {names[key]: spark.conf.get(names[key], None) for key in values}
    for key, value in values.items():
        spark.conf.set(names[key], value)
    yield
    for name, old in before.items():
        if old is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, old)


def script(folder: Path, text: str) -> str:
    """Write an executable that replaces a Python."""
    path = folder / f"python-{len(list(folder.iterdir()))}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def hello(version: str) -> str:
    """What a planner says first, as a line of a shell script."""
    return f"""echo '{json.dumps({"hello": {"version": version}}, separators=(",", ":"))}'"""


def problem(spark: SparkSession, python: str, seconds: str = "60") -> str | None:
    """What is said where the planner is to run with `python`."""
    with settings(spark, python=python, seconds=seconds):
        found = colonnade.doctor(spark)
    return found.problem


def killed_between(spark: SparkSession) -> dict[str, Any]:
    """Kill the planner while no request runs."""
    first = colonnade.doctor(spark)
    assert first.planner_pid is not None
    os.kill(first.planner_pid, signal.SIGKILL)
    return {"killed": first.planner_pid, "after": asdict(colonnade.doctor(spark))}


def killed_meanwhile(spark: SparkSession, path: str) -> dict[str, Any]:
    """Kill the planner after a query asked it, and before it can answer."""
    pid = colonnade.doctor(spark).planner_pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    found: list[int] = []
    query = spark.read.format("colonnade").load
    asking = threading.Thread(target=lambda: found.append(query(path).count()))
    asking.start()
    time.sleep(1)
    waited = asking.is_alive()
    os.kill(pid, signal.SIGKILL)
    asking.join(60)
    return {
        "killed": pid,
        "waited": waited,
        "count": found,
        "after": asdict(colonnade.doctor(spark)),
    }


def refusal(spark: SparkSession, path: str) -> dict[str, Any]:
    """Return how an error of the planner looks to the code that catches it."""
    try:
        spark.read.format("colonnade").load(path).collect()
    except AnalysisException as error:
        return {"text": str(error), "condition": error.getCondition()}
    raise AssertionError("a table that does not exist was read")


def changed(spark: SparkSession, path: str) -> list[object]:
    """Return the rows and the counts after every kind of row change."""
    rows = colonnade.Table.forPath(spark, path).alias("t")
    done = [rows.delete((F.col("id") == 1) | F.col("id").isNull())]
    done.append(rows.update("id = 2", {"id": F.when(F.col("id") > 1, F.lit(20)).cast("bigint")}))
    source = spark.range(20, 22).alias("s")
    merge = rows.merge(source, F.col("t.id") == F.col("s.id")).whenMatchedDelete()
    done.append(merge.whenNotMatchedInsert(values={"id": F.col("s.id") + F.lit(1)}).execute())
    ids = sorted(row[0] for row in rows.toDF().collect())
    return [ids, *([c.rows_deleted, c.rows_updated, c.rows_inserted] for c in done)]


def merged(spark: SparkSession, path: str) -> list[str]:
    """The columns of a table after a write that brings one, which needs the extension."""
    rows = spark.range(1).withColumn("miles", F.lit(1.5)).write.format("colonnade")
    rows.mode("append").option("mergeSchema", "true").save(path)
    return spark.read.format("colonnade").load(path).columns


def walk(spark: SparkSession, kind: str, folder: Path, seen: dict[str, Any]) -> None:
    """Everything that can happen to a planner."""
    seen["enabled"] = asdict(colonnade.doctor(spark))
    seen["text"] = str(colonnade.doctor(spark))
    seen["again"] = sentence(lambda: colonnade.enable(spark))
    seen["running"] = colonnade.session() is spark
    seen["between"] = killed_between(spark)
    path = str(folder / "trips")
    colonnade.create(path, pa.schema({"id": pa.int64()})).append(pa.table({"id": [1, 2, 3]}))
    seen["meanwhile"] = killed_meanwhile(spark, path)
    seen["changed"] = changed(spark, path)
    seen["merged"] = merged(spark, path)
    seen["refusal"] = refusal(spark, str(folder / "nowhere"))
    if kind != "connect":
        seen["new session"] = asdict(colonnade.doctor(spark.newSession()))
    mute = "read line; echo mute >&2; exit 3"
    seen["problems"] = {
        "missing": problem(spark, str(folder / "no-such-python")),
        "no package": problem(spark, script(folder, "echo 'No module named orjson' >&2; exit 1")),
        "hangs": problem(spark, script(folder, "exec sleep 60"), seconds="1"),
        "other version": problem(spark, script(folder, hello("9.9.9") + "; read line")),
        "dies": problem(spark, script(folder, f"{hello(colonnade.__version__)}; {mute}")),
        "babbles": problem(
            spark, script(folder, f"{hello(colonnade.__version__)}; read line; echo babble")
        ),
        "seconds": problem(spark, sys.executable, seconds="soon"),
        "chatty": problem(
            spark,
            script(
                folder, f"echo 'Welcome!'; exec {sys.executable} -m colonnade.spark_ext.planner"
            ),
        ),
    }
    with settings(spark, python=str(folder / "no-such-python")):
        seen["enable refused"] = sentence(lambda: colonnade.enable(spark))
    seen["last"] = asdict(colonnade.doctor(spark))


def main(kind: str, folder: Path) -> None:
    """Walk and leave what was seen."""
    seen: dict[str, Any] = {}
    spark = session(kind, seen)
    try:
        if kind == "doctored":
            seen["refused"] = sentence(lambda: colonnade.enable(spark))
        else:
            walk(spark, kind, folder, seen)
        (folder / "seen.json").write_text(json.dumps(seen))
    finally:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
