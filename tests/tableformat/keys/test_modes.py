"""Every merge mode gives what folding the values one by one gives, on every type that has it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import ArrayType, DataType, MapType, SchemaField
from colonnade.tableformat.keys.modes import NAMES, Mode, fits, merged
from colonnade.tableformat.types.arrow_types import arrow_type
from tests.merge_model import Overflow, merge_values
from tests.strategies import PRIMITIVES, identical, random_value


def _columns() -> list[SchemaField]:
    plain = [SchemaField(name="c", type=text) for text in PRIMITIVES]
    nested: list[DataType] = [
        ArrayType(element=SchemaField(name="element", type=text)) for text in PRIMITIVES
    ]
    nested += [
        MapType(
            key=SchemaField(name="key", type=text, nullable=False),
            value=SchemaField(name="value", type="long"),
        )
        for text in PRIMITIVES
    ]
    return [*plain, *(SchemaField(name="c", type=each) for each in nested)]


CASES = [(mode, column) for mode in NAMES for column in _columns() if fits(mode, column)]


@given(st.sampled_from(CASES), st.integers(0, 2**32))
def test_a_mode_gives_what_folding_the_values_one_by_one_gives(
    case: tuple[str, SchemaField], seed: int
) -> None:
    name, column = case
    rng = random.Random(seed)
    segments = [_segment(column, rng) for _ in range(rng.randrange(8))]
    separator = rng.choice(("", ", ", "é"))
    word = f"{name}:{separator}" if name == "concat" else name
    type_text = column.type if isinstance(column.type, str) else column.type.type
    values = pa.array([each for part in segments for each in part], arrow_type(column))
    starts = np.cumsum([0, *map(len, segments)])[:-1].astype(np.int64)
    mode = Mode(name, separator)
    try:
        expected = [merge_values(word, part, type_text) for part in segments]
    except Overflow:
        with pytest.raises(InvalidInputError, match=r"'c' has the merge mode add.*key number"):
            merged(mode, values, starts, column, lambda i: f"number {i}")
        return
    found = merged(mode, values, starts, column, str)
    assert identical(found, pa.array(expected, arrow_type(column)))


def _segment(column: SchemaField, rng: random.Random) -> list[Any]:
    pool = [random_value(column, rng) for _ in range(3)]
    return [rng.choice((None, *pool)) for _ in range(rng.randint(1, 4))]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=200))
@example([2**63 - 1, 1, -1])
@example([-(2**63), -1, 1])
def test_only_the_total_of_a_sum_must_fit(values: list[int]) -> None:
    column, total = SchemaField(name="c", type="long"), sum(values)
    array, starts = pa.array(values, pa.int64()), np.zeros(1, np.int64)
    if -(2**63) <= total < 2**63:
        assert merged(Mode("add"), array, starts, column, str).to_pylist() == [total]
    else:
        with pytest.raises(InvalidInputError, match="does not fit into long"):
            merged(Mode("add"), array, starts, column, str)


@pytest.mark.parametrize(
    ("mode", "type_text"),
    [
        *(("add", text) for text in ("string", "date", "boolean", "interval year", "variant")),
        *(("min", text) for text in ("variant", "string collate UNICODE_CI", "void")),
        *(("concat", text) for text in ("binary", "char(3)", "long")),
        *((mode, "long") for mode in ("list", "union", "map", "unknown")),
    ],
)
def test_a_type_has_no_mode_that_would_change_its_meaning(mode: str, type_text: str) -> None:
    assert not fits(mode, SchemaField(name="c", type=type_text))
