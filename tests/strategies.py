"""Random schemas and random data for them.

Values come from a seeded generator rather than from hypothesis value by value: that is a hundred
times faster, and what matters in a value is listed in `EDGES`, not found by shrinking.
"""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.types.arrow_types import arrow_schema, base_type
from colonnade.tableformat.types.storage_form import map_entries

PRIMITIVES = (
    *("boolean", "byte", "short", "int", "long", "float", "double", "string", "binary", "date"),
    *("timestamp", "timestamp_ntz", "variant", "time(0)", "time(6)", "time(9)"),
    *("decimal(1,0)", "decimal(9,2)", "decimal(18,18)", "decimal(38,0)", "decimal(38,10)"),
    *("char(3)", "varchar(5)", "string collate UNICODE_CI"),
    *("interval year", "interval month", "interval year to month"),
    *("interval day", "interval hour to minute", "interval second", "interval day to second"),
)

_MIN64, _MAX64 = -(2**63), 2**63 - 1
_US_PER_DAY = 86_400_000_000

_NANS = (float("nan"), *np.array([0x7FF0000000000001], "u8").view("f8").tolist())
"""A quiet and a signaling NaN. Arithmetic makes quiet ones of signaling ones; a copy does not."""

EDGES: dict[str, Sequence[Any]] = {
    "boolean": (False, True),
    "byte": (-128, -1, 0, 1, 127),
    "short": (-(2**15), 2**15 - 1, 0),
    "int": (-(2**31), 2**31 - 1, 0, -1),
    "long": (_MIN64, _MAX64, 0, -1, 2**53 + 1),
    "float": (0.0, -0.0, float("nan"), float("inf"), float("-inf"), 2.0**-149, 1.5),
    "double": (0.0, -0.0, *_NANS, float("inf"), float("-inf"), 5e-324, 1.7e308, 0.1),
    "string": ("", "a", "\x00", "é", "日本", "\U0001f600", "x" * 300, "\uffff"),
    "binary": (b"", b"\x00", b"\xff" * 40, b"\xc3\x28"),
    "date": (-(2**31), 2**31 - 1, 0, -1, -719_162, 2_932_896),
    "timestamp": (_MIN64, _MAX64, 0, -1, 1, -62_135_596_800_000_000),
    "timestamp_ntz": (_MIN64, _MAX64, 0, -1, 999_999),
    "variant": ({"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"},),
}


_BOOLEANS = st.booleans()
_COMMENTS = st.sampled_from((None, None, None, "a comment", ""))
_METADATA_TEXT = '{"more":{"of":null},"unit":"€","values":[1.0,2.5]}'
_METADATA = st.sampled_from((None, None, None, _METADATA_TEXT))
_NESTED = st.sampled_from(("array", "map", "struct", None, None, None, None))
_FEW = st.integers(1, 3)


@st.composite
def schemas(
    draw: st.DrawFn,
    primitives: Sequence[str] = PRIMITIVES,
    max_columns: int = 4,
    nested: bool = True,
) -> TableSchema:
    """Schemas with ids, comments, metadata, NOT NULL and, unless told otherwise, nested types."""
    # Recursion by hand: `st.recursive` and `st.builds` take ten times as long.
    texts = _sampled(tuple(primitives))

    def make_type(depth: int) -> DataType:
        match draw(_NESTED) if depth else None:
            case "array":
                return ArrayType(element=make_field("element", depth - 1))
            case "map":
                key = SchemaField(name="key", type=draw(texts), nullable=False)
                return MapType(key=key, value=make_field("value", depth - 1))
            case "struct":
                count = draw(_FEW)
                return StructType(
                    fields=tuple(make_field(_name(i), depth - 1) for i in range(count))
                )
            case _:
                text: str = draw(texts)
                return text

    def make_field(name: str, depth: int) -> SchemaField:
        return SchemaField(
            name=name,
            type=make_type(depth),
            nullable=draw(_BOOLEANS),
            comment=draw(_COMMENTS),
            metadata=draw(_METADATA),
        )

    count = draw(_sampled(tuple(range(1, max_columns + 1))))
    fields = tuple(make_field(_name(i), 3 if nested else 0) for i in range(count))
    return assign_ids(TableSchema(fields=fields), 1)[0]


