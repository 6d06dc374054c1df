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
    AddConstraint,
    Alteration,
    CommentColumn,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetPrimaryKey,
    SetSortKey,
    WidenColumn,
)
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.input.column_types import as_table_schema
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
LISTED = (NEW, SchemaField(name="k", type="long"), SchemaField(name="n", type="int"))


def rows(*numbers: int) -> pa.Table:
    listed = [{"k": n, "n": 10 * n, "s": f"s{n}", "p": {"a": n}} for n in numbers]
    return pa.Table.from_pylist(listed, SCHEMA)


def opened(store: MemoryStore) -> ArrowTable:
    log = Log(store, limits=LIMITS, pause=lambda seconds: None)
    return ArrowTable(Location(store, "t", exists=True), log, log.reader.read_head())


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
    design = new_table("t", as_table_schema(SCHEMA))
    commit_written(plan_write(location, base, "append", create=design), (), Log(store), base)
    opened(store).append(rows(1, 2))
    opened(store).append(rows(3))
    return store


def compact(table: ArrowTable) -> None:
    table.optimize().option("min-rowsets", 2).executeCompaction()


def transact(table: ArrowTable) -> None:
    """An append, a delete and an update in one epoch."""
    with ArrowDatabase(
        table._log.store, table._log, table._log.reader.read_head()
    ).transaction() as changes:
        in_it = changes.table("t")
        in_it.append(rows(4))
        in_it.delete("k = 1")
        in_it.update({"s": "'new'"}, "k = 2")


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
    "backfill": lambda t: t.backfill("n", 7, "k >= 2"),
    "backfill of another column": lambda t: t.backfill("s", "'new'", "n >= 20"),
    "a computed column": lambda t: t.add_column("y", "int", lambda b: b.column(0), columns=["n"]),
    "append of a new column": lambda t: t.append(
        rows(4).append_column("z", pa.array([4])), evolve=True
    ),
    "transaction": transact,
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
    "set not null": (SetNotNull(("n",)),),
    "comment": (CommentColumn(("n",), "tens"),),
    "add with a default": (AddColumn(NEW, default=5),),
    "add as NOT NULL": (AddColumn(SchemaField(name="x", type="int", nullable=False), default=5),),
    "set a default": (SetDefault(("n",), 5),),
    "add a field": (AddColumn(NEW, parent="p"),),
    "drop a field": (DropColumn(("p", "a")),),
    "widen a field": (WidenColumn(("p", "a"), "long"),),
    "list the columns": (ReplaceColumns(LISTED),),
    "constrain": (AddConstraint("few", "n < 1000"),),
    "sort": (SetSortKey(("n desc",)),),
    "partition": (SetPartitioning(("bucket(2, n)",)),),
    "give a key": (SetPrimaryKey("k"),),
}


def kinds(*quick: str) -> list[Any]:
    """The evolutions as arguments of a test: the default run has some of them."""
    every = EVOLUTIONS
    return [pytest.param(e, marks=() if e in quick else pytest.mark.long) for e in every]


ROWS = ("append", "append with a lease", "overwrite", "overwrite where", "transaction")
"""Statements whose rows exist before the commit."""

SETS = ("backfill", "backfill of another column", "a computed column")
ALTERING = ("restore", "a computed column", "append of a new column")
"""Statements that change the columns themselves. An evolution is refused after them."""

LOOKING = ("set not null", "constrain", "give a key")
"""Evolutions that look at rows. They look again after a conflict, and commit if the columns are
still the same, as they are after this restore."""

LATE: dict[str, tuple[str, ...]] = {
    "widen": ("a computed column",),
    "widen twice": ("a computed column",),
    "rename": SETS,
    "widen and rename": ("upsert by the column", *SETS),
    "rename a field": ("append of a new column",),
    "drop": ("update", *SETS),
    "drop and add": ROWS,
    "set not null": ROWS,
    "add a field": ("append of a new column",),
    "list the columns": ("update of another column", "backfill of another column", "transaction"),
    "constrain": ROWS,
    "sort": ("backfill",),
    "partition": ("backfill",),
    "give a key": ROWS,
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
    assert committed == (statement not in ("restore", *LATE.get(evolution, ())))
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
    looked_again = statement == "restore" and evolution in LOOKING
    assert committed == (statement not in ALTERING or looked_again)
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
