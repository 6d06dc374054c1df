"""The promise of pruning: no matching row is ever lost, and truth is Spark's."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.arrays.bounds import BoundsTable, bounds_table
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import DataType, TableSchema
from colonnade.manifests.model.statistics import bound_prefix, encode_bound
from colonnade.tableformat.predicate import (
    bind,
    col,
    complement,
    evaluate,
    from_json,
    parse_predicate,
    prune,
    to_json,
)
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.tableformat.predicate.blocks import SEED, Row, make_batch, make_schema
from tests.tableformat.predicate.oracle import TYPES, Oracle, random_predicate, random_value

DATASETS = 420
PREDICATES = 50
BLOCKS, BLOCK_ROWS = 5, 5


def random_rows(rng: random.Random, types: dict[str, str]) -> list[Row]:
    """Blocks of rows: some all NULL, some with few distinct values, so that some are pruned."""
    rows = []
    for _ in range(BLOCKS):
        columns = {}
        for name, type_name in types.items():
            nulls = rng.choice((0.0, 0.0, 0.3, 1.0))
            pool = [random_value(rng, type_name) for _ in range(rng.randint(1, 3))]
            columns[name] = [
                None if rng.random() < nulls else rng.choice(pool) for _ in range(BLOCK_ROWS)
            ]
        rows += [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]
    return rows


def storage_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        sign, digits, _ = value.as_tuple()
        return int("".join(map(str, digits))) * (-1 if sign else 1)
    return value


def statistics(
    rng: random.Random | None, values: list[Any], data_type: DataType
) -> ColumnStatistics | None:
    """Exact statistics of some values, or with `rng` wider ones, or none."""
    present = [storage_value(v) for v in values if v is not None and v == v]
    counts: dict[str, Any] = {
        "nulls": values.count(None),
        "nans": sum(1 for v in values if v is not None and v != v),
    }
    if rng and rng.random() < 0.1:
        return None
    if not present or (rng and rng.random() < 0.1):
        return ColumnStatistics(**counts, exact=False)
    low, high = min(present), max(present)
    if rng and rng.random() < 0.7:
        low, high = widen(rng, low, high)
    least, most = (encode_bound(each, bound_prefix(data_type)) for each in (low, high))
    return ColumnStatistics(min=least, max=most, **counts, exact=not rng)


def widen(rng: random.Random, low: Any, high: Any) -> tuple[Any, Any]:
    cut = rng.randint(1, 3)
    match low:
        case bool():
            return rng.choice((low, False)), rng.choice((high, True))
        case int():
            return low - rng.randrange(4), high + rng.randrange(4)
        case float():
            return rng.choice((low - 0.5, -math.inf)), rng.choice((high + 0.5, math.inf))
        case str():
            return low[:cut], next_text(high[:cut]) if len(high) > cut else high
        case _:
            return low[:cut], high[:cut] + b"\xff" * 9 if len(high) > cut else high


def next_text(prefix: str) -> str:
    """A text above every text with this prefix that a writer of truncated bounds could choose."""
    last = ord(prefix[-1]) + 1
    last = 0xE000 if last == 0xD800 else last
    return prefix + "\U0010ffff" * 50 if last > 0x10FFFF else prefix[:-1] + chr(last)


def block_bounds(schema: TableSchema, rows: list[Row], rng: random.Random | None) -> BoundsTable:
    blocks = [rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS)]
    parts = []
    for block in blocks:
        found = {
            f.id: statistics(rng, [row[f.name] for row in block], f.type) for f in schema.fields
        }
        parts.append({key: value for key, value in found.items() if value is not None})
    return bounds_table(parts, [len(block) for block in blocks], schema, str)


@pytest.mark.slow
@pytest.mark.parametrize(
    "share", [0, *(pytest.param(share, marks=pytest.mark.long) for share in (1, 2, 3, 4, 5))]
)
def test_pruning_loses_no_row_and_truth_equals_a_plain_python_oracle(share: int) -> None:
    pairs = pruned_count = 0
    for dataset in range(share, DATASETS, 6):
        seed = SEED + dataset
        rng = random.Random(seed)
        types = {"x": TYPES[dataset % len(TYPES)], "y": rng.choice(TYPES), "z": rng.choice(TYPES)}
        schema, oracle = make_schema(types), Oracle(types)
        rows = random_rows(rng, types)
        batch = make_batch(schema, rows)
        bounds = [block_bounds(schema, rows, None), block_bounds(schema, rows, rng)]
        for number in range(PREDICATES):
            predicate = random_predicate(rng, types)
            label = f"seed {seed}, predicate {number}: {predicate}"
            bound = bind(from_json(to_json(predicate)), schema)
            expected = [oracle.truth(predicate, row) for row in rows]
            assert evaluate(bound, batch).to_pylist() == expected, label
            others = [truth is not True for truth in expected]
            unselected = evaluate(complement(bound), batch).to_pylist()
            assert [truth is True for truth in unselected] == others, label
            matching = np.array(expected).reshape(BLOCKS, BLOCK_ROWS) == np.True_
            for table in bounds:
                whole = ~prune(complement(bound), table)
                assert matching[whole].all(), label
                kept = prune(bound, table)
                assert kept.dtype == bool, label
                assert kept[matching.any(axis=1)].all(), label
                pruned_count += int((~kept).sum())
            pairs += 1
    assert pairs == PREDICATES * DATASETS // 6
    # A prune() that always keeps everything would pass the rest.
    assert pruned_count > pairs * BLOCKS * 2 * 0.25


def test_the_random_pairs_are_at_least_twenty_thousand() -> None:
    assert DATASETS * PREDICATES >= 20_000


def kept(where: str, values: list[Any], type_name: str = "int") -> list[bool]:
    """What prune says about blocks of one value each; None is a block of NULL."""
    schema = make_schema({"x": type_name})
    parts = [{1: statistics(None, [value], type_name)} for value in values]
    table = bounds_table(parts, [1] * len(values), schema, str)  # type: ignore[arg-type]
    return [bool(k) for k in prune(bind(parse_predicate(where), schema), table)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("x = 2", [False, True, False, False]),
        ("x <> 2", [True, False, True, False]),
        ("NOT x = 2", [True, False, True, False]),
        ("x < 2", [True, False, False, False]),
        ("x >= 2.5", [False, False, True, False]),
        ("x IN (0, 3, 3000000000)", [False, False, True, False]),
        ("x NOT IN (1, 3)", [False, True, False, False]),
        ("x NOT IN (1, NULL)", [False, False, False, False]),
        ("x IS NULL", [False, False, False, True]),
        ("x IS NOT NULL", [True, True, True, False]),
        ("x <=> 2", [False, True, False, False]),
        ("NOT x <=> 2", [True, False, True, True]),
        ("x < 3000000000", [True, True, True, False]),
        ("x > 3000000000", [False, False, False, False]),
        ("x = x", [True, True, True, False]),
    ],
)
def test_prune_keeps_exactly_the_blocks_that_one_value_bounds_allow(
    where: str, expected: list[bool]
) -> None:
    assert kept(where, [1, 2, 3, None]) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("x LIKE 'ab%'", [False, True, True, False]),
        ("x NOT LIKE 'ab%'", [True, False, False, True]),
        ("x LIKE 'ab_'", [False, True, True, False]),
        ("x LIKE 'abc'", [False, False, True, False]),
        ("startswith(x, 'abc')", [False, False, True, False]),
    ],
)
def test_prune_uses_the_literal_beginning_of_a_pattern(where: str, expected: list[bool]) -> None:
    assert kept(where, ["a", "ab", "abc", "b"], "string") == expected


def test_a_block_of_nan_is_kept_only_where_nan_can_match() -> None:
    for where, expected in [
        ("x > 5e0", True),
        ("x <> 5e0", True),
        ("isnan(x)", True),
        ("x NOT IN (5e0)", True),
        ("x < 5e0", False),
        ("x = 5e0", False),
        ("NOT isnan(x)", False),
    ]:
        assert kept(where, [math.nan], "double") == [expected], where


def test_unknown_counts_and_absent_columns_keep_everything() -> None:
    schema = make_schema({"x": "int"})
    absent = BoundsTable(np.array([4, 4]), {})
    one = ColumnStatistics(min="i:1", max="i:1", nulls=0)
    partly = bounds_table([{}, {1: one}], [4, 4], schema, str)
    for where in ("x = 9", "x IS NULL", "x IS NOT NULL", "NOT x IN (1)", "x = x"):
        bound = bind(parse_predicate(where), schema)
        assert prune(bound, absent).all(), where
        assert prune(bound, partly)[0], where


@pytest.mark.parametrize(
    ("where", "type_name"),
    [
        ("x > 'a'", "string"),
        ("x <> 'a'", "string"),
        ("x IN ('a', 'b')", "string"),
        ("x LIKE 'a%'", "string"),
        ("x >= X'00'", "binary"),
        (f"x > {10**30}", "decimal(38,0)"),
    ],
)
def test_a_column_that_is_null_everywhere_matches_nothing(where: str, type_name: str) -> None:
    assert kept(where, [None, None], type_name) == [False, False]


def test_decimals_beyond_64_bits_are_compared_exactly() -> None:
    values = [Decimal(f"{n}.0000000000") for n in (9, 10**27, 10**27 + 1)]
    where = f"x > {10**27}"
    assert kept(where, values, "decimal(38,10)") == [False, False, True]
    assert kept(f"x IN ({10**27})", values[:1], "decimal(38,10)") == [False]


def test_bounds_with_one_end_beyond_64_bits_keep_every_value_between() -> None:
    values = [Decimal(-(10**30)), Decimal(0), Decimal(10**30)]
    schema = make_schema({"x": "decimal(38,0)"})
    parts = [
        {1: statistics(None, part, "decimal(38,0)")} for part in (values[:2], values[1:], values)
    ]
    for table in (bounds_table([part], [3], schema, str) for part in parts):  # type: ignore[list-item]
        for where in ("x IN (0, 7)", "x NOT IN (0)", "x = 0", "x <> 0", "x <=> 0"):
            assert prune(bind(parse_predicate(where), schema), table).all(), where
    for found, wide in zip(parts, (-(10**30), 10**30, 10**30), strict=True):
        bound = bind(parse_predicate(f"x IN ({wide}, {wide - 1}, {wide + 1})"), schema)
        assert prune(bound, bounds_table([found], [3], schema, str)).all(), wide  # type: ignore[list-item]


def struct_schema() -> TableSchema:
    inner = {"type": "struct", "fields": ({"id": 2, "name": "In", "type": "int"},)}
    return TableSchema.model_validate({"fields": ({"id": 1, "name": "s", "type": inner},)})


def test_struct_fields_are_evaluated_but_never_pruned_by_their_parent() -> None:
    schema = struct_schema()
    rows = [{"In": 1}, None, {"In": None}, {"In": 5}]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(rows, arrow_schema(schema).field("s").type)], schema=arrow_schema(schema)
    )
    bound = bind(col("S.in") > 3, schema)
    assert bound.column_ids == {1}
    assert evaluate(bound, batch).to_pylist() == [False, None, None, True]
    all_null = bounds_table([{1: ColumnStatistics(nulls=4)}], [4], schema, str)
    assert prune(bound, all_null).all()
    assert not prune(bind(col("s").is_not_null(), schema), all_null).any()
