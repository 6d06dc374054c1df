"""Random rows of every kind of value, and random expressions of SQL over their columns.

Expressions have types as Spark sees them, so that most can be computed. Some fail for some rows.
"""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

SCHEMA = pa.schema(
    {
        "b": pa.int8(),
        "h": pa.int16(),
        "i": pa.int32(),
        "j": pa.int32(),
        "l": pa.int64(),
        "f": pa.float32(),
        "d": pa.float64(),
        "p": pa.decimal128(9, 2),
        "q": pa.decimal128(38, 10),
        "s": pa.string(),
        "t": pa.string(),
        "o": pa.bool_(),
        "day": pa.date32(),
        "eve": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "n": pa.timestamp("us"),
        "a": pa.list_(pa.int32()),
        "st": pa.struct({"x": pa.int32(), "y": pa.string()}),
    }
)

TEXTS = ("", " ", "a", "A b", "  x ", "Straße", "ÉCOLE", "aXbXc", "12", " -7 ", "1.5", "true",
         "2024-02-29", "2024-01-31 10:11:12.5", "日本語", "a%b", "x")  # fmt: skip


def rows(rng: random.Random, count: int) -> pa.Table:
    """Return random rows, a fifth of whose values are NULL."""
    makers: dict[str, Callable[[], Any]] = {
        "b": lambda: _whole(rng, 7),
        "h": lambda: _whole(rng, 15),
        "i": lambda: _whole(rng, 31),
        "j": lambda: rng.randint(-3, 3),
        "l": lambda: _whole(rng, 63),
        "f": lambda: _float(rng),
        "d": lambda: _float(rng),
        "p": lambda: Decimal(_whole(rng, 29) % 10**9).scaleb(-2),
        "q": lambda: Decimal(_whole(rng, 120)).scaleb(-10),
        "s": lambda: rng.choice(TEXTS),
        "t": lambda: rng.choice(TEXTS),
        "o": lambda: rng.random() < 0.5,
        "day": lambda: dt.date(2024, 2, 29) + dt.timedelta(rng.randint(-60000, 60000)),
        "eve": lambda: dt.date(2024, 1, 31) + dt.timedelta(rng.randint(-40, 40)),
        "at": lambda: _moment(rng).replace(tzinfo=dt.timezone.utc),
        "n": lambda: _moment(rng),
        "a": lambda: [rng.choice((None, 1, 2, 3)) for _ in range(rng.randint(0, 4))],
        "st": lambda: {"x": rng.choice((None, 1, -2)), "y": rng.choice(TEXTS)},
    }
    made = [
        {name: None if rng.random() < 0.2 else make() for name, make in makers.items()}
        for _ in range(count)
    ]
    return pa.Table.from_pylist(made, SCHEMA)


def _whole(rng: random.Random, bits: int) -> int:
    edge = rng.random()
    if edge < 0.1:
        return rng.choice((2**bits - 1, -(2**bits), 0))
    return rng.randint(-(2 ** rng.randint(1, bits)), 2 ** rng.randint(1, bits) - 1)


def _float(rng: random.Random) -> float:
    return rng.choice((0.0, -0.0, math.nan, math.inf, -1.5, 2.5, 1e10, 0.1, rng.uniform(-99, 99)))


def _moment(rng: random.Random) -> dt.datetime:
    return dt.datetime(2024, 2, 29, 23, 59, 58) + dt.timedelta(
        days=rng.randint(-30000, 30000), microseconds=rng.randint(0, 10**11)
    )


COMPARE = ("=", "<>", "<", "<=", ">", ">=", "<=>")
NUMBERS = ("b", "h", "i", "j", "l", "f", "d", "p", "q", "st.x", "1", "-3", "7L", "2.50", "1.5BD",
           "1e2", "3000000000", "NULL")  # fmt: skip
TYPES = ("int", "bigint", "smallint", "tinyint", "double", "float", "decimal(12,3)",
         "decimal(38,18)", "decimal(5,0)")  # fmt: skip
DATE_PARTS = ("year", "quarter", "month", "day", "dayofweek", "weekday", "dayofyear")

