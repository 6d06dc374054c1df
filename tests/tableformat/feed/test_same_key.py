"""A deleted row and an inserted row with one key are an update, in however many parts."""

from __future__ import annotations

import random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys import parts
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False),
        pa.field("b", pa.float64(), nullable=False),
        ("v", pa.int64()),
    ]
)


def rows(*keys: tuple[str, float], v: int = 0) -> pa.Table:
    return pa.Table.from_pylist([{"a": a, "b": b, "v": v} for a, b in keys], SCHEMA)


def table() -> ArrowTable:
    return made(MemoryStore(), SCHEMA, ["a", "b"])


def told(found: ArrowTable, start: int, **how: Any) -> list[tuple[str, str, float, int]]:
    changes = found.changes(start, **how).to_pylist()
    return sorted((each["_change_type"], each["a"], each["b"], each["v"]) for each in changes)


def test_an_overwrite_updates_the_rows_whose_keys_stay() -> None:
    found = table()
    found.append(rows(("x", 0.0), ("y", 1.0), ("z", 2.0)))
    found.overwrite(pa.concat_tables([rows(("x", -0.0), ("w", 3.0), v=1), rows(("z", 2.0))]))
    assert told(found, found.epoch) == [
        ("delete", "y", 1.0, 0),
        ("insert", "w", 3.0, 1),
        ("update_postimage", "x", -0.0, 1),
        ("update_preimage", "x", 0.0, 0),
    ]


def test_a_key_that_was_deleted_and_inserted_again_is_an_update_over_the_range() -> None:
    found = table()
    found.append(rows(("x", 1.0), ("y", 1.0)))
    start = found.epoch + 1
    found.delete("a = 'x'", count_rows=True)
    found.append(rows(("x", 1.0), v=5))
    assert [each[0] for each in told(found, start)] == ["delete", "insert"]
    assert told(found, start, net=True) == [
        ("update_postimage", "x", 1.0, 5),
        ("update_preimage", "x", 1.0, 0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [1, 7, 2**21])
def test_keys_are_matched_in_parts(part_rows: int) -> None:
    rng = random.Random(part_rows)
    keys = [(text, float(number)) for text in ("", "a", "ä" * 50) for number in range(20)]
    found = table()
    first, second = rng.sample(keys, 40), rng.sample(keys, 40)
    found.append(rows(*first))
    found.overwrite(rows(*second, v=1))
    with patch.object(parts, "PART_ROWS", part_rows):
        changes = told(found, found.epoch)
    kinds = {kind: {each[1:3] for each in changes if each[0] == kind} for kind, *_ in changes}
    both = set(first) & set(second)
    assert kinds["update_preimage"] == kinds["update_postimage"] == both
    assert kinds["delete"] == set(first) - both
    assert kinds["insert"] == set(second) - both


def test_rows_without_a_key_are_never_the_same_again() -> None:
    found = made(MemoryStore(), SCHEMA)
    found.append(rows(("x", 1.0)))
    found.overwrite(rows(("x", 1.0), v=1))
    assert [each[0] for each in told(found, found.epoch)] == ["delete", "insert"]
