"""Writers that add to the same keys at once all get through, and every row counts once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("n", pa.int64())])
KEYS = 5

WRITER = textwrap.dedent(
    """
    import sys
    import pyarrow as pa
    import colonnade

    table = colonnade.open(sys.argv[1])
    batch = pa.table({"id": list(range(5)) * 2, "n": [1] * 10})
    for _ in range(int(sys.argv[2])):
        table.upsert(batch)
    """
)


def hot_table(path: Path) -> colonnade.ArrowTable:
    return colonnade.create(path, SCHEMA, primary_key=["id"], properties={"merge.n": "add"})


def check(table: colonnade.ArrowTable, total: int) -> None:
    rows = table.scan().to_arrow().sort_by("id")
    assert rows.to_pydict() == {"id": list(range(KEYS)), "n": [total] * KEYS}
    assert table.verify(4).findings == ()


@pytest.mark.slow
def test_four_threads_that_add_to_the_same_keys_are_exact(tmp_path: Path) -> None:
    table = hot_table(tmp_path / "t")
    batch = pa.table({"id": range(KEYS), "n": [1] * KEYS})

    def write(_: int) -> None:
        own = colonnade.open(tmp_path / "t")
        for _ in range(5):
            own.upsert(batch)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    check(table, 20)


@pytest.mark.long
def test_eight_processes_that_add_to_the_same_keys_are_exact(tmp_path: Path) -> None:
    table = hot_table(tmp_path / "t")
    count = 25
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "t", str(count)])
        for _ in range(8)
    ]
    assert [writer.wait(600) for writer in writers] == [0] * 8
    check(table, 2 * 8 * count)
