"""Random conditions in SQL on the columns of read_road.py, most of them selective."""

from __future__ import annotations

import random

NUMBERS = ("-1", "0", "37", "299", "300", "301", "555.5", "1000000", "3000000000")
LITERALS: dict[str, tuple[str, ...]] = {
    "id": ("-1", "0", "37", "299", "300", "599", "3000000000L", "250.5"),
    "i": NUMBERS,
    "l": (*NUMBERS, "9223372036854775807L"),
    "x": ("-2.5D", "0D", "-0D", "150D", "DOUBLE('NaN')", "DOUBLE('Infinity')", "12"),
    "f": ("0.1F", "FLOAT('NaN')", "20F", "7"),
    "n": ("0.00", "12.34", "100.005", "-5", "99999999.99"),
    "s": ("''", "'a'", "'key 07'", "'key 3'", "'zz'", "'\\u65e5'"),
    "d": ("DATE '1970-02-01'", "DATE '1971-01-01'", "'1970-05-05'", "TIMESTAMP '1970-03-03 12:00'"),
    "t": ("TIMESTAMP '1970-01-01 00:05:00Z'", "DATE '1970-01-01'", "'1969-12-31 19:03:00'"),
    "u": ("TIMESTAMP_NTZ '1970-01-01 00:05:00'", "DATE '1970-01-02'"),
    "b": ("true", "false"),
    "y": ("X''", "X'10'", "X'2fff'"),
    "st.a": ("0", "17", "29", "400"),
    "st.`b c`": ("'x1'", "'x'", "'y'"),
}
OPERATORS = ("=", "=", "<>", "<", "<=", ">", ">=", "<=>")
OTHERS = ("i + 1 = 38", "upper(s) = 'KEY 07'", "s LIKE '%7'", "size(a) = 2", "a[0] > 5", "b")


def atom(rng: random.Random) -> str:
    """A condition on one column, or on two."""
    column = rng.choice(sorted(LITERALS))
    literals = LITERALS[column]
    match rng.randrange(10):
        case 0:
            return f"{column} IS {rng.choice(('', 'NOT '))}NULL"
        case 1:
            values = rng.choices((*literals, "NULL"), k=rng.randint(1, 4))
            return f"{column} {rng.choice(('', 'NOT '))}IN ({', '.join(values)})"
        case 2 if len(literals) > 2:
            low, high = rng.sample(literals, 2)
            return f"{column} BETWEEN {low} AND {high}"
        case 3:
            return (
                f"s {rng.choice(('', 'NOT '))}LIKE '{rng.choice(('key 1%', 'k%', '%', 'key 07'))}'"
            )
        case 4:
            return rng.choice(OTHERS)
        case 5:
            return rng.choice(("i < l", "id = i", "x >= n", "st.a <=> i", "_row < 3", "_epoch = 4"))
    return f"{column} {rng.choice(OPERATORS)} {rng.choice(literals)}"


def condition(rng: random.Random, depth: int = 3) -> str:
    """A condition of atoms, AND, OR and NOT."""
    kind = rng.randrange(5) if depth else 4
    if kind < 2:
        return f"({condition(rng, depth - 1)} AND {condition(rng, depth - 1)})"
    if kind == 2:
        return f"({condition(rng, depth - 1)} OR {condition(rng, depth - 1)})"
    if kind == 3:
        return f"NOT ({condition(rng, depth - 1)})"
    return atom(rng)


def conditions(seed: int, count: int) -> list[str]:
    """Return a list that depends only on the seed."""
    rng = random.Random(seed)
    return [condition(rng) for _ in range(count)]
