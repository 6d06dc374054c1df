"""Text that reads fields of a nested column is told from text that reads it as one value."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.schema import ArrayType, DataType, MapType, SchemaField, StructType
from colonnade.tableformat.predicate.sql import reads_whole


def field(name: str, kind: DataType) -> SchemaField:
    return SchemaField(name=name, type=kind, nullable=name != "key")


INNER = StructType(fields=(field("x", "int"), field("y.z", "string")))
S = field("s", StructType(fields=(field("in", INNER), field("a", "int"))))
L = field("l", ArrayType(element=field("element", INNER)))
M = field("m", MapType(key=field("key", "string"), value=field("value", INNER)))


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("s.a > 0", S),
        ("S.IN.X > 0 AND s.`in`.`y.z` LIKE 'a%'", S),
        ("length(s.in.`y.z`) < 3 OR s IS NULL OR s.in IS NOT NULL", S),
        ("l[0].x > 0 AND size(l) < 5", L),
        ("m['k'].x > 0 AND element_at(m, 'j').`y.z` = 'a'", M),
    ],
)
def test_fields_and_elements_are_not_the_whole_value(text: str, column: SchemaField) -> None:
    assert not reads_whole(text, column)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("s = t", S),
        ("s.a > 0 AND to_json(s) <> ''", S),
        ("s.in = named_struct('x', 1, 'y.z', 'a')", S),
        ("l[0] IN (SELECT 1)", L),
        ("forall(l, e -> e.x > 0)", L),
        ("l.x = array(1)", L),
        ("m['k'] <> m['j']", M),
        ("s.unknown > 0", S),
        ("other > 0", S),
        ("t.s.a > 0", S),
        ("this is no SQL (", S),
    ],
)
def test_nested_values_and_unknown_text_are_the_whole_value(text: str, column: SchemaField) -> None:
    assert reads_whole(text, column)
