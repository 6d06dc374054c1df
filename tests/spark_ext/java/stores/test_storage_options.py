"""Spark passes the options of stores to the planner, and shows them nowhere."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SECRET = "HUNTER2"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What Spark shows in each case of storage_road.py."""
    folder = tmp_path_factory.mktemp("vault")
    road = [sys.executable, "-m", "tests.spark_ext.java.stores.storage_road", str(folder)]
    done = subprocess.run(road, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    assert SECRET not in done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_options_of_the_session_and_of_a_read_open_the_store(seen: dict[str, str]) -> None:
    for case in ("read", "session", "sql"):
        assert "=100)" in seen[case]
    assert "=0)" in seen["earlier"]
    assert "version=2" in seen["history"]


@pytest.mark.slow
def test_a_store_does_not_open_without_its_option_or_with_a_wrong_one(seen: dict[str, str]) -> None:
    for case in ("no option", "another read", "wrong", "dead server"):
        assert "[COLONNADE_STORE]" in seen[case]
    assert "read-only" in seen["write"]


def test_no_plan_no_error_and_no_page_of_spark_shows_an_option(seen: dict[str, str]) -> None:
    for case in ("set", "environment", "query"):
        assert "spark.colonnade.storage.account_key" in seen[case], case
    assert not [case for case, text in seen.items() if SECRET in text]
