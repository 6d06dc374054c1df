"""A job overwrites exactly the rows that a predicate selects."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.examples_of import examples

SCHEMA = pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string())])


def made(folder: Path, rowsets: list[list[tuple[int | None, str | None]]]) -> ArrowTable:
    table = colonnade.create(folder, SCHEMA)
    for rows in rowsets:
        columns = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
        table.append(pa.table(columns, SCHEMA))
    return table


def replace(table: ArrowTable, where: str, rows: pa.Table) -> None:
    """Replace rows as a job of several tasks does, the new ones one task each."""
    location, base = locate_existing(table.path), table._snapshot
    job = plan_write(location, base, "overwrite", where=parse_predicate(where))
    entries = [e for row in range(len(rows)) for e in write_rows(job, batches(rows, row))]
    log = Log(location.store)
    epochs = {commit_written(job, entries, log, each).epoch for each in (base, None)}
    assert len(epochs) == 1
    table.refresh()


def batches(rows: pa.Table, row: int) -> list[pa.RecordBatch]:
    return rows.slice(row, 1).to_batches()


def content(rows: pa.Table) -> list[str]:
    return sorted(map(str, rows.to_pylist()))


def test_rows_that_do_not_meet_the_condition_are_refused(tmp_path: Path) -> None:
    table = made(tmp_path / "t", [[(1, "x"), (2, None)]])
    new = pa.table({"a": [1, 2, None], "b": ["y", "y", "y"]}, SCHEMA)
    with pytest.raises(InvalidInputError, match="2 of the new rows do not meet the condition"):
        replace(table, "a = 1", new)
    assert content(table.scan().to_arrow()) == content(
        pa.table({"a": [1, 2], "b": ["x", None]}, SCHEMA)
    )


def test_whole_rowsets_are_dropped_and_parts_are_marked(tmp_path: Path) -> None:
    table = made(tmp_path / "t", [[(1, "x"), (2, "x")], [(2, "x"), (2, None)]])
    replace(table, "a = 2", pa.table({"a": [2], "b": ["new"]}, SCHEMA))
    newest = table.history(1)[0]
    assert (newest.operation, newest.rowsets_dropped, newest.rowsets_added) == ("overwrite", 1, 1)
    assert newest.metrics["rows_deleted"] == 3
    assert newest.metrics["rows_inserted"] == 1


def test_rows_that_came_since_and_would_be_replaced_are_a_conflict(tmp_path: Path) -> None:
    table = made(tmp_path / "t", [[(1, "x"), (2, "x")]])
    rival, log = ArrowTable.open(table.path), Log(locate_existing(table.path).store)
    job = plan_write(
        locate_existing(table.path), table._snapshot, "overwrite", where=parse_predicate("a = 2")
    )
    rival.append(pa.table({"a": [3], "b": ["far"]}, SCHEMA))
    commit_written(job, (), log)
    table.refresh()
    again = plan_write(
        locate_existing(table.path), table._snapshot, "overwrite", where=parse_predicate("a = 1")
    )
    rival.append(pa.table({"a": [1], "b": ["near"]}, SCHEMA))
    with pytest.raises(ConflictError, match="that the statement overwrites changed"):
        commit_written(again, (), log)


VALUES = st.tuples(st.none() | st.integers(0, 4), st.none() | st.sampled_from("xy"))
PARTS = st.sampled_from(
    [
        "a IN (1, NULL)",
        "b <> NULL",
        "a <=> NULL",
        "a = 1",
        "a < 3",
        "a >= 2",
        "a <> 2",
        "b = 'x'",
        "b <> 'y'",
        "a IS NULL",
        "b IS NOT NULL",
    ]
)
WHERE = st.one_of(
    PARTS,
    st.builds("({} AND {})".format, PARTS, PARTS),
    st.builds("({} OR {})".format, PARTS, PARTS),
    st.builds("NOT ({} AND {})".format, PARTS, PARTS),
)


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.lists(VALUES, min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(VALUES, max_size=3),
    WHERE,
)
def test_exactly_the_rows_that_the_predicate_selects_are_replaced(
    tmp_path_factory: pytest.TempPathFactory,
    rowsets: list[list[tuple[int | None, str | None]]],
    rows: list[tuple[int | None, str | None]],
    where: str,
) -> None:
    table = made(tmp_path_factory.mktemp("t") / "t", rowsets)
    given_rows = made(tmp_path_factory.mktemp("n") / "n", [rows] if rows else [])
    new = given_rows.scan(where=where).to_arrow()
    selected = Counter(content(table.scan(where=where).to_arrow()))
    before = Counter(content(table.scan().to_arrow()))
    replace(table, where, new)
    assert Counter(content(table.scan().to_arrow())) == before - selected + Counter(content(new))
