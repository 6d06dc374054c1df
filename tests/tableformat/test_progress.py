"""What a listener hears of long work, and that nothing depends on the listener."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from colonnade import ArrowTable, InvalidInputError, Progress
from colonnade.tableformat import bars
from colonnade.tableformat import progress as module
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.progress import step
from tests.cli.runner import run_command

ROOT = Path(__file__).parents[2]
SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("x", pa.float64())])
ROWS = 200_000


def rows(count: int = ROWS, start: int = 0) -> pa.Table:
    return pa.table(
        {"id": range(start, start + count), "x": [float(n % 997) for n in range(count)]},
        schema=SCHEMA,
    )


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    """A table of four RowSets, sorted by its primary key."""
    made = colonnade.create(
        tmp_path / "trips", SCHEMA, primary_key=["id"], properties={"compaction.min-rowsets": "2"}
    )
    for part in range(4):
        made.append(rows(1000, part * 1000))
    return made


@pytest.fixture
def heard() -> Iterator[list[Progress]]:
    told: list[Progress] = []
    with colonnade.progress(told.append):
        yield told


def only(heard: list[Progress], name: str) -> list[Progress]:
    """The calls for the one step of a name: its begin, ascending progress, and its end."""
    found = [each for each in heard if each.step == name]
    assert [each.ended for each in found] == [False] * (len(found) - 1) + [True]
    assert found[0].done == 0
    done = [each.done for each in found]
    assert done == sorted(done)
    assert len({(each.table, each.unit) for each in found}) == 1
    return found


def end(heard: list[Progress], name: str) -> tuple[str, int, int | None]:
    last = only(heard, name)[-1]
    return last.unit, last.done, last.total


def test_an_append_tells_the_rows_that_it_has_written(
    tmp_path: Path, heard: list[Progress]
) -> None:
    made = colonnade.create(tmp_path / "t", SCHEMA)
    made.append(rows())
    begun, *between, _ = only(heard, "append")
    assert (begun.table, begun.total) == ("t", ROWS)
    assert len(between) > 1
    assert end(heard, "append") == ("rows", ROWS, ROWS)
    assert str(heard[-1]) == "append t: 200,000 of 200,000 rows"


def test_the_rows_of_a_stream_have_no_total_before_they_end(
    tmp_path: Path, heard: list[Progress]
) -> None:
    made = colonnade.create(tmp_path / "t", SCHEMA)
    made.append(batch for batch in rows().to_batches(1000))
    assert only(heard, "append")[0].total is None
    assert end(heard, "append") == ("rows", ROWS, ROWS)


WRITES: dict[str, tuple[str, Callable[[ArrowTable], Any], int]] = {
    "create": ("append", lambda t: colonnade.create(t.path + "2", SCHEMA, data=rows(30)), 30),
    "overwrite": ("overwrite", lambda t: t.overwrite(rows(30)), 30),
    "overwrite where": ("overwrite", lambda t: t.overwrite(rows(30), "id < 1000"), 30),
    "overwrite partitions": ("overwrite", lambda t: t.overwrite_partitions(rows(30)), 30),
    "update": ("update", lambda t: t.update({"id": "id"}, "id < 70"), 70),
    "upsert": ("upsert", lambda t: t.upsert(rows(5000)), 5000),
    "upsert on": ("upsert", lambda t: t.upsert(rows(5000), on="id"), 5000),
    "append that merges": (
        "upsert",
        lambda t: t.append(rows(50), settings=colonnade.WriteSettings(on_duplicate="merge")),
        50,
    ),
}


@pytest.mark.parametrize("way", WRITES)
def test_each_statement_that_writes_rows_tells_of_them(
    table: ArrowTable, heard: list[Progress], way: str
) -> None:
    name, write, count = WRITES[way]
    write(table)
    assert end(heard, name) == ("rows", count, count)


def test_a_statement_of_a_transaction_tells_of_its_rows(
    tmp_path: Path, heard: list[Progress]
) -> None:
    database = colonnade.create_database(tmp_path / "lake")
    database.create_table("trips", SCHEMA)
    with database.transaction() as tx:
        tx.table("trips").append(rows(70))
    assert end(heard, "append") == ("rows", 70, 70)


def test_an_upsert_tells_what_it_did_and_the_rowsets_that_it_looked_through(
    table: ArrowTable, heard: list[Progress]
) -> None:
    did = table.upsert(rows(500, 100))
    assert end(heard, "upsert") == ("rows", did.rows_updated + did.rows_inserted, 500)
    assert end(heard, "find keys")[0] == "RowSets"
    assert [each.step for each in heard if each.ended] == ["find keys", "upsert"]


def test_a_compaction_tells_the_bytes_of_the_groups_that_its_threads_have_rewritten(
    tmp_path: Path, heard: list[Progress]
) -> None:
    made = colonnade.create(tmp_path / "t", SCHEMA, partition_by=["bucket(3, id)"])
    for part in range(4):
        made.append(rows(1000, part * 1000))
    heard.clear()
    threads = set[int]()

    def tell(now: Progress) -> None:
        threads.add(threading.get_ident())
        heard.append(now)

    begun = made.optimize().option("min-rowsets", 2)._elsewhere(compact_here(made._log.store, 3))
    stored = begun.plan().bytes_in
    with colonnade.progress(tell):
        report = begun.executeCompaction()
    assert report.groups == 3
    assert end(heard, "compact") == ("bytes", stored, stored)
    assert threads == {threading.get_ident()}


def test_a_verification_tells_the_bytes_of_the_rowsets_that_its_threads_have_looked_at(
    table: ArrowTable, heard: list[Progress]
) -> None:
    table.verify(4, threads=3)
    stored = sum(each.bytes_added for each in table.history())
    assert end(heard, "verify") == ("bytes", stored, stored)
    assert len(only(heard, "verify")) > 3


def test_an_update_tells_the_rows_that_it_moves_and_those_that_it_replaces_in_place(
    tmp_path: Path, heard: list[Progress]
) -> None:
    made = colonnade.create(tmp_path / "t", {"id": "bigint", "x": "double", "s": "string"})
    wide = rows(50_000).append_column("s", pa.array(f"{n * 7919:040}" for n in range(50_000)))
    made.append(wide)
    made.append(wide.slice(0, 20))
    did = made.update({"x": 2.5})
    assert (did.rows_updated, did.rowsets_touched, did.rowsets_in_place) == (50_020, 2, 1)
    assert end(heard, "update") == ("rows", 50_020, 50_020)


@pytest.mark.parametrize("name", ["add_column", "backfill"])
def test_a_computed_column_tells_the_rowsets_that_have_it(
    table: ArrowTable, heard: list[Progress], name: str
) -> None:
    work = {
        "add_column": lambda: table.add_column("y", "double", "x"),
        "backfill": lambda: table.backfill("x", 1.5, "id >= 1000"),
    }
    work[name]()
    count = 4 if name == "add_column" else 3
    assert end(heard, name) == ("RowSets", count, count)


def test_a_read_into_memory_tells_its_rows(table: ArrowTable, heard: list[Progress]) -> None:
    there = table.count()
    assert table.to_arrow().num_rows == there
    assert only(heard, "read")[0].total == there
    assert end(heard, "read") == ("rows", there, there)
    heard.clear()
    assert len(table.scan(where="id < 100").limit(7).to_pylist()) == 7
    assert end(heard, "read") == ("rows", 7, 7)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Progress]:
    """What a command would show on a terminal."""
    told: list[Progress] = []
    monkeypatch.setattr(module, "_asked", lambda: told.append)
    return told


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_import_tells_the_rows_or_the_bytes_of_its_files(
    tmp_path: Path, shown: list[Progress], kind: str
) -> None:
    file = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(rows(70_000), file)
    else:
        file.write_text("id,x\n" + "1,2.5\n" * 70_000)
    assert run_command("import", tmp_path / "t", file).code == 0
    count = 70_000 if kind == "parquet" else file.stat().st_size
    assert only(shown, "import")[0].total == count
    assert end(shown, "import") == ("rows" if kind == "parquet" else "bytes", count, count)


def test_an_export_tells_the_rows_of_its_file(
    tmp_path: Path, table: ArrowTable, shown: list[Progress]
) -> None:
    assert run_command("export", table.path, tmp_path / "a.csv").code == 0
    assert only(shown, "export")[0].total == table.count()
    assert end(shown, "export") == ("rows", table.count(), table.count())
    shown.clear()
    assert run_command("export", table.path, tmp_path / "b.csv", "--where", "id < 9").code == 0
    assert only(shown, "export")[0].total is None
    assert end(shown, "export") == ("rows", 9, 9)


COMMANDS: dict[str, list[str]] = {
    "import": ["new.parquet"],
    "export": ["out.csv"],
    "count": ["--where", "x < 3"],
    "compact": [],
    "verify": [],
    "maintain": [],
    "erase": ["--where", "id < 10", "--yes"],
}


@pytest.mark.parametrize("flags", [[], ["--no-progress"]])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_shows_progress_unless_it_is_told_not_to(
    tmp_path: Path,
    table: ArrowTable,
    shown: list[Progress],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    flags: list[str],
) -> None:
    pq.write_table(rows(70, 70_000), tmp_path / "new.parquet")
    monkeypatch.chdir(tmp_path)
    assert run_command(command, table.path, *COMMANDS[command], *flags).code == 0
    step = "compact" if command in ("maintain", "erase") else command
    assert {each.step for each in shown} - {"find keys"} == (set() if flags else {step})


def test_each_thread_has_its_own_listener(tmp_path: Path) -> None:
    ready = threading.Barrier(2)

    def append(name: str) -> list[Progress]:
        told: list[Progress] = []
        made = colonnade.create(tmp_path / name, SCHEMA)
        with colonnade.progress(told.append):
            ready.wait()
            made.append(rows(50_000))
        made.append(rows(10))
        return told

    with ThreadPoolExecutor(2) as pool:
        for name, told in zip("ab", pool.map(append, "ab"), strict=True):
            assert {each.table for each in told} == {name}
            assert end(told, "append") == ("rows", 50_000, 50_000)


def test_threads_that_work_for_one_step_add_up(heard: list[Progress]) -> None:
    with step("look", None, "bytes", 4000) as advance, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: [advance(1) for _ in range(1000)], range(4)))
    assert end(heard, "look") == ("bytes", 4000, 4000)
    assert [each.done for each in heard] == [*range(4001), 4000]


def test_a_step_that_an_error_ends_tells_what_was_done(heard: list[Progress]) -> None:
    def look() -> None:
        with step("look", None, "bytes", 9) as advance:
            advance(4)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        look()
    assert heard[-1] == Progress("look", None, "bytes", 4, 9, ended=True)
    assert str(heard[-1]) == "look: 4 B of 9 B"


def failing(at: int, error: type[BaseException]) -> Callable[[Progress], None]:
    calls = iter(range(1000))

    def fail(now: Progress) -> None:
        if next(calls) == at:
            raise error

    return fail


@pytest.mark.parametrize("at", range(6))
def test_a_callback_that_fails_loses_no_row_and_hears_no_more_of_the_step(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, at: int
) -> None:
    made = colonnade.create(tmp_path / "t", SCHEMA)
    before, heard = made.epoch, list[Progress]()
    fail = failing(at, RuntimeError)

    def tell(now: Progress) -> None:
        heard.append(now)
        fail(now)

    with colonnade.progress(tell), caplog.at_level(logging.WARNING):
        made.append(rows())
        count = len(heard)
        made.append(rows(10))
    assert made.epoch == before + 2
    assert made.count() == ROWS + 10
    assert count == at + 1
    assert only(heard[count:], "append")[-1].done == 10
    assert [each.exc_info is not None for each in caplog.records] == [True]


@pytest.mark.parametrize("kind", ["closed", "without isatty"])
def test_a_standard_error_that_is_unusual_is_in_the_way_of_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    stream = io.StringIO()
    stream.close()
    made = colonnade.create(tmp_path / "t", SCHEMA)
    monkeypatch.setattr(sys, "stderr", stream if kind == "closed" else object())
    with colonnade.progress():
        made.append(rows(10))
    assert made.count() == 10
    assert {each.exc_info is not None for each in caplog.records} == {True}


@pytest.mark.parametrize("at", range(6))
def test_an_interrupt_in_a_callback_ends_an_append_before_its_commit(
    tmp_path: Path, at: int
) -> None:
    made = colonnade.create(tmp_path / "t", SCHEMA)
    before = made.epoch
    with pytest.raises(KeyboardInterrupt), colonnade.progress(failing(at, KeyboardInterrupt)):
        made.append(rows())
    assert made.refresh().epoch == before
    made.append(rows(10))
    assert made.count() == 10
    assert made.verify(4).is_sound


@pytest.mark.parametrize("at", range(3))
def test_an_interrupt_in_a_callback_leaves_a_compaction_whole(table: ArrowTable, at: int) -> None:
    there = table.to_arrow().sort_by("id")
    begun = table.optimize().option("min-rowsets", 2)
    with pytest.raises(KeyboardInterrupt), colonnade.progress(failing(at, KeyboardInterrupt)):
        begun.executeCompaction()
    assert table.refresh().to_arrow().sort_by("id") == there
    assert table.verify(4).is_sound


@pytest.mark.parametrize("wrong", [None, "yes", 1])
def test_what_is_no_listener_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="takes True, False or a callback"):
        colonnade.progress(wrong).__enter__()


PIPED = """
import os, sys
import pyarrow as pa
import colonnade
if sys.argv[2] == "session":
    sys.ps1 = ">>> "
