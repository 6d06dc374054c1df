"""An alteration beside other statements: both are right, or one of them is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidInputError,
)
from colonnade.manifests.model.schema import (
    SchemaField,
    TableSchema,
)
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import (
    Alteration,
    AlterProperties,
    CommentTable,
    DropColumn,
    DropNotNull,
    MoveColumn,
    RenameColumn,
)
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.epochs.restore import restore_database
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.tableformat.table.alteration.points import SCHEMA, added, read, rows

ALTERATIONS: dict[str, Callable[[], Alteration]] = {
    "add": lambda: added("n"),
    "drop": lambda: DropColumn(("name",)),
    "rename": lambda: RenameColumn(("name",), "label"),
    "drop not null": lambda: DropNotNull(("id",)),
    "move": lambda: MoveColumn(("point",), first=True),
    "property a": lambda: AlterProperties({"a": "2"}),
    "property b": lambda: AlterProperties({"b": "2"}),
    "unset a": lambda: AlterProperties({}, ("a",)),
    "comment": lambda: CommentTable("new"),
}
SCHEMA_CHANGES = {"add", "drop", "rename", "drop not null", "move"}
SAME = [SCHEMA_CHANGES, {"property a", "unset a"}, {"property b"}, {"comment"}]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
@pytest.mark.parametrize("case", ALTERATIONS)
def test_rows_planned_before_an_alteration_are_right_after_it(
    table: ArrowTable, case: str, mode: str
) -> None:
    slow = ArrowTable.open(table.path)
    table.alter(ALTERATIONS[case]())
    getattr(slow, mode)(rows(3))
    expected = [1, 2, 3] if mode == "append" else [3]
    found = slow.scan().to_arrow()
    assert found["id"].to_pylist() == expected
    assert found.schema == ArrowTable.open(table.path).schema
    if case == "rename":
        assert found["label"].to_pylist() == [f"n{i}" for i in expected]
    if case == "add":
        assert found["n"].null_count == len(expected)


@pytest.mark.parametrize("mine", ALTERATIONS)
@pytest.mark.parametrize("theirs", ALTERATIONS)
def test_two_alterations_of_the_same_thing_conflict(
    table: ArrowTable, mine: str, theirs: str
) -> None:
    slow = ArrowTable.open(table.path)
    table.alter(ALTERATIONS[theirs]())
    if any({mine, theirs} <= group for group in SAME):
        with pytest.raises(ConflictError, match="was changed by epoch 3"):
            slow.alter(ALTERATIONS[mine]())
    else:
        slow.alter(ALTERATIONS[mine]())


def test_an_alteration_meets_a_drop_and_an_append(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    slow = ArrowTable.open(table.path)
    table.append(rows(1))
    slow.alter(added("n"))
    assert read(slow)[0]["n"] is None
    database.drop_table("t")
    with pytest.raises(ConflictError, match="was dropped"):
        slow.alter(added("m"))


def test_a_table_keeps_its_rows_and_history_under_a_new_name(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(rows(1))
    epoch = database.rename_table("t", "u")
    assert database.tables() == ["u"]
    renamed = database.table("u")
    assert read(renamed) == read(renamed, epoch=epoch - 1)
    assert [e.operation for e in renamed.history()] == ["rename_table", "append", "create_table"]
    database.create_table("t", SCHEMA)
    with pytest.raises(AlreadyExistsError, match="'t' exists already"):
        database.rename_table("u", "t")
    with pytest.raises(InvalidInputError, match="'u' has this name already"):
        database.rename_table("u", "u")
    for wrong in ("", "a/b", "_x", ".."):
        with pytest.raises(InvalidInputError, match="Table name"):
            database.rename_table("u", wrong)


def test_a_lone_table_is_named_by_its_folder(table: ArrowTable) -> None:
    with pytest.raises(InvalidInputError, match="move the folder"):
        colonnade.open_database(table.path).rename_table("trips", "x")


def test_a_table_is_replaced_in_one_epoch_and_the_old_one_stays_readable(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", SCHEMA).append(rows(1, 2))
    base = database._refresh()
    location = Location(locate_existing(tmp_path / "db").store, "t", exists=True)
    design = new_table("t", TableSchema(fields=(SchemaField(name="k", type="int"),)))
    job = plan_write(location, base, "append", create=design, replace=True)
    entries = write_rows(job, pa.table({"k": [7]}, pa.schema([("k", pa.int32())])).to_batches())
    assert commit_written(job, entries).epoch == base.epoch + 1
    assert commit_written(job, entries).epoch == base.epoch + 1
    table = database.table("t")
    assert read(table) == [{"k": 7}]
    assert len(read(table, epoch=base.epoch)) == 2
    did = [e.operation for e in table.history()]
    assert did == ["replace_table_as_select", "append", "create_table"]


def test_replacing_a_table_loses_no_rows_that_came_meanwhile(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    location = Location(locate_existing(tmp_path / "db").store, "t", exists=True)
    design = new_table("t", TableSchema(fields=(SchemaField(name="k", type="int"),)))
    job = plan_write(location, database._refresh(), "append", create=design, replace=True)
    table.append(rows(1))
    with pytest.raises(ConflictError, match="'t' was changed by epoch 2"):
        commit_written(job, ())
    assert len(read(database.table("t"))) == 1


@pytest.mark.parametrize("way", ["job", "transaction", "restore"])
def test_a_table_is_replaced_beside_a_compaction(way: str, tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(rows(1))
    table.append(rows(2))
    if way == "restore":
        first = database.refresh().epoch
        database.drop_table("t")
        table = database.create_table("t", SCHEMA)
        table.append(rows(1))
        table.append(rows(2))
    base, transaction = database._refresh(), database.transaction()
    report = table.optimize().option("min-rowsets", 2).executeCompaction()
    assert report.epoch == base.epoch + 1
    if way == "job":
        location = Location(locate_existing(tmp_path / "db").store, "t", exists=True)
        design = new_table("t", TableSchema(fields=(SchemaField(name="k", type="int"),)))
        job = plan_write(location, base, "append", create=design, replace=True)
        commit_written(job, ())
    elif way == "transaction":
        transaction.drop("t")
        transaction.create("t", SCHEMA)
        transaction.commit()
    else:
        then = database._log.reader.read_at(first)
        restore_database(database._log, base, then, None)
    assert len(read(database.table("t"))) == (2 if way == "restore" else 0)
    assert table.refresh().epoch == base.epoch + 2
