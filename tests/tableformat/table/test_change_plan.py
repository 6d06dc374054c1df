"""The plan of changes says which epochs are read, whose columns are shown, and what each is."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from colonnade import AddColumn, ArrowTable
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.change_plan import ChangeQuery, plan_changes, stated_changes


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    found = colonnade.create(tmp_path / "t", {"k": "long"}, primary_key=["k"])
    found.append([{"k": 1}, {"k": 2}])
    found.alter(AddColumn(SchemaField(name="v", type="int")))
    found.upsert([{"k": 1, "v": 5}])
    return found


def test_columns_are_those_of_the_end_of_the_range_or_of_the_schema_epoch(
    table: ArrowTable,
) -> None:
    log, head = table._log, table._log.reader.read_head()
    for asked, names, epoch in (
        (ChangeQuery(0), ("k", "v"), 4),
        (ChangeQuery(0, 2), ("k",), 2),
        (ChangeQuery(None, 2), ("k",), 2),
        (ChangeQuery(0, 2, schema_epoch=3), ("k", "v"), 3),
    ):
        stated = stated_changes(log, head, table._state, asked)
        assert (stated.shown.schema.names, stated.shown_epoch) == (names, epoch)


def test_without_updates_an_update_is_a_deleted_and_an_inserted_row(table: ArrowTable) -> None:
    log, head = table._log, table._log.reader.read_head()
    for updates, kinds in ((True, "update_preimage update_postimage"), (False, "delete insert")):
        plan = plan_changes(log, head, table._state, ChangeQuery(4, updates=updates))
        rows = [
            row
            for found in plan.differences()
            for batch in plan.feed.rows(found)
            for row in batch.to_pylist()
        ]
        assert [(row["_change_type"], row["v"]) for row in rows] == list(
            zip(kinds.split(), (None, 5), strict=True)
        )
