"""The benchmarks run: a figure that nobody can measure again is worth nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS

PEERS = {"changes", "peers"}
"""Need another pyspark, and the peers' jars from the network."""


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(BENCHMARKS.keys() - PEERS))
def test_a_benchmark_measures_each_of_its_figures(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", name, "--folder", str(tmp_path)]
    small = ["--scale", "0.01", "--runs", "1"]
    done = subprocess.run([*command, *small], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / f"{name}.json").read_text())["figures"]
    assert figures
    assert all(figure["ours"] >= 0 for figure in figures), figures
