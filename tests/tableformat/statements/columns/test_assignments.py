"""Values that an UPDATE assigns to nested columns."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.table.alteration import AddColumn, SetDefault
from colonnade.tableformat.table.design.defaults import SqlDefault
from tests.tableformat.statements.tables import made

PLACE = pa.struct([("x", pa.int32()), ("y", pa.string())])
NESTED = pa.schema(
    [("place", PLACE), ("places", pa.list_(PLACE)), ("by", pa.map_(pa.string(), PLACE))]
)


def test_nested_values_have_all_fields_of_their_structs_whatever_the_case() -> None:
    table = made(schema=NESTED)
    table.append(pa.table({"place": [None], "places": [None], "by": [None]}, NESTED))
    place, stored = {"Y": "b", "X": 1}, {"x": 1, "y": "b"}
    table.update({"place": place, "places": [place, None], "by": {"k": place}})
    assert table.scan().to_arrow().to_pylist() == [
        {"place": stored, "places": [stored, None], "by": [("k", stored)]}
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"place": {"x": 1, "y": "b", "z": 2}}, "'place' has the unknown 'z'"),
        ({"place": {"x": 1}}, "'place' lacks 'y'"),
        ({"places": [{"x": 1, "y": "b"}, {}]}, r"'places\.element' lacks 'x', 'y'"),
        ({"by": {"k": {"x": 1}}}, r"'by\.value' lacks 'y'"),
        ({"places": {"x": 1}}, "'places' is array and cannot be set to"),
        ({"place": [1]}, "'place' is struct and cannot be set to"),
    ],
)
def test_a_nested_value_that_does_not_fit_is_refused(value: dict[str, Any], message: str) -> None:
    table = made(schema=NESTED)
    with pytest.raises(InvalidInputError, match=message):
        table.update(value)
    with pytest.raises(InvalidInputError, match="'places' of type array cannot be a key"):
        table.upsert(NESTED.empty_table(), on="places")


def test_the_word_default_is_the_default_of_the_column_unless_a_column_has_this_name() -> None:
    table = made(schema=pa.schema({"k": pa.int32(), "n": pa.int32(), "d": pa.date32()}))
    table.append(pa.table({"k": pa.array([1], pa.int32())}))
    now = SqlDefault("current_date()", Literal(Kind.DATE, 20000))
    table.alter(SetDefault(("n",), 7), SetDefault(("d",), now))
    table.update({"n": "DEFAULT", "k": "default"})
    assert table.scan(["k", "n"]).to_arrow().to_pylist() == [{"k": None, "n": 7}]
    with pytest.raises(InvalidInputError, match="'d' has the default 'current_date"):
        table.update({"d": "DEFAULT"})
    table.alter(AddColumn(SchemaField(name="Default", type="int"), default=9))
    table.update({"n": "default"})
    assert table.scan(["n"]).to_arrow().to_pylist() == [{"n": 9}]
