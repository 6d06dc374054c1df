"""Rows that share a key become the row that the rules give, in the order in which they count."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.keys.merged_rows import Arrivals, merged_rows
from colonnade.tableformat.keys.policy import key_policy
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.merge_model import MergeModel, Row

ELEMENT = SchemaField(name="element", type="string")
ENTRY = (
    SchemaField(name="key", type="string", nullable=False),
    SchemaField(name="value", type="int"),
)

COLUMNS: dict[str, tuple[DataType, str | None]] = {
    "key": ("long", None),
    "at": ("timestamp_ntz", None),
    "also": ("int", None),
    "plain": ("string", None),
    "kept": ("string", "coalesce"),
    "sum": ("long", "add"),
    "least": ("int", "min"),
    "most": ("decimal(9,2)", "max"),
    "begin": ("string", "first"),
    "all": (ArrayType(element=ELEMENT), "list"),
    "set": (ArrayType(element=ELEMENT), "union"),
    "map": (MapType(key=ENTRY[0], value=ENTRY[1]), "map"),
    "text": ("string", "concat:+"),
}
SCHEMA = assign_ids(
    TableSchema(fields=tuple(SchemaField(name=n, type=t) for n, (t, _) in COLUMNS.items())), 1
)[0]
SEQUENCES: tuple[dict[str, str], ...] = (
    {},
    {"sequence": "at"},
    {"sequence.sum": "at", "sequence.plain": "also", "sequence.map": "also"},
    {"sequence": "at", "sequence.plain": "also", "sequence.all": "also"},
)


@pytest.mark.slow
@given(st.sampled_from(SEQUENCES), st.integers(0, 2**32))
def test_rows_of_one_key_become_what_the_model_makes_of_them(
    sequences: dict[str, str], seed: int
) -> None:
    rng = random.Random(seed)
    modes = {name: mode for name, (_, mode) in COLUMNS.items() if mode}
    policy = key_policy(
        {f"merge.{name}": mode for name, mode in modes.items()} | sequences,
        SCHEMA,
        SCHEMA.fields[:1],
    )
    by_id = {field.id: field.name for field in SCHEMA.fields}
    model = MergeModel(modes, {by_id[a]: by_id[b] for a, b in policy.sequences.items()}, {})
    keys = rng.randint(1, 4)
    stored = [_row(key, rng) for key in range(keys) if rng.random() < 0.6]
    given_rows = [_row(rng.randrange(keys), rng) for _ in range(rng.randint(0, 5))]
    met = {row["key"] for row in given_rows}
    given_rows += [_row(key, rng) for key in range(keys) if key not in met]
    left_out = {name for name in ("kept", "begin", "all") if rng.random() < 0.3}
    defaults: Row = dict.fromkeys(COLUMNS)
    expected = [
        model.merge(
            next((row for row in stored if row["key"] == key), None),
            [
                {name: value for name, value in row.items() if name not in left_out}
                for row in given_rows
                if row["key"] == key
            ],
            defaults,
        )
        for key in range(keys)
    ]
    rows = [*stored, *({**row, **dict.fromkeys(left_out)} for row in given_rows)]
    found = merged_rows(
        pa.RecordBatch.from_pylist(rows, arrow_schema(SCHEMA)),
        Arrivals(np.array([row["key"] for row in rows], np.int64), len(stored)),
        SCHEMA,
        policy,
        {field.id for field in SCHEMA.fields if field.name not in left_out},
        str,
    )
    wanted = pa.RecordBatch.from_pylist(expected, arrow_schema(SCHEMA))
    for name in COLUMNS:
        assert found[name].equals(wanted[name]), name


def _row(key: int, rng: random.Random) -> Row:
    def value(name: str) -> Any:
        match name:
            case "key":
                return key
            case "most":
                return rng.randrange(5)
            case "all" | "set":
                return [rng.choice(("a", "b", "c", None)) for _ in range(rng.randrange(3))]
            case "map":
                return [(each, rng.choice((1, 2, None))) for each in rng.sample("xyz", 2)]
            case "plain" | "kept" | "begin" | "text":
                return rng.choice(("", "a", "b", "c"))
        return rng.randrange(4)

    return {name: None if name != "key" and rng.random() < 0.2 else value(name) for name in COLUMNS}


AGES = st.one_of(st.none(), st.integers(-2, 2))


@given(st.lists(st.tuples(st.integers(0, 3), AGES), min_size=1, max_size=20), st.data())
def test_rows_count_by_sequence_with_null_as_the_oldest_and_then_by_arrival(
    rows: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    names = {key: number for number, key in enumerate(dict.fromkeys(key for key, _ in rows))}
    keys = [names[key] for key, _ in rows]
    existing = data.draw(st.integers(0, next((i for i, k in enumerate(keys) if k in keys[:i]), 1)))
    arrivals = Arrivals(np.array(keys, np.int64), existing)
    ages = [age for _, age in rows]
    sequence = pa.array(ages, pa.int64())

    def age(row: int) -> tuple[bool, int]:
        known = ages[row]
        return (known is not None, known or 0)

    everything = range(len(rows))
    assert arrivals.oldest_first(sequence).tolist() == sorted(
        everything, key=lambda row: (keys[row], age(row), row)
    )
    assert arrivals.existing_first(sequence).tolist() == sorted(
        everything, key=lambda row: (keys[row], row >= existing, age(row), row)
    )
    by_arrival = sorted(everything, key=lambda row: (keys[row], row))
    assert arrivals.oldest_first(None).tolist() == by_arrival
    assert arrivals.existing_first(None).tolist() == by_arrival
    sorted_keys = [keys[row] for row in by_arrival]
    assert arrivals.starts().tolist() == [sorted_keys.index(key) for key in range(len(names))]
