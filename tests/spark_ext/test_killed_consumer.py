"""A Spark driver that is killed while it works as a consumer counts each change once."""

from __future__ import annotations

import random
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.processes import kill_session, running, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(3600)]

PROGRAM = Path(__file__).with_name("consuming.py")
SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64())])
KEYS = 7


@pytest.mark.parametrize("kills", [3, 20])
def test_a_driver_that_is_killed_at_any_moment_counts_each_row_once(
    tmp_path: Path, kills: int
) -> None:
    order = random.Random(kills)
    database = colonnade.create_database(tmp_path / "db")
    orders = database.create_table("orders", SCHEMA)
    sums = database.create_table("sums", SCHEMA)
    database.create_consumer("sums", "orders", 0)
    expected: dict[int, int] = {}

    def land() -> None:
        keys = [order.randrange(KEYS) for _ in range(order.randint(1, 5))]
        orders.append(pa.table({"k": keys, "v": [1] * len(keys)}, SCHEMA))
        for key in keys:
            expected[key] = expected.get(key, 0) + 1

    def found() -> dict[int, int]:
        return {row["k"]: row["v"] for row in sums.refresh().to_pylist()}

    log, output = tmp_path / "log", tmp_path / "output"
    command = [sys.executable, str(PROGRAM), str(tmp_path / "db")]
    for turn in range(kills + 1):
        with ExitStack() as stack:
            process = stack.enter_context(running(command, log, output=output))
            wait_until(output.read_text, process, log)
            if turn == kills:
                wait_until(lambda: found() == expected, process, log)
                break
            for _ in range(order.randint(1, 4)):
                land()
                time.sleep(order.uniform(0, 0.3))
            kill_session(process)
    assert orders.count() == sum(expected.values())
    assert database.verify(4).is_sound
