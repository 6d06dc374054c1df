"""What the README sends a newcomer to run, run as it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*command: str | Path) -> str:
    result = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_example_without_spark_finds_the_flights_of_both_epochs() -> None:
    output = run(EXAMPLES / "arrow_only.py")
    assert "2 166158" in output
    assert "3 336776" in output


def test_the_example_of_facts_and_dimensions_finds_right_sums_at_every_epoch() -> None:
    output = run(EXAMPLES / "trips_and_drivers.py")
    assert re.search(r"Sums were right in \d+ reads meanwhile, and at all \d+ epochs\.", output)
    assert "trips: compacted" in output
    assert re.search(r"drivers: compacted \d+ times; its schedule is 1 day\.", output)


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.long)])
def test_the_pipeline_that_is_killed_all_the_time_counts_each_event_once(kills: int) -> None:
    output = run(EXAMPLES / "medallion.py", str(kills))
    assert f"800 events, {kills} kills: each counts once." in output


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.long)])
def test_the_streams_whose_driver_is_killed_count_each_event_once(kills: int) -> None:
    output = run(EXAMPLES / "medallion_streams.py", str(kills))
    assert f"{60 * (kills + 1)} events, {kills} kills: each counts once." in output


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_quickstart_replaces_what_an_earlier_run_left(tmp_path: Path) -> None:
    (tmp_path / "made-by-the-quickstart").touch()
    stale = tmp_path / "database" / "flights" / "half-written"
    stale.parent.mkdir(parents=True)
    stale.touch()
    small = ("--scale", "0.001", "--appends", "2")
    output = run(EXAMPLES / "quickstart.py", *small, "--folder", tmp_path)
    assert "336,776 and 328,521 rows" in output
    assert "Every query gave the same rows on both." in output
    assert not stale.exists()


def test_the_quickstart_touches_no_folder_that_holds_other_files(tmp_path: Path) -> None:
    (tmp_path / "database").mkdir()
    result = subprocess.run(
        [sys.executable, EXAMPLES / "quickstart.py", "--folder", tmp_path],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "holds other files" in result.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "database"]
