"""A round leaves tables as their policy wants them, and a line that says so; it loses no row."""

from __future__ import annotations

import re
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

import colonnade
from colonnade.cli.care import compact, maintain
from colonnade.cli.care.compact import compactor
from colonnade.cli.care.maintain import parse_interval, repeat
from colonnade.cli.engine import ABOVE
from colonnade.cli.output import Output
from colonnade.cli.places import open_database
from colonnade.maintain.journal import write_line
from colonnade.maintain.plan import Distance
from colonnade.maintain.round import Round, run_round
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.clock import DAY_MS, now_ms
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError, InvalidInputError, StoreError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import SetProperties
from colonnade.manifests.object_names import JOURNAL, OLDER_JOURNAL
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.table.alteration import AlterProperties
from tests.cli.runner import run_command
from tests.log_samples import make_log, with_orders
from tests.manifests.store.local.test_store import file_size_limit

SCHEMA = pa.schema([("id", pa.int64())])
NOW = datetime(2026, 11, 23, tzinfo=timezone.utc)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """`trips` in twenty RowSets, and `zones` in one."""
    database = colonnade.create_database(tmp_path / "lake")
    trips = database.create_table("trips", SCHEMA)
    for number in range(20):
        trips.append(pa.table({"id": [number]}))
    database.create_table("zones", SCHEMA).append(pa.table({"id": [1]}))
    return tmp_path / "lake"


def ids_of(lake: Path) -> list[int]:
    return sorted(colonnade.open(lake / "trips").scan().to_arrow()["id"].to_pylist())


def read_lines(store: LocalStore) -> list[dict[str, Any]]:
    """The lines of the journal, oldest first."""
    files = [Path(store.locate(name)) for name in (OLDER_JOURNAL, JOURNAL)]
    return [
        orjson.loads(line)
        for file in files
        if file.exists()
        for line in file.read_bytes().splitlines()
    ]


def one_round(lake: Path) -> Round:
    place = open_database(str(lake))
    return run_round(place.database, place.log, compactor(place, "never", ABOVE, Output()))


def test_a_round_brings_tables_to_their_policy_and_leaves_a_checkpoint(lake: Path) -> None:
    done = one_round(lake)
    assert done.errors == []
    trips, zones = done.tables
    assert (trips.table, trips.rowsets_removed, trips.rowsets_added) == ("trips", 20, 1)
    assert (zones.table, zones.groups) == ("zones", 0)
    assert trips.left == zones.left == Distance(0, 0)
    newest = read_hint(LocalStore(lake))
    assert newest is not None
    assert newest[0].epoch == done.epoch
    assert done.vacuum is not None
    assert ids_of(lake) == [*range(20)]
    again = one_round(lake)
    assert again.epoch == done.epoch, "a round with nothing to do changed the log"
    assert (again.checkpoint, again.errors) == (None, [])


def test_a_round_leaves_a_table_whose_schedule_waits_and_says_so(lake: Path) -> None:
    database = colonnade.open_database(lake)
    zones, trips = database.table("zones"), database.table("trips")
    trips.alter(AlterProperties(set={"compaction.schedule": "1 second"}))
    zones.alter(AlterProperties(set={"compaction.schedule": "never"}))
    for number in range(2, 12):
        zones.append(pa.table({"id": [number]}))
    done = one_round(lake)
    by_name = {each.table: each for each in done.tables}
    assert (by_name["trips"].groups, by_name["trips"].waits) == (1, False)
    assert (by_name["zones"].groups, by_name["zones"].waits) == (0, True)
    assert by_name["zones"].left is not None
    assert by_name["zones"].left.groups == 1
    assert done.errors == []
    said = run_command("maintain", str(lake), "--dry-run").out
    assert re.search(r"zones: \S+ \S+ to read wait for its schedule", said)
    assert run_command("maintain", str(lake), "--dry-run", "--json").json == []
    zones.alter(AlterProperties(set={"compaction.schedule": "always"}))
    assert one_round(lake).tables[0].groups == 1
    assert ids_of(lake) == [*range(20)]


def test_two_schedulers_at_once_do_no_harm(lake: Path) -> None:
    rounds: list[Round] = []
    both = threading.Barrier(2)

    def scheduler() -> None:
        both.wait()
        rounds.append(one_round(lake))

    threads = [threading.Thread(target=scheduler) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.errors for each in rounds] == [[], []]
    assert sum(table.rowsets_removed for each in rounds for table in each.tables) == 20
    assert ids_of(lake) == [*range(20)]
    assert colonnade.open(lake / "trips")._state.rowsets.rowset_count == 1


def test_the_other_steps_are_tried_after_a_step_fails(lake: Path) -> None:
    place = open_database(str(lake))

    def fails(*_: object) -> None:
        raise ConflictError("Another writer was faster.")

    done = run_round(place.database, place.log, fails)  # type: ignore[arg-type]
    (error,) = done.errors
    assert (error.step, error.kind) == ("compact trips", "CONFLICT")
    assert done.vacuum is not None
    assert done.checkpoint is not None
    assert [each.left and each.left.groups for each in done.tables] == [1, 0]


