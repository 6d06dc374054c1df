"""Measure opening a table, and a vacuum, in a grown database beside a small one.

docs/growth.md derives the bounds that are measured here.
"""

from __future__ import annotations

import base64
import secrets
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from benchmarks.measure import Figure, in_turn, interleave
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import TableId, new_table_id, new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import ByteCheck, ColumnStatistics, RowSetEntry
from colonnade.manifests.model.operations import (
    AddRowSet,
    CreateTable,
    Operation,
    SetComment,
    Tag,
    Txn,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import open_store
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import Cost, FarStore

NOW = VacuumRequest(hours=0, epochs=1, trust_clock=True)
SMALL_TABLES = 10
TABLES = 10_000
COLUMNS = 50
EPOCH_TABLES = 500
APPS = 1_000_000
EPOCH_APPS = 50_000
EPOCHS = 5_000
TAGS = 400
TARGET = 2.0
ROWS = 4_000
CHANGED = 10

VACUUM_MS = 2000.0
"""A vacuum reads the records of all tables, and the root of each tag's anchor."""

REQUESTS = 60.0
"""The requests of a vacuum in a bucket, where each lists a thousand objects."""

MANY_TABLES = f"of {TABLES:,} of {COLUMNS} columns"
MANY_TAGS = f"of a database with {TAGS} tags"
READ_WHOLE = (MANY_TABLES, MANY_TAGS)
"""Databases whose vacuum also reads what has not changed: it is judged by its own time."""

Build: TypeAlias = Callable[[Path], None]


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Open one table by its name, and vacuum after a small change, each beside a small database."""
    count = partial(_scaled, min(1.0, scale))
    grown: dict[str, Build] = {
        MANY_TABLES: partial(build_tables, count=count(TABLES)),
        f"with batches of {APPS:,} applications": partial(build_batches, apps=count(APPS)),
        f"of a log of {EPOCHS:,} epochs": partial(build_epochs, epochs=count(EPOCHS)),
        MANY_TAGS: partial(build_tags, tags=count(TAGS)),
    }
    small = built(folder / "growth-small", partial(build_tables, count=SMALL_TABLES))
    paths = {
        name: built(folder / f"growth-{number}-{scale:g}", build)
        for number, (name, build) in enumerate(grown.items())
    }
    figures = [*changed_tables(folder, count, runs)]
    for name, path in paths.items():
        ours, theirs, ratio = interleave(
            partial(open_one, path), partial(open_one, small), runs * 5
        )
        figures.append(
            Figure(f"open a table {name}", "ms", ours * 1e3, theirs * 1e3, ratio, target=TARGET)
        )
    for name, path in paths.items():
        ours, theirs, ratio = interleave(
            partial(vacuum_one, path), partial(vacuum_one, small), runs
        )
        relative = name not in READ_WHOLE
        figures.append(
            Figure(
                f"change and vacuum a table {name}",
                "ms",
                ours * 1e3,
                theirs * 1e3,
                ratio,
                target=TARGET if relative else VACUUM_MS,
                judged_by_ratio=relative,
            )
        )
    return figures


def changed_tables(folder: Path, count: Callable[[int], int], runs: int) -> Iterator[Figure]:
    """Vacuum after one RowSet more in each of some tables: in time, and in requests of a bucket."""
    path = built(
        folder / f"growth-rows-{count(TABLES)}",
        partial(build_rows, count=count(TABLES), rows=count(ROWS)),
    )
    small = built(
        folder / "growth-rows-small", partial(build_rows, count=SMALL_TABLES, rows=SMALL_TABLES)
    )
    places, name = (path, small), f"vacuum after changes of {CHANGED} of {TABLES:,} tables"
    for place in places:
        vacuum(Log(open_store(place)), NOW)
    works = [partial(vacuum_all, place) for place in places]
    ours, theirs = map(
        statistics.median, in_turn(works, runs, before=partial(change_tables, places))
    )
    yield Figure(name, "ms", ours * 1e3, theirs * 1e3, target=VACUUM_MS)
    change_tables(places)
    costs = [counted_vacuum(place) for place in places]
    ours, theirs = (float(cost.requests) for cost in costs)
    yield Figure(f"{name} in a bucket", "requests", ours, theirs, target=REQUESTS)
    ours, theirs = (float(cost.rounds) for cost in costs)
    yield Figure(f"{name} in a bucket, one after another", "requests", ours, theirs)


def change_tables(paths: Sequence[Path]) -> None:
    """Add a RowSet to each of some tables, in an epoch each."""
    for path in paths:
        log = Log(open_store(path))
        state = log.reader.read_head()
        for number in range(CHANGED):
            state = _commit(log, state, _rowset(state.table(f"table_{number}").id))


def vacuum_all(path: Path) -> int:
    """Vacuum all epochs except the newest."""
    return vacuum(Log(open_store(path)), NOW).epochs_removed


def counted_vacuum(path: Path) -> Cost:
    """Vacuum all epochs except the newest, and return what that costs in a bucket."""
    store = FarStore(open_store(path))
    with store.counted() as cost:
        vacuum(Log(store), NOW)
    return cost


def _scaled(scale: float, count: int) -> int:
    return max(SMALL_TABLES, round(count * scale))


def open_one(path: Path) -> int:
    """Open a table by its name, as a process does that has cached nothing of the database."""
    log = Log(open_store(path))
    table = log.reader.read_head().table("table_1")
    return len(log.rowsets.read_entries(table))


def vacuum_one(path: Path) -> int:
    """Change one table, and vacuum the epoch before."""
    log = Log(open_store(path))
    state = log.reader.read_head()
    comment = SetComment(table=state.table("table_1").id, comment=str(state.epoch))
    log.commit(Change(new_transaction_id(), "comment", (comment,)), state)
    return vacuum(log, NOW).epochs_removed


def built(path: Path, build: Callable[[Path], None]) -> Path:
    """Return the folder of a database, and build the database unless it exists."""
    if not path.exists():
        building = path.with_suffix(".building")
        shutil.rmtree(building, ignore_errors=True)
        build(building)
        building.rename(path)
    return path


def build_tables(path: Path, count: int) -> None:
    """Make a database of `count` tables that ends with a checkpoint."""
    log, state = _created(path)
    for start in range(0, count, EPOCH_TABLES):
        numbers = range(start, min(start + EPOCH_TABLES, count))
        state = _commit(log, state, *map(_table, numbers))
    _finish(log, state)


def build_rows(path: Path, count: int, rows: int) -> None:
    """Make a database of `count` tables. The first `rows` of them have a small RowSet."""
    build_tables(path, count)
    log = Log(open_store(path), checkpoint_interval=2**40)
    state = log.reader.read_head()
    for start in range(0, rows, EPOCH_TABLES):
        numbers = range(start, min(start + EPOCH_TABLES, rows))
        made = (_rowset(state.table(f"table_{number}").id) for number in numbers)
        state = _commit(log, state, *made)
    _finish(log, state)


def build_batches(path: Path, apps: int) -> None:
    """Make a table with one committed batch of each of `apps` applications."""
    log, state = _created(path)
    state = _commit(log, state, *map(_table, range(SMALL_TABLES)))
    table = state.table("table_1").id
    for start in range(0, apps, EPOCH_APPS):
        numbers = range(start, min(start + EPOCH_APPS, apps))
        landed = (Txn(table=table, app=f"stream-{number:032x}", version=7) for number in numbers)
        state = _commit(log, state, *landed)
    _finish(log, state)


def build_epochs(path: Path, epochs: int) -> None:
    """Make a log of `epochs` epochs, and have retention remove all except the last."""
    log, state = _created(path)
    state = _commit(log, state, *map(_table, range(SMALL_TABLES)))
    table = state.table("table_1").id
    for number in range(epochs):
        state = _commit(log, state, SetComment(table=table, comment=str(number)))
    _finish(log, state)
    vacuum(log, VacuumRequest(hours=0, epochs=1))


def build_tags(path: Path, tags: int) -> None:
    """Make a log with a tag on every second epoch, and move the floor past all of them."""
    log, state = _created(path)
    state = _commit(log, state, *map(_table, range(SMALL_TABLES)))
    table, first = state.table("table_1").id, state.epoch
    for number in range(2 * tags):
        state = _commit(log, state, SetComment(table=table, comment=str(number)))
    tagged = (Tag(name=f"tag {number}", epoch=first + 2 * number) for number in range(tags))
    _finish(log, _commit(log, state, *tagged))
    vacuum(log, VacuumRequest(hours=0, epochs=1))


def _created(path: Path) -> tuple[Log, Snapshot]:
    store = open_store(path, create=True)
    create_database(store, lone_table=False)
    log = Log(store, checkpoint_interval=2**40)
    return log, log.reader.read_head()


def _table(number: int) -> CreateTable:
    fields = tuple(
        SchemaField(id=column, name=f"column_{column}", type="long", nullable=True)
        for column in range(1, COLUMNS + 1)
    )
    return CreateTable(
        table=new_table_id(),
        name=f"table_{number}",
        table_schema=TableSchema(fields=fields),
        next_column_id=COLUMNS + 1,
    )


def _rowset(table: TableId) -> AddRowSet:
    entry = RowSetEntry(
        object=secrets.token_hex(16),
        place="inline",
        rows=1,
        bytes=600,
        cuts=1,
        footer=ByteCheck(length=40, crc32c=0),
        statistics={1: ColumnStatistics(min="i:1", max="i:1")},
        data=base64.b64encode(secrets.token_bytes(600)).decode(),
    )
    return AddRowSet(table=table, rowset=entry)


def _commit(log: Log, state: Snapshot, *operations: Operation) -> Snapshot:
    return log.commit(Change(new_transaction_id(), "grow", operations), state)


def _finish(log: Log, state: Snapshot) -> None:
    """Store a checkpoint of an epoch of an ordinary size, since a reader also reads that epoch."""
    comment = SetComment(table=state.table("table_1").id, comment="the one that is opened")
    log.try_checkpoint(_commit(log, state, comment))
