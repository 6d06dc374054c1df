"""UPDATE computes new values from the row before the update."""

from __future__ import annotations

import datetime as dt

import pytest

from colonnade import InvalidInputError, col
from tests.tableformat.statements.tables import filled, found, row


def test_update_sees_each_row_as_it_was() -> None:
    table = filled()
    values = {
        "text": "'new'",
        "price": col("price"),
        "day": dt.date(1999, 1, 2),
        "flag": "id > 4",
        "id": "id",
    }
    counts = table.update(values, "id BETWEEN 4 AND 5")
    assert counts.rows_updated == 2
    assert found(table, "text = 'new'") == [
        row(4, text="new", day=dt.date(1999, 1, 2), flag=False),
        row(5, text="new", day=dt.date(1999, 1, 2), flag=True),
    ]
    assert table.update({"flag": None}).rows_updated == 20
    assert table.scan(where="flag IS NULL").to_arrow().num_rows == 20


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("id div (id - 4)", "divided by zero"),
        ("int('x')", "'x'"),
        ("id * 9223372036854775807L", "fit"),
    ],
)
def test_a_value_that_cannot_be_computed_names_its_column_and_changes_nothing(
    value: str, reason: str
) -> None:
    table = filled()
    before = table.epoch
    with pytest.raises(InvalidInputError, match=f"^Column 'id' .*{reason}"):
        table.update({"text": "'new'", "id": value})
    assert table.refresh().epoch == before
