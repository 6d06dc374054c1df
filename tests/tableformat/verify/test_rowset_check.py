"""Damage of one RowSet is found, and named with its column, block and rows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import StoreError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.tableformat.compaction import run as compaction_run
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.rowset import writer as rowset_writer
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.write import output as rowset_output
from colonnade.tableformat.table.alteration import DropColumn
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.verify import run
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome
from colonnade.tableformat.verify.rowset_check import check_job
from colonnade.tableformat.verify.run import verify
from tests.clocked import MINUTE_MS, Clocked
from tests.placed import write_as
from tests.strategies import PRIMITIVES, make_batch
from tests.tableformat.verify.damaged import ROWS, SCHEMA, data_files, flip, make, rows


@pytest.mark.slow
def test_every_bit_that_flips_in_a_data_file_is_found_and_the_file_is_named(place: str) -> None:
    store = MemoryStore()
    db = make(store)
    for name in sorted(data_files(store)):
        whole = store.get(name)
        for at in {0, len(whole) // 3, len(whole) // 2, len(whole) - 2}:
            flip(store, name, at)
            found = [each.file for each in db.verify(3, threads=1).findings]
            assert found, (name, at)
            assert set(found) == {name}
            store.put(name, whole, sync=False)
    assert db.verify(4).is_sound


def test_a_damaged_block_is_named_with_its_column_and_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_as(monkeypatch, block_rows=100, packed_bytes=0, inline_bytes=0)
    store = MemoryStore()
    db = make(store)
    name = next(n for n in data_files(store) if n.endswith("/3.col"))
    flip(store, name, len(store.get(name)) - 3)
    assert db.verify(2).is_sound
    for depth in (3, 4):
        report = db.verify(depth)
        [found] = report.findings
        assert (found.file, found.column, found.block, found.rows) == (name, "s", 2, (200, 299))
        assert "block 2 (rows 200 to 299)" in str(report)
        assert not report.is_sound


def filtered(store: ObjectStore) -> ArrowDatabase:
    db = ArrowDatabase(store, Log(store), create_database(store, lone_table=False))
    properties = {f"bloom-filter-enabled.column.{name}": "true" for name in SCHEMA.names}
    db.create_table("a", SCHEMA, properties=properties).append(rows())
    return db


def test_filters_are_sound_or_named_with_their_block(place: str) -> None:
    store = MemoryStore()
    db = filtered(store)
    assert db.verify(4).is_sound
    db.table("a").alter(DropColumn(("id",)))
    assert db.verify(4).is_sound
    if place == "directory":
        name = next(n for n in data_files(store) if n.endswith("/3.idx"))
        flip(store, name, 3)
        assert db.verify(2).is_sound
        [found] = db.verify(3).findings
        assert (found.file, found.column, found.block, found.rows) == (name, "s", 0, (0, 99))
        assert "its Bloom filter does not match its checksum" in found.problem


def test_a_filter_that_denies_what_its_block_has_is_found_by_the_values(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rowset_output, "encode_filter", lambda array, column: bytes(32))
    db = filtered(MemoryStore())
    assert db.verify(3).is_sound
    problems = [each.problem for each in db.verify(4).findings]
    assert len(problems) == 9
    assert all("values that its Bloom filter does not contain" in each for each in problems)


def test_a_column_that_takes_no_bytes_is_not_called_damaged(place: str) -> None:
    db = make(MemoryStore())
    db.table("b").append(rows().set_column(2, "s", [["x"] * ROWS]))
    for depth in (3, 4):
        assert db.verify(depth).findings == ()


LIES: dict[str, Callable[[Statistics], Statistics]] = {
    "bounds": lambda s: Statistics(s.nulls, s.nans, s.low, s.low, s.exact),
    "NULL": lambda s: Statistics(s.nulls + 1, s.nans, s.low, s.high, s.exact),
}


@pytest.mark.parametrize("word", LIES)
def test_a_wrong_statement_about_sound_bytes_is_found_by_the_values(
    place: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = encode_block

    def lying(array: pa.Array, column: StoredColumn) -> tuple[BlockEntry, tuple[pa.Buffer, ...]]:
        entry, data = real(array, column)
        return replace(entry, statistics=LIES[word](entry.statistics)), data

    monkeypatch.setattr(rowset_output, "encode_block", lying)
    store = MemoryStore()
    db = ArrowDatabase(store, Log(store), create_database(store, lone_table=False))
    db.create_table("a", SCHEMA).append(rows())
    assert db.verify(3).is_sound
    problems = [each.problem for each in db.verify(4).findings]
    assert len(problems) >= 3
    assert all(word in each for each in problems), problems


def written_at_two_times() -> Clocked:
    """Return a table whose only RowSet has rows of two times, which a compaction has joined."""
    world = Clocked(SCHEMA, {"ttl": "1 hour"}, sort_key=("id",))
    for _ in range(2):
        world.now_ms += 10 * MINUTE_MS
        world.table.append(rows())
    world.table.optimize().option("min-rowsets", 2).executeCompaction()
    return world


@pytest.mark.parametrize("times", [(0, 1), (5, 5), None])
def test_a_log_that_states_other_times_than_the_rows_have_is_found(
    times: tuple[int, int] | None, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers expire a whole RowSet by what the log says, and other rows by the column."""
    assert written_at_two_times().table.verify(depth=4).is_sound
    monkeypatch.setattr(rowset_output, "written_ms", lambda columns: times)
    world = written_at_two_times()
    assert world.table.verify(depth=1).is_sound
    [found] = world.table.verify(depth=2).findings
    assert (found.kind, found.rows) == ("damage", (0, 2 * ROWS - 1))
    assert "when the rows of RowSet" in found.problem


