"""The planner's operations behind statements that change rows, called as Java calls them.

A statement that is sent again is never called failed if its commit has landed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner import outdated_requests
from colonnade.spark_ext.planner.operations import OPS
from colonnade.spark_ext.planner.read import reads
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.state import snapshots
from colonnade.spark_ext.planner.state.snapshots import Snapshots
from colonnade.spark_ext.planner.state.unsent_transactions import Unsent
from colonnade.spark_ext.planner.write import base, commits, deletes, rows, writes
from colonnade.tableformat.table.epochs.history import counts_of
from tests.faults import Fault, FaultyStore
from tests.spark_ext.planner.catalog.test_databases import ids, planned, written
from tests.task_reports import encode_rows

ID = {"column": ["id"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of the ids 1, 2 in one RowSet and 3, 4 in another."""
    writes.commit_write(written(planned(tmp_path / "t")))
    writes.commit_write(
        written(planned(tmp_path / "t"), pa.table({"id": [3, 4], "name": ["c", "d"]}))
    )
    return tmp_path / "t"


def compare(operator: str, value: int | None) -> dict[str, Any]:
    literal = {"type": "bigint", "value": None if value is None else str(value)}
    return {"op": operator, "args": [ID, literal]}


def is_whole(path: Path, *filters: dict[str, Any]) -> bool:
    asked = {"view": seen(path), "filters": filters, "count_rows": "false"}
    return bool(deletes.can_delete(asked)["yes"])


def seen(path: Path) -> dict[str, Any]:
    """The view of a statement that has loaded the table."""
    view: dict[str, Any] = load({"path": str(path), "options": {}})["view"]
    return view


def deletion(path: Path, *filters: dict[str, Any], **said: str) -> dict[str, Any]:
    """The request of a DELETE, under an id of its own."""
    args = {"path": str(path), "view": seen(path), "filters": filters, "options": {}}
    return {**args, "transaction": new_transaction_id(), **said}


def message(deleted: dict[int, list[int]]) -> str:
    bitmaps = {n: encode_rows(r) for n, r in deleted.items()}
    return json.dumps({"rowsets": [], "deleted": bitmaps, "origins": []})


@pytest.mark.parametrize(
    ("filters", "whole"),
    [
        ([compare(">=", 3)], True),
        ([compare(">=", 2)], False),
        ([compare(">", 9)], True),
        ([compare(">=", 1), compare("<", 3)], True),
        ([], True),
        ([{"type": "boolean", "value": "true"}], True),
        # NULL selects nothing: neither do the bounds, nor the rows.
        ([{"op": "OR", "args": [compare("=", 1), compare("=", None)]}], False),
        ([compare("=", None)], True),
        ([{"op": "UPPER", "args": [ID]}], False),
        ([{"op": "=", "args": [{"column": ["_row"]}, {"type": "bigint", "value": "1"}]}], False),
    ],
)
def test_only_what_the_bounds_decide_is_deleted_without_tasks(
    path: Path, filters: list[dict[str, Any]], whole: bool
) -> None:
    assert is_whole(path, *filters) is whole


def test_a_delete_that_is_sent_twice_lands_once(path: Path) -> None:
    request = deletion(path, compare(">=", 3))
    epochs = [deletes.delete_where(request)["epoch"] for _ in range(2)]
    assert epochs == [3, 3]
    assert ids(path) == [1, 2]


def test_reports_of_tasks_that_are_sent_twice_land_once(path: Path) -> None:
    plan = planned(path)
    commit = {
        "job": plan["job"],
        "database": plan["database"],
        "kind": "merge",
        "filters": None,
        "keys": ["id"],
        "messages": [message({0: [1]}), message({0: [1], 1: [0]})],
    }
    assert [rows.commit_rows(commit)["epoch"] for _ in range(2)] == [3, 3]
    assert ids(path) == [1, 4]
    assert colonnade.open(path).history(1)[0].metrics["rows_deleted"] == 2


