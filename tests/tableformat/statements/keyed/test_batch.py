"""A batch has the key columns, and each column has its sequence beside it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.statements.keyed.batch import keyed_batch
from tests.tableformat.statements.tables import SCHEMA, made

TABLE = made(schema=SCHEMA, key=("id",), properties={"sequence.text": "day"})._state
KEY = TableSchema(fields=key_fields(TABLE.primary_key, TABLE.schema))


def test_a_batch_has_all_columns_and_says_which_were_given() -> None:
    batch = keyed_batch(TABLE, pa.table({"FLAG": [True], "id": [1]}), KEY)
    assert batch.rows.column_names == SCHEMA.names
    assert batch.rows.to_pylist() == [
        {"id": 1, "text": None, "price": None, "day": None, "flag": True}
    ]
    assert batch.given == {1, 5}


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
        keyed_batch(TABLE, pa.table(columns), KEY)