FORMS = {
    "number": (
        "(N {+|-|*} N)",
        "(N {/|%|+|-|*} N)",
        "(W {div|%|+|*} W)",
        "(- N)",
        "abs(N)",
        "CAST(N AS {TYPES})",
        "CAST({s|t|o} AS {TYPES})",
        "CASE WHEN C THEN N ELSE N END",
        "CASE W WHEN 1 THEN N WHEN W THEN N END",
        "coalesce(N, N)",
        "if(C, N, N)",
        "nullif(N, N)",
        "{greatest|least}(N, N)",
        "length(X)",
        "{DATE_PARTS}(D)",
        "{year|hour|minute|second}(M)",
        "EXTRACT(MONTH FROM D)",
        "datediff(D, D)",
        "size(a)",
        "{a[0]|a[1]|element_at(a, 1)|element_at(a, -1)|a[j]}",
    ),
    "whole": ("(W {+|-|*|%} W)",),
    "text": (
        "{lower|upper|trim|ltrim|rtrim}(X)",
        "concat(X, X)",
        "(X || X)",
        "substring(X, {1|2|0|-2|-9|j}, {1|3|0|-1|j})",
        "substring(X, {2|-1|j})",
        "replace(X, {s|'X'|''}, X)",
        "trim({BOTH|LEADING|TRAILING} 'x ' FROM X)",
        "coalesce(X, X)",
        "CASE WHEN C THEN X WHEN o THEN X END",
        "CAST({b|l|p|q|o|day|at|n|j} AS STRING)",
    ),
    "condition": (
        "(C {AND|OR} C)",
        "(NOT C)",
        "(N {COMPARE} N)",
        "(X {COMPARE} X)",
        "(D {COMPARE} D)",
        "(M {COMPARE} M)",
        "(N IS NULL)",
        "(X IS NOT NULL)",
        "(X LIKE {'%a%'|'x_'|'S%'})",
        "(N BETWEEN W AND N)",
        "(W IN (1, -2, W))",
        "(X IN ('x', 'a', NULL))",
        "{contains|startswith|endswith}(X, X)",
        "array_contains(a, {1|j|3})",
        "CAST({i|d|p} AS BOOLEAN)",
    ),
    "date": (
        "date_add(D, {j|30|-1})",
        "date_sub(D, {j|31})",
        "(D + INTERVAL '{-40|3|400}' DAY)",
        "(D - INTERVAL '{1|14}' MONTH)",
        "(D + {j|3})",
        "add_months(D, {j|1|-13})",
        "last_day(D)",
        "CAST(M AS DATE)",
        "to_date(M)",
        "coalesce(D, D)",
    ),
    "moment": (
        "(M + INTERVAL '{-40|7}' HOUR)",
        "(M - INTERVAL '1 02:03:04.5' DAY TO SECOND)",
        "(D + INTERVAL '5' HOUR)",
        "CAST(D AS TIMESTAMP)",
        "CAST(M AS TIMESTAMP_NTZ)",
    ),
}
LEAVES = {
    "number": NUMBERS,
    "whole": ("b", "h", "i", "j", "l", "2", "-1", "size(a)"),
    "text": ("s", "t", "'x'", "'Straße'", "st.y", "''"),
    "condition": ("o", "(i > 0)", "(s = 'x')", "(d IS NULL)", "(day > eve)", "TRUE"),
    "date": ("day", "eve", "DATE '2024-01-31'"),
    "moment": ("at", "n", "TIMESTAMP '2024-02-29 12:00:00'"),
}
KINDS = {"N": "number", "W": "whole", "X": "text", "C": "condition", "D": "date", "M": "moment"}
LISTS = {"TYPES": TYPES, "DATE_PARTS": DATE_PARTS, "COMPARE": COMPARE}


def expression(rng: random.Random, depth: int, kind: str | None = None) -> str:
    """Return a random expression of SQL, of a kind or of any.

    In a form, a capital letter is an expression of its kind, and braces hold what is chosen from.
    """
    kind = kind or rng.choice(list(FORMS))
    if depth <= 0:
        return rng.choice(LEAVES[kind])

    def chosen(match: re.Match[str]) -> str:
        options = LISTS.get(match[1]) or match[1].split("|")
        return rng.choice(options)

    form = re.sub(r"\{(.*?)\}", chosen, rng.choice(FORMS[kind]))
    return re.sub(
        r"(?<![\w'])[NWXCDM](?![\w'])", lambda m: expression(rng, depth - 1, KINDS[m[0]]), form
    )
