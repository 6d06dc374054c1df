"""The log names the columns of properties by ids, and people name them."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.properties import (
    by_id,
    by_name,
    check_columns_stay,
    columns_of,
    divided,
    missing,
    names_by_id,
    names_column,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema

A = SchemaField(id=1, name="a", type="long")
AT = SchemaField(id=2, name="At", type="long")
SCHEMA = TableSchema(fields=(A, AT))
GIVEN = {
    "merge.A": "add",
    "sequence": "at",
    "sequence.a": "AT",
    "bloom-filter-enabled.column.at": "true",
    "owner": "a",
}
STATED = {
    "merge.1": "add",
    "sequence": "2",
    "sequence.1": "2",
    "bloom-filter-enabled.column.2": "true",
    "owner": "a",
}


def test_columns_are_stated_by_their_first_ids_and_shown_by_their_names() -> None:
    assert by_id(GIVEN, SCHEMA) == STATED
    assert by_name(STATED, SCHEMA) == {
        "merge.a": "add",
        "sequence": "At",
        "sequence.a": "At",
        "bloom-filter-enabled.column.At": "true",
        "owner": "a",
    }
    assert names_by_id(("merge.a", "merge.gone", "owner"), SCHEMA) == ("merge.1", "owner")


def test_columns_that_exchange_their_names_keep_their_properties() -> None:
    swapped = TableSchema(
        fields=(A.model_copy(update={"name": "At"}), AT.model_copy(update={"name": "a"}))
    )
    assert by_name(STATED, swapped)["merge.At"] == "add"
    assert by_name(STATED, swapped)["sequence"] == "a"


def test_part_of_the_columns_has_the_properties_about_them() -> None:
    assert by_name(STATED, TableSchema(fields=(A,))) == {"merge.a": "add", "owner": "a"}
    own, others = divided(STATED, (A,))
    assert ({*own}, {*others}) == (
        {"merge.1", "sequence.1"},
        {"bloom-filter-enabled.column.2"},
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"merge.b": "add"}, "Property 'merge.b' names a column that is not there. Column 'b'"),
        ({"sequence": "b"}, "Property 'sequence' names a column that is not there. Column 'b'"),
        ({"merge.a": "add", "merge.A": "max"}, "'merge.a' and 'merge.A' are the same one"),
    ],
)
def test_a_property_without_a_column_of_its_own_is_refused(
    given: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        by_id(given, SCHEMA)


def test_a_column_that_a_property_names_must_stay() -> None:
    check_columns_stay(STATED, SCHEMA, SCHEMA, "dropped")
    assert {*missing(STATED, TableSchema(fields=(A,)))} == {
        ("sequence", "2"),
        ("sequence.1", "2"),
        ("bloom-filter-enabled.column.2", "2"),
    }
    with pytest.raises(InvalidInputError, match="'At' cannot be dropped: property 'sequence'"):
        check_columns_stay(STATED, SCHEMA, TableSchema(fields=(A,)), "dropped")


def test_only_these_properties_name_columns() -> None:
    assert all(map(names_column, STATED.keys() - {"owner"}))
    assert not any(map(names_column, ("owner", "merges", "sequences", "compaction.merge.a")))
    assert columns_of("owner", "1") == set()