def test_two_times_without_a_column_of_them_are_found(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rowset_output, "written_ms", lambda columns: (1, 2))
    world = Clocked(SCHEMA)
    world.table.append(rows())
    [found] = world.table.verify(depth=2).findings
    assert "no times, the log (1, 2)" in found.problem


def test_a_wrong_time_of_a_row_is_found_by_the_values(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = encode_block

    def lying(array: pa.Array, column: StoredColumn) -> tuple[BlockEntry, tuple[pa.Buffer, ...]]:
        entry, data = real(array, column)
        if column.name != WRITTEN.name:
            return entry, data
        told = entry.statistics
        assert isinstance(told.low, int)
        return replace(entry, statistics=replace(told, low=told.low + 1, high=told.low + 1)), data

    monkeypatch.setattr(rowset_output, "encode_block", lying)
    monkeypatch.setattr(compaction_run, "check_kept", lambda *_: None)
    world = written_at_two_times()
    assert world.table.verify(depth=3).is_sound
    problems = [each.problem for each in world.table.verify(depth=4).findings]
    assert problems
    assert all(WRITTEN.name in each for each in problems)


def test_a_store_that_does_not_answer_is_not_damage_of_a_rowset(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    numbers = pa.table({"n": [each * 7919 % 100_003 for each in range(20_000)]})
    table = colonnade.create(tmp_path / "t", numbers.schema)
    table.append(numbers)

    reading = LocalStore._reading

    def failing(self: LocalStore, name: str) -> Any:
        if name.endswith(".rowset"):
            raise StoreError("The network is down.", retryable=True)
        return reading(self, name)

    monkeypatch.setattr(LocalStore, "_reading", failing)
    with pytest.raises(StoreError, match="network"):
        table.verify(depth=3)


@pytest.mark.slow
def test_a_file_that_may_not_be_read_is_not_called_damaged(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    db, names = make(store), sorted(info.name for info in store.list(""))
    get, get_ranges, db_state = store.get, store.get_ranges, db._refresh()
    hidden = ""

    def refuse(name: str) -> None:
        if name == hidden:
            raise StoreError(f"{name} could not be read: permission denied.")

    def refusing_get(name: str, *, limit: int | None = None) -> bytes:
        refuse(name)
        return get(name, limit=limit)

    def refusing_ranges(name: str, ranges: Any) -> Any:
        refuse(name)
        return get_ranges(name, ranges)

    monkeypatch.setattr(store, "get", refusing_get)
    monkeypatch.setattr(store, "get_ranges", refusing_ranges)
    for hidden in names:
        report = db.verify(4, threads=1)
        assert {each.kind for each in report.findings} == {"unread"}, hidden
        assert any(hidden in each.problem for each in report.findings)
        assert not report.is_sound
        assert not report.is_damaged
        assert [report.damaged_rowsets(name) for name in ("a", "b")] == [[], []]
        assert "Nothing is damaged. Some of it could not be read" in str(report).replace("\n", " ")
    hidden = ""
    assert db.verify(4).is_sound
    assert db._refresh() == db_state


def test_a_stopped_check_ends_before_the_next_column() -> None:
    def look(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        stop.request()
        return check_job(job, db._log.store, stop)

    db = make(MemoryStore())
    with pytest.raises(CancelledError):
        db.verify(elsewhere=JobRunner(look, 1))


def test_damage_of_an_inline_rowset_is_reported_beside_a_vacuum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStore()
    db = make(store)
    table = db.create_table("c", SCHEMA, sort_key=["id"])
    monkeypatch.setattr(rowset_writer, "sort_indices", lambda *_: pa.array([0, 1]))
    last = table.append(pa.table({"id": [2, 1], "x": [0.0] * 2, "s": ["x"] * 2}, SCHEMA))
    real = run._check_rowsets

    def late(*given: Any) -> Any:
        db.table("b").append(rows(ROWS))
        db.vacuum(0, force=True)
        return real(*given)

    monkeypatch.setattr(run, "_check_rowsets", late)
    [found] = verify(Log(store), 4).findings
    assert (found.file, found.table, found.rows) == (None, "c", (0, 1))
    assert db._snapshot.floor > last


def test_whole_columns_of_every_type_are_sound() -> None:
    db = make(MemoryStore())
    fields = [SchemaField(id=0, name=f"c{i}", type=each) for i, each in enumerate(PRIMITIVES)]
    table = db.create_table("every", TableSchema(fields=tuple(fields)))
    for seed in range(6):
        table.append(make_batch(table._state.schema, 20, seed))
    table.append(pa.Table.from_pylist([{}] * 3, table.schema))
    assert db.verify(4).findings == ()
