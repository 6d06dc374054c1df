"""A predicate is used for the filter of another library only where both mean the same."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.predicate.foreign.meaning import means_the_same

TYPES = {
    "n": "long",
    "d": "decimal(9,2)",
    "s": "string",
    "v": "varchar(9)",
    "c": "char(3)",
    "y": "date",
    "t": "timestamp_ntz",
    "z": "timestamp",
}
SCHEMA = TableSchema(fields=tuple(SchemaField(name=n, type=each) for n, each in TYPES.items()))


@pytest.mark.parametrize(
    "text",
    [
        "n > 1.5",
        "d IN (1, 2.5)",
        "s < 'a' AND NOT (v = 'a' OR s LIKE 'a%b')",
        "y = DATE '2026-01-01'",
        "t > DATE '2026-01-01'",
        "z > TIMESTAMP '2026-01-01 00:00:00Z'",
        "c IS NULL",
        "n < d",
    ],
)
def test_values_of_one_kind_are_compared_alike(text: str) -> None:
    assert means_the_same(parse_predicate(text), SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "c = 'a'",
        "NOT (c IN ('a', 'b'))",
        "y = '2026-01-01'",
        "n > 0 OR t > '2026-01-01'",
        "z > DATE '2026-01-01'",
        "z > TIMESTAMP_NTZ '2026-01-01 00:00:00'",
        "t > TIMESTAMP '2026-01-01 00:00:00Z'",
        "t < z",
        "n = 'a'",
        "unknown = 1",
    ],
)
def test_padding_texts_and_time_zones_are_left_to_the_library(text: str) -> None:
    assert not means_the_same(parse_predicate(text), SCHEMA)
