"""Some seconds of longevity with primary keys; `python -m tests.longevity --keyed` takes longer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable
from colonnade.tableformat.statements import change
from tests.longevity.__main__ import run
from tests.longevity.keyed_referee import KEYED, begin, judge
from tests.longevity.keyed_roles import Tables, batch_of, last_done, send
from tests.longevity.record import Record, read_lines
from tests.longevity.setting import settle


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [4, pytest.param(60, marks=pytest.mark.long)])
def test_every_sum_is_exact_while_eight_writers_are_killed(tmp_path: Path, seconds: int) -> None:
    told = run(tmp_path, seconds=seconds, seed=7, play=KEYED)
    assert told.problems == [], told.text
    records = tmp_path / "records"
    done = [last_done(records, f"writer-{number}") for number in range(8)]
    assert max(done) >= 0, told.text
    assert list(read_lines(records, "scheduler")), told.text


def add_once_more(table: ArrowTable) -> None:
    table.upsert(pa.table({"k": [0], "n": [1]}))


def lose_a_row(table: ArrowTable) -> None:
    table.delete("k = 1")


def share_a_key(table: ArrowTable) -> None:
    nothing = [None, None]
    rows = pa.table({"k": [-1, -1], "n": nothing, "top": nothing, "word": nothing}, table.schema)
    with patch.object(change, "compared", lambda statement, *_: statement):
        table.append(rows)


def bring_back(table: ArrowTable) -> None:
    table.upsert(pa.table({"k": [0], "at": [2**62], "word": ["late"]}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "harm", "found"),
    [
        ("sums", add_once_more, "key 0 of sums has"),
        ("sums", lose_a_row, "key 1 of sums has None and not"),
        ("sums", share_a_key, "rows of sums share a key"),
        ("newest", bring_back, "key 0 of newest has"),
    ],
)
def test_the_referee_finds(
    name: str, harm: Callable[[ArrowTable], None], found: str, tmp_path: Path
) -> None:
    setting = settle(tmp_path)
    begin(setting, 0)
    known, record = Tables(), Record(setting.records, "writer-0")
    for number in range(20):
        batch = batch_of("writer-0", number)
        send(setting.place, "writer-0", batch, known, record)
        known.apply(batch)
        record.note(done=number)
    assert list(judge(setting.place, setting.records)) == []
    harm(colonnade.open(setting.place / name))
    assert any(found in each for each in judge(setting.place, setting.records))