@lru_cache
def _sampled(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def _name(index: int) -> str:
    names = ("a", "B b", "ç.d", "value", "metadata", "key")
    return names[index % len(names)] + str(index // len(names) or "")


@st.composite
def batches(
    draw: st.DrawFn, schema: TableSchema, min_rows: int = 0, max_rows: int = 20
) -> pa.RecordBatch:
    """Rows that conform to `schema`: NULL, NaN, -0.0, extremes, empty, nested empties."""
    rows = draw(st.integers(min_rows, max_rows))
    return make_batch(schema, rows, draw(st.integers(0, 2**32)))


def make_batch(schema: TableSchema, rows: int, seed: int) -> pa.RecordBatch:
    """Make batches as `batches` does, from a seed: for tests that need many or long batches."""
    rng = random.Random(seed)
    target = arrow_schema(schema)
    columns = []
    for field, shown in zip(schema.fields, target, strict=True):
        nulls = rng.choice((0.0, 0.3, 1.0)) if field.nullable else 0.0
        values = [None if rng.random() < nulls else random_value(field, rng) for _ in range(rows)]
        columns.append(pa.array(values, shown.type))
    return pa.RecordBatch.from_arrays(columns, schema=target)


def random_value(field: SchemaField, rng: random.Random) -> Any:
    """A value that is not NULL itself."""
    match field.type:
        case ArrayType(element=element):
            return [_slot(element, rng) for _ in range(rng.randrange(4))]
        case MapType(key=key, value=value):
            pairs = [(random_value(key, rng), _slot(value, rng)) for _ in range(rng.randrange(3))]
            return list({repr(pair[0]): pair for pair in pairs}.values())
        case StructType(fields=fields):
            return {child.name: _slot(child, rng) for child in fields}
        case str() as text:
            return _primitive(text, rng)


def _slot(field: SchemaField, rng: random.Random) -> Any:
    return None if field.nullable and rng.random() < 0.25 else random_value(field, rng)


def _primitive(text: str, rng: random.Random) -> Any:
    if text in EDGES and rng.random() < 0.5:
        return rng.choice(EDGES[text])
    if text.startswith("decimal"):
        precision, scale = map(int, text[8:-1].split(","))
        largest = 10**precision - 1
        unscaled = rng.choice((largest, -largest, 0, rng.randint(-largest, largest)))
        return Decimal((unscaled < 0, [int(d) for d in str(abs(unscaled))], -scale))
    if text.startswith(("char(", "varchar(")):
        length = int(text[text.index("(") + 1 : -1])
        chosen = "".join(rng.choices("aé日 \U0001f600", k=rng.randint(0, length)))
        return chosen.ljust(length) if text.startswith("char") else chosen
    if text.startswith("time("):
        unit = 10 ** (9 - int(text[5:-1]))
        return rng.choice((0, _US_PER_DAY * 1000 - unit, rng.randrange(86_400) * 10**9))
    if text == "interval year":
        return 12 * rng.randint(-1000, 1000)
    if text == "interval day":
        return _US_PER_DAY * rng.randint(-1000, 1000)
    if text == "interval hour to minute":
        return 60_000_000 * rng.randint(-1000, 1000)
    return _PLAIN_VALUES[base_type(text)](rng)


def _near_zero(bits: int) -> Any:
    return lambda rng: rng.randint(-(2 ** rng.randrange(bits)), 2 ** rng.randrange(bits) - 1)


_PLAIN_VALUES: dict[str, Any] = {
    "boolean": lambda rng: rng.random() < 0.5,
    "byte": _near_zero(8),
    "short": _near_zero(16),
    "int": _near_zero(32),
    "long": _near_zero(64),
    "float": lambda rng: float(np.float32(rng.uniform(-1e6, 1e6))),
    "double": lambda rng: rng.uniform(-1e9, 1e9),
    "string": lambda rng: "".join(rng.choices(string.ascii_letters, k=rng.randrange(12))),
    "binary": lambda rng: rng.randbytes(rng.randrange(12)),
    "date": lambda rng: rng.randint(-40_000, 40_000),
    "timestamp": lambda rng: rng.randint(-(2**52), 2**52),
    "timestamp_ntz": lambda rng: rng.randint(-(2**52), 2**52),
    "variant": lambda rng: {"value": rng.randbytes(5), "metadata": b"\x01\x00\x00"},
    "void": lambda rng: None,
    "interval year to month": _near_zero(32),
    "interval day to second": _near_zero(64),
}


def identical(left: Any, right: Any) -> bool:
    """Whether batches or arrays hold the same: the bits of NaN and of -0.0 count.

    Types must be equal with all names and nullability; what lies under a NULL does not count.
    """
    if isinstance(left, pa.RecordBatch):
        return (
            left.schema.equals(right.schema)
            and left.num_rows == right.num_rows
            and all(map(identical, left.columns, right.columns))
        )
    if left.type != right.type or not left.is_valid().equals(right.is_valid()):
        return False
    if pa.types.is_map(left.type):
        return identical(map_entries(left), map_entries(right))
    if pa.types.is_list(left.type):
        return left.value_lengths().equals(right.value_lengths()) and identical(
            left.flatten(), right.flatten()
        )
    if pa.types.is_struct(left.type):
        return all(map(identical, left.flatten(), right.flatten()))
    if pa.types.is_floating(left.type):
        bits = f"u{left.type.bit_width // 8}"
        one, two = (
            array.drop_null().to_numpy(zero_copy_only=False).view(bits) for array in (left, right)
        )
        return np.array_equal(one, two)
    return bool(left.equals(right))
