"""Fields and columns refuse what they cannot hold, with the name of the column."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '"{}"', '{"a":NaN}'])
def test_metadata_is_a_json_object(text: str) -> None:
    with pytest.raises(InvalidInputError, match="'x'"):
        SchemaField(name="x", type="int", metadata=text)


def test_an_unknown_column_of_a_wide_table_is_an_error_that_can_be_read() -> None:
    fields = tuple(SchemaField(name=f"c{i}", type="long") for i in range(500))
    with pytest.raises(NotFoundError, match=r"^Column 'x' .* c18, c19 and 480 more\.$"):
        TableSchema(fields=fields).field("x")
    with pytest.raises(NotFoundError, match=r"the columns are c0, c1\.$"):
        TableSchema(fields=fields[:2]).field("x")


def test_fields_may_be_a_list() -> None:
    field = SchemaField(name="x", type="int")
    assert StructType(fields=[field]) == StructType(fields=(field,))  # type: ignore[arg-type]
    assert TableSchema(fields=[field]) == TableSchema(fields=(field,))  # type: ignore[arg-type]
