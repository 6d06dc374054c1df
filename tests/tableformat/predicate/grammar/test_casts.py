"""A literal is cast as Spark does in ANSI mode: it fits the type, or is refused."""

from __future__ import annotations

from decimal import Decimal

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.grammar.casts import cast_literal
from colonnade.tableformat.predicate.literals import NULL, Kind, Literal, make_literal


@pytest.mark.parametrize(
    ("value", "type_name", "kind", "expected"),
    [
        (" 12 ", "int", Kind.INTEGER, 12),
        (-1.9, "int", Kind.INTEGER, -1),
        ("2.345", "decimal(3,2)", Kind.DECIMAL, Decimal("2.35")),
        (0.1, "decimal(2,1)", Kind.DECIMAL, Decimal("0.1")),
        (0.1, "float", Kind.DOUBLE, 0.10000000149011612),
        ("1e3d", "double", Kind.DOUBLE, 1000.0),
        ("TRUE", "boolean", Kind.BOOLEAN, True),
        (7, "string", Kind.STRING, "7"),
        ("é", "binary", Kind.BINARY, "é".encode()),
        ("1970-01-02", "date", Kind.DATE, 1),
    ],
)
def test_a_value_that_fits_is_cast(
    value: object, type_name: str, kind: Kind, expected: object
) -> None:
    assert cast_literal(make_literal(value), type_name) == Literal(kind, expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "type_name"),
    [
        (128, "byte"),
        ("1.5", "int"),
        ("9" * 5000, "int"),
        (1000, "decimal(3,1)"),
        ("yes", "boolean"),
        (1, "boolean"),
        (1.5, "string"),
        ("1970-13-01", "date"),
        (1, "date"),
        (1, "variant"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(value: object, type_name: str) -> None:
    with pytest.raises(InvalidInputError):
        cast_literal(make_literal(value), type_name)


def test_null_is_null_of_every_type() -> None:
    assert cast_literal(NULL, "int") is NULL
    assert cast_literal(NULL, "variant") is NULL
