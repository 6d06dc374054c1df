"""Some seconds of longevity; `python -m tests.longevity` takes as long as you like."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import colonnade
from colonnade.manifests.store import open_store
from tests.longevity.__main__ import begin, run
from tests.longevity.record import Record, Step, read_lines, read_steps
from tests.longevity.referee import _judge_files, judge
from tests.longevity.roles import rows_of
from tests.setup.minio import Minio


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.long)])
def test_nothing_is_lost_or_left_while_processes_are_killed(tmp_path: Path, seconds: int) -> None:
    told = run(tmp_path, seconds=seconds, seed=7)
    assert told.problems == [], told.text
    records = tmp_path / "records"
    assert {step.outcome for step in read_steps(records, "writer")} >= {"landed"}
    assert list(read_lines(records, "reader")), told.text


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_nothing_is_lost_or_left_in_a_bucket_while_processes_are_killed(
    tmp_path: Path, minio: Minio
) -> None:
    told = run(tmp_path, seconds=120, seed=7, server=minio)
    assert told.problems == [], told.text
    assert list(read_lines(tmp_path / "records", "reader")), told.text


@pytest.mark.slow
def test_the_referee_finds_what_is_left_in_a_bucket(tmp_path: Path, minio: Minio) -> None:
    place, records = begin(tmp_path, server=minio)
    assert list(judge(place, records)) == []
    store = open_store(place)
    store.create(f"{'a' * 16}/{'b' * 32}.rowset", sync=True).write(b"x" * (6 << 20))
    store.put("somebody.rowset", b"x", sync=True)
    problems = sorted(_judge_files(place, colonnade.open_database(place)))
    assert len(problems) == 2
    assert "is an unfinished file" in problems[0]
    assert "somebody.rowset belongs to no RowSet" in problems[1]


def lose_a_row(table: colonnade.ArrowTable, path: Path, record: Record) -> None:
    table.delete("batch = 1 AND value > 0 AND pair = 0")


def bring_a_batch_back(table: colonnade.ArrowTable, path: Path, record: Record) -> None:
    table.append(rows_of(2, 3))


def append_more_than_was_meant(table: colonnade.ArrowTable, path: Path, record: Record) -> None:
    table.append(rows_of(3, 3))


def change_nested_values(table: colonnade.ArrowTable, path: Path, record: Record) -> None:
    table.update(dict.fromkeys(("flags", "every", "lists", "pairs")), "batch = 1 AND pair = 0")


def leave_a_file(table: colonnade.ArrowTable, path: Path, record: Record) -> None:
    (path / "somebody.rowset").write_bytes(b"x")


def read_in_two_ways(table: colonnade.ArrowTable, path: Path, record: Record) -> None:
    for digest in "ab":
        record.note(epoch=1, digest=digest, broken=0)


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (lose_a_row, "batch 1, whose append is landed: 1 rows are lost"),
        (bring_a_batch_back, "batch 2, whose append is landed: it has rows that were deleted"),
        (append_more_than_was_meant, "batches [3] were never appended"),
        (change_nested_values, "batch 1: its rows have other values in some column"),
        (leave_a_file, "somebody.rowset belongs to no RowSet"),
        (read_in_two_ways, "epoch 1 was read in 2 ways"),
    ],
)
def test_the_referee_finds(
    harm: Callable[[colonnade.ArrowTable, Path, Record], None], found: str, tmp_path: Path
) -> None:
    place, records = begin(tmp_path)
    table = colonnade.open(place / "pairs")
    writer, deleter = Record(records, "writer-1"), Record(records, "deleter")
    for batch in (1, 2):
        writer.take(Step("append", batch, 0, 3), partial(table.append, rows_of(batch, 3)))
    deleter.take(Step("delete", 2, 0, 3), lambda: table.delete("batch = 2"))
    harm(table, tmp_path / "db", Record(records, "reader-1"))
    [problem] = judge(place, records)
    assert found in problem
