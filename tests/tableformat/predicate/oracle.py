"""Spark's predicate semantics in plain Python, one row at a time, and random things to try it on.

Written apart from the code under test: it reads the unbound tree and knows no storage values,
no normal form and no bounds. A row maps a column name to None or a Python value: int, Decimal,
float, str, bytes, bool, or for dates and times the integer that Colonnade stores.
"""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.predicate import expressions as ex
from colonnade.tableformat.predicate.literals import NULL, Kind, Literal, make_literal

DAY = 86_400_000_000
NUMBERS = ("byte", "short", "int", "long", "decimal(10,2)", "decimal(38,10)")
FLOATS = ("float", "double")
INSTANTS = ("date", "timestamp", "timestamp_ntz")
INTERVALS = ("interval year to month", "interval day to second")
OTHERS = ("string", "binary", "time(6)", "boolean", *INTERVALS)
TYPES = (*NUMBERS, *FLOATS, *INSTANTS, *OTHERS)
BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
KINDS = {
    "string": Kind.STRING,
    "binary": Kind.BINARY,
    "time(6)": Kind.TIME,
    "boolean": Kind.BOOLEAN,
    "interval year to month": Kind.MONTHS,
    "interval day to second": Kind.DURATION,
}
OPERATORS = tuple(ex.Operator)
TEXTS = (
    *("", "a", "ab", "abc", "b", "a%", "a_c", "é", "z\x00", "\ud7ff", "\ue000", "\uffff"),
    *("\U00010000", "\U0010ffff", "p" * 40, "p" * 40 + "a", "p" * 40 + "\U0001f600", "a\nb"),
)


# --- semantics


