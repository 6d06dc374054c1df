"""Columns whose type has widened: RowSets of the narrower type, and the rows of the wider one.

Every RowSet has a block for each encoding that its type can have.
"""

from __future__ import annotations

import datetime as dt
import random
import string
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField, TableSchema, decimal_digits
from colonnade.tableformat.types.arrow_types import arrow_schema

PAIRS = (
    *(("byte", wider) for wider in ("short", "int", "long", "double", "decimal(3,0)")),
    *(("byte", wider) for wider in ("decimal(18,15)", "decimal(38,35)")),
    *(("short", wider) for wider in ("int", "long", "double", "decimal(5,0)", "decimal(20,2)")),
    *(("int", wider) for wider in ("long", "double", "decimal(10,0)", "decimal(18,8)")),
    *(("int", wider) for wider in ("decimal(19,0)", "decimal(38,28)")),
    *(("long", wider) for wider in ("decimal(19,0)", "decimal(20,0)", "decimal(38,19)")),
    ("float", "double"),
    *(("decimal(5,2)", wider) for wider in ("decimal(9,2)", "decimal(18,15)", "decimal(19,2)")),
    *(("decimal(5,2)", wider) for wider in ("decimal(38,2)", "decimal(38,35)")),
    *(("decimal(20,2)", wider) for wider in ("decimal(38,2)", "decimal(38,20)")),
    *(("char(9)", wider) for wider in ("varchar(9)", "varchar(20)", "string")),
    *(("varchar(9)", wider) for wider in ("varchar(10)", "string")),
    ("date", "timestamp_ntz"),
)
"""Pairs of a type and a wider type; each way to convert values occurs."""

_QUICK = {
    *(("byte", "long"), ("int", "double"), ("int", "decimal(18,8)"), ("long", "decimal(38,19)")),
    *(("float", "double"), ("decimal(5,2)", "decimal(38,35)"), ("varchar(9)", "string")),
    *(("decimal(20,2)", "decimal(38,20)"), ("date", "timestamp_ntz")),
}

CASES = [
    pytest.param(*pair, marks=() if pair in _QUICK else pytest.mark.long, id=" to ".join(pair))
    for pair in PAIRS
]
"""The pairs as arguments of tests: the default run has one for each way to convert values."""

ROWS = 300
"""The rows of a block."""

_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}


@dataclass(frozen=True)
class Widened:
    """A RowSet of a column before it widened, and its rows after it."""

    before: TableSchema
    after: TableSchema
    stored: pa.RecordBatch
    wanted: pa.RecordBatch


def widened(old: str, new: str, seed: int = 0) -> Widened:
    """Return the rows of a column `a`, whose id is 1, beside the number `row`."""
    values = [value for block in _blocks(old, random.Random(seed)) for value in block]
    row = SchemaField(id=2, name="row", type="int")
    narrow = SchemaField(id=1, name="a", type=old)
    wide = SchemaField(id=1, name="a", type=new)
    before, after = TableSchema(fields=(narrow, row)), TableSchema(fields=(wide, row))
    wider = [None if value is None else model_of(value, new) for value in values]
    return Widened(before, after, _batch(before, values), _batch(after, wider))


def _batch(schema: TableSchema, values: list[Any]) -> pa.RecordBatch:
    arrow = arrow_schema(schema)
    columns = (values, range(len(values)))
    arrays = [pa.array(c, field.type) for c, field in zip(columns, arrow, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow)


def model_of(value: Any, new: str) -> Any:
    """Return a value in a wider type, as Python has it."""
    if new == "double":
        return float(value)
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time())
    digits = decimal_digits(new)
    if digits is None:
        return value
    sign, figures, exponent = Decimal(value).as_tuple()
    zeros = int(exponent) + digits[1]
    return Decimal((sign, (*figures, *(0 for _ in range(zeros))), -digits[1]))


def _blocks(old: str, rng: random.Random) -> list[list[Any]]:
    one = _maker(old, rng)
    extremes = [_extreme(old, largest) for largest in (False, True)]
    everything = [one() for _ in range(ROWS - 2)] + extremes
    few = [one() for _ in range(3)]
    small = _near(old, rng)
    lone = one()
    return [
        everything,
        [value if rng.random() < 0.7 else None for value in everything],
        [rng.choice(few) for _ in range(ROWS)],
        [rng.choice([*few, None]) for _ in range(ROWS)],
        small,
        [value if rng.random() < 0.7 else None for value in small],
        [lone] * ROWS,
        [extremes[0]] * ROWS,
        [None] * ROWS,
        [None] * (ROWS - 1) + [lone],
    ]


def _maker(old: str, rng: random.Random) -> Callable[[], Any]:
    if (bits := _BITS.get(old)) is not None:
        return lambda: rng.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))
    if (digits := decimal_digits(old)) is not None:
        most = 10 ** digits[0]
        return lambda: Decimal(rng.randrange(1 - most, most)).scaleb(-digits[1])
    if old == "date":
        return lambda: dt.date.fromordinal(rng.randrange(1, dt.date.max.toordinal() + 1))
    if old == "float":
        return lambda: _as_float(rng.choice((rng.uniform(-1e9, 1e9), float("nan"), -0.0, 0.1)))
    length = 9 if old.startswith("char") else rng.randrange(10)
    return lambda: "".join(rng.choices(string.ascii_letters + "é日", k=length))


def _near(old: str, rng: random.Random) -> list[Any]:
    """Return values that lie close together, so that they can be narrowed."""
    if old in _BITS:
        return [100 + rng.randrange(28) for _ in range(ROWS)]
    if (digits := decimal_digits(old)) is not None:
        return [Decimal(100 + rng.randrange(100)).scaleb(-digits[1]) for _ in range(ROWS)]
    if old == "date":
        return [dt.date.fromordinal(739_000 + rng.randrange(28)) for _ in range(ROWS)]
    return [_maker(old, rng)() for _ in range(ROWS)]


def _extreme(old: str, largest: bool) -> Any:
    if (bits := _BITS.get(old)) is not None:
        return 2 ** (bits - 1) - 1 if largest else -(2 ** (bits - 1))
    if (digits := decimal_digits(old)) is not None:
        most = Decimal(10 ** digits[0] - 1).scaleb(-digits[1])
        return most if largest else -most
    if old == "date":
        return dt.date.max if largest else dt.date.min
    if old == "float":
        return float("inf") if largest else float("-inf")
    return ("\U0010ffff" if largest else " ") * 9


def _as_float(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])
