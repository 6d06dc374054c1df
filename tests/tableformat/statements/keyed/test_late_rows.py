"""A deletion of a key beats a row from before it that arrives later, and no reader sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import SetProperties
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.statements.change import complete, make_change
from colonnade.tableformat.statements.keyed.delete_keys import evaluate_delete_keys
from colonnade.tableformat.statements.keyed.upsert import evaluate_upsert
from colonnade.tableformat.table.alteration import (
    AlterProperties,
    DropPrimaryKey,
    RenameColumn,
    SetPrimaryKey,
    WidenColumn,
)
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from tests.tableformat.statements.tables import another, log_of, made

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int32(), nullable=False),
        ("at", pa.int32()),
        ("word", pa.string()),
        pa.field("must", pa.int64(), nullable=False),
    ]
)


def empty(**design: Any) -> ArrowTable:
    return made(schema=SCHEMA, key=("id",), properties={"sequence": "at"}, **design)


def data(*rows: tuple[int, int | None, str]) -> pa.Table:
    names = ("id", "at", "word", "must")
    return pa.Table.from_pylist(
        [dict(zip(names, (*each, 0), strict=True)) for each in rows], SCHEMA
    )


def keys(*rows: tuple[int, int | None]) -> pa.Table:
    schema = pa.schema([SCHEMA.field("id"), SCHEMA.field("at")])
    return pa.Table.from_pylist([{"id": id_, "at": at} for id_, at in rows], schema)


def words(table: ArrowTable) -> dict[int, str]:
    table.refresh()
    rows = table.scan().to_arrow().to_pylist()
    return {row["id"]: row["word"] for row in sorted(rows, key=lambda row: row["id"])}


def tombstones(table: ArrowTable) -> list[int]:
    table.refresh()
    return [each.entry.rows for each in table._log.rowsets.read(table._state, which="tombstones")]


def send(table: ArrowTable, road: str, *rows: tuple[int, int | None, str]) -> None:
    """Merge rows by the road of Python's upsert, or by that of rows that tasks have written."""
    if road == "upsert":
        table.upsert(data(*rows))
    else:
        table.append(data(*rows), settings=WriteSettings(on_duplicate="merge"))


@pytest.mark.parametrize("road", ["upsert", "append"])
def test_a_late_row_stays_deleted_and_a_newer_one_lives(road: str) -> None:
    table = empty()
    send(table, road, (1, 5, "a"), (2, 5, "b"))
    assert table.delete_keys(keys((1, 7), (2, 3), (3, 9))).rows_deleted == 1
    assert words(table) == {2: "b"}
    send(table, road, (1, 6, "late"), (3, 8, "late"), (2, 4, "late"), (4, 1, "new"))
    assert words(table) == {2: "b", 4: "new"}
    send(table, road, (1, 7, "as new"), (3, 8, "late"), (3, 10, "newer"), (1, None, "oldest"))
    assert words(table) == {1: "as new", 2: "b", 3: "newer", 4: "new"}
    assert table.verify(depth=4).findings == ()


def test_readers_see_no_tombstone_and_their_counts_are_those_of_rows() -> None:
    table = empty()
    table.upsert(data((1, 5, "a")))
    table.delete_keys(keys((1, 6), (2, 6)))
    assert table.scan().to_arrow().num_rows == 0
    assert table._state.rowsets.row_count == 0
    assert table.get(2) is None
    assert table.delete() is not None
    assert table.update({"word": "'x'"}).rows_updated == 0
    assert tombstones(table) == [2], "no other statement touches them"
    table.overwrite(data((7, 1, "z")))
    assert tombstones(table) == [2], "an overwrite replaces rows"
    table.upsert(data((1, 5, "late")))
    assert words(table) == {7: "z"}


