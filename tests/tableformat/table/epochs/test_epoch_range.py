"""Conditions on the columns of a feed choose the epochs that are read, as bounds do."""

from __future__ import annotations

from pathlib import Path

import pytest

import colonnade
from colonnade import ArrowTable, InvalidInputError, NotFoundError


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    """Epoch 1 creates the table, and epochs 2 to 7 append a row each, which has their number."""
    found = colonnade.create(tmp_path / "t", {"k": "long"})
    for epoch in range(2, 8):
        found.append([{"k": epoch}])
        assert found.epoch == epoch
    return found


def keys(table: ArrowTable, where: str, **how: object) -> list[int]:
    return [row["k"] for row in table.changes(where=where, **how)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "epochs"),
    [
        ("_commit_version >= 0", range(2, 8)),
        ("_commit_version > 4", range(5, 8)),
        ("_commit_version BETWEEN 3 AND 5", range(3, 6)),
        ("_commit_version = 6", [6]),
        ("_commit_version IN (3, 6)", [3, 6]),
        ("_commit_version >= 3 AND k < 5", [3, 4]),
        ("_commit_version >= 3 AND _change_type = 'delete'", []),
        ("_commit_version > 100", []),
        ("_commit_version = 3 OR _commit_version > 5", [3, 6, 7]),
    ],
)
def test_a_condition_on_the_version_is_the_range(
    table: ArrowTable, where: str, epochs: list[int]
) -> None:
    assert keys(table, where) == list(epochs)


def test_net_changes_are_those_from_the_first_to_the_last_version_of_a_condition(
    table: ArrowTable,
) -> None:
    assert keys(table, "_commit_version > 4", net=True) == [5, 6, 7]
    assert keys(table, "_commit_version IN (3, 6)", net=True) == [3, 4, 5, 6]


@pytest.mark.slow
def test_a_condition_on_the_time_is_the_range(table: ArrowTable) -> None:
    times = {each.epoch: each.timestamp for each in table.history()}
    for epoch in range(2, 8):
        text = times[epoch].isoformat(timespec="milliseconds")
        assert keys(table, f"_commit_timestamp >= timestamp '{text}'") == list(range(epoch, 8))
        assert keys(table, f"_commit_timestamp > timestamp '{text}'") == list(range(epoch + 1, 8))
        both = f"_commit_version >= 0 AND _commit_timestamp <= timestamp '{text}'"
        assert keys(table, both) == list(range(2, epoch + 1))


def test_epochs_that_a_condition_rules_out_are_not_read(
    table: ArrowTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = table.changes(2, where="_commit_version IN (4, 5)")
    assert (changes.start, changes.end) == (4, 5)


def test_a_condition_does_not_move_the_end_of_net_changes(table: ArrowTable) -> None:
    assert keys(table, "_commit_version <= 5", start=2, net=True) == []
    assert keys(table, "_commit_version >= 5", start=2, net=True) == list(range(2, 8))


def test_a_condition_without_a_first_epoch_needs_a_start(table: ArrowTable) -> None:
    for where in ("_commit_version < 5", "k = 3", "k = 3 OR _commit_version > 4"):
        with pytest.raises(InvalidInputError, match="need a start.*_commit_version >= 0"):
            table.changes(where=where)
    assert keys(table, "_commit_version < 5", start=3) == [3, 4]


def test_a_condition_that_asks_for_removed_epochs_is_refused_with_the_oldest(
    table: ArrowTable,
) -> None:
    table.vacuum(retention_hours=0, force=True)
    floor = table.changes(where=f"_commit_version >= {table.epoch}").start
    with pytest.raises(NotFoundError, match="in epoch 1 were removed by retention; those of epoch"):
        keys(table, "_commit_version >= 0")
    assert floor <= table.epoch
