"""Two columns are compared row by row, whatever is nested in their values."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from colonnade.tableformat.types.same_values import same_values


def value(rng: random.Random, kind: pa.DataType) -> Any:
    if rng.random() < 0.2 or pa.types.is_null(kind):
        return None
    if pa.types.is_struct(kind):
        return {field.name: value(rng, field.type) for field in kind}
    if pa.types.is_map(kind):
        return [(rng.choice("ab"), value(rng, kind.item_type)) for _ in range(rng.randrange(2))]
    if pa.types.is_list(kind):
        return [value(rng, kind.value_type) for _ in range(rng.randrange(3))]
    if pa.types.is_floating(kind):
        return rng.choice((0.0, -0.0, float("nan"), 1.5))
    return rng.choice(("", "a")) if pa.types.is_string(kind) else rng.randrange(2)


def some_type(rng: random.Random, depth: int) -> pa.DataType:
    flat = (pa.int64(), pa.float64(), pa.float32(), pa.string(), pa.date32(), pa.null())
    if not depth or rng.random() < 0.4:
        return rng.choice(flat)
    inner = some_type(rng, depth - 1)
    pair = pa.struct([("a", inner), ("b", some_type(rng, depth - 1))])
    return rng.choice((pa.list_(inner), pa.map_(pa.string(), inner), pair))


def exact(found: Any) -> Any:
    """A value by its bits: Python holds -0.0 for 0.0, and NaN for different from itself."""
    if isinstance(found, float):
        return repr(found)
    if isinstance(found, dict):
        return {key: exact(each) for key, each in found.items()}
    return [exact(each) for each in found] if isinstance(found, list | tuple) else found


@pytest.mark.parametrize("seed", range(300))
def test_rows_are_the_same_if_their_values_have_the_same_bits(seed: int) -> None:
    rng = random.Random(seed)
    kind, count, before = some_type(rng, 3), rng.randrange(9), rng.randrange(3)
    left = [value(rng, kind) for _ in range(count + before)]
    right = [value(rng, kind) if rng.random() < 0.5 else each for each in left[before:]]
    found = same_values(pa.array(left, kind)[before:], pa.array(right, kind))
    expected = [exact(a) == exact(b) for a, b in zip(left[before:], right, strict=True)]
    assert found.tolist() == expected
