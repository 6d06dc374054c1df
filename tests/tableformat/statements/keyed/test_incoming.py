"""Incoming rows have the key columns, and each column has its sequence beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade import AddConstraint, ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.keyed.incoming import (
    all_columns,
    batch_rows,
    checks_merged_rows,
    incoming_columns,
    merging_job,
    open_columns,
    require_values,
)
from colonnade.tableformat.write.job import WriteJob, plan_write
from colonnade.tableformat.write.run import write_rows
from tests.tableformat.statements.tables import SCHEMA, log_of, made

STRICT = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("must", pa.string(), nullable=False),
        ("n", pa.int64()),
    ]
)


WITH_TWICE = STRICT.append(pa.field("twice", pa.int64()))
TWICE = {"twice": "n * 2"}


def strict(schema: pa.Schema = STRICT, **design: Any) -> ArrowTable:
    """Keys 1 and 2, whose column `must` is NOT NULL without a default."""
    table = made(schema=schema, key=["id"], **design)
    table.append(pa.table([[1, 2], ["a", "b"], [10, 20]], STRICT))
    return table


def job_of(table: ArrowTable, *names: str) -> WriteJob:
    state = table._state
    job = plan_write(table._location, table._snapshot, "append")
    return merging_job(job, state, incoming_columns(state, names))


def write(table: ArrowTable, **columns: list[Any]) -> dict[int, tuple[Any, ...]]:
    """Write rows as tasks do, and commit them; return the rows of the table by key."""
    job = job_of(table, *columns)
    entries = write_rows(job, pa.table(dict(columns)).to_batches(), table._log.store)
    commit_written(job, entries, table._log, table._snapshot)
    table.refresh()
    return {
        row[0]: row[1:] for row in zip(*table.scan().to_arrow().to_pydict().values(), strict=True)
    }


def named(state: TableState, ids: frozenset[int]) -> set[str]:
    return {each.name for each in state.schema.fields if each.id in ids}


def test_columns_are_named_in_any_case_and_others_have_no_effect() -> None:
    state = strict()._state
    assert named(state, incoming_columns(state, ["ID", "N", "zzz"])) == {"id", "n"}
    opened = open_columns(state.schema, incoming_columns(state, ["id", "n"]))
    assert [each.nullable for each in opened.fields] == [False, True, True]


@pytest.mark.parametrize(
    ("names", "properties", "sentence"),
    [
        (["n"], {}, "lack column 'id' of the primary key"),
        (["id", "must"], {"sequence.must": "n"}, "without its sequence 'n'"),
        (["id", "twice"], {}, "generated column 'twice' of table 't' without column 'n'"),
    ],
)
def test_columns_that_need_another_one_are_refused(
    names: list[str], properties: Mapping[str, str], sentence: str
) -> None:
    table = strict(WITH_TWICE, generated=TWICE, properties=properties)
    with pytest.raises(InvalidInputError, match=sentence):
        incoming_columns(table._state, names)


def test_generated_columns_make_a_row_no_less_whole() -> None:
    table = strict(WITH_TWICE, generated=TWICE)
    assert named(table._state, all_columns(table._state)) == {"id", "must", "n"}


def test_rows_of_known_keys_may_lack_what_a_new_row_needs() -> None:
    table = strict(properties={"merge.n": "add"})
    assert write(table, id=[2, 1, 2], n=[1, 2, 3]) == {1: ("a", 12), 2: ("b", 24)}
    with pytest.raises(InvalidInputError, match="'must' of table 't' is NOT NULL.*id = 3 is new"):
        write(table, id=[1, 3], n=[1, 1])
    with pytest.raises(InvalidInputError, match="the key k is new"):
        require_values(table._state, incoming_columns(table._state, ["id"]), "k")
    table.delete("id = 2")
    with pytest.raises(InvalidInputError, match="id = 2 is new"):
        write(table, id=[2], n=[1])


def test_a_key_that_is_deleted_before_the_slot_counts_as_new() -> None:
    table = strict()
    job = job_of(table, "id", "n")
    entries = write_rows(job, pa.table({"id": [2], "n": [0]}).to_batches(), table._log.store)
    base = table._snapshot
    table.delete("id = 2")
    with pytest.raises(InvalidInputError, match="id = 2 is new"):
        commit_written(job, entries, table._log, base)


def test_constraints_are_checked_on_merged_rows() -> None:
    table = strict(properties={"merge.n": "add"})
    table.alter(AddConstraint("low", "n BETWEEN 5 AND 30"))
    whole = all_columns(table._state)
    assert checks_merged_rows(table._state, whole)
    assert write(table, id=[1], n=[-5]) == {1: ("a", 5), 2: ("b", 20)}
    assert write(table, id=[3, 3], must=["c", "c"], n=[2, 3])[3] == ("c", 5)
    for columns in ({"id": [2], "n": [11]}, {"id": [4], "must": ["d"], "n": [1]}):
        with pytest.raises(InvalidInputError, match="Constraint 'low'"):
            write(table, **columns)


def test_a_row_that_replaces_another_is_checked_where_it_is_written() -> None:
    table = strict()
    table.alter(AddConstraint("low", "n < 30"))
    state = table._state
    assert not checks_merged_rows(state, all_columns(state))
    assert job_of(table, "id", "must", "n").target.constraints == state.constraints
    assert job_of(table, "id", "n").target.constraints == ()


TABLE = made(schema=SCHEMA, key=("id",), properties={"sequence.text": "day"})


def test_a_batch_has_all_columns_and_says_in_which_it_has_values() -> None:
    incoming = batch_rows(log_of(TABLE), TABLE._state, pa.table({"FLAG": [True], "id": [1]}))
    [part] = incoming.parts
    batch = incoming.read(part, np.arange(1))
    assert batch.column_names == SCHEMA.names
    assert batch.to_pylist() == [{"id": 1, "text": None, "price": None, "day": None, "flag": True}]
    assert incoming.columns == {1, 5}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"flag": [True]}, "lack column 'id' of the primary key of table 't'"),
        ({"id": [1], "text": ["a"]}, "column 'text' of table 't' without its sequence 'day'"),
        (
            {"id": [1], "more": ["a"]},
            "column 'more', which table 't' does not have .* 'text', .* with ignore_unknown",
        ),
        ({"id": ["a"]}, "'id' is long, but the data holds string"),
    ],
)
def test_a_batch_that_cannot_be_merged_is_refused_by_column(
    columns: dict[str, list[object]], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        batch_rows(log_of(TABLE), TABLE._state, pa.table(columns))
