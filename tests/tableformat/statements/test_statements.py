"""DELETE, UPDATE, upsert and overwrite by condition, through a table: rows, counts and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable, CommitSettings
from colonnade.manifests.errors import ConflictError, InvalidInputError
from tests.examples_of import examples
from tests.tableformat.statements.tables import filled, ids, made, rows


def test_a_statement_that_changes_nothing_makes_no_epoch() -> None:
    table = filled()
    before = table.epoch
    assert table.delete("id = 50").epoch == before
    assert table.update({"text": "'x'"}, "id = 50").epoch == before
    assert table.upsert(rows().slice(0, 0), on="id").epoch == before
    assert table.refresh().epoch == before


def test_overwrite_by_condition_replaces_rows_anywhere_in_their_rowsets() -> None:
    table = filled()
    table.overwrite(rows(3, 4, text="new"), where="id BETWEEN 2 AND 5")
    assert ids(table) == [0, 1, 3, 4, *range(6, 10), *range(100, 110)]
    with pytest.raises(InvalidInputError, match="1 of the new rows do not meet"):
        table.overwrite(rows(3, 9), where="id < 5")


@pytest.mark.parametrize("deleted", ["id = 4", "id < 50"])
def test_overwrite_by_condition_brings_no_rows_back_that_were_deleted_meanwhile(
    deleted: str,
) -> None:
    table = filled()
    late = ArrowTable(table._location, table._log, table._snapshot)
    table.delete(deleted)
    with pytest.raises(ConflictError, match="of table 't' changed in epoch"):
        late.overwrite(rows(3, 4), where="id BETWEEN 2 AND 5")


def test_batches_and_expected_epochs_hold_for_every_statement() -> None:
    table = filled()
    run: Callable[[CommitSettings], Any]
    runs: list[Callable[[CommitSettings], Any]] = [
        lambda c: table.append(rows(300), commit=c),
        lambda c: table.delete("id = 0", commit=c),
        lambda c: table.update({"text": "'x'"}, "id = 1", commit=c),
        lambda c: table.upsert(rows(301), on="id", commit=c),
        lambda c: table.overwrite(rows(302), where="id = 302", commit=c),
        lambda c: table.overwrite(rows(303), commit=c),
    ]
    for version, run in enumerate(runs):
        with pytest.raises(ConflictError, match="expects epoch 1"):
            run(CommitSettings(expect_epoch=1))
        batch = CommitSettings(batch=("job", version), expect_epoch=table.refresh().epoch)
        run(batch)
        head = table.refresh().epoch
        run(CommitSettings(batch=("job", version), metadata="again"))
        assert table.refresh().epoch == head
    run(CommitSettings(batch=("job", 99), metadata="note"))
    assert table.history()[0].parameters["userMetadata"] == "note"


def test_a_statement_with_nothing_to_do_still_expects_its_epoch() -> None:
    table = filled()
    runs: list[Callable[[CommitSettings], Any]] = [
        lambda c: table.append(rows(), commit=c),
        lambda c: table.delete("id = 99", commit=c),
        lambda c: table.update({"text": "'x'"}, "id = 99", commit=c),
        lambda c: table.overwrite(rows(), where="id = 99", commit=c),
        lambda c: table.restore(epoch=table.epoch, commit=c),
    ]
    for run in runs:
        epoch = table.refresh().epoch
        run(CommitSettings(expect_epoch=epoch))
        assert table.refresh().epoch == epoch
        with pytest.raises(ConflictError, match=f"expects epoch 1, but .* {epoch}"):
            run(CommitSettings(expect_epoch=1))


@pytest.mark.parametrize("where", ["id IN (0, NULL)", "id = 0 OR id = NULL", "id < 1 OR NULL"])
def test_a_null_in_a_condition_selects_no_row(where: str) -> None:
    table = filled()
    assert table.delete(where).rows_deleted == 1
    assert ids(table) == [*range(1, 10), *range(100, 110)]


VALUES = st.none() | st.integers(0, 5)
ROW = st.tuples(VALUES, st.none() | st.sampled_from(["", "x", "y"]))
CONDITION = st.sampled_from(
    [
        "a = 1", "a <> 2", "a < 3", "a IS NULL", "b = 'x'", "b <> 'y'", "a IN (1, 4)",
        "b LIKE 'x%'", "a = NULL", "NULL", "a IN (1, NULL)", "a NOT IN (2, NULL)", "k >= 0",
    ]
)  # fmt: skip
WHERE = st.one_of(
    CONDITION,
    st.builds("({} AND {})".format, CONDITION, CONDITION),
    st.builds("({} OR {})".format, CONDITION, CONDITION),
    st.builds("NOT ({} OR {})".format, CONDITION, CONDITION),
)
STATEMENT = st.one_of(
    st.tuples(st.just("append"), st.lists(ROW, min_size=1, max_size=6)),
    st.tuples(st.just("delete"), WHERE),
    st.tuples(st.just("update"), WHERE, st.sampled_from(["a", "7", "NULL"])),
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(STATEMENT, max_size=8))
def test_the_same_statements_leave_the_same_rows_in_duckdb(statements: list[Any]) -> None:
    schema = pa.schema([("k", pa.int64()), ("a", pa.int64()), ("b", pa.string())])
    table, number = made(schema=schema), 0
    with duckdb.connect() as rival:
        rival.execute("CREATE TABLE t (k BIGINT, a BIGINT, b VARCHAR)")
        for statement in statements:
            match statement:
                case ("append", new):
                    data = [(number + i, *each) for i, each in enumerate(new)]
                    number += len(data)
                    table.append(
                        pa.Table.from_pylist(
                            [dict(zip(schema.names, each, strict=True)) for each in data], schema
                        )
                    )
                    rival.executemany("INSERT INTO t VALUES (?, ?, ?)", data)
                case ("delete", where):
                    [deleted] = rival.execute(f"DELETE FROM t WHERE {where}").fetchone() or (0,)
                    assert table.delete(where).rows_deleted == deleted
                case ("update", where, value):
                    changed = rival.execute(f"UPDATE t SET a = {value}, b = 'u' WHERE {where}")
                    [updated] = changed.fetchone() or (0,)
                    counts = table.update({"a": value, "b": "'u'"}, where)
                    assert counts.rows_updated == updated
        want = rival.execute("SELECT * FROM t ORDER BY k").fetchall()
    got = table.scan().to_arrow().sort_by("k").to_pylist()
    assert [tuple(each.values()) for each in got] == want
