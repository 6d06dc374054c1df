"""A bound predicate names the columns that it reads."""

from __future__ import annotations

from colonnade.tableformat.predicate import (
    bind,
    parse_predicate,
)
from tests.tableformat.predicate.blocks import make_schema


def test_column_ids_are_the_columns_that_the_predicate_reads() -> None:
    schema = make_schema({"a": "int", "b": "int", "c": "int"})
    assert bind(parse_predicate("a = 1 OR NOT (a < b)"), schema).column_ids == {1, 2}
    assert bind(parse_predicate("TRUE"), schema).column_ids == frozenset()
