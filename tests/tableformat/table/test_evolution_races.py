"""Columns change while a statement is on its way, and the other way round.

What comes of both is what one of the two serial orders gives, or the statement is refused and has
changed nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    CommentColumn,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    WidenColumn,
)
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.settings import WriteSettings

Rows = list[dict[str, Any]]
Action = Callable[[ArrowTable], object]
LIMITS = Limits(in_place_bytes=-(2**20))
"""Updates replace columns, however few rows there are."""
SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), nullable=False),
        ("n", pa.int32()),
        ("s", pa.string()),
        ("p", pa.struct([("a", pa.int32())])),
        ("v", pa.null()),
    ]
)
NEW = SchemaField(name="x", type="int")


def rows(*numbers: int) -> pa.Table:
    listed = [{"k": n, "n": 10 * n, "s": f"s{n}", "p": {"a": n}} for n in numbers]
    return pa.Table.from_pylist(listed, SCHEMA)


def opened(store: MemoryStore) -> ArrowTable:
    log = Log(store, limits=LIMITS, pause=lambda seconds: None)
    return ArrowTable(Location(store, "t", exists=True), log, log.read_head())


def copied(store: MemoryStore) -> MemoryStore:
    copy = MemoryStore()
    copy._objects = dict(store._objects)
    return copy


@pytest.fixture(scope="module")
def made() -> MemoryStore:
    """Two RowSets with the rows 1, 2 and 3; epoch 2 has the first of them."""
    store = MemoryStore()
    base = create_database(store, lone_table=False)
    location = Location(store, "t", exists=True)
    design = new_table("t", as_table_schema(SCHEMA), [], {})
    commit_written(plan_write(location, base, "append", create=design), (), Log(store), base)
    opened(store).append(rows(1, 2))
    opened(store).append(rows(3))
    return store


def compact(table: ArrowTable) -> None:
    table.optimize().option("min-rowsets", 2).executeCompaction()


STATEMENTS: dict[str, Action] = {
    "append": lambda t: t.append(rows(4)),
    "append with a lease": lambda t: t.append(rows(4), settings=WriteSettings(lease_hours=1)),
    "overwrite": lambda t: t.overwrite(rows(4)),
    "overwrite where": lambda t: t.overwrite(rows(3), "n = 30"),
    "delete": lambda t: t.delete("n >= 30"),
    "delete by another column": lambda t: t.delete("k = 1"),
    "update": lambda t: t.update({"n": 7}, "k = 2"),
    "update of another column": lambda t: t.update({"s": "'new'"}, "n = 20"),
    "upsert by the column": lambda t: t.upsert(rows(3, 9), on="n"),
    "upsert by another column": lambda t: t.upsert(rows(3, 9), on="k"),
    "compact": compact,
    "restore": lambda t: t.restore(epoch=2),
}

EVOLUTIONS: dict[str, tuple[Alteration, ...]] = {
    "widen": (WidenColumn(("n",), "long"),),
    "widen twice": (WidenColumn(("n",), "long"), WidenColumn(("n",), "decimal(25,3)")),
    "rename": (RenameColumn(("n",), "renamed"),),
    "widen and rename": (WidenColumn(("n",), "long"), RenameColumn(("n",), "renamed")),
    "rename a field": (RenameColumn(("p", "a"), "b"),),
    "add": (AddColumn(NEW),),
    "add in front and move": (AddColumn(NEW, first=True), MoveColumn(("s",), first=True)),
    "drop": (DropColumn(("n",)),),
    "drop and add": (DropColumn(("n",)), AddColumn(SchemaField(name="N", type="int"))),
    "give a type": (WidenColumn(("v",), "int"),),
    "drop not null": (DropNotNull(("k",)),),
    "comment": (CommentColumn(("n",), "tens"),),
}


def kinds(*quick: str) -> list[Any]:
    """The evolutions as arguments of a test: the default run has some of them."""
    every = EVOLUTIONS
    return [pytest.param(e, marks=() if e in quick else pytest.mark.long) for e in every]


REFUSED = {
    ("widen and rename", "update"),
    ("widen and rename", "upsert by the column"),
    ("drop", "update"),
    ("drop and add", "append"),
    ("drop and add", "append with a lease"),
    ("drop and add", "overwrite"),
    ("drop and add", "overwrite where"),
}
"""Evolutions, and statements that are refused if they were planned before them.