def test_a_policy_that_cannot_be_read_keeps_no_other_table_from_being_compacted(lake: Path) -> None:
    place = open_database(str(lake))
    zones = place.database.table("zones")._state.id
    newer = SetProperties(table=zones, set={"compaction.tiers": "3"})
    place.log.commit(Change(new_transaction_id(), "alter_table", (newer,)), place.head)
    done = one_round(lake)
    assert [error.step for error in done.errors] == ["plan zones", "look again at zones"]
    assert "compaction.tiers" in done.errors[0].message
    assert [each.left and each.left.groups for each in done.tables] == [0, None]
    assert done.vacuum is not None


def test_a_round_says_what_holds_epochs(lake: Path) -> None:
    database = colonnade.open_database(lake)
    database.pin("reader", 3600, 5)
    trips = database.table("trips")
    trips.alter(AlterProperties(set={"retention.hours": "0"}))
    database.table("zones").alter(AlterProperties(set={"retention.hours": "0"}))
    done = one_round(lake)
    assert done.vacuum is not None
    assert done.vacuum.held_by == ("pin 'reader'",)
    assert "vacuum kept more because of the pin 'reader'" in run_command("maintain", lake).out


@pytest.mark.parametrize("days", [3, 73 * 365])
def test_a_round_continues_when_the_log_is_dated_ahead(
    days: int, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = open_database(str(lake))
    ahead = now_ms() + days * DAY_MS
    monkeypatch.setattr(LocalStore, "date_of_write", lambda store, name: None)
    trips = place.database.table("trips")._state.id
    change = SetProperties(table=trips, set={"note": "dated ahead"})
    log = Log(place.log.store, clock_ms=lambda: ahead)
    log.commit(Change(new_transaction_id(), "alter_table", (change,)), place.head)
    done = one_round(lake)
    assert done.errors == []
    assert done.vacuum is not None
    assert place.database.vacuum(0, force=True).floor >= place.head.epoch
    assert ids_of(lake) == [*range(20)]


def test_each_round_leaves_a_line_that_survives_vacuum_and_disturbs_no_reader(
    lake: Path,
) -> None:
    for _ in range(2):
        assert run_command("maintain", lake, "--json").code == 0
    store = LocalStore(str(lake))
    first, second = read_lines(store)
    assert (first["tables"][0]["table"], first["tables"][0]["rowsets_removed"]) == ("trips", 20)
    assert second["tables"][0]["left"] == {"groups": 0, "bytes": 0}
    colonnade.open_database(lake).vacuum(0, retain_epochs=1, force=True)
    assert len(read_lines(store)) == 2
    assert ids_of(lake) == [*range(20)]
    (lake / JOURNAL).unlink()
    assert read_lines(store) == []
    assert run_command("maintain", lake).code == 0


def write_at_once(store: LocalStore, count: int) -> None:
    """Have each of four threads write `count` lines of 2 kB."""

    def write(name: str) -> None:
        for number in range(count):
            write_line(store, {"name": name, "number": number, "long": name * 2000}, NOW)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_lines_that_are_written_at_once_stay_whole(lake: Path) -> None:
    store = LocalStore(str(lake))
    write_at_once(store, 50)
    lines = read_lines(store)
    assert len(lines) == 200
    assert all(set(line["long"]) == {line["name"]} for line in lines)


def test_a_journal_that_is_full_is_put_aside_once_and_its_lines_are_still_read(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(str(lake))
    monkeypatch.setattr("colonnade.maintain.journal.JOURNAL_BYTES", 100_000)
    write_at_once(store, 40)
    # 320,000 bytes: three times a file was full, and the last two of them are there.
    lines = read_lines(store)
    assert 50 <= len(lines) < 100
    assert {line["number"] for line in lines if line["number"] > 35}
    assert (lake / JOURNAL).stat().st_size <= 100_000
    assert not colonnade.open_database(lake).vacuum(0, dry_run=True).files


def test_a_line_that_the_disk_has_half_room_for_leaves_nothing(lake: Path) -> None:
    store = LocalStore(str(lake))
    write_line(store, {"a": "x" * 100}, NOW)
    with file_size_limit(200), pytest.raises(StoreError, match=r"could not be written: File too"):
        write_line(store, {"a": "y" * 100}, NOW)
    write_line(store, {"a": "z" * 100}, NOW)
    assert [line["a"][0] for line in read_lines(store)] == ["x", "z"]


@pytest.mark.slow
def test_rounds_are_objects_where_a_store_cannot_append_and_the_newest_are_kept() -> None:
    store = MemoryStore()
    log = make_log(store)
    with_orders(store, log)
    for number in range(1005):
        write_line(store, {"number": number}, NOW + timedelta(seconds=number))
    names = sorted(info.name for info in store.list("_manifest/maintenance/"))
    assert [orjson.loads(store.get(name))["number"] for name in names] == [*range(5, 1005)]
    assert re.fullmatch(r"_manifest/maintenance/20261123T000005-[0-9a-f]{8}\.json", names[0])
    vacuum(log, VacuumRequest(hours=0, epochs=1, trust_clock=True))
    assert sorted(info.name for info in store.list("_manifest/maintenance/")) == names
    assert log.reader.read_head().epoch >= 1


@pytest.mark.slow
def test_the_command_ends_with_the_code_of_what_failed_and_says_what_was_done(lake: Path) -> None:
    plan = run_command("maintain", lake, "--dry-run")
    assert "trips at epoch" in plan.out
    done = run_command("maintain", lake)
    assert done.code == 0
    assert "-20 +1" in done.out
    assert run_command("maintain", lake, "--dry-run").out == "Nothing to compact.\n"
    assert run_command("maintain", lake / "trips").code == 2
    colonnade.open(lake / "trips")
    column = next((lake / "_manifest").glob("0*15.json"))
    column.write_bytes(column.read_bytes()[:-1])
    assert run_command("maintain", lake).code == 8


@pytest.mark.parametrize("damaged", ["head", "first"])
def test_a_round_that_cannot_open_the_database_leaves_a_line_that_says_why(
    lake: Path, damaged: str
) -> None:
    epochs = sorted((lake / "_manifest").glob("0*.json"))
    if damaged == "head":
        epochs[-1].write_bytes(epochs[-1].read_bytes()[:-1])
    else:
        epochs[0].unlink()
    ran = run_command("maintain", lake, "--json")
    assert ran.code == 8
    (line,) = read_lines(LocalStore(lake))
    assert (line["epoch"], line["tables"], line["vacuum"]) == (None, [], None)
    (error,) = line["errors"]
    assert (error["step"], error["kind"]) == ("round", "CORRUPTION")
    assert error["message"] == orjson.loads(ran.err)["error"]["message"]


def test_a_round_that_is_interrupted_leaves_a_line(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt("1 of 3 groups.")

    monkeypatch.setattr(maintain, "run_round", interrupted)
    assert run_command("maintain", lake).code == 130
    (line,) = read_lines(LocalStore(lake))
    assert line["errors"] == [{"step": "round", "kind": "INTERRUPTED", "message": "1 of 3 groups."}]


def test_a_folder_without_a_database_gets_no_journal(lake: Path, tmp_path: Path) -> None:
    assert run_command("maintain", tmp_path / "nothing").code == 3
    assert run_command("maintain", lake / "trips").code == 2
    assert not (tmp_path / "nothing").exists()
    assert read_lines(LocalStore(lake)) == []


def test_an_error_that_the_journal_cannot_take_is_still_the_one_that_is_said(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("No space left.")

    monkeypatch.setattr(maintain, "write_line", full)
    newest = max((lake / "_manifest").glob("0*.json"))
    newest.write_bytes(newest.read_bytes()[:-1])
    ran = run_command("maintain", lake)
    assert ran.code == 8
    assert "no line in the journal: No space left." in ran.err


def test_when_spark_fails_at_one_table_a_round_continues_with_the_other_tables(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = colonnade.open(lake / "zones")
    for number in range(20):
        zones.append(pa.table({"id": [number]}))
    from_spark = type("Py4JError", (Exception,), {"__module__": "py4j.protocol"})

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        if job.target.name == "trips":
            raise from_spark("[COLONNADE_CORRUPTION] Block 3 is damaged.")
        return run_job(job, stop=stop)

    monkeypatch.setattr(compact, "compact_here", lambda store: JobRunner(run, 1))
    done = one_round(lake)
    assert [(e.step, e.kind, e.message) for e in done.errors] == [
        ("compact trips", "CORRUPTION", "Block 3 is damaged.")
    ]
    assert {each.table: each.rowsets_removed for each in done.tables} == {"trips": 0, "zones": 21}
    assert done.vacuum is not None


def test_a_closed_output_ends_the_rounds() -> None:
    def work() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        repeat(work, 0, Output())


def test_rounds_begin_at_their_time_and_go_on_after_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slept: list[float] = []
    rounds = []

    def work() -> None:
        rounds.append(1)
        if len(rounds) == 1:
            raise ConflictError("Another writer was faster.")
        if len(rounds) == 2:
            raise RuntimeError("This error was not foreseen.")

    repeat(work, 3600, Output(), rounds=3, sleep=slept.append)
    assert len(rounds) == 3
    assert all(3590 < seconds <= 3600 for seconds in slept)
    assert len(slept) == 2
    said = capsys.readouterr().err
    assert "Another writer was faster." in said
    assert "RuntimeError: This error was not foreseen." in said
    slow: list[float] = []
    repeat(lambda: None, 0, Output(), rounds=2, sleep=slow.append)
    assert slow == [0.0]


def test_intervals_are_read_with_their_units() -> None:
    assert [parse_interval(text) for text in ("30s", "10m", "2h", "1 D")] == [30, 600, 7200, 86400]
    for text in ("10", "0m", "-1m", "soon"):
        with pytest.raises(InvalidInputError, match="write it like"):
            parse_interval(text)
