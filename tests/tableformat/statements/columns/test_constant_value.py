"""A value that a user states is an exact value of its column, or is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.statements.columns.constant_value import constant_value
from tests.default_values import TYPES, values
from tests.strategies import identical


@pytest.mark.parametrize("name", TYPES)
def test_a_value_of_the_type_stays_what_it_is(name: str) -> None:
    column = SchemaField(name="c", type=name)
    for stated, array in values(name):
        assert identical(pa.repeat(constant_value(stated, column), 1), array)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("int", 2**31),
        ("int", Decimal("1.5")),
        ("byte", -129),
        ("decimal(3,1)", Decimal("0.05")),
        ("date", 5),
        ("long", float("nan")),
        ("boolean", 1),
        ("string", 1),
        ("int", [1]),
    ],
)
def test_a_value_that_the_column_cannot_hold_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"Column 'c' is .* and cannot be set to .*; give"):
        constant_value(value, SchemaField(name="c", type=name))
