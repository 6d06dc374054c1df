"""A table can be created of columns, of rows, or of both, in one epoch or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ConflictError, IdentityColumn, InvalidInputError, NotFoundError
from colonnade.manifests.log.dropping import _end as end_log
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.creation import commit_created, designed, new_place
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.tableformat.table.trips import SCHEMA, ids, rows


def test_a_table_and_its_first_rows_are_one_epoch(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", rows(1, 2), sort_key=["id"])
    [entry] = table.history()
    assert (entry.epoch, entry.rows_added, table.epoch) == (1, 2, 1)
    assert ids(table.scan()) == [1, 2]
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("t", SCHEMA, data=rows(3))
    assert database["t"].epoch == 1
    assert ids(database["t"].scan()) == [3]


DESIGNS: dict[str, dict[str, Any]] = {
    "plain": {},
    "sorted": {"sort_key": ["amount desc"]},
    "partitioned": {"partition_by": ["bucket(4, id)"]},
    "key": {"primary_key": ["id"]},
    "merging key": {"primary_key": ["id"], "properties": {"onDuplicate": "merge"}},
    "static": {"primary_key": ["id"], "static": ["name"]},
    "constraint": {"constraints": {"known": "amount >= 0"}},
    "generated": {"generated": {"name": "CAST(id AS STRING)"}},
    "identity": {"identity": {"number": IdentityColumn()}},
}


@pytest.mark.parametrize("design", DESIGNS)
def test_rows_of_a_new_table_follow_its_design_as_later_rows_do(
    design: str, tmp_path: Path
) -> None:
    given = DESIGNS[design]
    given_rows = rows(3, 1, 2)
    schema = given_rows.schema
    if design == "generated":
        given_rows = given_rows.drop_columns("name")
    if design == "identity":
        schema = schema.append(pa.field("number", pa.int64()))
    at_once = colonnade.create(tmp_path / "a", schema, data=given_rows, **given)
    later = colonnade.create(tmp_path / "b", schema, **given)
    later.append(given_rows)
    assert sorted(map(str, at_once.to_pylist())) == sorted(map(str, later.to_pylist()))
    assert at_once.next_identities == later.next_identities


def late() -> Iterator[pa.Table]:
    """Rows of which the last one does not fit, when others are written already."""
    yield pa.concat_tables([rows(*range(1000))] * 200)
    yield rows(1).set_column(0, "id", [["one"]])


KEY: dict[str, Any] = {"primary_key": ["id"]}
BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "value": (rows(1).set_column(0, "id", [[None]]), {}, "'id'"),
    "type": (rows(1).set_column(0, "id", [["one"]]), {}, "'id'"),
    "late type": (late, {}, "'id'"),
    "column": (rows(1).append_column("more", [[1]]), {}, "'more'"),
    "no such rows": (object(), {}, "object"),
    "constraint": (rows(1), {"constraints": {"none": "id < 0"}}, "'none'"),
    "generated": (rows(1), {"generated": {"name": "CAST(id AS STRING)"}}, "'name'"),
    "key": (rows(1, 1), KEY, "1"),
    "merging key": (rows(1), {**KEY, "properties": {"onDuplicate": "merge", "sequence": "x"}}, "x"),
    "static": (
        rows(1, 2),
        {"primary_key": ["amount", "id"], "static": ["name"], "partition_key": ["none"]},
        "none",
    ),
    "sort key": (rows(1), {"sort_key": ["none"]}, "none"),
    "partitions": (rows(1), {"partition_by": ["bucket(0, id)"]}, "bucket"),
    "property": (rows(1), {"properties": {"onDuplicate": "guess"}}, "guess"),
    "types": (rows(1), {"changed_types": "guess"}, "guess"),
}


def held(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    files = [each for each in folder.rglob("*") if each.is_file()]
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


@pytest.mark.parametrize("place", ["t", "db/t"])
@pytest.mark.parametrize("case", BAD)
def test_a_refused_row_leaves_no_table_and_no_database(
    case: str, place: str, tmp_path: Path
) -> None:
    if place == "db/t":
        colonnade.create_database(tmp_path / "db")
    before = held(tmp_path)
    data, design, words = BAD[case]
    data = data() if callable(data) else data
    with pytest.raises((InvalidInputError, ConflictError, NotFoundError), match=words):
        colonnade.create(tmp_path / place, SCHEMA, data=data, **design)
    after = held(tmp_path)
    if place == "db/t":  # where a vacuum removes what a refused statement has written
        after = {name: each for name, each in after.items() if not name.endswith(".rowset")}
    assert after == before
    with pytest.raises(NotFoundError):
        colonnade.open(tmp_path / place)
    table = colonnade.create(tmp_path / place, SCHEMA, data=rows(1))
    assert ids(table.scan()) == [1]


def test_a_refused_row_leaves_nothing_in_a_bucket(tmp_path: Path) -> None:
    store = MemoryStore()
    location, log = Location(store, None, exists=False), Log(store)
    design, given = designed("t", SCHEMA, rows(1, 1), "accept", **KEY)
    with pytest.raises(InvalidInputError, match="1"):
        commit_created(log, location, None, design, given)
    assert [*store.list("")] == []


def test_rows_written_where_a_drop_was_killed_are_not_removed_with_its_remains(
    tmp_path: Path,
) -> None:
    """Tasks of a job write before the commit creates the database, which finishes the drop."""
    many = rows(*range(200_000))
    end_log(Log(LocalStore(colonnade.create(tmp_path / "t", many).path)), True)
    location, log, base = new_place(tmp_path / "t")
    design, _ = designed("t", SCHEMA, None, "accept")
    job = plan_write(location, base, "append", create=design)
    written = write_rows(job, many.to_batches(), location.store)
    commit_written(job, written, log, base, fresh=True)
    assert colonnade.open(tmp_path / "t").scan().to_arrow().num_rows == 200_000


def test_a_transaction_creates_a_table_with_its_rows_or_neither(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    with database.transaction() as tx:
        tx.create("t", rows(1))
        with pytest.raises(InvalidInputError):
            tx.create("u", SCHEMA, data=[{"id": "x"}])
        assert tx.tables() == ["t"]
    assert ids(database["t"].scan()) == [1]


def test_rows_that_are_given_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="rows in place of columns, and with data"):
        colonnade.create(tmp_path / "t", rows(1), data=rows(2))


@pytest.mark.parametrize("nothing", [{}, []])
def test_a_table_needs_columns(nothing: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="column"):
        colonnade.create(tmp_path / "t", nothing)
