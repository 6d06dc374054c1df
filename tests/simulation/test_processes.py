"""Processes on disk that are killed at any time lose nothing that they were told is done."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_killed_processes_leave_what_they_were_told(tmp_path: Path) -> None:
    # On a busy machine few processes come to work in four seconds.
    worked = any(kills >= 3 and epochs >= 10 for kills, epochs in map(run, runs(tmp_path)))
    assert worked


def runs(folder: Path) -> Iterator[tuple[Path, int]]:
    """A folder for each run, and how many seconds it lasts."""
    for seconds in (4, 20, 60):
        (folder / str(seconds)).mkdir()
        yield folder / str(seconds), seconds


def run(chosen: tuple[Path, int]) -> tuple[int, int]:
    """Let processes work; returns how many were killed, and how many epochs they committed."""
    folder, seconds = chosen
    command = [sys.executable, "-m", "tests.simulation.processes", str(folder)]
    done = subprocess.run(
        [*command, "--seconds", str(seconds), "--processes", "4"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds + 90,
    )
    assert done.returncode == 0, done.stdout
    kills, epochs = (int(part.split()[0]) for part in done.stdout.splitlines()[-1].split(", ")[:2])
    return kills, epochs
