"""The benchmarks run: a published figure must be measurable again."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import benchmarks
from benchmarks.__main__ import BENCHMARKS, FOLDERS, OF_PEERS
from benchmarks.measure import Figure, show

QUICK = {"concurrency"}
"""Needs seconds and no Spark. It builds logs by hand, so a rule of the log can break it."""


def _measured() -> list[Any]:
    slow = (pytest.mark.spark, pytest.mark.long)
    names = sorted(BENCHMARKS.keys() - set(OF_PEERS))
    return [pytest.param(name, marks=() if name in QUICK else slow) for name in names]


@pytest.mark.parametrize("name", _measured())
def test_a_benchmark_measures_each_of_its_figures(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", name, "--folder", str(tmp_path)]
    small = ["--scale", "0.01", "--runs", "1", "--minutes", "0.2"]
    done = subprocess.run([*command, *small], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / f"{name}.json").read_text())["figures"]
    assert figures
    assert all(figure["ours"] >= 0 for figure in figures), figures


def test_the_header_of_each_folder_lists_what_is_in_it() -> None:
    root = Path(benchmarks.__file__).parent
    for folder in (root, *(each.parent for each in root.glob("*/__init__.py"))):
        header = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        inside = {path.name for path in folder.glob("*.py")}
        inside |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
        assert inside - set(header.split()) == {"__init__.py"}, folder
        assert len(inside) <= 20, folder


def test_each_folder_of_the_command_has_its_benchmarks() -> None:
    root = Path(benchmarks.__file__).parent
    for folder, names in FOLDERS.items():
        assert {f"{name}.py" for name in names} <= {path.name for path in (root / folder).iterdir()}


def test_a_table_says_what_a_target_judges_and_in_which_unit() -> None:
    figures = [
        Figure("append", "ms", 1.8, 0.6, 3.0, target=2, judged_by_ratio=False),
        Figure("scan", "s", 1.0, 2.0, 0.5, target=0.4),
        Figure("open", "ms", 1.5, target=5),
        Figure("look", "s", 1.0, 2.0, 0.5),
    ]
    cells = [line.split(" | ")[3:] for line in show(figures).splitlines()[2:]]
    assert cells == [
        ["3.000", "≤ 2 ms", "met |"],
        ["0.500", "ratio ≤ 0.4", "missed |"],
        ["", "≤ 5 ms", "met |"],
        ["0.500", "", "reported |"],
    ]
