"""Erased rows are in no file and no readable state, or the report says what keeps them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import AlterProperties
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import open_store
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.epochs.erase import erase

MARK = "ann-7c1e9f"
"""A text that no compression divides."""


def people(*names: str) -> pa.Table:
    return pa.table({"id": range(len(names)), "name": names})


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    """Rows of Ann: one live, one deleted, one in a column that was replaced, one in old files."""
    table = colonnade.create(tmp_path / "users", people("x").schema)
    table.append(people(MARK, "bob", MARK))
    table.append(people("cid", "dan"))
    table.delete(f"id = 2 AND name = '{MARK}'")
    table.append(people(MARK))
    table.update({"name": f"'{MARK}'"}, "name = 'dan'")
    table.update({"name": "'dan'"}, "id = 1 AND name <> 'bob'")
    table.optimize().option("min-rowsets", 2).executeCompaction()
    return table


def mentions(folder: Path) -> list[str]:
    """Return the files whose bytes contain the mark; the log has small RowSets as base64."""
    colonnade_files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in colonnade_files if MARK.encode() in path.read_bytes()]


def test_erased_rows_are_in_no_readable_state_and_no_file(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    assert mentions(tmp_path)
    report = erase(table, f"name = '{MARK}'")
    assert report.held_by == ()
    assert "None of the" in str(report)
    assert report.rows_deleted == 2
    assert report.files_removed + report.epochs_removed > 0
    assert sorted(table.scan().to_arrow()["name"].to_pylist()) == ["bob", "cid", "dan"]
    assert mentions(tmp_path) == []
    assert table.verify(depth=4).is_sound
    again = erase(table, f"name = '{MARK}'")
    assert (again.rows_deleted, again.held_by) == (0, ())


def test_rows_that_have_expired_are_erased_before_their_grace_is_over(tmp_path: Path) -> None:
    lives = {"ttl": "1 day", "ttl.column": "at", "ttl.name": "1 hour", "ttl.grace": "30 days"}
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("at", pa.date32())])
    table = colonnade.create(tmp_path / "users", schema, properties=lives)
    old = datetime.now(timezone.utc).date() - timedelta(days=3)
    times = pa.array([old, old, None], pa.date32())
    table.append(people(MARK, "bob", MARK).append_column("at", times))
    assert table.scan().to_arrow().num_rows == 1
    report = erase(table, f"name = '{MARK}'")
    assert (report.rows_deleted, report.held_by) == (2, ())
    assert mentions(tmp_path) == []
    table.alter(AlterProperties(remove=tuple(lives)))
    assert table.scan().to_arrow()["name"].to_pylist() == ["bob"]


def test_everything_that_keeps_erased_rows_is_named_with_what_to_do(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    database = colonnade.open_database(tmp_path / "users")
    database.tag("audit", table.epoch)
    report = erase(table, f"name = '{MARK}'")
    assert len(report.held_by) == 1
    assert "Tag 'audit' keeps epoch" in str(report)
    assert mentions(tmp_path)
    database.untag("audit")
    assert erase(table, f"name = '{MARK}'").held_by == ()
    assert mentions(tmp_path) == []


def test_a_pin_holds_rows_only_where_they_are(table: colonnade.ArrowTable, tmp_path: Path) -> None:
    database = colonnade.open_database(tmp_path / "users")
    database.pin("reader", 3600, table.epoch)
    report = erase(table, f"name = '{MARK}'")
    assert len(report.held_by) == 1
    assert "pin 'reader' keeps" in str(report)
    assert erase(table, "name = 'nobody'").held_by == ()
    database.unpin("reader")
    assert erase(table, f"name = '{MARK}'").held_by == ()


def test_removed_epochs_that_a_pin_keeps_from_being_deleted_are_named(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    table.delete(f"name = '{MARK}'")
    table.optimize().option("deleted-share", 0).executeCompaction()
    database = colonnade.open_database(tmp_path / "users")
    database.pin("reader", 3600, table.epoch)
    report = erase(table, f"name = '{MARK}'")
    assert mentions(tmp_path)
    [held] = report.held_by
    assert "files of removed epochs" in held
    database.unpin("reader")
    assert erase(table, f"name = '{MARK}'").held_by == ()
    assert mentions(tmp_path) == []


@pytest.mark.parametrize("deleted", ["delete", "delete_range", "update"])
@pytest.mark.parametrize("pinned", ["before", "after"])
def test_a_value_that_only_a_condition_or_a_range_of_an_earlier_statement_names_is_held(
    tmp_path: Path, deleted: str, pinned: str
) -> None:
    name = pa.field("name", pa.string(), nullable=False)
    schema = pa.schema([("id", pa.int64()), name])
    table = colonnade.create(tmp_path / "users", schema, sort_key=["name"])
    table.append(people("bob", "zoe").cast(schema))
    database = colonnade.open_database(tmp_path / "users")
    if pinned == "before":
        database.pin("reader", 3600, table.epoch)
    if deleted == "update":
        table.update({"id": "7"}, f"name = '{MARK}' OR name = 'bob'")
    else:
        getattr(table, deleted)(f"name = '{MARK}' OR name = 'bob'")
    table.append(people("cid").cast(schema))
    if pinned == "after":
        database.pin("reader", 3600, table.epoch)
    report = erase(table, f"name = '{MARK}'")
    assert mentions(tmp_path)
    assert len(report.held_by) == 1, report
    assert ("pin 'reader' keeps" if pinned == "before" else "removed epochs") in str(report)
    assert erase(table, "name = 'zz'").held_by == ()
    database.unpin("reader")
    assert erase(table, f"name = '{MARK}'").held_by == ()
    assert mentions(tmp_path) == []


def test_a_dry_run_tells_of_files_of_removed_epochs(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    table.delete(f"name = '{MARK}'")
    table.optimize().option("deleted-share", 0).executeCompaction()
    table.append(people("later"))
    table.vacuum(0, retain_epochs=1, force=True)
    assert mentions(tmp_path)
    [said] = erase(table, f"name = '{MARK}'", dry_run=True).held_by
    assert "files of removed epochs" in said
    assert "behind epoch 63" in said
    erase(table, f"name = '{MARK}'")
    assert erase(table, f"name = '{MARK}'", dry_run=True).held_by == ()
    assert mentions(tmp_path) == []


def test_an_erasure_fills_a_block_once(table: colonnade.ArrowTable, tmp_path: Path) -> None:
    before = table.epoch
    report = erase(table, f"name = '{MARK}'")
    after = table.refresh().epoch
    assert before < 64 <= after < 64 + 8
    assert report.epochs_removed < 20
    slots = [path.name for path in (tmp_path / "users" / "_manifest").glob("0*.json")]
    assert len(slots) <= 1 + after - 63
    for _ in range(3):
        assert erase(table, f"name = '{MARK}'").held_by == ()
    assert table.refresh().epoch == after
    table.append(people(MARK))
    assert erase(table, f"name = '{MARK}'").held_by == ()
    assert mentions(tmp_path) == []
    assert 128 <= table.refresh().epoch < 128 + 8


@pytest.mark.parametrize("lost", [True, False])
def test_a_removed_epoch_that_is_lost_or_damaged_keeps_no_row_from_being_erased(
    lost: bool, table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    table.vacuum(0, retain_epochs=1, force=True)
    harmed = tmp_path / "users" / epoch_name(3)
    if lost:
        harmed.unlink()
    else:
        harmed.write_bytes(harmed.read_bytes()[:-20] + b"damaged")
    assert table.verify(depth=4).is_sound
    assert erase(table, f"name = '{MARK}'").held_by == ()
    assert mentions(tmp_path) == []
    assert not harmed.exists()


def test_the_retention_of_other_tables_holds_rows_until_told_otherwise(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("users", people("x").schema)
    database.create_table("others", people("x").schema).append(people("y"))
    table.append(people(MARK, "bob"))
    report = erase(table, f"name = '{MARK}'")
    assert "The retention of table 'others'" in str(report)
    assert mentions(tmp_path)
    assert erase(table, f"name = '{MARK}'", all_tables=True).held_by == ()
    assert mentions(tmp_path) == []
    assert database.table("others").scan().to_arrow().num_rows == 1


def test_a_condition_that_does_not_fit_changes_nothing(table: colonnade.ArrowTable) -> None:
    epoch = table.epoch
    with pytest.raises(colonnade.InvalidInputError, match="nothing"):
        erase(table, "nothing = 1")
    assert table.refresh().epoch == epoch


@pytest.mark.slow
@pytest.mark.parametrize("kept_by", [None, "tag", "pin"])
def test_no_entry_of_an_erased_rowset_stays_in_a_segment_that_others_share(
    kept_by: str | None, tmp_path: Path
) -> None:
    """A checkpoint keeps a large segment although few of its RowSets were dropped."""
    store = open_store(tmp_path / "db", create=True)
    log = Log(store, limits=replace(LIMITS, segment_rowsets=16), checkpoint_interval=2**40)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = database.create_table("users", people("x").schema)
    for number in range(24):
        table.append(people(f"{number} and others", *([MARK] if number == 3 else [])))
    database.vacuum(
        0, retain_epochs=1, force=True
    )  # from here on, an anchor has the entries in segments
    table.delete(f"name = '{MARK}'")
    compacted = table.optimize(f"name = '{MARK}'").option("deleted-share", 0).executeCompaction()
    assert compacted.rowsets_removed
    database.vacuum(0, retain_epochs=1, force=True)
    head = table._refresh()
    if kept_by == "tag":
        database.tag("kept", head.floor)
    elif kept_by == "pin":
        database.pin("kept", 3600, head.floor)
    table.append(people("later"))
    assert mentions(tmp_path), "nothing is left to erase"
    report = erase(table, f"name = '{MARK}'")
    if kept_by == "pin":
        assert "pin 'kept'" in str(report)
        database.unpin("kept")
        report = erase(table, f"name = '{MARK}'")
    assert report.held_by == ()
    assert mentions(tmp_path) == []
    assert database.verify(depth=4).is_sound
    assert table.scan().to_arrow().num_rows == 25
    if kept_by == "tag":
        assert (
            database.table("users", epoch=head.floor).scan(epoch=head.floor).to_arrow().num_rows
            == 24
        )
    again = erase(table, f"name = '{MARK}'")
    assert (again.rows_deleted, again.held_by) == (0, ())
