"""A driver killed at any moment: the table is as before or as after, and the next job works."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import colonnade
from tests.spark_ext.processes import kill_session, running, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.long]

VICTIM = Path(__file__).with_name("victim.py")
BEFORE = [-3, -2, -1]
MANY = 1_400_000  # enough rows that each of two tasks has open files
FEW = 20_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a table with the rows BEFORE."""
    table = colonnade.create(
        tmp_path / "t", pa.schema([("id", pa.int64()), ("noise", pa.float64())])
    )
    table.append(pa.table({"id": BEFORE, "noise": [0.5] * 3}))
    return tmp_path / "t"


def kill_when(reached: Callable[[], object], moment: str, rows: int, path: Path) -> None:
    """Let a driver write to `path`, and kill it with all its processes once that is reached."""
    log = path.parent / "victim.log"
    command = [sys.executable, str(VICTIM), moment, str(rows), str(path)]
    with running(command, log) as process:
        wait_until(reached, process, log)
        kill_session(process)
        assert process.returncode == -9, log.read_text()[-8000:]


def ids(path: Path) -> list[int]:
    """What plain Arrow reads, in order."""
    return sorted(colonnade.open(path).scan(["id"]).to_arrow()["id"].to_pylist())


def check_next_job(spark: SparkSession, path: Path, before: list[int]) -> None:
    """An append by Spark adds only its own rows to the rows that plain Arrow sees before it."""
    assert ids(path) == before
    rows = spark.range(FEW, FEW + 10).selectExpr("id", "rand() AS noise")
    rows.write.format("colonnade").mode("append").save(str(path))
    after = [*before, *range(FEW, FEW + 10)]
    assert ids(path) == after
    total = spark.read.format("colonnade").load(str(path)).selectExpr("count(*)", "sum(id)")
    assert total.first() == (len(after), sum(after))


def test_a_driver_killed_while_tasks_write_changes_nothing(spark: SparkSession, path: Path) -> None:
    def half_written() -> bool:
        """One task has finished a RowSet, another one is in the middle of its own."""
        return any(path.glob("*/*/rowset.json")) and any(
            each.stat().st_size for each in path.glob("*/*/.tmp-*.col")
        )

    kill_when(half_written, "writing", MANY, path)
    assert [entry.operation for entry in colonnade.open(path).history()] == [
        "append",
        "create_table",
    ]
    check_next_job(spark, path, BEFORE)
    assert half_written()


def test_a_driver_killed_before_the_first_epoch_of_a_table_leaves_no_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    kill_when(Path(f"{path}.halted").exists, "before", FEW, path)
    assert len(list(path.glob("*/*.rowset"))) == 2
    with pytest.raises(colonnade.NotFoundError):
        colonnade.open(path)
    rows = spark.range(10).selectExpr("id", "rand() AS noise")
    rows.write.format("colonnade").mode("append").save(str(path))
    assert ids(path) == list(range(10))
    check_next_job(spark, path, list(range(10)))


def test_a_driver_killed_before_it_learns_of_its_epoch_wrote_every_row_once(
    spark: SparkSession, path: Path
) -> None:
    kill_when(Path(f"{path}.halted").exists, "after", FEW, path)
    assert [entry.rows_added for entry in colonnade.open(path).history()] == [FEW, 3, 0]
    check_next_job(spark, path, [*BEFORE, *range(FEW)])