A restore is refused beside every evolution, because both change the columns.
"""


def evolve(name: str) -> Action:
    return lambda table: table.alter(*EVOLUTIONS[name])


def content(store: MemoryStore) -> Rows:
    found: Rows = opened(store).scan().to_arrow().sort_by("k").to_pylist()
    return found


def serial(made: MemoryStore, *actions: Action) -> Rows | None:
    """The rows after actions one after another, each of a new handle; None if one is refused."""
    store = copied(made)
    try:
        for action in actions:
            action(opened(store))
    except ColonnadeError:
        return None
    return content(store)


def raced(store: MemoryStore, late: Action, first: Action, patched: pytest.MonkeyPatch) -> bool:
    """Do `first` right before the commit of `late`; return whether `late` was committed."""
    commit = Log.commit_change

    def meanwhile(log: Log, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        if change.operation != "lease":
            patched.setattr(Log, "commit_change", commit)
            first(opened(store))
        return commit(log, change, base)

    table = opened(store)
    patched.setattr(Log, "commit_change", meanwhile)
    try:
        late(table)
    except ColonnadeError:
        return False
    return True


@pytest.mark.parametrize(
    "evolution", kinds("widen", "widen and rename", "add", "drop", "drop and add", "give a type")
)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_was_planned_before_its_columns_changed_commits_or_changes_nothing(
    made: MemoryStore, monkeypatch: pytest.MonkeyPatch, statement: str, evolution: str
) -> None:
    store, run, alter = copied(made), STATEMENTS[statement], evolve(evolution)
    committed = raced(store, run, alter, monkeypatch)
    assert committed == (statement != "restore" and (evolution, statement) not in REFUSED)
    if committed:
        assert content(store) in (serial(made, run, alter), serial(made, alter, run))
        assert opened(store).verify(4).is_sound
    else:
        assert content(store) == serial(made, alter)


@pytest.mark.parametrize("statement", ["update of another column", "update", "compact"])
def test_values_of_a_void_column_that_got_a_type_are_in_rows_that_a_late_statement_moves(
    made: MemoryStore, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    def fill(table: ArrowTable) -> None:
        table.alter(*EVOLUTIONS["give a type"])
        table.backfill("v", 7)

    store = copied(made)
    raced(store, STATEMENTS[statement], fill, monkeypatch)
    assert [row["v"] for row in content(store)] == [7, 7, 7]
    assert opened(store).verify(4).is_sound


def test_rows_of_a_type_that_a_void_column_had_do_not_land_under_another_type(
    made: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retype(table: ArrowTable) -> None:
        table.restore(epoch=3)
        table.alter(WidenColumn(("v",), "string"))

    store = copied(made)
    before = opened(store).epoch
    assert before == 3
    opened(store).alter(*EVOLUTIONS["give a type"])
    late = rows(4).set_column(4, "v", pa.array([4], pa.int32()))
    assert not raced(store, lambda t: t.append(late), retype, monkeypatch)
    assert [(row["k"], row["v"]) for row in content(store)] == [(1, None), (2, None), (3, None)]


@pytest.mark.parametrize("evolution", kinds("widen", "drop"))
@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_evolution_commits_after_a_statement_that_came_first(
    made: MemoryStore, monkeypatch: pytest.MonkeyPatch, statement: str, evolution: str
) -> None:
    store, run, alter = copied(made), STATEMENTS[statement], evolve(evolution)
    committed = raced(store, alter, run, monkeypatch)
    assert committed == (statement != "restore")
    assert content(store) == serial(made, *((run, alter) if committed else (run,)))


def test_appends_of_many_threads_all_land_while_columns_widen_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "t"
    colonnade.create(path, pa.schema({"k": pa.int64(), "n": pa.int8()}))
    writers, each = 4, 12
    failed: list[Exception] = []
    start = threading.Barrier(writers + 1)

    def write(writer: int) -> None:
        table = ArrowTable.open(path)
        start.wait()
        try:
            for number in range(each):
                key = writer * each + number
                table.append(pa.table({"k": [key], "n": pa.array([key], pa.int8())}))
        except Exception as error:
            failed.append(error)

    def alter() -> None:
        table = ArrowTable.open(path)
        start.wait()
        for kind in ("short", "int", "long"):
            # A name that comes back means another column, for which rows may not be meant.
            new = SchemaField(name=f"x_{kind}", type="int")
            for change in (AddColumn(new), WidenColumn(("n",), kind), DropColumn((new.name,))):
                table.refresh()
                table.alter(change)

    threads = [threading.Thread(target=write, args=(each,)) for each in range(writers)]
    threads.append(threading.Thread(target=alter))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    found = ArrowTable.open(path).scan().to_arrow().sort_by("k")
    assert found.schema.field("n").type == pa.int64()
    assert found["k"].to_pylist() == found["n"].to_pylist() == list(range(writers * each))
