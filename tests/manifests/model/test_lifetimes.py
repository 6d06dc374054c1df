"""Which lifetimes a table may have, and the reason where it may not have some."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.lifetimes import (
    LONGEST_MS,
    ColumnLifetime,
    Lifetimes,
    column_of,
    problem_of,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="id", type="long"),
        SchemaField(id=2, name="at", type="timestamp"),
        SchemaField(id=3, name="day", type="date"),
        SchemaField(id=4, name="local", type="timestamp_ntz"),
        SchemaField(id=5, name="note", type="string"),
        SchemaField(id=6, name="fixed", type="string", nullable=False),
        SchemaField(id=7, name="wide", type="long"),
    )
)


def lives(**fields: Any) -> Lifetimes:
    return Lifetimes(**fields)


def of(number: int) -> Lifetimes:
    return lives(columns=(ColumnLifetime(column=number, ms=1),), time_column=2)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"time_column": 2},
        {"rows_ms": 0},
        {"rows_ms": -1},
        {"rows_ms": LONGEST_MS + 1},
        {"rows_ms": 1, "grace_ms": -1},
        {"columns": [{"column": 5, "ms": 1}, {"column": 5, "ms": 2}]},
    ],
)
def test_lifetimes_without_a_meaning_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Lifetimes.model_validate(fields)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_dates_and_timestamps_say_when_rows_were_made_and_when_they_expire(number: int) -> None:
    for found in (lives(rows_ms=LONGEST_MS, time_column=number), lives(expires_column=number)):
        assert problem_of(found, SCHEMA, (), (), ()) is None


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        (lives(rows_ms=1, time_column=8), "column 8, which the table does not have"),
        (lives(rows_ms=1, time_column=9), "column 9, which the table does not have"),
        (lives(expires_column=1), "column 'id' of type long is no time"),
        (lives(rows_ms=1, time_column=5), "column 'note' of type string is no time"),
        (of(6), "values of column 'fixed' cannot expire, because it is NOT NULL"),
        (of(2), "column 'at' cannot expire, because the column is part of"),
        (of(1), "column 'id' cannot expire, because the column is part of"),
        (of(3), "column 'day' cannot expire, because the column is part of"),
        (of(7), "column 'wide' cannot expire, because the column is part of"),
    ],
)
def test_a_lifetime_that_a_table_cannot_have_is_named(found: Lifetimes, problem: str) -> None:
    layout = (PartitionField(column=3, transform="identity"),)
    said = problem_of(found, SCHEMA, (1,), (SortField(column=7),), layout)
    assert problem in str(said)


def test_values_of_other_columns_may_expire() -> None:
    assert problem_of(of(5), SCHEMA, (1,), (SortField(column=7),), ()) is None
    assert problem_of(of(7), SCHEMA, (), (), ()) is None


def test_a_lifetime_names_a_column_by_its_id() -> None:
    assert column_of(7, SCHEMA).name == "wide"
    assert of(7).named == {2, 7}


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (lives(rows_ms=1), True),
        (lives(rows_ms=1, time_column=2), False),
        (lives(columns=(ColumnLifetime(column=5, ms=1),)), True),
        (of(5), False),
        (lives(expires_column=2), False),
    ],
)
def test_a_lifetime_without_a_time_column_counts_from_the_write(
    found: Lifetimes, counts: bool
) -> None:
    assert found.counts_from_write == counts
