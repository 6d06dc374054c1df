"""What the README says to type works as it stands."""

from __future__ import annotations

import re
import shlex
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.runner import Run

ROOT = Path(__file__).parents[2]


def test_the_commands_of_the_readme_run_one_after_another(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = (ROOT / "README.md").read_text().split("## From the shell")[1]
    block = re.search(r"```console\n(.*?)```", section, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    pq.write_table(pa.table({"day": [date(2025, 1, 1), date(2026, 1, 1)]}), "data/2026-01.parquet")
    commands = [shlex.split(line[1:], comments=True) for line in block[1].splitlines()]
    assert commands.pop(0) == ["pip", "install", ".[cli]"]
    printed = {}
    for name, *arguments in commands:
        assert name == "colonnade"
        if "--every" in arguments:
            arguments = arguments[: arguments.index("--every")]
        ran = run(*arguments)
        assert ran.code == 0, ran.err
        printed[arguments[0]] = ran.out
    assert printed["ls"].splitlines()[1].startswith("trips")
    assert printed["count"] == "1\n"
    assert Path("lake.html").exists()
