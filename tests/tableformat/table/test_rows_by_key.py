"""Rows by their primary key are those that a filter finds, in the order of the keys."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import RenameColumn, WidenColumn
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.tableformat.keys.key_set import can_be_key
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import bag, live, new, rows_in, take
from tests.keyed_tables import set_key
from tests.strategies import PRIMITIVES, make_batch

KEYS = [text for text in PRIMITIVES if can_be_key(SchemaField(name="k", type=text))]


def table_of(types: dict[str, str], key: tuple[str, ...]) -> ArrowTable:
    fields = (
        SchemaField(name=name, type=text, nullable=name not in key) for name, text in types.items()
    )
    schema = assign_ids(TableSchema(fields=tuple(fields)), 1)[0]
    return set_key(new(schema, key), key)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(KEYS), min_size=1, max_size=2),
    st.sampled_from(PRIMITIVES),
    st.lists(st.integers(1, 20), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
def test_keys_of_any_types_return_exactly_their_live_rows(
    types: list[str], other: str, counts: list[int], seed: int
) -> None:
    rng = random.Random(seed)
    names = tuple(f"k{i}" for i in range(len(types)))
    table = table_of({"v": other, **dict(zip(names, types, strict=True))}, names)
    seen: set[Any] = set()
    for count in counts:
        batch = pa.Table.from_batches(
            [make_batch(table._state.schema, count, rng.randrange(2**32))]
        )
        rows = rows_in(batch.select(list(names)))
        fresh = [at for at, key in enumerate(rows) if key not in seen and key not in rows[:at]]
        seen.update(rows)
        if fresh:
            table.append(batch.take(fresh))
    sizes = [rowset.entry.rows for rowset in live(table)]
    gone = [rng.sample(range(size), rng.randrange(size + 1)) for size in sizes]
    before = table.scan().to_arrow()
    take(table, gone)
    left = table.scan().to_arrow()
    asked = [*zip(*(before[name].combine_chunks() for name in names), strict=True)]
    order = rng.sample(range(len(asked)), len(asked))
    found = table.get([asked[at] for at in order])
    assert found.schema == left.schema
    assert bag(rows_in(found)) == bag(rows_in(left))
    keys = rows_in(before.select(list(names)))
    wanted = [keys[at] for at in order]
    places = [wanted.index(key) for key in rows_in(found.select(list(names)))]
    assert places == sorted(places)


def test_a_row_that_python_cannot_hold_is_returned_as_an_arrow_table() -> None:
    table = table_of({"k": "int", "day": "date"}, ("k",))
    day = pa.array([2**31 - 1], pa.int32()).cast(pa.date32())
    table.append(pa.table({"k": pa.array([1], pa.int32()), "day": day}))
    with pytest.raises(InvalidInputError, match=r"Python cannot hold.*list of keys"):
        table.get(1)
    assert table.get([1])["day"].combine_chunks().equals(day)
    assert table.get(1, ["k"]) == {"k": 1}


def test_a_key_is_a_value_a_tuple_or_a_dict() -> None:
    table = table_of({"k": "int", "v": "string", "day": "date"}, ("k",))
    day = dt.date(2026, 1, 1)
    table.append(
        pa.table({"k": pa.array([1, 2, 3], pa.int32()), "v": list("abc"), "day": [day] * 3})
    )
    whole = {"k": 2, "v": "b", "day": day}
    assert table.get(2) == table.get((2,)) == table.get({"k": 2}) == whole
    assert table.get(2, ["v"]) == {"v": "b"}
    assert table.get(9) is None
    found = table.get([3, (1,), 9, {"k": 3}], ["v", "k"])
    assert found.to_pylist() == [{"v": v, "k": k} for v, k in (("c", 3), ("a", 1), ("c", 3))]
    empty = table.get([], ["v"])
    assert (empty.num_rows, empty.schema.names) == (0, ["v"])


def test_keys_of_several_columns_are_told_apart_by_all_of_them() -> None:
    table = table_of({"a": "string", "b": "date", "n": "long"}, ("b", "a"))
    days = [dt.date(2026, 1, day) for day in (1, 2)]
    rows = [{"a": a, "b": b, "n": n} for n, (a, b) in enumerate((a, b) for a in "xy" for b in days)]
    table.append(pa.Table.from_pylist(rows, table.schema))
    for row in rows:
        assert table.get((row["b"], row["a"])) == table.get({"a": row["a"], "b": row["b"]}) == row
    assert table.get((days[0], "z")) is None


def test_a_key_that_was_renamed_and_widened_still_finds_its_rows() -> None:
    table = table_of({"k": "int", "n": "long"}, ("k",))
    numbers = np.arange(1000)
    table.append(pa.table({"k": pa.array(numbers, pa.int32()), "n": numbers}))
    table.alter(RenameColumn("k", "id"), WidenColumn(("id",), "long"))
    table.append(pa.table({"id": numbers + 2**40, "n": numbers}))
    table.delete("id = 7")
    assert table.get(2**40 + 5) == {"id": 2**40 + 5, "n": 5}
    assert table.get(6) == {"id": 6, "n": 6}
    assert table.get(7) is None
    table.update({"n": -1}, "id = 6")
    table.delete("id = 8")
    assert table.get([6, 8])["n"].to_pylist() == [-1]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "Column 'a' is NOT NULL"),
        ("x", "value of column 'a' that is not of type int"),
        (2**31, "value of column 'a' that is not of type int"),
        ((1, 2), r"primary key of table 't' is \(a\), so \(1, 2\) is not a key"),
        ({"b": 1}, r"primary key of table 't' is \(a\), so {'b': 1} is not a key"),
    ],
)
def test_a_key_with_wrong_columns_or_types_is_refused_by_name(key: Any, message: str) -> None:
    table = table_of({"a": "int", "b": "int"}, ("a",))
    for asked in (key, [1, key]):
        with pytest.raises(InvalidInputError, match=message):
            table.get(asked)


def test_a_table_without_a_key_or_column_is_named() -> None:
    table = table_of({"a": "int"}, ("a",))
    with pytest.raises(NotFoundError, match="'nope'"):
        table.get(1, ["nope"])
    with pytest.raises(InvalidInputError, match="Table 't' has no primary key"):
        new(table._state.schema).get(1)