def _key(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


def _double(value: Any) -> tuple[bool, float]:
    return _key(float(Fraction(value)) if not isinstance(value, float) else value)


def _comparable(value: Any, kind: str, other: str) -> Any:
    """A value as Spark compares it with one of another type."""
    if "float" in (kind, other):
        return _double(value)
    if kind == "number":
        return Fraction(value)
    if kind == "date":
        return value * DAY
    return value.encode() if isinstance(value, str) else value


def _kind(type_name: str) -> str:
    if type_name in FLOATS:
        return "float"
    return "number" if type_name in NUMBERS else type_name


def _literal_kind(literal: Literal) -> str:
    if literal.kind is Kind.DOUBLE:
        return "float"
    return "number" if literal.kind in (Kind.INTEGER, Kind.DECIMAL) else literal.kind.value


class Oracle:
    """Evaluates predicates on rows of columns with the given types."""

    def __init__(self, types: dict[str, str]) -> None:
        self.types = types

    def truth(self, node: Predicate, row: dict[str, Any]) -> bool | None:
        match node:
            case ex.And(parts):
                truths = [self.truth(part, row) for part in parts]
                return False if False in truths else None if None in truths else True
            case ex.Or(parts):
                truths = [self.truth(part, row) for part in parts]
                return True if True in truths else None if None in truths else False
            case ex.Not(part):
                truth = self.truth(part, row)
                return None if truth is None else not truth
            case ex.Constant(value):
                return value
            case ex.IsNull(operand):
                return self.operand(operand, row)[0] is None
            case ex.Compare(operator, left, right):
                return self.compare(operator, self.operand(left, row), self.operand(right, row))
            case ex.In(column, values):
                own = self.operand(column, row)
                members = [self.operand(value, row) for value in values]
                if "float" in (kind for _, kind in members):
                    own = own[0], "float" if own[1] == "number" else own[1]
                equal = [self.compare(ex.Operator.EQUAL, own, member) for member in members]
                return True if True in equal else None if None in equal else False
            case ex.StartsWith(column, prefix):
                text = self.operand(column, row)[0]
                return None if text is None else text[: len(prefix)] == prefix
            case ex.Like(column, pattern, escape):
                text = self.operand(column, row)[0]
                return None if text is None else like(text, pattern, escape)
        raise AssertionError(node)

    def operand(self, operand: ex.Operand, row: dict[str, Any]) -> tuple[Any, str]:
        if isinstance(operand, Literal):
            return operand.value, _literal_kind(operand)
        assert isinstance(operand, ex.Column)
        (name,) = operand.path
        return row[name], _kind(self.types[name])

    def compare(
        self, operator: ex.Operator, left: tuple[Any, str], right: tuple[Any, str]
    ) -> bool | None:
        if left[0] is None or right[0] is None:
            both = left[0] is right[0]
            return both if operator is ex.Operator.NULL_SAFE_EQUAL else None
        a = _comparable(*left, right[1])
        b = _comparable(*right, left[1])
        return {
            ex.Operator.EQUAL: a == b,
            ex.Operator.NULL_SAFE_EQUAL: a == b,
            ex.Operator.NOT_EQUAL: a != b,
            ex.Operator.LESS: a < b,
            ex.Operator.LESS_EQUAL: a <= b,
            ex.Operator.GREATER: a > b,
            ex.Operator.GREATER_EQUAL: a >= b,
        }[operator]


def like(text: str, pattern: str, escape: str) -> bool:
    """LIKE by its definition: consume the pattern from the left."""
    if not pattern:
        return not text
    head, rest = pattern[0], pattern[1:]
    if head == escape:
        return text[:1] == rest[0] and like(text[1:], rest[1:], escape)
    if head == "%":
        return any(like(text[cut:], rest, escape) for cut in range(len(text) + 1))
    return bool(text) and head in ("_", text[0]) and like(text[1:], rest, escape)


# --- random values, literals and predicates


def random_value(rng: random.Random, type_name: str) -> Any:
    """A value of a type, often one that other values are equal or close to."""
    if type_name in BITS:
        half = 2 ** (BITS[type_name] - 1)
        common = (-1, 0, 1, 2, 3, half - 1, half - 2, -half)
        return rng.choice(common) if rng.random() < 0.8 else rng.randrange(-half, half)
    if type_name.startswith("decimal"):
        precision, scale = (10, 2) if type_name == "decimal(10,2)" else (38, 10)
        largest = 10**precision - 1
        edges = (0, 1, -1, 150, 10**scale, 3 * 10**scale, largest, -largest, largest - 1)
        unscaled = rng.choice(edges) if rng.random() < 0.8 else rng.randint(-largest, largest)
        return decimal(unscaled, scale)
    if type_name in FLOATS:
        special = (
            0.0,
            -0.0,
            math.inf,
            -math.inf,
            math.nan,
            0.1,
            1.0,
            1.5,
            3.0,
            -1.0,
            1e300,
            5e-324,
        )
        value = rng.choice(special) if rng.random() < 0.8 else rng.uniform(-4, 4)
        return to_float32(value) if type_name == "float" else value
    return _random_other(rng, type_name)


def _random_other(rng: random.Random, type_name: str) -> Any:
    if type_name == "string":
        return rng.choice(TEXTS) if rng.random() < 0.8 else rng.choice(TEXTS) + rng.choice(TEXTS)
    if type_name == "binary":
        return bytes(rng.choice((0, 1, 127, 128, 255)) for _ in range(rng.randrange(4)))
    if type_name == "date":
        return rng.choice((-719162, -25567, -1, 0, 1, 2, 19723, 2932896))
    if type_name in INSTANTS:
        days = rng.choice((-719162, -1, 0, 1, 19723)) * DAY
        return days + rng.choice((0, 0, 1, -1, 999, 500_000, DAY // 2))
    if type_name == "time(6)":
        return rng.choice((0, 1000, 999_000, 43_200_000_000_000, 86_399_999_999_000))
    if type_name == "boolean":
        return rng.random() < 0.5
    largest = 2**31 - 1 if "year" in type_name else 2**63 - 1
    return rng.choice((0, 1, -1, 12, 14, largest, -largest))


def to_float32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def decimal(unscaled: int, scale: int) -> Decimal:
    return Decimal(f"{unscaled}E-{scale}")


def random_literal(rng: random.Random, type_name: str) -> Literal:
    """A literal that can be compared with a column of a type; of another type now and then."""
    if rng.random() < 0.05:
        return NULL
    if type_name in NUMBERS or type_name in FLOATS:
        number = random_value(rng, type_name if rng.random() < 0.6 else rng.choice(NUMBERS))
        if rng.random() < 0.15:
            number = random_value(rng, "double")
        elif rng.random() < 0.15:
            number = rng.choice(
                (3.5, Decimal("3.5"), Decimal("-0.001"), 3_000_000_000, 2**63, -(2**63) - 1, 10**37)
            )
        elif rng.random() < 0.1 and abs(number) < 1e300:
            number = float(number)
        return make_literal(number)
    if type_name in INSTANTS:
        other = rng.choice(INSTANTS) if rng.random() < 0.4 else type_name
        return Literal(Kind(other), random_value(rng, other))
    return Literal(KINDS[type_name], random_value(rng, type_name))


def random_predicate(rng: random.Random, types: dict[str, str], depth: int = 3) -> Predicate:
    """A predicate over the columns, negated parts included."""
    shape = rng.random()
    if depth and shape < 0.3:
        parts = [random_predicate(rng, types, depth - 1) for _ in range(rng.randint(1, 3))]
        return rng.choice((ex.conjunction, ex.disjunction))(parts)
    if depth and shape < 0.5:
        return ex.Not(random_predicate(rng, types, depth - 1))
    name = rng.choice(tuple(types))
    return _random_leaf(rng, ex.Column((name,)), types)


def _random_leaf(rng: random.Random, column: ex.Column, types: dict[str, str]) -> Predicate:
    own = types[column.path[0]]
    choice = rng.random()
    if choice < 0.1:
        return ex.IsNull(column)
    if choice < 0.12:
        return ex.Constant(rng.choice((True, False, None)))
    if choice < 0.3:
        count = rng.randint(1, 4)
        return ex.In(column, tuple(random_literal(rng, own) for _ in range(count)))
    if choice < 0.4:
        low, high = random_literal(rng, own), random_literal(rng, own)
        at_least = ex.Compare(ex.Operator.GREATER_EQUAL, column, low)
        return ex.And((at_least, ex.Compare(ex.Operator.LESS_EQUAL, column, high)))
    if choice < 0.48:
        peers = [name for name in types if _may_compare(types[name], own)]
        return ex.Compare(rng.choice(OPERATORS), column, ex.Column((rng.choice(peers),)))
    if own == "string" and choice < 0.75:
        text = rng.choice(TEXTS).replace("%", "").replace("_", "")
        if rng.random() < 0.4:
            return ex.StartsWith(column, text)
        return ex.Like(column, rng.choice((text, text + "%", "%" + text, text[:1] + "_%", "%\\%")))
    literal = random_literal(rng, own)
    sides = (column, literal) if rng.random() < 0.8 else (literal, column)
    return ex.Compare(rng.choice(OPERATORS), *sides)


def _may_compare(one: str, other: str) -> bool:
    groups: tuple[Callable[[str], bool], ...] = (
        lambda name: name in NUMBERS or name == "double",
        lambda name: name in INSTANTS,
    )
    return one == other or any(group(one) and group(other) for group in groups)