def forget_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know as much of commits as a planner that has just replaced another one."""
    unsent = Unsent()
    unsent._again = ContextVar("again", default=True)
    for module in (commits, deletes, outdated_requests, writes):
        monkeypatch.setattr(module, "UNSENT", unsent)


def outlive(path: Path, row: pa.Table | None = None) -> None:
    """Have retention remove the epochs up to a new one of another writer, and free their block."""
    other, database = colonnade.open(path), colonnade.open_database(path)
    other.append(pa.table({"id": [9], "name": ["z"]}) if row is None else row)
    for _ in range(SLOT_BLOCK // 2):
        database.tag("t", 1)
        database.untag("t")
    other.vacuum(0, retain_epochs=1, force=True, trust_clock=True)


def test_a_statement_that_retention_overtakes_before_it_was_sent_is_a_conflict(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commit(plan: dict[str, Any]) -> None:
        writes.commit_write(written(plan, pa.table({"id": [7], "name": ["x"]})))

    load({"path": str(path), "options": {}})
    plan, known = planned(path), planned(path, transaction="0123456789abcdef" * 2)
    of_another_process = planned(path)
    outlive(path)
    with pytest.raises(ConflictError, match="removed by retention; read the table again"):
        commit(plan)
    for sent in (plan, known):
        with pytest.raises(CommitUnknownError, match="removed by retention; look for transaction"):
            commit(sent)
    forget_plans(monkeypatch)
    with pytest.raises(CommitUnknownError, match="removed by retention"):
        commit(of_another_process)
    assert ids(path) == [1, 2, 3, 4, 9]


def test_an_object_that_retention_removes_during_a_read_is_not_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colonnade.open_database(path).repair()  # from now on a state is read from a checkpoint
    fresh = Snapshots()
    for module in (reads, rows, deletes, writes, base):
        monkeypatch.setattr(module, "SNAPSHOTS", fresh)
    sent = deletion(path, compare(">=", 3))
    asked = {"view": seen(path), "filters": [compare(">=", 3)], "count_rows": "false"}
    outlive(path)
    with pytest.raises(NotFoundError, match="Epoch 2 of .* was removed by retention"):
        OPS["can_delete"](asked)
    with pytest.raises(ConflictError, match="was removed by retention; read the table again"):
        OPS["delete_where"](sent)
    forget_plans(monkeypatch)
    with pytest.raises(CommitUnknownError, match="by retention; look for transaction"):
        OPS["delete_where"](sent)
    assert ids(path) == [1, 2, 3, 4, 9]


Commit = tuple[str, dict[str, Any]]
"""An operation of the planner and its arguments."""


def delete(path: Path, value: int = 3) -> Commit:
    return "delete_where", deletion(path, compare("=", value))


def merge(path: Path) -> Commit:
    plan = planned(path)
    job = {"job": plan["job"], "database": plan["database"]}
    messages = [message({0: [1], 1: [0]})]
    commit = {"kind": "merge", "filters": None, "keys": ["id"], "messages": messages}
    return "commit_rows", {**job, **commit}


def some_overwritten(path: Path) -> Commit:
    job = written(planned(path, overwrite=True), pa.table({"id": [9], "name": ["z"]}))
    found = {"overwritten": [message({0: [1]})], "filters": [compare(">=", 2)]}
    return "commit_overwrite", {**job, **found}


def insert_by_merge(path: Path) -> Commit:
    job = written(planned(path), pa.table({"id": [9], "name": ["z"]}))
    return "commit_write", {**job, "merged": ["id"]}


def overwrite(path: Path) -> Commit:
    return "commit_write", written(planned(path, overwrite=True))


def append(path: Path) -> Commit:
    return "commit_write", written(planned(path))


COMMITS = [delete, merge, some_overwritten, insert_by_merge, overwrite, append]


def fail(monkeypatch: pytest.MonkeyPatch, url: str, call: int) -> FaultyStore:
    """Fail the call of this number of those that evaluate and commit a statement."""
    store, fresh = FaultyStore(open_store(url), {call: Fault.FAIL_BEFORE}), Snapshots()
    for module in (rows, deletes, writes, base):
        monkeypatch.setattr(module, "SNAPSHOTS", fresh)
    for module in (commits, deletes, snapshots):
        monkeypatch.setattr(module, "open_store", lambda _: store)
    return store


@pytest.mark.parametrize("commit", COMMITS)
def test_a_commit_that_has_landed_is_found_whichever_call_of_its_second_request_fails(
    path: Path, commit: Callable[[Path], Commit]
) -> None:
    operation, args = commit(path)
    landed = OPS[operation](args)["epoch"]
    call, failed = 0, True
    while failed:
        call += 1
        with pytest.MonkeyPatch.context() as patch:
            forget_plans(patch)
            store = fail(patch, str(path), call)
            assert OPS[operation](args)["epoch"] == landed
            failed = bool(store.fired)
    assert call > 3
    assert colonnade.open(path).history(1)[0].epoch == landed


@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize("sent", [False, True])
def test_a_commit_that_cannot_be_evaluated_has_failed_only_if_it_was_never_sent(
    path: Path, commit: Callable[[Path], Commit], sent: bool
) -> None:
    operation, args = commit(path)
    with pytest.MonkeyPatch.context() as patch:
        if sent:
            forget_plans(patch)
        fail(patch, str(path), 1)
        with pytest.raises(CommitUnknownError if sent else StoreError, match="planned failure"):
            OPS[operation](args)
    assert sorted(ids(path)) == [1, 2, 3, 4]


def test_a_delete_that_has_landed_is_found_although_its_rows_are_damaged(path: Path) -> None:
    names = [hex(pow(7, n, 2**127)) for n in range(2997)]  # too large for the log
    many = pa.table({"id": range(9, 9000, 3), "name": names})
    writes.commit_write(written(planned(path), many))
    operation, args = delete(path, 300)
    landed = OPS[operation](args)["epoch"]
    for file in path.rglob("*"):
        if file.is_file() and "_manifest" not in file.parts:
            file.write_bytes(b"")
    _, other = delete(path, 600)
    with pytest.raises(CorruptionError):
        OPS[operation](other)
    with pytest.MonkeyPatch.context() as patch:
        forget_plans(patch)
        assert OPS[operation](args)["epoch"] == landed
        with pytest.raises(CommitUnknownError, match="look for it in the history"):
            OPS[operation](other)


def test_a_delete_that_has_landed_is_found_after_its_table_was_dropped(path: Path) -> None:
    _, args = delete(path)
    _, other = delete(path, 4)
    landed = OPS["delete_where"](args)["epoch"]
    colonnade.open_database(path).drop_table("t")
    with pytest.raises(ConflictError, match="was dropped or replaced"):
        OPS["delete_where"](other)
    with pytest.MonkeyPatch.context() as patch:
        forget_plans(patch)
        assert OPS["delete_where"](args)["epoch"] == landed
        with pytest.raises(CommitUnknownError, match="look for it in the history"):
            OPS["delete_where"](other)


def test_the_oldest_of_many_uncommitted_plans_are_forgotten() -> None:
    unsent = Unsent()
    for number in range(20_000):
        unsent.add(str(number))
    assert not unsent.take("0")
    assert unsent.take("19999")
    assert not unsent.take("19999")


def test_a_statement_commits_under_the_transaction_that_its_caller_knows(path: Path) -> None:
    transaction = "0123456789abcdef" * 2
    deletes.delete_where(deletion(path, compare(">=", 3), transaction=transaction))
    table = colonnade.open(path)
    counts = counts_of(table._log, table._snapshot, transaction, 2)
    assert (counts.epoch, counts.rows_deleted) == (3, 2)
    assert counts_of(table._log, table._snapshot, "f" * 32, 2).rows_deleted == 0


def test_a_merge_that_only_inserts_guards_its_keys(path: Path) -> None:
    commit = written(planned(path), pa.table({"id": [7, 8], "name": ["x", "y"]}))
    colonnade.open(path).append(pa.table({"id": [8], "name": ["z"]}))
    with pytest.raises(ConflictError, match="Keys that the statement inserts"):
        writes.commit_write({**commit, "merged": ["id"]})
    with pytest.raises(ConflictError, match="Keys that the statement inserts"):
        writes.commit_write({**commit, "merged": []})
    assert writes.commit_write(commit)["epoch"] == 4


def test_a_merge_without_comparable_keys_commits_if_no_row_was_added(path: Path) -> None:
    commit = written(planned(path), pa.table({"id": [7, 8], "name": ["x", "y"]}))
    colonnade.open(path).delete("id = 1")
    assert writes.commit_write({**commit, "merged": []})["epoch"] == 4
    assert colonnade.open(path).history(1)[0].operation == "merge"
