"""CHAR and VARCHAR have the length that their type says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import (
    arrow_schema,
)
from colonnade.tableformat.types.conform import conform
from tests.tableformat.types.arrays import schema_of


def _nested_in_every_way(text: str) -> TableSchema:
    """A column of each nesting that has values of a primitive type at its bottom."""
    leaf = SchemaField(name="x", type=text)
    element = SchemaField(name="element", type=text)
    key = SchemaField(name="key", type=text, nullable=False)
    value = SchemaField(name="value", type=ArrayType(element=element))
    columns: dict[str, DataType] = {
        "plain": text,
        "array": ArrayType(element=element),
        "map": MapType(key=key, value=value),
        "struct": StructType(fields=(leaf,)),
    }
    fields = tuple(SchemaField(name=name, type=each) for name, each in columns.items())
    return assign_ids(TableSchema(fields=fields), 1)[0]


@pytest.mark.parametrize(
    ("given_text", "char", "varchar"),
    [
        ("é", "é  ", "é"),
        ("日本語", "日本語", "日本語"),
        ("ab    ", "ab ", "ab "),
        ("", "   ", ""),
        ("     ", "   ", "   "),
    ],
)
def test_char_and_varchar_have_their_spaces_at_every_depth(
    given_text: str, char: str, varchar: str
) -> None:
    for type_text, stored in (("char(3)", char), ("varchar(3)", varchar)):
        schema = _nested_in_every_way(type_text)

        def row(text: str) -> dict[str, Any]:
            return {
                "plain": text,
                "array": [text, None],
                "map": [(text, [text])],
                "struct": {"x": text},
            }

        empty = dict.fromkeys(schema.names)
        rows = [row("xyz"), empty, row(given_text), row("xyz")]
        for exact in (True, False):
            layout = arrow_schema(schema)
            if not exact:
                layout = pa.schema([field.remove_metadata() for field in layout])
            found = conform(pa.RecordBatch.from_pylist(rows, layout).slice(1, 2), schema)
            assert found.schema.equals(arrow_schema(schema), check_metadata=True)
            assert found.to_pylist() == [empty, row(stored)]


def test_one_long_varchar_does_not_fill_up_the_short_ones_beside_it() -> None:
    """With their spaces, all of them would take 10 GB."""
    longest = "b" * 1_000_000
    texts = ["a"] * 5_000 + [None, longest + "  "] + ["c "] * 5_000
    batch = pa.RecordBatch.from_arrays([pa.array(texts)], ["a"])
    found = conform(batch, schema_of("varchar(1000000)"))
    assert found.column(0).to_pylist() == [*texts[:5_001], longest, *texts[5_002:]]