@pytest.mark.parametrize("road", ["upsert", "append"])
def test_an_upsert_that_meets_a_deletion_at_its_slot_leaves_its_late_rows_out(road: str) -> None:
    table = empty()
    table.upsert(data((1, 5, "a"), (4, 1, "d")))
    base, log = table._refresh(), table._log
    batch = data((1, 6, "late"), (2, 6, "late"), (3, 6, "new"), (4, 2, "D"))
    if road == "upsert":
        statement = evaluate_upsert(log_of(table), table._state, batch, new_job_id())
        planned = make_change(
            complete(statement, log_of(table), table._state), table._state, new_job_id()
        )
        another(table).delete_keys(keys((1, 7), (2, 7)))
        log.commit(planned, base)
    else:
        with Racing(log, lambda: another(table).delete_keys(keys((1, 7), (2, 7)))):
            table.append(batch, settings=WriteSettings(on_duplicate="merge"))
    assert words(table) == {3: "new", 4: "D"}


class Racing:
    """Lets another writer commit right before the next change of a log."""

    def __init__(self, log: Log, other: Any) -> None:
        self.log, self.other, self.commit = log, other, log.commit_change

    def __enter__(self) -> None:
        def commit_change(change: Change, base: Any) -> Any:
            self.log.commit_change = self.commit  # type: ignore[method-assign]
            self.other()
            return self.commit(change, base)

        self.log.commit_change = commit_change  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        self.log.commit_change = self.commit  # type: ignore[method-assign]


def test_a_deletion_that_meets_an_upsert_at_its_slot_deletes_its_older_rows() -> None:
    table = empty()
    table.upsert(data((1, 5, "a")))
    base, log = table._refresh(), table._log
    statement = evaluate_delete_keys(
        log_of(table), table._state, keys((1, 7), (2, 7), (3, 7)), new_job_id()
    )
    planned = make_change(
        complete(statement, log_of(table), table._state), table._state, new_job_id()
    )
    another(table).upsert(data((2, 6, "older"), (3, 8, "newer")))
    with pytest.raises(ConflictError, match="Keys that the statement inserts were added"):
        log.commit(planned, base)
    with Racing(log, lambda: another(table).upsert(data((1, 6, "b")))):
        table.delete_keys(keys((1, 7), (2, 7), (3, 7)))
    assert words(table) == {3: "newer"}


def test_a_transaction_sees_its_own_deletions_and_conflicts_with_those_of_others() -> None:
    table = empty()
    table.upsert(data((1, 5, "a")))
    with ArrowTransaction(table._log, table._refresh()) as transaction:
        mine = transaction.table("t")
        mine.delete_keys(keys((1, 7), (2, 7)))
        mine.upsert(data((1, 6, "late"), (3, 1, "new")))
        mine.upsert(data((2, 6, "late")))
    assert words(table) == {3: "new"}
    transaction = ArrowTransaction(table._log, table._refresh())
    transaction.table("t").upsert(data((5, 1, "late")))
    table.delete_keys(keys((5, 2)))
    with pytest.raises(ConflictError):
        transaction.commit()
    assert words(table) == {3: "new"}


def test_a_compaction_merges_tombstones_and_keeps_what_they_say() -> None:
    table = empty()
    for number in range(10):
        table.delete_keys(keys((number, 10), (100 + number, 10)))
    assert tombstones(table) == [2] * 10
    table.optimize().executeCompaction()
    assert tombstones(table) == [20]
    table.upsert(data(*((number, 9, "late") for number in range(10)), (105, 11, "new")))
    assert words(table) == {105: "new"}
    assert table.verify(depth=4).findings == ()


def test_tombstones_are_forgotten_after_their_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    table = empty()
    table.alter(AlterProperties(set={"tombstone.hours": "2"}))
    table.delete_keys(keys((1, 10)))
    now = table._log.reader.now_ms()
    for hours, left in ((1, [1]), (3, [])):
        later = now + hours * 3_600_000
        monkeypatch.setattr(table._log.clock, "own_ms", lambda later=later: later)
        table.optimize().executeCompaction()
        assert tombstones(table) == left
    table.upsert(data((1, 9, "late")))
    assert words(table) == {1: "late"}, "nothing remembers the deletion any more"


def test_restores_and_vacuums_keep_the_tombstones_of_a_state() -> None:
    table = empty()
    table.upsert(data((1, 5, "a")))
    before = table.refresh().epoch
    table.delete_keys(keys((1, 7)))
    after = table.refresh().epoch
    table.restore(epoch=before)
    assert tombstones(table) == []
    table.upsert(data((1, 6, "b")))
    assert words(table) == {1: "b"}
    table.restore(epoch=after)
    assert tombstones(table) == [1]
    vacuum(table._log, VacuumRequest(hours=0))
    table._log.try_checkpoint(table._refresh())
    fresh = another(table)
    fresh.upsert(data((1, 6, "late")))
    assert words(fresh) == {}
    assert table.verify(depth=4).findings == ()


