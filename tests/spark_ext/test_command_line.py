"""Large work of the command line is done by Spark, with the same rows."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from tests.cli.runner import Ran

pytestmark = [pytest.mark.spark, pytest.mark.long]


def run_command(*arguments: object) -> Ran:
    """Run `colonnade` in a process of its own: other tests would find the jar in its session."""
    command = [sys.executable, "-m", "colonnade", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    return Ran(done.returncode, done.stdout, done.stderr)


def test_spark_imports_counts_and_exports_what_the_process_itself_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    files = tmp_path / "files"
    files.mkdir()
    at = [datetime(2026, 1, 1, hour, tzinfo=timezone.utc) for hour in (2, 3, 4)]
    pq.write_table(
        pa.table({"id": [1, 2], "na.me": ["a", None], "at": at[:2]}), files / "a.parquet"
    )
    more = {"id": [3], "na.me": ["b\n\nb"], "more": [0.5], "at": at[2:]}
    pq.write_table(pa.table(more), files / "b.parquet")
    table = tmp_path / "t"
    made = run_command("import", table, files, "--spark-above", "0", "--sort-key", "id", "--json")
    assert made.json["engine"] == "spark"
    assert (made.json["epoch"], made.json["rows"]) == (1, 3)
    assert "to read, more than 0 bytes (--spark-above)" in made.err
    expected = [(1, "a", None), (2, None, None), (3, "b\n\nb", 0.5)]
    columns = ["id", "na.me", "more"]
    rows = colonnade.open(table).scan(columns).to_arrow().sort_by("id").to_pydict()
    assert [*zip(*rows.values(), strict=True)] == expected

    where = ("--where", "at >= TIMESTAMP '2026-01-01 03:00:00'", "--json")
    counted = run_command("count", table, *where, "--spark", "always")
    assert (counted.json["rows"], counted.json["engine"]) == (2, "spark")

    done = run_command("export", table, f"{tmp_path}/out/", *where)
    assert (done.json["rows"], done.json["engine"]) == (2, "spark")
    exported = pq.read_table(tmp_path / "out").sort_by("id").select(columns).to_pydict()
    assert [*zip(*exported.values(), strict=True)] == expected[1:]
    lines = run_command("export", table, f"{tmp_path}/csv/", "--format", "csv", "--json")
    assert lines.json["rows"] == 3


def test_an_error_of_spark_is_one_sentence(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    ran = run_command("count", table.path, "--where", "nope(id)", "--spark", "always")
    assert ran.code == 2
    assert ran.err.count("\n") == 1


def test_large_tables_are_compacted_by_executors(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    for name in ("a", "b"):
        table = database.create_table(name, pa.schema([("id", pa.int64())]))
        for number in range(8):
            table.append(pa.table({"id": [number]}))
    done = run_command("compact", tmp_path / "db" / "a", "--spark", "always", "--json")
    assert (done.json["rowsets_removed"], done.json["rowsets_added"]) == (8, 1)
    assert "Starting Spark: --spark always asks for it." in done.err
    rounds = run_command("maintain", tmp_path / "db", "--spark-above", "0", "--json")
    left = {each["table"]: each["rowsets_removed"] for each in rounds.json["tables"]}
    assert left == {"a": 0, "b": 8}
    for name in ("a", "b"):
        ids = colonnade.open(tmp_path / "db" / name).scan().to_arrow()["id"].to_pylist()
        assert sorted(ids) == [*range(8)]