table = colonnade.create(sys.argv[1], {"id": "bigint"})
with colonnade.progress():
    table.append([{"id": 1}])
    table.verify()
table.append([{"id": 1}])
assert not {"rich", "tqdm", "IPython"} & set(sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["program", "session"])
def test_nothing_is_printed_where_standard_error_is_no_terminal(tmp_path: Path, kind: str) -> None:
    told = {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "TTY_INTERACTIVE": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", PIPED, str(tmp_path / "t"), kind],
        env={**dict(PATH="/usr/bin:/bin"), **told},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    assert (ran.stdout, ran.stderr) == (b"", b"")


class Drawn:
    """A bar that notes what it shows."""

    def __init__(self, title: str) -> None:
        self.moves = [title]

    def move(self, done: int, total: int | None, seconds: float) -> None:
        self.moves.append(f"{done} of {total} after {seconds:g}")

    def close(self) -> None:
        self.moves.append("closed")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """The bars of a terminal, at whose program nobody types."""
    found: list[Drawn] = []

    def draw(title: str, unit: str, total: int | None) -> Drawn:
        found.append(Drawn(title))
        return found[-1]

    monkeypatch.setattr(bars, "open_bar", draw)
    monkeypatch.setattr(bars, "are_seen", lambda: True)
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("COLONNADE_PROGRESS", raising=False)
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("colonnade.tableformat.progress.time.monotonic", lambda: now[0])
    return now


def test_a_bar_that_is_asked_for_is_shown_at_once_and_moves_ten_times_in_a_second(
    drawn: list[Drawn], clock: list[float]
) -> None:
    with colonnade.progress(), step("look", "trips", "rows", 9) as advance:
        advance(1)
        clock[0] = 0.5
        advance(1)
        advance(1)
    assert drawn[0].moves == ["look trips", "0 of 9 after 0", "2 of 9 after 0.5", "closed"]


def test_a_session_shows_a_bar_for_work_that_takes_longer_than_a_second(
    drawn: list[Drawn], clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look() -> None:
        with step("look", None, "rows", 9) as advance:
            clock[0] += 0.9
            advance(1)
            clock[0] += 0.2
            advance(1)

    look()
    assert drawn == []  # a program shows nothing unasked
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    look()
    assert [each.moves for each in drawn] == [["look", "2 of 9 after 1.1", "closed"]]
    with colonnade.progress(False):
        look()
    monkeypatch.setenv("CI", "true")
    look()
    monkeypatch.delenv("CI")
    monkeypatch.setenv("COLONNADE_PROGRESS", "off")
    look()
    with colonnade.progress():
        look()
    assert len(drawn) == 1


def test_one_bar_is_shown_at_a_time_and_the_next_one_after_it(
    drawn: list[Drawn], clock: list[float]
) -> None:
    with colonnade.progress():
        with step("outer", None, "rows"), step("inner", None, "rows"):
            pass
        with step("next", None, "rows"):
            pass
    assert [each.moves[0] for each in drawn] == ["outer", "next"]


@pytest.mark.parametrize("method", ["open", "move", "close"])
def test_a_bar_that_fails_is_in_the_way_of_nothing(
    drawn: list[Drawn],
    clock: list[float],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
) -> None:
    with monkeypatch.context() as broken:
        target: Any = bars if method == "open" else Drawn
        broken.setattr(target, "open_bar" if method == "open" else method, lambda *_: 1 // 0)
        with colonnade.progress(), step("look", None, "rows") as advance:
            advance(1)
    assert len(caplog.records) == 1
    with colonnade.progress(), step("next", None, "rows"):
        pass
    assert drawn[-1].moves == ["next", "0 of None after 0", "closed"]
