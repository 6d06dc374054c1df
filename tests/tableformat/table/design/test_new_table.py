"""A table is designed with all its ids, or refused with the name of the wrong part."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.table.design.new_table import check_table_name, new_table, parse_sort_key
from colonnade.tableformat.table.design.spec import TableSpec

NESTED = StructType(fields=(SchemaField(name="x", type="int"),))
SCHEMA = TableSchema(
    fields=(
        SchemaField(name="day", type="date"),
        SchemaField(name="point", type=NESTED),
        SchemaField(name="amount desc", type="long"),
        SchemaField(name="any", type="variant"),
    )
)


def test_a_design_gives_ids_to_the_table_and_to_every_column() -> None:
    made = new_table(
        "t",
        TableSpec(
            SCHEMA,
            sort_key=["day desc"],
            partition_by=["days(day)"],
            properties={"user.a": "b"},
            comment="words",
        ),
    )
    other = new_table("t", SCHEMA)
    assert made.table != other.table
    assert [field.id for field in made.table_schema.fields] == [1, 2, 3, 4]
    assert made.next_column_id == 6
    assert made.sort_key == (SortField(column=1, descending=True),)
    assert made.partition_fields == (PartitionField(transform="days", column=1),)
    assert (made.properties, made.comment) == ({"user.a": "b"}, "words")
    assert other.partition_fields is None


@pytest.mark.parametrize(
    ("text", "column", "descending"),
    [
        ("day", 1, False),
        (" day  ASC ", 1, False),
        ("DAY Desc", 1, True),
        ("amount desc asc", 3, False),
        ("amount desc desc", 3, True),
    ],
)
def test_a_sort_key_names_a_column_and_perhaps_a_direction(
    text: str, column: int, descending: bool
) -> None:
    schema = new_table("t", SCHEMA).table_schema
    assert parse_sort_key(schema, [text]) == (SortField(column=column, descending=descending),)


@pytest.mark.parametrize(
    ("key", "kind", "sentence"),
    [
        (["none"], NotFoundError, "none"),
        (["point"], InvalidInputError, "'point' .* no order"),
        (["any"], InvalidInputError, "'any' .* no order"),
        (["day", "day desc"], InvalidInputError, "'day' is in the sort key twice"),
    ],
)
def test_an_impossible_sort_key_is_refused_by_its_column(
    key: list[str], kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        new_table("t", SCHEMA, sort_key=key)


@pytest.mark.parametrize("name", ["t", "Ä b.c", "x" * 255, "...", "__t"])
def test_a_name_that_can_end_a_path_is_accepted(name: str) -> None:
    assert check_table_name(name) == name


@pytest.mark.parametrize("name", ["", "x" * 256, "_t", ".", "..", "a/b", "a\\b", "a\nb", None])
def test_a_name_that_cannot_end_a_path_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="must have 1 to 255 printable characters"):
        check_table_name(name)
