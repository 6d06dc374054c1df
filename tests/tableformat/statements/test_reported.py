"""Statements that many tasks carried out: what their reports add up to."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from pydantic import ValidationError
from pyroaring import BitMap

import colonnade
from colonnade import ConflictError, InvalidInputError
from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import open_store
from colonnade.tableformat.statements.reported import TaskReport, decode_report, reported_statement
from colonnade.tableformat.statements.statement import Statement, make_change, write_batches
from colonnade.tableformat.write.run import encode_entries

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
        self.base = self.log.read_head()
        self.state = next(iter(self.base.tables.values()))

    def report(
        self,
        deleted: Mapping[int, set[int]] | None = None,
        moved: Mapping[int, set[int]] | None = None,
        written: tuple[int | None, ...] = (),
        inserted: set[int] | None = None,
    ) -> TaskReport:
        entries = write_batches(
            self.log, self.state, new_job_id(), rows(*written).to_batches() if written else ()
        )
        message = {
            "rowsets": orjson.Fragment(encode_entries(entries)),
            "deleted": {str(n): text(each) for n, each in (deleted or {}).items()},
            "moved": {str(n): text(each) for n, each in (moved or {}).items()},
            "inserted": {"0": text(inserted)} if inserted else {},
        }
        return decode_report(orjson.dumps(message))

    def merge(self, *reports: TaskReport, keys: tuple[str, ...] = ("id",)) -> Statement:
        read = TableRead(self.state.id)
        return reported_statement(self.log, self.state, "merge", reports, read, keys)

    def commit(self, statement: Statement) -> None:
        self.log.commit(make_change(statement, self.state, new_job_id()), self.base)

    def ids(self) -> list[int | None]:
        self.table.refresh()
        return sorted(self.table.scan(["id"]).to_arrow()["id"].to_pylist(), key=str)


def text(numbers: set[int]) -> str:
    return base64.b64encode(BitMap(numbers).serialize()).decode()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "t")


def test_rows_that_several_tasks_took_of_one_rowset_go_together(world: World) -> None:
    statement = world.merge(
        world.report(deleted={0: {1, 2}, 1: {0}}),
        # A MERGE that only deletes may find a row twice.
        world.report(deleted={0: {2, 3}}, moved={1: {9}}, written=(190, 191), inserted={1}),
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


@pytest.mark.parametrize(
    ("inserted", "theirs", "meets"),
    [
        ({0, 2}, 30, True),
        ({0, 2}, 32, True),
        ({0, 2}, 31, False),  # that row was moved: its key was there before
        ({0, 2}, 40, False),
        (set[int](), 30, False),
    ],
)
def test_only_keys_of_rows_that_are_new_are_guarded(
    world: World, inserted: set[int], theirs: int, meets: bool
) -> None:
    statement = world.merge(world.report(written=(30, 31, 32, None, 30), inserted=inserted | {3}))
    world.table.append(rows(theirs, None))
    if meets:
        with pytest.raises(ConflictError, match="Keys that the statement inserts"):
            world.commit(statement)
    else:
        world.commit(statement)


def test_inserted_rows_are_counted_through_all_rowsets_of_a_task(world: World) -> None:
    first, second = (world.report(written=(n, n + 1)).rowsets for n in (50, 60))
    both = TaskReport.model_construct(
        rowsets=(*first, *second), deleted={}, moved={}, inserted={0: BitMap({1, 2})}
    )
    for theirs, meets in ((50, False), (61, False), (51, True), (60, True)):
        entries = write_batches(world.log, world.state, new_job_id(), rows(theirs).to_batches())
        (guard,) = world.merge(both).keys
        assert bool(guard.meets([as_written(entry) for entry in entries])) is meets


@pytest.mark.parametrize("bitmap", ["?", "AAAA", ""])
def test_a_report_with_something_else_than_a_bitmap_is_refused(bitmap: str) -> None:
    message = {"rowsets": [], "deleted": {"0": bitmap}, "moved": {}, "inserted": {}}
    with pytest.raises(ValidationError):
        decode_report(orjson.dumps(message))
