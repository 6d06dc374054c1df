"""Predicates are evaluated on values that an engine may compare in more than one way."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from colonnade.tableformat.predicate import (
    bind,
    evaluate,
    parse_predicate,
)
from tests.tableformat.predicate.blocks import SEED, make_batch, make_schema


@pytest.mark.parametrize(("precision", "scale"), [(3, 1), (18, 6), (38, 0), (38, 38)])
def test_a_decimal_equals_the_double_that_is_nearest_to_it(precision: int, scale: int) -> None:
    rng = random.Random(SEED)
    schema = make_schema({"m": f"decimal({precision},{scale})", "d": "double"})
    largest = 10**precision - 1
    unscaled = [rng.randint(-largest, largest) for _ in range(500)]
    batch = make_batch(
        schema, [{"m": Decimal(f"{n}E-{scale}"), "d": n / 10**scale} for n in unscaled]
    )
    for operator, truth in (("=", True), ("<>", False), ("<", False), (">=", True)):
        found = evaluate(bind(parse_predicate(f"m {operator} d"), schema), batch)
        assert set(found.to_pylist()) == {truth}, operator
