"""Huge values are merged and written without more copies than the result needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MOST_COPIES = 3.0
PROGRAM = """
import sys
import pyarrow as pa
import colonnade

def peak(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

kind = pa.large_string()
schema = pa.schema([("k", pa.int64()), ("s", kind)])
how = {"merge.s": "concat"}
table = colonnade.create(sys.argv[1], schema, primary_key=["k"], properties=how)
table.upsert(pa.table({"k": [0], "s": ["a"]}, schema))
size = 32 * 2**20
for step in range(3):
    rows = pa.table({"k": [1], "s": ["x" * size]}, schema)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = peak("VmRSS")
    table.upsert(rows)
    print((peak("VmHWM") - before) / (size * (step + 1)))
assert len(table.get(1)["s"]) == 3 * size
"""


def test_a_huge_text_takes_at_most_three_times_its_size_while_it_grows(tmp_path: Path) -> None:
    # Arrow's own allocator gives memory back late, which would count as used.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "t")],
        capture_output=True,
        check=True,
        text=True,
        env=environment,
    )
    copies = [float(line) for line in done.stdout.split()]
    assert len(copies) == 3
    assert max(copies) < MOST_COPIES, copies
