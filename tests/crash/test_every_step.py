"""A fault at every store call of every write: the table is as before or as after, never between."""

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.crash.every_step import EACH_PUSH, check_every_step, copied, outcome
from tests.faults import Call, Fault, FaultyStore
from tests.placed import write_as

SCHEMA = pa.schema([("id", pa.int64()), ("noise", pa.float64())])
SIZES = {"inline": 5, "packed": 3_000, "directory": 20_000}
PACKED_BYTES = 100_000


@pytest.fixture(autouse=True)
def small_packed_rowsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few rows already make a directory, so that every call can be visited in every place."""
    write_as(monkeypatch, packed_bytes=PACKED_BYTES)


def rows(first: int, count: int) -> pa.Table:
    noise = np.random.default_rng(first).random(count)
    return pa.table({"id": np.arange(first, first + count), "noise": noise}, SCHEMA)


def log_of(store: ObjectStore) -> Log:
    # A checkpoint at every second epoch, so that its calls are visited too.
    return Log(store, checkpoint_interval=2, pause=lambda seconds: None)


def open_table(store: ObjectStore) -> ArrowTable:
    log = log_of(store)
    return ArrowTable(Location(store, None, exists=True), log, log.reader.read_head())


def create(store: ObjectStore, data: pa.Table) -> None:
    """A lone table and its first rows, as a write to a missing path makes them."""
    location = Location(store, None, exists=False)
    design = new_table("t", as_table_schema(SCHEMA))
    job = plan_write(location, None, "append", create=design)
    commit_written(job, write_rows(job, data.to_batches(), store), log_of(store))


def append(store: ObjectStore, data: pa.Table) -> None:
    open_table(store).append(data)


def overwrite(store: ObjectStore, data: pa.Table) -> None:
    open_table(store).overwrite(data)


def read(store: ObjectStore) -> list[int]:
    """The ids in the table, all bytes of its rows verified; nothing where no table is."""
    try:
        return open_table(store).scan().to_arrow()["id"].to_pylist()
    except ColonnadeError as error:
        if error.kind == "NOT_FOUND":
            return []
        raise


CASES = [
    pytest.param(
        *(work, place, fault),
        id=f"{work.__name__}-{place}-{fault.name}",
        # Only `append`, whose table has rows already, tries all faults in each push.
        marks=() if work is append or fault in EACH_PUSH else pytest.mark.long,
    )
    for work in (create, append, overwrite)
    for place in SIZES
    for fault in Fault
]


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("work", "place", "fault"), CASES)
def test_a_write_happens_wholly_or_not_at_all(
    work: Callable[[ObjectStore, pa.Table], None], place: str, fault: Fault, every: int
) -> None:
    new, disk = rows(100, SIZES[place]), MemoryStore()
    if work is not create:
        create(disk, rows(1, 2))
    calm = copied(disk)
    work(calm, new)
    assert read(calm) == ([1, 2] if work is append else []) + new["id"].to_pylist()
    check_every_step(disk, lambda store: work(store, new), read, fault, every)


@pytest.mark.parametrize("place", ["packed", "directory"])
def test_a_task_that_fails_removes_what_it_wrote(place: str) -> None:
    disk = MemoryStore()
    create(disk, rows(1, 2))
    before = {info.name for info in disk.list("")}
    trace = trace_of(disk, place)
    assert any(name.endswith(".col") for _, name in trace) == (place == "directory")
    count = len(trace)
    for call in range(1, count):
        store = FaultyStore(disk, {call: Fault.DISK_FULL})
        job = plan_write(Location(store, None, True), log_of(disk).reader.read_head(), "append")
        told = outcome(partial(write_rows, job, rows(5, SIZES[place]).to_batches(), store))
        if store.fired:
            assert told == "refused"
            assert {info.name for info in disk.list("")} == before
    assert read(disk) == [1, 2]


@pytest.mark.parametrize("call", ["mkdir", "open", "write"])
def test_a_full_disk_leaves_no_empty_folder_of_a_rowset(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = LocalStore(tmp_path)
    create(disk, rows(1, 2))
    location, head = Location(disk, None, True), log_of(disk).reader.read_head()
    # The folder of the table stays, because another writer may be about to use it.
    (tmp_path / location.require(head).prefix).mkdir()
    before = set(tmp_path.rglob("*"))
    job = plan_write(location, head, "append")
    for space in range(4):
        with monkeypatch.context() as patch:
            left = fill_disk(patch, call, space)
            told = outcome(lambda: write_rows(job, rows(5, SIZES["directory"]).to_batches(), disk))
        if left():
            break
        assert told == "refused"
        assert set(tmp_path.rglob("*")) == before
    assert space, f"the disk was never too full for {call}"


def fill_disk(patch: pytest.MonkeyPatch, call: str, space: int) -> Callable[[], bool]:
    """Let `space` calls that need space pass; returns whether there was space for all."""
    real, asked = getattr(os, call), 0

    def full(*args: Any, **kwargs: Any) -> Any:
        nonlocal asked
        if call != "open" or args[1] & os.O_CREAT:
            asked += 1
            if asked > space:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    patch.setattr(os, call, full)
    return lambda: asked <= space


def trace_of(disk: ObjectStore, place: str) -> list[Call]:
    """The calls that writing one RowSet makes; what it writes is removed again."""
    store = FaultyStore(disk)
    before = {info.name for info in disk.list("")}
    job = plan_write(Location(store, None, True), log_of(disk).reader.read_head(), "append")
    write_rows(job, rows(5, SIZES[place]).to_batches(), store)
    for info in list(disk.list("")):
        if info.name not in before:
            disk.delete(info.name)
    return list(store.trace)
