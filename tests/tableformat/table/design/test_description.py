"""The description of a table is what creates a table of the same description."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import colonnade
from colonnade.tableformat.table.design import description

SCHEMA = pa.schema(
    [("id", pa.int64()), ("day", pa.date32()), ("price", pa.float64()), ("twice", pa.int64())]
)


def test_a_table_that_is_created_from_a_description_has_the_same_one(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "a",
        SCHEMA,
        primary_key=["id", "day"],
        sort_key=["day", "price desc"],
        partition_by=["months(day)", "bucket(16, id)"],
        generated={"twice": "id + id"},
        constraints={"paid": "price > 0"},
    )
    state = table._state
    again = colonnade.create(
        tmp_path / "b",
        SCHEMA,
        primary_key=description.primary_key_of(state),
        sort_key=description.sort_key_of(state),
        partition_by=description.partitioning_of(state),
        generated=description.generated_of(state),
        constraints=description.constraints_of(state),
    )
    assert description.sort_key_of(state) == ["day", "price desc"]
    for part in ("primary_key", "sort_key", "partitioning", "generated", "constraints"):
        of = getattr(description, f"{part}_of")
        assert of(again._state) == of(state) != of(colonnade.create(tmp_path / part, SCHEMA)._state)


def test_the_next_value_of_an_identity_column_is_none_after_its_last_one(tmp_path: Path) -> None:
    identity = {"n": colonnade.IdentityColumn(start=126)}
    columns = pa.schema([("n", pa.int8()), ("v", pa.int64())])
    table = colonnade.create(tmp_path / "t", columns, identity=identity)
    assert description.next_identities_of(table._state) == {"n": 126}
    table.append({"v": [1, 2]})
    assert description.next_identities_of(table._state) == {"n": None}
