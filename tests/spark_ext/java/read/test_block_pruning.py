"""Blocks that cannot match are left out, and no row that matches ever is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.columns.bloom import bloom_columns
from colonnade.manifests.model.regions import Mask
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate, to_json
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from tests.regions import masked, random_regions
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.tableformat.predicate.blocks import make_batch, make_schema
from tests.tableformat.predicate.oracle import TYPES, random_predicate
from tests.tableformat.predicate.test_prune import BLOCK_ROWS, BLOCKS, random_rows

JOB = "0123456789abcdef"


def blocks_read(
    tool: ReadTool,
    store: LocalStore,
    schema: TableSchema,
    rows: pa.RecordBatch,
    predicate: Any,
    wanted: str | None = None,
    bloom: Sequence[int] = (),
    masks: tuple[Mask, ...] = (),
    inline_bytes: int = 2**20,
    packed_bytes: int = 2**20,
) -> list[Any]:
    options = WriteOptions(
        block_rows=BLOCK_ROWS,
        inline_bytes=inline_bytes,
        packed_bytes=packed_bytes,
        bloom_columns=frozenset(bloom),
    )
    with RowSetWriter(store, "", JOB, schema, (), options) as writer:
        writer.write(rows)
        entries = writer.close()
    plan = plan_of(schema, entries, predicate=to_json(predicate), masks=masks)
    return tool.rows(store.url, plan, wanted or spark_schema(schema))


@pytest.mark.parametrize(
    "share", [*range(5), *(pytest.param(share, marks=pytest.mark.long) for share in range(5, 10))]
)
def test_no_row_that_matches_is_lost(tool: ReadTool, tmp_path: Path, share: int) -> None:
    rng = random.Random(share)
    store = LocalStore(str(tmp_path))
    pruned = 0
    for _ in range(60):
        types = dict(zip("abc", rng.sample(TYPES, 3), strict=True))
        schema = make_schema(types)
        rows = make_batch(schema, random_rows(rng, types))
        number = pa.array([str(i) for i in range(rows.num_rows)])
        identity = SchemaField(id=9, name="_i", type="string")
        schema = TableSchema(fields=(*schema.fields, identity))
        rows = rows.append_column("_i", number)
        predicate = random_predicate(rng, types)
        columns = TableSchema(fields=schema.fields[:-1])
        masks = tuple(
            Mask(column=rng.choice(columns.fields).id, region=region)
            for region in (random_regions(columns, rows, rng) if rng.random() < 0.5 else ())
        )
        shown = masked(masks, schema, rows)
        matching = evaluate(bind(predicate, schema), shown).fill_null(False)
        wanted = {row[-1] for row in expected_rows(shown.filter(matching), schema)}
        on = {f"bloom-filter-enabled.column.{name}": "true" for name in types}
        bloom = bloom_columns(on, schema) if rng.random() < 0.7 else ()
        found = blocks_read(tool, store, schema, rows, predicate, bloom=bloom, masks=masks)
        assert wanted <= {row[-1] for row in found}
        assert [row for row in expected_rows(shown, schema) if row in found] == found
        pruned += len(found) < BLOCKS * BLOCK_ROWS
    assert pruned


LOOKUPS: dict[str, list[Any]] = {
    "k": [97 * i % 101 for i in range(25)],
    "i": [97 * i % 101 - 50 for i in range(25)],
    "x": [97 * i % 101 / 4 - 10 for i in range(24)] + [float("nan")],
    "s": [f"text {97 * i % 101}" for i in range(25)],
    "b": [f"{97 * i % 101}".encode() for i in range(25)],
    "p": [Decimal(97 * i % 101).scaleb(-2) for i in range(25)],
    "q": [Decimal(97 * i % 101).scaleb(-2) for i in range(24)] + [Decimal(10) ** 34],
    "d": [97 * i % 101 for i in range(25)],
    "t": [97 * i % 101 * 1_000_000 for i in range(25)],
}
LOOKUP_TYPES = (
    *("long", "int", "float", "string", "binary", "decimal(9,2)", "decimal(38,2)"),
    *("date", "timestamp"),
)


@pytest.mark.parametrize(
    ("where", "blocks"),
    [
        ("k = 97", [0]),
        ("k = 96", []),
        ("k = 97.0 AND k > 5", [0]),
        ("k = 97.5", []),
        ("k IN (97, 21, 1000)", [0, 4]),
        ("k IN (97, NULL)", [0]),
        ("NOT k IN (97, 21)", [0, 1, 2, 3, 4]),
        ("k <> 96", [0, 1, 2, 3, 4]),
        ("k = 96 OR k = 21", [4]),
        ("k = 96 OR d = DATE'1970-01-02'", []),
        ("k = 21 AND s = 'text 21'", [4]),
        ("k = 21 AND s = 'text 97'", []),
        ("i = 47", [0]),
        ("x = 14.25", [0]),
        ("x = 14.5", []),
        ("x = CAST('NaN' AS DOUBLE)", [0, 1, 2, 3, 4]),
        ("s = 'text 97'", [0]),
        ("s IN ('text 3', 'text 21')", [4]),
        ("b = X'3937'", [0]),
        ("p = 0.97", [0]),
        ("p = 0.970", [0]),
        ("p = 0.96", []),
        ("q = 0.97", [0]),
        ("q = 0.96", []),
        ("d = DATE'1970-04-08'", [0]),
        ("t = TIMESTAMP'1970-01-01 00:01:37'", [0]),
        ("t = TIMESTAMP'1970-01-01 00:01:36'", []),
    ],
)
@pytest.mark.parametrize("packed_bytes", [0, 2**20])
def test_filters_leave_the_blocks_that_have_the_key(
    tool: ReadTool, tmp_path: Path, where: str, blocks: list[int], packed_bytes: int
) -> None:
    schema = make_schema(dict(zip(LOOKUPS, LOOKUP_TYPES, strict=True)))
    rows = pa.RecordBatch.from_arrays(
        [pa.array(v, f.type) for v, f in zip(LOOKUPS.values(), arrow_schema(schema), strict=True)],
        schema=arrow_schema(schema),
    )
    predicate = parse_predicate(where)
    store = LocalStore(str(tmp_path))
    read = partial(blocks_read, tool, store, schema, rows, predicate, packed_bytes=packed_bytes)
    found = read(bloom=range(1, 10), inline_bytes=0)
    numbers = {str(key): i for i, key in enumerate(LOOKUPS["k"])}
    assert sorted({numbers[row[0]] // BLOCK_ROWS for row in found}) == blocks
    more = read(inline_bytes=0)
    matching = evaluate(bind(predicate, schema), rows).fill_null(False)
    assert len(more) >= len(found) >= rows.filter(matching).num_rows


def test_columns_that_are_not_read_rule_out_blocks_too(tool: ReadTool, tmp_path: Path) -> None:
    rows = pa.record_batch({"a": pa.array(range(25)), "b": pa.array(range(25))})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    predicate = parse_predicate("b > 21")
    store = LocalStore(str(tmp_path))
    wanted = spark_schema(TableSchema(fields=schema.fields[:1]))
    found = blocks_read(tool, store, schema, rows, predicate, wanted)
    assert found == [[str(i)] for i in range(20, 25)]


@pytest.mark.parametrize(
    ("where", "blocks"),
    [
        ("n = 7", [1]),
        ("n >= 10 AND n < 12", [2]),
        ("NOT (n < 20)", [4]),
        ("n < 3 OR n > 21", [0, 4]),
        ("n IN (1, 24)", [0, 4]),
        ("n <> 3", [0, 1, 2, 3, 4]),
        ("11 < n", [2, 3, 4]),
        ("n > 3.5 AND n <= 4.5", [0]),
        ("d < DATE'1970-01-06'", [0]),
        ("d >= TIMESTAMP'1970-01-21 00:00:00'", [4]),
        ("x IS NULL", [1]),
        ("x IS NOT NULL AND n < 10", [0]),
        ("x > 1e300", [3]),
        ("s LIKE 'row02%'", [4]),
        ("s LIKE '%4'", [0, 1, 2, 3, 4]),
        ("p >= 200.00", [4]),
        ("b", [0]),
        ("NOT b", [1, 2, 3, 4]),
        ("n = 7 AND x = 5", []),
        ("o.x = 1", [0, 1, 2, 3, 4]),
    ],
)
def test_only_blocks_that_may_match_are_read(
    tool: ReadTool, tmp_path: Path, where: str, blocks: list[int]
) -> None:
    numbers = range(BLOCKS * BLOCK_ROWS)
    rows = pa.record_batch(
        {
            "n": pa.array(numbers),
            "d": pa.array(numbers, pa.int32()).cast(pa.date32()),
            "x": pa.array(
                [None if 5 <= i < 10 else float("nan") if i == 16 else 1.0 for i in numbers]
            ),
            "s": pa.array([f"row{i:03}" for i in numbers]),
            "p": pa.array([i * 10 for i in numbers]).cast(pa.decimal128(19, 0)),
            "b": pa.array([i < 5 for i in numbers]),
            "o": pa.array([{"x": i} for i in numbers]),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    predicate = parse_predicate(where)
    found = blocks_read(tool, LocalStore(str(tmp_path)), schema, rows, predicate)
    assert sorted({int(row[0]) // BLOCK_ROWS for row in found}) == blocks
