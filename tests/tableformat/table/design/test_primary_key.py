"""A table gets its primary key at its creation, or is refused with a sentence that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ColonnadeError, SchemaField, TableSchema
from colonnade.tableformat.write.job import target_of
from tests.tableformat.statements.tables import SCHEMA, made

COLUMNS = TableSchema(
    fields=(
        SchemaField(name="id", type="long"),
        SchemaField(name="day", type="date"),
        SchemaField(name="v", type="variant"),
        SchemaField(name="c", type="string collate UNICODE_CI"),
    )
)


def test_a_table_is_sorted_by_its_key_whose_columns_are_not_null(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", COLUMNS, primary_key=["day", "ID"])
    assert table.primary_key == ("day", "id")
    assert [field.column for field in table._state.sort_key] == [2, 1]
    assert [field.nullable for field in table._state.schema.fields] == [False, False, True, True]
    again = colonnade.open(tmp_path / "t")
    assert again.primary_key == ("day", "id")


def test_a_given_sort_key_stays(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "d")
    table = database.create_table("t", SCHEMA, primary_key=["id"], sort_key=["day desc"])
    assert [field.column for field in table._state.sort_key] == [4]
    with database.transaction() as tx:
        tx.create("u", SCHEMA, primary_key=["text"])
    assert database.table("u").primary_key == ("text",)


def test_key_columns_have_filters_unless_a_property_says_otherwise() -> None:
    wanted = made(schema=SCHEMA, key=["id", "flag"])
    none = made(schema=SCHEMA, key=["id"], properties={"bloom-filter-enabled.column.ID": "false"})
    for table, expected in ((wanted, (1,)), (none, ())):
        assert target_of(table._state, table._log.limits).bloom_columns == expected


@pytest.mark.parametrize(
    ("design", "text"),
    [
        ({"primary_key": ["nothing"]}, "'nothing' does not exist"),
        ({"primary_key": ["id", "ID"]}, "'id' is in the primary key twice"),
        ({"primary_key": ["v"]}, "'v' of type variant cannot be in the primary key"),
        ({"primary_key": ["c"]}, "cannot be in the primary key, because the type has no order"),
        ({"primary_key": "id"}, "primary_key"),
        ({"properties": {"primaryKey": "id"}}, "'primaryKey' is not a property that can be set"),
        ({"primary_key": ["id"], "properties": {"onDuplicate": "first"}}, "error, ignore or merge"),
    ],
)
def test_a_wrong_key_is_refused(tmp_path: Path, design: dict[str, Any], text: str) -> None:
    with pytest.raises(ColonnadeError, match=text):
        colonnade.create(tmp_path / "t", COLUMNS, **design)
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (pa.table({"id": [1, None]}), "'id'.*NULL"),
        (pa.table({"text": ["x"]}), "'id'"),
    ],
)
def test_rows_without_a_key_are_refused(data: pa.Table, text: str) -> None:
    table = made(schema=SCHEMA, key=["id"])
    with pytest.raises(ColonnadeError, match=text):
        table.append(data)
    assert table.scan().to_arrow().num_rows == 0
