"""A table can be created of columns, of rows, or of both, in one epoch or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ConflictError, IdentityColumn, InvalidInputError, NotFoundError
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


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "value": (rows(1).set_column(0, "id", [[None]]), {}, "'id'"),
    "constraint": (rows(1), {"constraints": {"none": "id < 0"}}, "'none'"),
    "key": (rows(1, 1), {"primary_key": ["id"]}, "1"),
}


@pytest.mark.parametrize("place", ["t", "db/t"])
@pytest.mark.parametrize("case", BAD)
def test_a_refused_row_leaves_no_table(case: str, place: str, tmp_path: Path) -> None:
    if place == "db/t":
        colonnade.create_database(tmp_path / "db")
    data, design, words = BAD[case]
    with pytest.raises((InvalidInputError, ConflictError), match=words):
        colonnade.create(tmp_path / place, SCHEMA, data=data, **design)
    with pytest.raises(NotFoundError):
        colonnade.open(tmp_path / place)
    table = colonnade.create(tmp_path / place, SCHEMA, data=rows(1))
    assert ids(table.scan()) == [1]


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
