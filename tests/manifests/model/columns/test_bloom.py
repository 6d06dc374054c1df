"""Properties name the columns that get Bloom filters."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.bloom import (
    bloom_columns,
    check_bloom_columns,
)
from colonnade.manifests.model.schema import ArrayType, SchemaField, TableSchema

ON = "bloom-filter-enabled.column."


def schema(**names: str) -> TableSchema:
    fields = [
        SchemaField(id=i, name=name, type=text) for i, (name, text) in enumerate(names.items(), 1)
    ]
    return TableSchema(fields=tuple(fields))


TABLE = schema(
    id="long", Name="string", flag="boolean", ci="string collate UNICODE_CI", v="variant"
)


def test_columns_are_found_as_sql_finds_them() -> None:
    properties = {ON + "ID": "true", ON + "Name": " TRUE ", "owner": "true"}
    assert bloom_columns(properties, TABLE) == (1, 2)
    assert bloom_columns({**properties, ON + "Name": "false"}, TABLE) == (1,)


def test_a_name_that_means_nothing_any_more_is_left_out() -> None:
    stale = {ON + "gone": "true", ON + "flag": "true", ON + "v": "true"}
    assert bloom_columns(stale, TABLE) == ()


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        (ON + "id", "yes", "must be true or false, not 'yes'"),
        (ON + "nope", "true", "names no column: the table has id, Name, flag, ci, v"),
        (ON + "flag", "true", "'flag' of type boolean cannot have Bloom filters"),
        (ON + "ci", "true", "'ci' of type string collate UNICODE_CI cannot"),
        (ON + "v", "false", "'v' of type variant cannot"),
        ("bloom-filter-fpp.column.id", "0.1", "There is no property"),
        ("bloom-filter.id", "true", f"There is no property 'bloom-filter.id'; {ON}<column>"),
    ],
)
def test_a_property_that_cannot_be_meant_is_refused(key: str, text: str, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        check_bloom_columns({key: text}, TABLE)


def test_nested_columns_have_no_filters() -> None:
    element = SchemaField(id=2, name="element", type="int")
    table = TableSchema(fields=(SchemaField(id=1, name="a", type=ArrayType(element=element)),))
    with pytest.raises(InvalidInputError, match="'a' of type array<int> cannot"):
        check_bloom_columns({ON + "a": "true"}, table)
    check_bloom_columns({ON + "a.b": "true"}, schema(**{"a.b": "int"}))
