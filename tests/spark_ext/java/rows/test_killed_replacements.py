"""Planners are killed while UPDATE and MERGE replace columns of a table.

Each statement adds one to a column and to a field of all rows. So both say how many of them landed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(1800)]

ROWS, COLUMNS = 40_000, 40
TABLE, SETTING = "colonnade.killed.t", "spark.colonnade.replaceColumnsBytes"
STATEMENTS = {
    "UPDATE": f"UPDATE {TABLE} SET n = n + 1, s.f = s.f + 1",
    "MERGE": f"MERGE INTO {TABLE} t USING (SELECT id FROM range({2 * ROWS})) src ON t.id = src.id"
    " WHEN MATCHED THEN UPDATE SET n = t.n + 1, s.f = t.s.f + 1",
}
KILLS = 30
LONGEST = 0.75
"""Seconds, after which a planner is killed at the latest. A statement takes about as long."""


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
                **{f"c{at}": values.random(ROWS) for at in range(COLUMNS)},
            }
        )
        for first in (0, ROWS)
    ]
    table = database.create_table("t", parts[0].schema)
    for part in parts:
        table.append(part)
    return table


def landed(table: colonnade.ArrowTable, first: pa.Table) -> int:
    """Return how many statements landed. Every row has all of them, and is unchanged besides."""
    table.refresh()
    found = table.scan().to_arrow().sort_by("id")
    [count] = found["n"].unique().to_pylist()
    assert {each["f"] for each in found["s"].to_pylist()} == {count}
    assert [each["g"] for each in found["s"].to_pylist()] == [
        each["g"] for each in first["s"].to_pylist()
    ]
    assert found.drop_columns(["n", "s"]).equals(first.drop_columns(["n", "s"]))
    changes = [each for each in table.history() if each.operation in ("update", "merge")]
    assert len(changes) == count
    assert all(each.metrics["rows_updated"] == 2 * ROWS for each in changes)
    assert all(each.metrics["rowsets_in_place"] == 2 for each in changes)
    return int(count)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_lands_once_or_fails_whole_while_planners_are_killed(
    tmp_path: Path, name: str
) -> None:
    table, pick = made(tmp_path), random.Random(name)
    first, now, killed = table.scan().to_arrow().sort_by("id"), 0, 0
    with SparkShell(tmp_path) as spark:
        spark.sql(f"SET {SETTING} = 0")
        for _ in range(KILLS):
            victim = spark.run("colonnade.doctor(spark).planner_pid")
            timer = threading.Timer(pick.uniform(0, LONGEST), _kill, (int(victim),))
            timer.start()
            answer = spark.ask({"sql": STATEMENTS[name]})
            timer.cancel()
            timer.join()
            killed += not _runs(int(victim))
            before, now = now, landed(table, first)
            assert now - before == 1 if "error" not in answer else now - before in (0, 1), answer
    assert killed > KILLS / 3
    assert table.verify(4).is_sound


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _runs(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] not in "ZX"
