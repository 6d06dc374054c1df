"""Rows are deleted by their keys alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from tests.tableformat.statements.tables import ids, made, rows


def test_the_rows_with_the_keys_are_deleted_and_other_keys_have_no_effect() -> None:
    table = made(key=("id",))
    table.append(rows(*range(10)))
    counts = table.delete_keys(pa.table({"ID": [3, 99, 7, 3]}))
    assert counts.rows_deleted == 2
    assert ids(table) == [0, 1, 2, 4, 5, 6, 8, 9]
    before = table.refresh().epoch
    assert table.delete_keys(pa.table({"id": [3]})).rows_deleted == 0
    assert table.refresh().epoch == before
    with ArrowTransaction(table._log, table._snapshot) as transaction:
        mine = transaction.table("t")
        mine.upsert(rows(3))
        mine.delete_keys(pa.table({"id": [3, 4]}))
    assert ids(table) == [0, 1, 2, 5, 6, 8, 9]


@pytest.mark.parametrize(
    ("key", "properties", "data", "sentence"),
    [
        ((), {}, {"id": [1]}, "Table 't' has no primary key to delete by"),
        (
            ("id",),
            {"sequence": "day"},
            {"id": [1]},
            "The keys lack the sequence 'day' of table 't'",
        ),
        (("id",), {"sequence.text": "day"}, {"id": [1]}, "column 'text' has the sequence 'day'"),
        (("id",), {}, {"text": ["a"]}, "lacks 'id' and has the unknown 'text'"),
        (("id",), {}, {"id": [1, None]}, "'id' is NOT NULL, but the data has 1 NULL"),
    ],
)
def test_keys_that_cannot_be_deleted_are_refused(
    key: tuple[str, ...],
    properties: dict[str, str],
    data: dict[str, list[object]],
    sentence: str,
) -> None:
    table = made(key=key, properties=properties)
    with pytest.raises(InvalidInputError, match=sentence):
        table.delete_keys(pa.table(data))
