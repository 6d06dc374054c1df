"""Statements that many tasks carried out: what their reports add up to."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pytest
from pydantic import ValidationError

import colonnade
from colonnade import ConflictError, InvalidInputError, RepeatedMatchError
from colonnade.manifests.arrays.origins import NEW, encode_origins
from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import open_store
from colonnade.tableformat.statements.change import make_change
from colonnade.tableformat.statements.statement import Statement, write_batches
from colonnade.tableformat.statements.task_reports import (
    TaskReport,
    decode_report,
    reported_statement,
)
from colonnade.tableformat.write.run import encode_entries
from tests.log_samples import entry
from tests.task_reports import encode_rows

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def rows(*ids: int | None) -> pa.Table:
    return pa.table({"id": [*ids], "name": [f"n{n}" for n in ids]}, SCHEMA)


class World:
    """A table of the ids 0 to 9 in RowSet 0 and 10 to 19 in RowSet 1, and tasks that change it."""

    def __init__(self, path: Path) -> None:
        self.table = colonnade.create(path, SCHEMA)
        self.table.append(rows(*range(10)))
        self.table.append(rows(*range(10, 20)))
        self.log = Log(open_store(str(path)))
        self.base = self.log.reader.read_head()
        self.state = next(iter(self.base.tables.values()))

    def report(
        self,
        deleted: Mapping[int, set[int]] | None = None,
        written: tuple[int | None, ...] = (),
        origins: Sequence[tuple[int, int] | None] | None = None,
    ) -> TaskReport:
        """Report rows by RowSet that a task deleted, and where the rows come from that it wrote."""
        entries = write_batches(
            self.log, self.state, new_job_id(), rows(*written).to_batches() if written else ()
        )
        message: dict[str, object] = {
            "rowsets": orjson.Fragment(encode_entries(entries)),
            "deleted": {str(n): encode_rows(each) for n, each in (deleted or {}).items()},
        }
        if origins is not None:
            message["origins"] = [origins_text(origins)]
        return decode_report(orjson.dumps(message))

    def merge(self, *reports: TaskReport, keys: tuple[str, ...] = ("id",)) -> Statement:
        read = TableRead(self.state.id)
        return reported_statement(
            StatementLog(self.log, None), self.state, "merge", reports, read, keys
        )

    def commit(self, statement: Statement) -> None:
        self.log.commit(make_change(statement, self.state, new_job_id()), self.base)

    def ids(self) -> list[int | None]:
        self.table.refresh()
        return sorted(self.table.scan(["id"]).to_arrow()["id"].to_pylist(), key=str)


def origins_text(origins: Sequence[tuple[int, int] | None]) -> str:
    found = [NEW if each is None else (each[0] << 32) + each[1] for each in origins]
    return base64.b64encode(encode_origins([np.array(found, np.int64)])).decode()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "t")


def test_rows_that_several_tasks_took_of_one_rowset_go_together(world: World) -> None:
    statement = world.merge(
        world.report(deleted={0: {1, 2}, 1: {0}}),
        # A MERGE that only deletes may find a row twice.
        world.report(deleted={0: {2, 3}}, written=(190, 191), origins=[(1, 9), None]),
    )
    counts = {name: n for name, n in statement.counts.metrics().items() if name != "bytes_written"}
    assert counts == {
        "rows_deleted": 4,
        "rows_updated": 1,
        "rows_inserted": 1,
        "rowsets_touched": 2,
    }
    world.commit(statement)
    gone = {1, 2, 3, 10, 19}
    assert world.ids() == sorted(({*range(20)} - gone) | {190, 191}, key=str)


@pytest.mark.parametrize("deleted", [{7: {0}}, {0: {10}}])
def test_a_row_that_the_table_does_not_have_is_refused(
    world: World, deleted: dict[int, set[int]]
) -> None:
    with pytest.raises(InvalidInputError, match="planned on another state"):
        world.merge(world.report(deleted=deleted))


@pytest.mark.parametrize("deleted", [{7: {0}}, {0: {10}}])
def test_a_moved_row_that_the_table_does_not_have_is_refused(
    world: World, deleted: dict[int, set[int]]
) -> None:
    [(rowset, [row])] = ((n, [*each]) for n, each in deleted.items())
    with pytest.raises(InvalidInputError, match="planned on another state"):
        world.merge(world.report(written=(5,), origins=[(rowset, row)]))


@pytest.mark.parametrize("tasks", [1, 2])
def test_rows_that_replace_one_row_are_refused_whichever_tasks_wrote_them(
    world: World, tasks: int
) -> None:
    twice = [(0, 3), (0, 4), (0, 3)]
    reports = [world.report(written=(3, 4, 3), origins=twice)]
    if tasks == 2:
        halves = (((3, 4), twice[:2]), ((3,), twice[2:]))
        reports = [world.report(written=ids, origins=each) for ids, each in halves]
    with pytest.raises(RepeatedMatchError, match="replace one row of table 't'"):
        world.merge(*reports)


@pytest.mark.parametrize(
    ("inserted", "theirs", "meets"),
    [
        ({0, 2}, 30, True),
        ({0, 2}, 32, True),
        ({0, 2}, 31, False),  # that row was moved: its key was there before
        ({0, 2}, 40, False),
        (set[int](), 30, False),
        (None, 31, True),  # all rows are new
    ],
)
def test_only_keys_of_rows_that_are_new_are_guarded(
    world: World, inserted: set[int] | None, theirs: int, meets: bool
) -> None:
    origins = None
    if inserted is not None:
        origins = [None if n in inserted | {3} else (0, n) for n in range(5)]
    statement = world.merge(world.report(written=(30, 31, 32, None, 30), origins=origins))
    world.table.append(rows(theirs, None))
    if meets:
        with pytest.raises(ConflictError, match="Keys that the statement inserts"):
            world.commit(statement)
    else:
        world.commit(statement)


def test_new_rows_are_those_of_all_rowsets_of_a_task(world: World) -> None:
    first, second = (world.report(written=(n, n + 1)).rowsets for n in (50, 60))
    origins = (encode_origins([np.array(each)]) for each in ([7, NEW], [NEW, 8]))
    both = TaskReport.model_construct(rowsets=(*first, *second), deleted={}, origins=tuple(origins))
    for theirs, meets in ((50, False), (61, False), (51, True), (60, True)):
        entries = write_batches(world.log, world.state, new_job_id(), rows(theirs).to_batches())
        (guard,) = world.merge(both).keys
        assert bool(guard.meets([as_written(entry) for entry in entries])) is meets


def test_a_report_of_new_rows_takes_no_memory_for_each_of_them() -> None:
    report = TaskReport(rowsets=tuple(entry(2**32 - 1) for _ in range(3)))
    assert report.inserted_count() == 3 * (2**32 - 1)
    assert not report.moved_rows()


@pytest.mark.parametrize("origins", [[], [origins_text([None])] * 2, ["?"], [origins_text([])]])
def test_a_report_with_origins_of_other_rows_is_refused(world: World, origins: list[str]) -> None:
    entries = world.report(written=(30,)).rowsets
    message = {"rowsets": orjson.Fragment(encode_entries(entries)), "origins": origins}
    with pytest.raises(ValidationError):
        decode_report(orjson.dumps(message))


@pytest.mark.parametrize("bitmap", ["?", "AAAA", ""])
def test_a_report_with_something_else_than_a_bitmap_is_refused(bitmap: str) -> None:
    message = {"rowsets": [], "deleted": {"0": bitmap}}
    with pytest.raises(ValidationError):
        decode_report(orjson.dumps(message))
