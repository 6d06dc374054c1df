"""Drivers, their JVMs and planners are killed while statements replace columns of a table.

Each statement changes all rows in the same way. So the rows and the columns say how many landed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from tests.spark_ext.java import spark_shell
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.processes import (
    kill_member,
    kill_session,
    running,
    wait_for_end,
    wait_until,
)

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1800)]

ROWS, COLUMNS = 40_000, 40
TABLE, SETTING = "colonnade.killed.t", "spark.colonnade.replaceColumnsBytes"
SESSIONS, PLANNERS = 3, 60
"""How many are killed, one after the other."""

LONGEST = 1.5
"""Seconds, after which something is killed at the latest. A statement takes about half as long."""


def statement(number: int) -> str:
    """Return the statement of this number. Three of four replace `n`, and two of them a field."""
    return (
        f"UPDATE {TABLE} SET n = n + 1, s.f = s.f + 1",
        f"MERGE INTO {TABLE} t USING (SELECT id FROM range({2 * ROWS})) src ON t.id = src.id"
        " WHEN MATCHED THEN UPDATE SET n = t.n + 1, s.f = t.s.f + 1",
        "CALL colonnade.system.backfill(table => 'killed.t', column => 'n', expression => 'n + 1')",
        f"ALTER TABLE {TABLE} ALTER COLUMN c{number // 4} TYPE BIGINT",
    )[number % 4]


def made(folder: Path) -> colonnade.ArrowTable:
    """A table of two RowSets, most of whose bytes no statement sets."""
    values = np.random.default_rng(5)
    database = colonnade.create_database(folder / "warehouse" / "killed")
    struct = pa.struct([("f", pa.int32()), ("g", pa.string())])
    parts = [
        pa.table(
            {
                "id": pa.array(range(first, first + ROWS), pa.int64()),
                "n": pa.array([0] * ROWS, pa.int32()),
                "s": pa.array([{"f": 0, "g": f"g{i % 7}"} for i in range(ROWS)], struct),
                **{
                    f"c{at}": values.integers(-(2**31), 2**31, ROWS, np.int32)
                    for at in range(COLUMNS)
                },
            }
        )
        for first in (0, ROWS)
    ]
    table = database.create_table("t", parts[0].schema)
    for part in parts:
        table.append(part)
    return table


def landed(table: colonnade.ArrowTable, first: pa.Table) -> int:
    """Return how many statements landed. Each of them is in every row, and no other change is."""
    table.refresh()
    found = table.scan().to_arrow().sort_by("id")
    [n] = found["n"].unique().to_pylist()
    [f] = pc.struct_field(found["s"], "f").unique().to_pylist()
    wider = [found.schema.field(f"c{at}").type == pa.int64() for at in range(COLUMNS)]
    count = n + sum(wider)
    cycles, rest = divmod(count, 4)
    assert wider == [True] * cycles + [False] * (COLUMNS - cycles)
    assert (n, f) == (3 * cycles + rest, 2 * cycles + min(rest, 2))
    assert _others(found).cast(_others(first).schema) == _others(first)
    changes = [
        each.metrics
        for each in table.history()
        if each.operation in ("update", "merge", "backfill")
    ]
    assert len(changes) == n
    assert all(each["rows_updated"] == 2 * ROWS for each in changes)
    assert all(each["rowsets_in_place"] == 2 for each in changes)
    return int(count)


def _others(rows: pa.Table) -> pa.Table:
    """What no statement sets."""
    return rows.flatten().drop_columns(["n", "s.f"])


def killed_once(folder: Path, kill: Callable[..., None], first: int, seconds: float) -> int:
    """Kill a session that runs the statements from this number on. Return how many it answered.

    It is killed the given time after its second answer. What is left of it ends by itself.
    """
    requests = [f"SET {SETTING} = 0", *map(statement, range(first, 4 * COLUMNS))]
    given, output, log = (folder / name for name in ("requests", "answers", "log"))
    given.write_text("".join(json.dumps({"sql": each}) + "\n" for each in requests))
    command = [sys.executable, spark_shell.__file__, str(folder)]
    environment = {"PYTHONPATH": str(spark_shell.ROOT), spark_shell.JARS: ""}

    def answers() -> list[str]:
        return [each for each in output.read_text().splitlines() if each.startswith("{")]

    with running(command, log, given=given, output=output, **environment) as process:
        wait_until(lambda: len(answers()) > 2, process, log)
        time.sleep(seconds)
        told = answers()
        kill(process)
        wait_for_end(process, log)
    assert not any("error" in json.loads(each) for each in told)
    return len([each for each in answers() if "error" not in json.loads(each)]) - 1


@pytest.mark.parametrize(
    "kill",
    [
        pytest.param(kill_session, id="everything"),
        pytest.param(partial(kill_member, name="java"), id="the JVM"),
        pytest.param(lambda process: process.kill(), id="the driver"),
    ],
)
def test_a_killed_session_leaves_each_statement_whole_or_absent_and_the_next_one_goes_on(
    tmp_path: Path, kill: Callable[..., None]
) -> None:
    table, pick = made(tmp_path), random.Random(4)
    first, before = table.scan().to_arrow().sort_by("id"), 0
    for _ in range(SESSIONS):
        told = killed_once(tmp_path, kill, before, pick.uniform(0, LONGEST))
        now = landed(table, first)
        assert told >= 2
        assert before + told <= now <= before + told + 1
        before = now
    with SparkShell(tmp_path) as spark:
        spark.sql(f"SET {SETTING} = 0")
        spark.sql(statement(before))
    assert landed(table, first) == before + 1
    assert table.verify(4).is_sound


def test_a_statement_lands_once_or_fails_whole_while_planners_are_killed(tmp_path: Path) -> None:
    table, pick = made(tmp_path), random.Random(5)
    first, now, killed = table.scan().to_arrow().sort_by("id"), 0, 0
    with SparkShell(tmp_path) as spark:
        spark.sql(f"SET {SETTING} = 0")
        for _ in range(PLANNERS):
            victim = spark.run("colonnade.doctor(spark).planner_pid")
            timer = threading.Timer(pick.uniform(0, LONGEST / 2), _kill, (int(victim),))
            timer.start()
            answer = spark.ask({"sql": statement(now)})
            timer.cancel()
            timer.join()
            killed += not _runs(int(victim))
            before, now = now, landed(table, first)
            assert now - before == 1 if "error" not in answer else now - before in (0, 1), answer
    assert killed > PLANNERS / 3
    assert table.verify(4).is_sound


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _runs(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] not in "ZX"
