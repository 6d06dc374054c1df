"""Processes on disk that are killed at any time lose nothing that they were told is done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_killed_processes_leave_what_they_were_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.simulation.processes", str(tmp_path)]
    done = subprocess.run(
        [*command, "--seconds", "6", "--processes", "4"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    kills, epochs = (int(part.split()[0]) for part in done.stdout.splitlines()[-1].split(", ")[:2])
    assert kills >= 3
    assert epochs >= 10