@pytest.mark.slow
def test_a_partitioned_table_remembers_keys_in_each_partition() -> None:
    for partition_by in (["bucket(4, id)"], ["word"]):
        table = empty(partition_by=partition_by)
        table.upsert(data(*((number, 5, f"w{number % 2}") for number in range(8))))
        for number in range(9):
            table.delete_keys(keys((number, 6)))
        table.optimize().option("min-rowsets", 2).executeCompaction()
        table.upsert(data(*((number, 5 + number % 2, "late") for number in range(8))))
        assert words(table) == {1: "late", 3: "late", 5: "late", 7: "late"}, "as new as they are"
        assert table.verify(depth=4).findings == ()


def test_columns_may_be_renamed_and_widened_and_another_key_forgets() -> None:
    table = empty()
    table.delete_keys(keys((1, 7)))
    table.alter(RenameColumn("word", "text"), WidenColumn("id", "long"), WidenColumn("at", "long"))
    late = data((1, 6, "late")).rename_columns(["id", "at", "text", "must"])
    table.upsert(late)
    assert table.scan().to_arrow().num_rows == 0
    table.alter(DropPrimaryKey())
    table.alter(SetPrimaryKey("id"))
    assert tombstones(table) == []
    table.upsert(late)
    assert table.scan().to_arrow()["text"].to_pylist() == ["late"]


def test_a_change_of_the_sequence_while_keys_are_deleted_is_a_conflict() -> None:
    table = empty()
    base, log = table._refresh(), table._log
    statement = evaluate_delete_keys(log_of(table), table._state, keys((1, 7)), new_job_id())
    planned = make_change(
        complete(statement, log_of(table), table._state), table._state, new_job_id()
    )
    operation = SetProperties(table=table._state.id, set={}, remove=("sequence",))
    log.commit(Change(new_transaction_id(), "alter", (operation,)), base)
    with pytest.raises(ConflictError, match="The key or the sequence of table 't' has changed"):
        log.commit(planned, base)


def test_a_deletion_as_old_as_can_be_is_not_remembered() -> None:
    table = empty()
    table.upsert(data((1, None, "a"), (2, 1, "b")))
    assert table.delete_keys(keys((1, None), (2, None), (3, None))).rows_deleted == 1
    assert tombstones(table) == []


@pytest.mark.parametrize("road", ["upsert", "append"])
def test_a_table_of_nothing_but_keys_and_their_sequence_keeps_the_newest(road: str) -> None:
    schema = pa.schema([SCHEMA.field("id"), SCHEMA.field("at")])
    table = made(schema=schema, key=("id",), properties={"sequence": "at"})
    for batch in (keys((1, 5), (2, 5)), keys((1, 3), (2, 9))):
        if road == "upsert":
            table.upsert(batch)
        else:
            table.append(batch, settings=WriteSettings(on_duplicate="merge"))
    assert sorted(table.scan().to_arrow()["at"].to_pylist()) == [5, 9]
    table.delete_keys(keys((1, 5), (2, 6), (3, 7)))
    table.upsert(keys((1, 4), (3, 6)))
    table.upsert(pa.table({"id": pa.array([1, 4], pa.int32())}))
    rows = table.scan().to_arrow().to_pylist()
    assert sorted((row["id"], row["at"]) for row in rows if row["at"]) == [(2, 9)]
    assert [row["id"] for row in rows if row["at"] is None] == [4], "without a time, it is oldest"


def test_of_several_deletions_of_a_key_the_newest_counts() -> None:
    table = empty()
    orders: Sequence[Sequence[int]] = ((3, 9), (9, 3))
    for id_, (first, second) in enumerate(orders):
        table.delete_keys(keys((id_, first)))
        table.delete_keys(keys((id_, second), (id_, None)))
        table.upsert(data((id_, 8, "late")))
    assert words(table) == {}
