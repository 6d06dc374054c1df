"""A planner that ends while it does something: that is done once, or the user is told to look."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = pytest.mark.spark

ENDS = """\
import os, pathlib, runpy, sys
from dataclasses import replace
from colonnade.spark_ext.planner import operations

op, moment, ended = sys.argv[1:]
real = operations.OPS[op]

def ends_once(request):
    if moment == "before":
        end_once()
    reply = real.run(request)
    end_once()
    return reply

def end_once():
    try:
        pathlib.Path(ended).touch(exist_ok=False)
    except FileExistsError:
        return
    os._exit(9)

operations.OPS[op] = replace(real, run=ends_once)
runpy.run_module("colonnade.spark_ext.planner", run_name="__main__")
"""

Ending = Callable[[str, str], None]


@pytest.fixture(scope="module", autouse=True)
def other_planners(spark_shell: SparkShell) -> Iterator[None]:
    """Ends with the planner that other tests use; each start of one takes seconds."""
    yield
    spark_shell.run(f"spark.conf.set('spark.colonnade.python', '{sys.executable}')")


@pytest.fixture
def ending(spark_shell: SparkShell, tmp_path: Path) -> Iterator[Ending]:
    """Lets the planner end `before` or `after` it does something for the first time from now on.

    The table `colonnade.db.t` has the row 1.
    """
    spark_shell.sql("CREATE DATABASE colonnade.db")
    spark_shell.sql("CREATE TABLE colonnade.db.t AS SELECT 1 AS a")
    yield lambda op, moment: use(spark_shell, tmp_path, op, moment)
    spark_shell.sql("DROP DATABASE colonnade.db CASCADE")


def use(spark: SparkShell, folder: Path, op: str, moment: str) -> None:
    code = folder / "ends.py"
    code.write_text(ENDS)
    python = script(folder, f"exec {sys.executable} {code} {op} {moment} {folder}/ended")
    spark.run(f"spark.conf.set('spark.colonnade.python', '{python}')")


def script(folder: Path, text: str) -> Path:
    """A program that takes the place of the Python that runs the planner."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)
    return python


INSERT = "INSERT INTO colonnade.db.t VALUES (2)"
OVERWRITE = "INSERT OVERWRITE colonnade.db.t SELECT a + 1 FROM colonnade.db.t"
REPLACE = "CREATE OR REPLACE TABLE colonnade.db.t AS SELECT 7 AS a"


@pytest.mark.parametrize(
    ("op", "moment", "statement", "expected"),
    [
        pytest.param("load", "before", "SELECT a FROM colonnade.db.t", [1], marks=pytest.mark.long),
        ("scan", "after", "SELECT a FROM colonnade.db.t WHERE a = 1", [1]),
        pytest.param("plan_write", "after", INSERT, [1, 2], marks=pytest.mark.long),
        pytest.param("commit_write", "before", INSERT, [1, 2], marks=pytest.mark.long),
        ("commit_write", "after", INSERT, [1, 2]),
        pytest.param("commit_write", "after", OVERWRITE, [2], marks=pytest.mark.long),
        pytest.param("commit_write", "after", REPLACE, [7], marks=pytest.mark.long),
        pytest.param(
            "commit_write", "after", "TRUNCATE TABLE colonnade.db.t", [], marks=pytest.mark.long
        ),
    ],
)
def test_a_statement_does_not_notice(
    spark_shell: SparkShell,
    ending: Ending,
    tmp_path: Path,
    op: str,
    moment: str,
    statement: str,
    expected: list[int],
) -> None:
    table = colonnade.open(spark_shell.folder / "warehouse" / "db" / "t")
    before = table.epoch
    ending(op, moment)
    spark_shell.sql(statement)
    assert (tmp_path / "ended").exists()
    assert spark_shell.sql("SELECT a FROM colonnade.db.t ORDER BY a") == [[a] for a in expected]
    assert table.refresh().epoch == before + (op not in ("load", "scan"))


@pytest.mark.parametrize("moment", [pytest.param("before", marks=pytest.mark.long), "after"])
def test_a_request_that_cannot_be_repeated_is_left_to_the_user(
    spark_shell: SparkShell, ending: Ending, moment: str
) -> None:
    ending("alter_table", moment)
    text = spark_shell.refusal("ALTER TABLE colonnade.db.t ADD COLUMN b INT")
    assert text.startswith("[COLONNADE_PLANNER] The planner ended while it ran alter_table")
    assert "see whether that was done before you run it again" in text
    columns = [row[0] for row in spark_shell.sql("DESCRIBE colonnade.db.t")]
    assert columns == {"before": ["a"], "after": ["a", "b"]}[moment]


@pytest.mark.usefixtures("ending")
def test_a_planner_that_does_not_start_keeps_no_other_session_waiting(
    spark_shell: SparkShell, tmp_path: Path
) -> None:
    spark, started, gate = spark_shell, tmp_path / "started", tmp_path / "gate"
    os.mkfifo(gate)
    python = script(tmp_path, f"touch {started}; read line < {gate}")
    spark.run(f"(slow := spark.newSession()).conf.set('spark.colonnade.python', '{python}')")
    query = "lambda: slow.sql('SELECT * FROM colonnade.db.t')"
    spark.run(f"(waits := __import__('threading').Thread(target={query})).start()")
    until = monotonic() + 50
    while not started.exists() and monotonic() < until:
        sleep(0.01)
    assert spark.sql("SELECT a FROM colonnade.db.t") == [[1]]
    assert spark.run("waits.is_alive()")
    gate.write_text("end\n")
    spark.run("waits.join()")


@pytest.mark.usefixtures("ending")
def test_nothing_is_imported_from_the_folder_that_spark_runs_in(
    spark_shell: SparkShell, tmp_path: Path
) -> None:
    theirs = tmp_path / "colonnade"
    theirs.mkdir()
    (theirs / "__init__.py").write_text("raise SystemExit('not ours')")
    # As Python 3.10 does, which does not know the variable.
    command = f'unset PYTHONSAFEPATH; cd {tmp_path}; exec {sys.executable} "$@"'
    python = script(tmp_path, command)
    spark_shell.run(f"spark.conf.set('spark.colonnade.python', '{python}')")
    assert spark_shell.sql("SELECT a FROM colonnade.db.t") == [[1]]
