"""The planner describes changes, chooses their range by options and filters, and plans tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade import ArrowTable, InvalidInputError, NotFoundError
from colonnade.spark_ext.planner.messages.clauses import Tree
from colonnade.spark_ext.planner.messages.feed import LoadChanges, LoadedChanges, ScanChanges
from colonnade.spark_ext.planner.read.feed import load_changes, scan_changes


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    """Epoch 2 inserts ten rows, 3 updates three of them, and 4 deletes one."""
    found = colonnade.create(tmp_path / "t", {"id": "long", "v": "int"}, primary_key=["id"])
    found.append([{"id": i, "v": i} for i in range(10)])
    found.update({"v": "7"}, "id < 3")
    found.delete("id = 5")
    return found


def loaded(table: ArrowTable, **options: str) -> LoadedChanges:
    return load_changes.run(LoadChanges(path=table.path, options=options))


def parts(changes: LoadedChanges, *filters: Tree, columns: tuple[str, ...] = ("id",)) -> list[Any]:
    planned = scan_changes.run(
        ScanChanges(
            view=changes.view,
            changes=changes.changes,
            columns=columns,
            filters=filters,
            parallelism=2,
        )
    )
    return [part for task in planned.tasks for part in json.loads(task)["parts"]]


def told(part: dict[str, Any]) -> list[tuple[str, int]]:
    found = [part[name]["change"] for name in ("rows", "before", "after") if name in part]
    return [(each["type"], each["version"]) for each in found]


def condition(operator: str, column: str, kind: str, value: str) -> Tree:
    return Tree(op=operator, args=(Tree(column=(column,)), Tree(type=kind, value=value)))


def test_the_options_of_delta_and_spark_choose_the_range(table: ArrowTable) -> None:
    all_changes = [
        ("insert", 2),
        ("update_preimage", 3),
        ("update_postimage", 3),
        ("delete", 4),
    ]
    for options, versions in (
        ({"startingVersion": "0"}, (2, 3, 4)),
        ({"startingVersion": "2", "endingVersion": "3"}, (2, 3)),
        ({"startingVersion": "2", "startingBoundInclusive": "false"}, (3, 4)),
        ({"startingTimestamp": "2020-01-01", "endingVersion": "2"}, (2,)),
    ):
        found = [each for part in parts(loaded(table, **options)) for each in told(part)]
        assert found == [each for each in all_changes if each[1] in versions]


def test_a_version_is_an_epoch_or_any_tag(table: ArrowTable, tmp_path: Path) -> None:
    for tag in ("release", "@7", "2026-01-31"):
        colonnade.open_database(tmp_path / "t").tag(tag, 3)
        assert loaded(table, startingVersion=tag).changes.start == "3"
        assert loaded(table, startingVersion="0", endingVersion=tag).changes.end == "3"


def test_filters_on_the_columns_of_the_feed_choose_the_range_of_a_read_without_options(
    table: ArrowTable,
) -> None:
    changes = loaded(table)
    later = condition(">=", "_commit_version", "bigint", "3")
    assert [told(part)[0][1] for part in parts(changes, later)] == [3, 4]
    deleted = condition("=", "_change_type", "string", "delete")
    assert [told(part) for part in parts(changes, later, deleted)] == [[("delete", 4)]]
    with pytest.raises(InvalidInputError, match="need a start"):
        parts(changes, deleted)


def test_a_read_without_updates_shows_them_as_deleted_and_inserted_rows(table: ArrowTable) -> None:
    changes = loaded(table, startingVersion="3", computeUpdates="false")
    assert told(parts(changes)[0]) == [("delete", 3), ("insert", 3)]


def test_net_changes_are_those_of_the_whole_range(table: ArrowTable) -> None:
    changes = loaded(table, startingVersion="0", deduplicationMode="netChanges")
    found = parts(changes)
    assert {each for part in found for each in told(part)} == {("insert", 4)}


def test_updated_rows_are_read_with_the_columns_that_are_compared(table: ArrowTable) -> None:
    (part,) = parts(loaded(table, startingVersion="3", endingVersion="3"))
    assert part["compared"] == ["id", "v"]
    assert part["before"]["plan"]["projection"] == ["id", "v"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"startingVersion": "99"}, "Epoch 99 of table 't' does not exist yet"),
        ({"startingVersion": "3", "endingVersion": "2"}, "have no epoch"),
        ({"startingVersion": "1", "startingTimestamp": "2020-01-01"}, "exclude each other"),
        ({"startingVersion": "1", "deduplicationMode": "all"}, "deduplicationMode must be none"),
        ({"startingVersion": "1", "computeUpdates": "yes"}, "computeUpdates must be true or false"),
        ({"startingVersion": "1", "also": "all"}, "also takes the words"),
        ({"startingVersion": "no-tag"}, "no-tag"),
        ({"startingVersion": "2026-01-31"}, "2026-01-31"),
        ({"startingVersion": "@7"}, "@7"),
        ({"versionAsOf": "1"}, "versionAsOf is not for reading changes"),
        ({"readChangeFeed": "false"}, "readChangeFeed must be true"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(
    table: ArrowTable, options: dict[str, str], error: str
) -> None:
    with pytest.raises((InvalidInputError, NotFoundError), match=error) as refusal:
        parts(loaded(table, **options))
    assert str(refusal.value).count(". ") <= 1
