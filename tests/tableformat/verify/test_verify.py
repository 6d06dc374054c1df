"""Whatever is damaged is found, and said where; what is sound is not called damaged."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import seal, unseal
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.object_names import HINT, checkpoint_name, copy_name, epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.tableformat.jobs import Stop, Workplace
from colonnade.tableformat.partition import writer
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.rowset import output as rowset_output
from colonnade.tableformat.rowset import writer as rowset_writer
from colonnade.tableformat.rowset.block import BlockEntry, encode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.table.alteration import DropColumn
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.verify import run
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome
from colonnade.tableformat.verify.rowset_check import check_job
from colonnade.tableformat.verify.run import verify
from colonnade.tableformat.write import job as write_job
from tests.strategies import PRIMITIVES, make_batch

SCHEMA = pa.schema([("id", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
ROWS = 300


def rows(first: int = 0, count: int = ROWS) -> pa.Table:
    ids = range(first, first + count)
    texts = [None if i % 7 == 0 else f"text {i} " + "é" * (i % 90) for i in ids]
    values = [float("nan") if i % 50 == 0 else i / 3 for i in ids]
    return pa.table({"id": ids, "x": values, "s": texts}, SCHEMA)


@pytest.fixture(params=["directory", "packed", "inline"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    packed = {"directory": 0, "packed": 2**22, "inline": 2**22}[request.param]
    inline = 2**16 if request.param == "inline" else 0
    options = partial(WriteOptions, block_rows=100, packed_bytes=packed, inline_bytes=inline)
    monkeypatch.setattr(write_job, "WriteOptions", options)
    return str(request.param)


def make(store: ObjectStore) -> ArrowDatabase:
    """Two tables; `a` lost rows and a column. Epochs 4 and 8 are checkpoints."""
    log = Log(store, checkpoint_interval=4, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    a = db.create_table("a", SCHEMA)
    a.append(rows())
    a.append(rows(ROWS))
    a.delete("id IN (0, 3, 99, 250)")
    db.create_table("b", SCHEMA, sort_key=["id desc"]).append(rows())
    a.refresh()
    a.alter(DropColumn(("x",)))
    a.append(pa.table({"id": [1], "s": ["y"]}))
    return db


def flip(store: ObjectStore, name: str, at: int) -> None:
    data = bytearray(store.get(name))
    data[at] ^= 4
    store.put(name, bytes(data), sync=False)


def data_files(store: ObjectStore) -> Iterator[str]:
    return (info.name for info in store.list("") if not info.name.startswith("_manifest"))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_what_is_sound_is_not_called_damaged(place: str, depth: int) -> None:
    db = make(MemoryStore())
    report = db.verify(depth)
    assert report.findings == ()
    assert report.leftovers == {}
    assert (report.tables, report.rowsets, report.rows) == (2, 4, 3 * ROWS + 1)
    assert (report.bytes > 3000) is (depth > 2)
    assert report.epoch == db.refresh().epoch
    assert str(report).endswith("Nothing is damaged.")
    db.vacuum(0)
    assert db.verify(depth).findings == ()
    assert json.loads(json.dumps(report.to_json()))["sound"] is True


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
    options = partial(WriteOptions, block_rows=100, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)
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


def test_files_that_are_missing_or_of_another_size_are_found_by_the_log_alone(place: str) -> None:
    store = MemoryStore()
    db = make(store)
    for name in sorted(data_files(store)):
        whole = store.get(name)
        for broken in (None, whole[:-1], whole + b"x"):
            store.delete(name) if broken is None else store.put(name, broken, sync=False)
            found = {each.file or "" for each in db.verify(1).findings}
            assert any(name.startswith(each) for each in found), name
            assert len({each.split("/")[1] for each in found}) == 1
        store.put(name, whole, sync=False)


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
def test_what_is_said_wrongly_of_sound_bytes_is_found_by_the_values(
    place: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = encode_block

    def lying(array: pa.Array, column: StoredColumn) -> tuple[BlockEntry, pa.Buffer | None]:
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


@pytest.mark.parametrize("number", [0, 1, 3, 5, 8])
def test_a_damaged_epoch_is_named_and_what_came_before_it_is_still_looked_at(
    number: int, tmp_path: Path
) -> None:
    store = LocalStore(tmp_path / "db")
    db = make(store)
    newest = db.refresh().epoch
    assert newest == 8
    flip(store, epoch_name(number), 60)
    reports: list[VerifyReport] = [db.verify(1), colonnade.verify(tmp_path / "db", 1)]
    for report in reports:
        assert [each.file for each in report.findings if each.kind == "damage"] == [
            epoch_name(number)
        ]
        assert report.epoch == (number - 1 if number else None)
        assert report.leftovers is None


def test_what_comes_after_a_damaged_stub_is_looked_at_all_the_same() -> None:
    store = MemoryStore()
    db = make(store)
    db.vacuum(0)
    db.table("b").append(rows())
    newest = db.refresh()
    flip(store, epoch_name(1), 60)
    report = db.verify(1)
    assert [each.file for each in report.findings] == [epoch_name(1)]
    assert report.epoch == newest.epoch
    [anchor] = newest.anchors
    flip(store, checkpoint_name(anchor.root), 60)
    store.delete(copy_name(anchor.root))
    files = {each.file for each in db.verify(1).findings}
    assert files == {epoch_name(1), epoch_name(newest.floor), HINT}


@pytest.mark.parametrize("retryable", [True, False])
def test_a_store_that_does_not_answer_any_more_ends_the_verification(
    retryable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    db, get = make(store), store.get

    def failing(name: str, *, limit: int | None = None) -> bytes:
        if name >= epoch_name(3):
            raise StoreError("The network is down.", retryable=retryable)
        return get(name, limit=limit)

    monkeypatch.setattr(store, "get", failing)
    with pytest.raises(StoreError, match="network"):
        db.verify(1)


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


def test_one_epoch_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    db, get = make(store), store.get

    def failing(name: str, *, limit: int | None = None) -> bytes:
        if name == epoch_name(3):
            raise StoreError("The sector is bad.")
        return get(name, limit=limit)

    monkeypatch.setattr(store, "get", failing)
    assert epoch_name(3) in {each.file for each in db.verify(1).findings}


def test_a_file_that_may_not_be_read_is_not_called_damaged(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    db, names = make(store), sorted(info.name for info in store.list(""))
    get, get_ranges, db_state = store.get, store.get_ranges, db.refresh()
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
    assert db.refresh() == db_state


def newer(data: bytes) -> bytes:
    """A sealed object of the next format version."""
    body = unseal(data, "newer")
    version = int(body.partition(b'"format_version":')[2][:1])
    old, new = (b'"format_version":%d' % number for number in (version, version + 1))
    return seal(body.replace(old, new, 1))


def test_what_has_a_newer_format_is_not_called_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    options = partial(WriteOptions, block_rows=100, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)
    store = MemoryStore()
    db = make(store)
    epochs = [epoch_name(number) for number in (0, 1, 3, 8)]
    for name in epochs:
        whole = store.get(name)
        store.put(name, newer(whole), sync=False)
        report = db.verify(4, threads=1)
        assert [each.file for each in report.findings if each.kind == "newer"] == [name]
        assert not report.is_damaged
        assert not report.is_sound
        assert "Some of it has a newer format" in str(report)
        store.put(name, whole, sync=False)
    assert db.verify(4).is_sound


def test_a_missing_epoch_is_found_however_far_behind_the_next_one_is() -> None:
    store = MemoryStore()
    db = make(store)
    store.put(epoch_name(500), store.get(epoch_name(3)), sync=False)
    [found] = db.verify(1).findings
    assert found.file == epoch_name(9)
    store.delete(epoch_name(500))
    store.delete(epoch_name(2))
    assert {each.file for each in db.verify(1).findings} == {epoch_name(2)}


def test_damage_of_what_is_only_a_cache_is_told_apart() -> None:
    store = MemoryStore()
    db = make(store)
    newest = read_hint(store)
    assert newest is not None
    segments = [s.segment.object for table in newest[1].tables for s in table.segments]
    for object_id in (newest[0].root, *segments):
        name = checkpoint_name(object_id)
        whole = store.get(name)
        flip(store, name, 50)
        report = db.verify(1)
        assert {each.kind for each in report.findings} == {"cache"}
        assert report.is_sound
        store.put(name, whole, sync=False)
    flip(store, HINT, 40)
    assert [(each.kind, each.file) for each in db.verify(1).findings] == [("cache", HINT)]


def test_an_anchor_is_not_a_cache() -> None:
    store = MemoryStore()
    db = make(store)
    db.vacuum(0)
    [anchor] = db.snapshot.anchors
    flip(store, checkpoint_name(anchor.root), 50)
    assert not db.verify(1).is_sound


def test_what_vacuum_would_remove_is_told() -> None:
    store = MemoryStore(now_ms=lambda: 0)
    db = make(store)
    name = f"{next(iter(db.snapshot.tables))}/{'a' * 32}.rowset"
    store.put(name, b"abc", sync=False)
    report = db.verify(1)
    assert report.leftovers == {name: 3}
    assert "Vacuum would remove 1 files of 3 bytes" in str(report)


def test_tables_depths_and_epochs_are_chosen(place: str) -> None:
    db = make(MemoryStore())
    told: list[tuple[int, int]] = []
    report = db.verify(2, tables=["b"], epoch=7, progress=lambda *done: told.append(done))
    assert (report.epoch, report.tables, report.rowsets) == (7, 1, 1)
    assert told[-1][0] == told[-1][1] > 0
    with pytest.raises(InvalidInputError, match="depth"):
        db.verify(5)
    with pytest.raises(NotFoundError, match="the tables are"):
        db.verify(1, tables=["c"])


def test_an_interruption_ends_what_is_looked_at_on_other_threads() -> None:
    begun: list[VerifyJob] = []

    def look(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        begun.append(job)
        while job is not begun[0]:
            stop.check()
            time.sleep(0.01)
        return VerifyOutcome(findings=(), bytes=1)

    def interrupt(done: int, total: int) -> None:
        while len(begun) == 1:
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(MemoryStore()).verify(progress=interrupt, elsewhere=Workplace(look, 1))


def test_a_stopped_check_ends_before_the_next_column() -> None:
    def look(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        stop.request()
        return check_job(job, db._log.store, stop)

    db = make(MemoryStore())
    with pytest.raises(CancelledError):
        db.verify(elsewhere=Workplace(look, 1))


@pytest.mark.parametrize("keep", ["tag", "pin"])
def test_what_only_a_tag_or_a_pin_keeps_is_looked_at_too(place: str, keep: str) -> None:
    store = MemoryStore()
    db = make(store)
    db.tag("x", 3) if keep == "tag" else db.pin("x", 3600, 3)
    old = [name for name in data_files(store) if name.startswith(db.table("a").state.prefix)]
    db.table("a").overwrite(rows().drop_columns("x"))
    report = db.verify(3)
    assert (report.findings, report.rowsets) == ((), 4)
    assert db.verify(3, epoch=db.refresh().epoch).rowsets == 2
    for name in old:
        flip(store, name, len(store.get(name)) // 2)
    found = {each.file for each in db.verify(3).findings}
    assert found <= {*old}
    assert len(found) == (0 if place == "inline" else 2)


@pytest.mark.parametrize("again", ["renumbered", "dropped and restored"])
def test_what_a_tag_keeps_is_looked_at_though_a_table_made_again_has_rowsets_of_its_ids(
    again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = partial(WriteOptions, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)
    store = MemoryStore()
    db = ArrowDatabase(store, Log(store), create_database(store, lone_table=False))
    table = db.create_table("a", SCHEMA)
    table.append(rows())
    db.tag("x")
    old = [*data_files(store)]
    table.overwrite(rows())
    if again == "renumbered":
        table.renumber()
    else:
        last = db.refresh().epoch
        db.drop_table("a")
        db.restore(epoch=last)
    assert db.verify(3).rowsets == 2
    damaged = max(old, key=lambda name: len(store.get(name)))
    flip(store, damaged, len(store.get(damaged)) // 2)
    [finding] = db.verify(3).findings
    assert (finding.file, finding.epoch) == (damaged, db.tags()["x"])
    assert db.verify(3).damaged_rowsets("a") == []


def test_damage_of_what_only_a_tag_keeps_is_told_apart_from_that_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = partial(WriteOptions, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)
    store = MemoryStore()
    log = Log(store, limits=Limits(in_place_bytes=0))
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("a", SCHEMA)
    table.append(rows())
    own = [*data_files(store)]
    table.update({"s": "'first'"}, "id < 290")
    table.refresh()
    first = [name for name in data_files(store) if name not in own and name.endswith(".col")]
    db.tag("x", table.epoch)
    table.update({"s": "'second'"}, "id < 290")
    [replaced] = first
    flip(store, replaced, len(store.get(replaced)) - 1)
    table.scan().to_arrow()
    with pytest.raises(CorruptionError, match="'s'"):
        table.scan(tag="x").to_arrow()
    [finding] = db.verify(3).findings
    assert (finding.file, finding.column, finding.epoch) == (replaced, "s", db.tags()["x"])
    assert f"Only kept epoch {finding.epoch} needs it." in str(finding)
    assert db.verify(3).damaged_rowsets("a") == []
    [shared] = [name for name in own if name.endswith("/1.col")]
    flip(store, shared, len(store.get(shared)) - 1)
    found = {(each.file, each.epoch is None) for each in db.verify(3).findings}
    assert found == {(replaced, False), (shared, True)}
    store.delete(replaced)
    assert {each.file for each in db.verify(3).findings} >= {shared}
    assert db.verify(3).damaged_rowsets("a") == [0]


@pytest.mark.parametrize("step", ["_sizes", "_check_rowsets"])
def test_what_vacuum_removes_meanwhile_is_not_called_damaged(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = partial(WriteOptions, block_rows=100, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)
    store = MemoryStore()
    db = make(store)
    db.vacuum(0)  # so that the next one replaces an anchor
    [*_, name] = sorted(n for n in data_files(store) if n.startswith(db.table("a").state.prefix))
    flip(store, name, len(store.get(name)) // 2)
    damaged = [each.file for each in db.verify(3).findings]
    assert set(damaged) == {name}
    real = getattr(run, step)

    def late(*given: Any) -> Any:
        if db.snapshot.epoch == 9:
            db.table("b").overwrite(rows(ROWS))
            db.vacuum(0)
        return real(*given)

    monkeypatch.setattr(run, step, late)
    assert [each.file for each in verify(Log(store), 3).findings] == damaged
    assert db.snapshot.floor == 10


@pytest.mark.parametrize("at", [99, 100, 101, 250])
def test_rows_that_are_not_in_the_order_of_the_sort_key_are_found(
    place: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = make(MemoryStore())
    ids = [*range(ROWS)]
    ids[at - 1], ids[at] = ids[at], ids[at - 1]
    table = db.create_table("c", SCHEMA, sort_key=["s", "id"])
    monkeypatch.setattr(rowset_writer, "sort_indices", lambda *_: pa.array(range(ROWS)))
    table.append(rows().set_column(0, "id", [ids]).set_column(2, "s", [["x"] * ROWS]))
    assert db.verify(3).findings == ()
    [found] = db.verify(4).findings
    assert (found.table, found.rows) == ("c", (at - 1, at))
    assert f"row {at} belongs before row {at - 1}" in found.problem


def test_what_is_wrong_with_an_inline_rowset_is_told_beside_a_vacuum(
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
        db.vacuum(0)
        return real(*given)

    monkeypatch.setattr(run, "_check_rowsets", late)
    [found] = verify(Log(store), 4).findings
    assert (found.file, found.table, found.rows) == (None, "c", (0, 1))
    assert db.snapshot.floor > last


def test_whole_columns_of_every_type_are_sound() -> None:
    db = make(MemoryStore())
    fields = [SchemaField(id=0, name=f"c{i}", type=each) for i, each in enumerate(PRIMITIVES)]
    table = db.create_table("every", TableSchema(fields=tuple(fields)))
    for seed in range(6):
        table.append(make_batch(table.state.schema, 20, seed))
    table.append(pa.Table.from_pylist([{}] * 3, table.schema))
    assert db.verify(4).findings == ()


def test_rows_of_another_partition_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*given: Any) -> tuple[Any, Any]:
        codes, partitions = divide(*given)
        codes[7] = (codes[7] + 1) % len(partitions)
        return codes, partitions

    db = make(MemoryStore())
    table = db.create_table("p", SCHEMA, partition_by=["bucket(2, id)", "truncate(1, s)"])
    table.append(rows())
    assert db.verify(4).is_sound
    monkeypatch.setattr(writer, "divide", wrong)
    table.append(rows())
    assert db.verify(3).is_sound
    [found] = db.verify(4).findings
    assert found.table == "p"
    assert "outside of its partition" in found.problem
