"""A statement that meets a concurrent one on a row runs again, a limited number of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from colonnade import ArrowTable
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.snapshot import Snapshot
from tests.tableformat.statements.tables import another, filled, ids, rows

STATEMENTS: dict[str, Callable[[ArrowTable], Any]] = {
    "delete": lambda t: t.delete("id = 2"),
    "update": lambda t: t.update({"text": "'mine'"}, "id IN (2, 3)"),
    "upsert": lambda t: t.upsert(rows(2, 50), on="id"),
}


@pytest.mark.parametrize("mine", STATEMENTS)
@pytest.mark.parametrize("theirs", STATEMENTS)
def test_statements_that_meet_on_a_row_run_again(mine: str, theirs: str) -> None:
    table = filled()
    other = another(table)
    other._open.refresh = lambda: other._snapshot  # type: ignore[method-assign]
    STATEMENTS[theirs](table)
    STATEMENTS[mine](other)
    left = ids(table)
    assert left.count(2) == (
        0 if mine == "delete" or (theirs == "delete" and mine == "update") else 1
    )
    assert left.count(50) == ("upsert" in (mine, theirs))


def test_a_conflict_that_lasts_is_reported_after_some_tries() -> None:
    table = filled()
    tries: list[int] = []
    rival = Log(table._location.store, pause=lambda _: None)

    def rivals(change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        tries.append(base.epoch)
        fresh = ArrowTable(table._location, rival, rival.reader.read_head())
        fresh.update({"text": f"'{len(tries)}'"}, "id = 2")
        return Log.commit_change(table._log, change, base)

    table._log.commit_change = rivals  # type: ignore[method-assign]
    with pytest.raises(ConflictError, match=r"Row 2 of RowSet 0|Row 0 of RowSet"):
        table.update({"text": "'mine'"}, "id = 2")
    assert len(tries) == 10
