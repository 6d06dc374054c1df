"""What removes history for good is asked for twice, and can be looked at before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.store import LocalStore
from colonnade.spark_ext.planner.procedures.by_name import call_procedure, list_procedures
from colonnade.tableformat.table.epochs.erase import erase
from tests.cli.runner import run_command


def shop(folder: Path) -> colonnade.ArrowTable:
    db = colonnade.create_database(folder / "shop")
    table = db.create_table("t", pa.schema({"a": pa.int64()}))
    for number in range(4):
        table.append(pa.table({"a": [number]}))
    table.delete("a = 0")
    return table


def by_procedure(table: colonnade.ArrowTable, **given: Any) -> Any:
    described = list_procedures({})["procedures"]["vacuum"]["parameters"]
    arguments = {each["name"]: None for each in described} | {"table": table.path, **given}
    return call_procedure({"name": "vacuum", "arguments": arguments})


WAYS: dict[str, Any] = {
    "table": lambda table, **given: table.vacuum(**given),
    "database": lambda table, **given: colonnade.open_database(Path(table.path).parent).vacuum(
        **given
    ),
    "procedure": by_procedure,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hours", [0.0, 24.0, 167.9])
def test_a_vacuum_that_keeps_less_than_a_week_needs_force_or_is_a_dry_run(
    tmp_path: Path, way: str, hours: float
) -> None:
    table = shop(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(colonnade.InvalidInputError, match="of the last 168 hours for good"):
        WAYS[way](table, retention_hours=hours)
    WAYS[way](table, retention_hours=hours, dry_run=True)
    assert contents(tmp_path) == before
    WAYS[way](table, retention_hours=hours, force=True)
    WAYS[way](table, retention_hours=168.0)
    WAYS[way](table)


@pytest.mark.parametrize("way", ["table", "database"])
@pytest.mark.parametrize(
    "given",
    [
        {"retention_hours": "0"},
        {"retention_hours": True, "force": True},
        {"retention_hours": 0, "force": "no"},
        {"retention_hours": 0, "force": 1},
        {"retention_hours": 0, "dry_run": "no"},
    ],
)
def test_a_vacuum_takes_no_text_for_a_number_or_a_truth(
    tmp_path: Path, way: str, given: dict[str, Any]
) -> None:
    table = shop(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(colonnade.InvalidInputError, match="a number of hours|True or False"):
        WAYS[way](table, **given)
    assert contents(tmp_path) == before


def test_a_dry_run_of_an_erasure_says_what_it_would_do_and_changes_nothing(tmp_path: Path) -> None:
    table = shop(tmp_path)
    colonnade.open_database(tmp_path / "shop").tag("kept")
    before = contents(tmp_path)
    planned = erase(table, "a = 1", dry_run=True)
    assert (planned.rows_deleted, planned.rowsets_rewritten, planned.dry_run) == (1, 1, True)
    assert planned.held_by == ("Tag 'kept' keeps epoch 6; remove the tag, and erase again.",)
    assert str(planned).startswith("Would delete 1 rows, rewrite 1 RowSets, remove ")
    ran = run_command("erase", tmp_path / "shop" / "t", "--where", "a = 1", "--dry-run")
    assert (ran.code, ran.out.startswith("Would delete 1 rows")) == (0, True)
    assert contents(tmp_path) == before
    assert table.refresh().epoch == 7
    colonnade.open_database(tmp_path / "shop").untag("kept")
    assert erase(table, "a = 1").rows_deleted == 1


def test_a_dry_run_of_an_erasure_counts_every_rowset_with_such_a_row(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema({"a": pa.int64()}))
    for _ in range(3):
        table.append(pa.table({"a": [1, 2]}))
    table.append(pa.table({"a": [2, 3]}))
    planned, done = erase(table, "a = 1", dry_run=True), erase(table, "a = 1")
    assert (planned.rows_deleted, planned.rowsets_rewritten) == (3, 3)
    assert (done.rows_deleted, done.rowsets_rewritten) == (3, 3)


def contents(folder: Path) -> set[tuple[str, int]]:
    return {(info.name, info.size) for info in LocalStore(folder / "shop").list("")}
