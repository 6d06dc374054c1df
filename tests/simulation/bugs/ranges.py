"""Mistakes that bring back rows of a deleted range, or delete rows that were added later."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from colonnade.manifests.commit.rebase import carried
from colonnade.manifests.commit.rebase.compaction import OwnCompaction
from colonnade.manifests.model.operations import CompactionOutput
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.compaction import clean
from colonnade.tableformat.statements.ranges import evaluate_clean
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.table.epochs import restore
from tests.simulation.actors.compactor import MANY, Compactor
from tests.simulation.actors.keeper import Keeper
from tests.simulation.actors.ranger import Cleaner, Ranger
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, overlooks

APPENDING = Writer(4, mix=(6, 1, 0, 0, 0, 0))
UPDATING = Writer(8, mix=(3, 0, 8, 2, 0, 0))


def _undated(own: OwnCompaction, output: CompactionOutput) -> CompactionOutput:
    """An output that counts as written in its slot."""
    return output


def _met_nothing(rowset: LiveRowSet) -> int:
    return 0


def _naming_nothing(log: Any, table: TableState, only: Any = None) -> Statement | None:
    """A statement that forgets tombstones and names no row."""
    statement = evaluate_clean(log, table, only)
    return statement and replace(statement, rows=())


def _restored_whole(*_: Any) -> None:
    """No rows of a restored RowSet are hidden."""


def _plant(owner: Any, name: str, mistake: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch.object(owner, name, mistake)


BUGS: tuple[Bug, ...] = (
    Bug(
        "a compaction brings back the rows of a range that was deleted meanwhile",
        _plant(OwnCompaction, "dated", _undated),
        actors=(APPENDING, Ranger(4), Reader(2), Compactor(4, most=MANY)),
        ranged=True,
    ),
    Bug(
        "a range takes the rows that come after its deletion",
        _plant(LiveRowSet, "clean_epoch", property(_met_nothing)),
        actors=(APPENDING, Ranger(4), Reader(2)),
        ranged=True,
    ),
    Bug(
        "an update lands beside a deletion of its range",
        overlooks(carried, "check_tombstones"),
        actors=(UPDATING, Ranger(4), Reader(2)),
        ranged=True,
    ),
    Bug(
        "a deleted range is forgotten before its rows are named",
        _plant(clean, "evaluate_clean", _naming_nothing),
        actors=(APPENDING, Ranger(4), Reader(2), Cleaner(2)),
        ranged=True,
    ),
    Bug(
        "a restore brings back the rows of a range",
        _plant(restore, "read_deleted", _restored_whole),
        actors=(APPENDING, Ranger(4), Reader(2), Keeper(4)),
        ranged=True,
        long=True,
    ),
)
