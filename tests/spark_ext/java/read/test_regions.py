"""Rows inside a region are hidden, and values inside a mask are NULL, as a model says it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.range_tombstones import MOST_REGIONS
from colonnade.manifests.model.regions import Interval, Mask
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.object_names import column_segment_name
from colonnade.manifests.state.replaced_columns import replacement_of
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.predicate import parse_predicate, to_json
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from tests.examples_of import examples
from tests.regions import (
    between,
    inside,
    interval_of,
    masked,
    random_regions,
    region,
    stored_values,
)
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of, spark_schema
from tests.strategies import batches, make_batch, schemas
from tests.tableformat.rowset.written import JOB, PLACES, write
from tests.widened import CASES, ROWS, widened

ORDERED = [each for each in TYPES if each != "variant" and "collate" not in each]


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(str(tmp_path / "table"))


def in_order(schema: TableSchema, rows: pa.RecordBatch, rng: random.Random) -> pa.RecordBatch:
    """The rows as they are, or ordered by a column, so that regions have whole stretches."""
    if rng.random() < 0.3:
        return rows
    columns = [field.name for field in schema.fields if has_order(field)]
    values: list[Any] = stored_values(rows[rng.choice(columns)])
    missing = [at for at, value in enumerate(values) if value is None]
    present = [at for at, value in enumerate(values) if value is not None]
    return rows.take(pa.array([*missing, *sorted(present, key=values.__getitem__)], pa.int64()))


def masked_rows(
    schema: TableSchema, rows: pa.RecordBatch, masks: tuple[Mask, ...]
) -> list[list[Any]]:
    return expected_rows(masked(masks, schema, rows), schema)


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_rows_of_any_schema_are_hidden_and_masked_by_regions(
    place: str, tool: ReadTool, store: LocalStore, data: st.DataObject
) -> None:
    schema = data.draw(schemas(TYPES))
    assume(any(map(has_order, schema.fields)))
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    rows = in_order(schema, data.draw(batches(schema, min_rows=1, max_rows=60)), rng)
    size, wide = rng.choice((1, 7, 65_536)), rng.choice((16, 200, 8 * 2**20))
    [entry] = write(store, schema, rows, **PLACES[place], block_rows=size, block_bytes=wide)
    gone = set(rng.sample(range(rows.num_rows), rng.choice((0, 0, rows.num_rows // 3))))
    vector = write_deletion_vector(store, "t/", JOB, DeletionVector.of(gone)) if gone else None
    hidden = random_regions(schema, rows, rng) if rng.random() < 0.7 else ()
    masks = tuple(
        Mask(column=rng.choice(schema.fields).id, region=random_regions(schema, rows, rng, 1)[0])
        for _ in range(rng.choice((0, 1, 1, 3)))
    )
    plan = plan_of(
        schema,
        [entry],
        {0: vector} if vector else {},
        prefix="t/",
        whole=rng.random() < 0.5,
        hidden=hidden,
        masks=masks,
    )
    wanted = rng.sample(range(len(schema.fields)), rng.randint(1, len(schema.fields)))
    columns = TableSchema(fields=tuple(schema.fields[at] for at in wanted))
    found = tool.rows(store.url, plan, spark_schema(columns))
    unseen = inside(hidden, rows)
    assert found == [
        [row[at] for at in wanted]
        for number, row in enumerate(masked_rows(schema, rows, masks))
        if number not in gone and not unseen[number]
    ]


def numbers(**columns: Any) -> tuple[TableSchema, pa.RecordBatch]:
    rows = pa.record_batch(columns)
    return assign_ids(schema_from_arrow(rows.schema), 1)[0], rows


def visible(
    tool: ReadTool, store: LocalStore, plan: dict[str, Any], schema: TableSchema
) -> list[Any]:
    return tool.rows(store.url, plan, spark_schema(schema))


@pytest.mark.parametrize("kind", ORDERED)
def test_values_of_every_order_are_compared_with_open_and_closed_bounds(
    kind: str, tool: ReadTool, store: LocalStore
) -> None:
    column = SchemaField(id=1, name="a", type=kind)
    schema, rng = TableSchema(fields=(column,)), random.Random(kind)
    distinct = make_batch(
        TableSchema(fields=(column.model_copy(update={"nullable": False}),)), 9, 5
    )
    repeated = [rng.randrange(9) for _ in range(40)]
    at = pa.array([None if rng.random() < 0.1 else each for each in repeated], pa.int64())
    rows = pa.RecordBatch.from_arrays([distinct["a"].take(at)], schema=arrow_schema(schema))
    [entry] = write(store, schema, rows, block_rows=15)
    values = [each for each in stored_values(distinct["a"]) if each is not None]
    for low in (None, *rng.sample(values, 2)):
        for high in (None, low, *rng.sample(values, 2)):
            opens = {"low_open": rng.random() < 0.5, "high_open": rng.random() < 0.5}
            hidden = between(column, low, high, **opens)
            plan = plan_of(schema, [entry], prefix="t/", hidden=(hidden,))
            gone = inside([hidden], rows)
            wanted = [r for r, g in zip(expected_rows(rows, schema), gone, strict=True) if not g]
            assert visible(tool, store, plan, schema) == wanted, hidden


@pytest.mark.parametrize("ordered", [True, False])
def test_many_regions_of_two_columns_hide_what_each_of_them_hides(
    tool: ReadTool, store: LocalStore, ordered: bool
) -> None:
    rng = random.Random(ordered)
    device = [rng.randrange(100) for _ in range(2000)]
    schema, rows = numbers(
        device=pa.array(sorted(device) if ordered else device),
        ts=pa.array([None if rng.random() < 0.1 else rng.randrange(10_000) for _ in device]),
        v=pa.array(range(2000)),
    )
    first, second, _ = schema.fields
    hidden = []
    for _ in range(MOST_REGIONS):
        one, start = rng.randrange(100), rng.randrange(10_000)
        later = interval_of(second, start, start + rng.randrange(2000), high_open=True)
        hidden.append(region((first, interval_of(first, one, one)), (second, later)))
    [entry] = write(store, schema, rows, block_rows=150)
    plan = plan_of(schema, [entry], prefix="t/", hidden=tuple(hidden))
    gone = inside(hidden, rows)
    wanted = [r for r, g in zip(expected_rows(rows, schema), gone, strict=True) if not g]
    assert 200 < len(wanted) < 1950
    assert visible(tool, store, plan, schema) == wanted


@pytest.mark.parametrize(("old", "new"), CASES)
def test_a_column_that_widened_is_compared_and_masked_in_its_wider_type(
    tool: ReadTool, store: LocalStore, old: str, new: str
) -> None:
    case, rng = widened(old, new), random.Random(new)
    [entry] = write(store, case.before, case.stored, block_rows=ROWS)
    for _ in range(5):
        hidden = random_regions(case.after, case.wanted, rng)
        masks = (Mask(column=3, region=random_regions(case.after, case.wanted, rng, 1)[0]),)
        plan = plan_of(case.after, [entry], prefix="t/", hidden=hidden, masks=masks)
        gone = inside(hidden, case.wanted)
        shown = masked_rows(case.after, case.wanted, masks)
        wanted = [row for row, hides in zip(shown, gone, strict=True) if not hides]
        assert visible(tool, store, plan, case.after) == wanted


def test_a_replaced_column_is_compared_by_its_current_values(
    tool: ReadTool, store: LocalStore
) -> None:
    schema, rows = numbers(k=pa.array(range(60)), v=pa.array(range(60)))
    k, v = schema.fields
    alone = TableSchema(fields=(k,))
    [entry] = write(store, schema, rows, block_rows=20)
    turned = pa.record_batch([pa.array(range(59, -1, -1))], schema=arrow_schema(alone))
    [part] = write(store, alone, turned, block_rows=20)
    entry = entry.model_copy(update={"replacements": (replacement_of(part, (k.id,)),)})
    masks = (Mask(column=v.id, region=between(k, 30, 34)),)
    plan = plan_of(schema, [entry], prefix="t/", hidden=(between(k, 5, None),), masks=masks)
    assert visible(tool, store, plan, TableSchema(fields=(v,))) == [[str(i)] for i in range(55, 60)]
    plan = plan_of(schema, [entry], prefix="t/", masks=masks)
    shown = [None if 25 <= i < 30 else str(i) for i in range(60)]
    assert visible(tool, store, plan, TableSchema(fields=(v,))) == [[each] for each in shown]


def test_a_column_that_no_schema_shows_hides_rows_of_the_rowsets_that_have_it(
    tool: ReadTool, store: LocalStore
) -> None:
    schema, rows = numbers(v=pa.array(range(90)))
    stored = TableSchema(fields=(*schema.fields, WRITTEN))
    times = pa.array([i // 30 for i in range(90)], pa.timestamp("us", "UTC"))
    [new] = write(
        store, stored, pa.record_batch([rows["v"], times], schema=arrow_schema(stored)),
        block_rows=20,
    )  # fmt: skip
    [old] = write(store, schema, rows.slice(0, 5))
    hidden = (between(WRITTEN, None, 1, high_open=True),)
    plan = plan_of(schema, [new, old], prefix="t/", hidden=hidden)
    expected = [[str(i)] for i in (*range(30, 90), *range(5))]
    assert visible(tool, store, plan, schema) == expected
    stated = WRITTEN.model_copy(update={"initial": "i:0"})
    plan = plan_of(schema, [new, old], prefix="t/", hidden=(between(stated, None, 0),))
    assert visible(tool, store, plan, schema) == expected[:60], "as the old RowSet states it"
    masks = (Mask(column=schema.fields[0].id, region=between(stated, None, 0)),)
    plan = plan_of(schema, [new, old], prefix="t/", masks=masks)
    assert visible(tool, store, plan, schema) == [[None]] * 30 + expected[:60] + [[None]] * 5


@pytest.mark.parametrize(
    ("initial", "hides", "shown"),
    [("i:7", True, ["7"] * 20), ("i:6", False, ["6"] * 20), (None, False, [None] * 20)],
)
def test_a_column_that_the_rowset_lacks_is_compared_by_its_initial_value(
    tool: ReadTool, store: LocalStore, initial: str | None, hides: bool, shown: list[str | None]
) -> None:
    schema, rows = numbers(v=pa.array(range(20)))
    added = SchemaField(id=9, name="w", type="int", initial=initial)
    later = TableSchema(fields=(*schema.fields, added))
    [entry] = write(store, schema, rows, block_rows=7)
    plan = plan_of(later, [entry], prefix="t/", hidden=(between(added, 7, 9),))
    every = [[str(i), shown[i]] for i in range(20)]
    assert visible(tool, store, plan, later) == ([] if hides else every)
    mask = Mask(column=added.id, region=between(schema.fields[0], 5, 15))
    plan = plan_of(later, [entry], prefix="t/", masks=(mask,))
    every = [[str(i), None if 5 <= i <= 15 else shown[i]] for i in range(20)]
    assert visible(tool, store, plan, later) == every


def test_numbers_of_rows_and_counts_are_those_of_visible_rows(
    tool: ReadTool, store: LocalStore
) -> None:
    schema, rows = numbers(k=pa.array(range(100)))
    [entry] = write(store, schema, rows, block_rows=30)
    vector = write_deletion_vector(store, "t/", JOB, DeletionVector.of([1, 98]))
    hidden = (between(schema.fields[0], 2, 95),)
    plan = plan_of(schema, [entry], {0: vector}, prefix="t/", hidden=hidden)
    handlers = TableSchema(fields=(SchemaField(id=1, name="_row_handler", type="long"),))
    found = visible(tool, store, plan, handlers)
    assert found == [[str(7 << 32 | row)] for row in (0, 96, 97, 99)]
    answer = tool.answer(store.url, plan, spark_schema(TableSchema(fields=())))
    assert answer["batches"] == [1, 3], "a stretch without a visible row is not read"


def test_masked_values_count_as_null_where_stretches_are_ruled_out(
    tool: ReadTool, store: LocalStore
) -> None:
    schema, rows = numbers(k=pa.array(range(100)), v=pa.array([i // 10 for i in range(100)]))
    k, v = schema.fields
    options: dict[str, Any] = {"block_rows": 10, "bloom_columns": frozenset({v.id})}
    [entry] = write(store, schema, rows, **options)
    masks = (Mask(column=v.id, region=between(k, 12, 35)),)
    for condition, stretches in (
        ("v IS NULL", (1, 2, 3)),
        ("v IS NOT NULL AND k < 30", (0, 1, 2)),
        ("v = 7", (7,)),
        ("v IN (2, 7)", (2, 7)),
        ("v > 100", ()),
        ("NOT v = 7 AND k > 60", (6, 8, 9)),
        ("v IS NULL OR k = 95", (1, 2, 3, 9)),
    ):
        predicate = to_json(parse_predicate(condition))
        plan = plan_of(schema, [entry], prefix="t/", predicate=predicate, masks=masks)
        shown = masked_rows(schema, rows, masks)
        kept = [row for at, row in enumerate(shown) if at // 10 in stretches]
        assert visible(tool, store, plan, schema) == kept, condition


def test_rows_of_merged_rowsets_are_hidden_and_masked(tool: ReadTool, tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("v", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, sort_key=["k desc"])
    for first in (500, 0, 250):
        keys = range(first, first + 400)
        table.append(pa.table({"k": keys, "v": [f"row {n % 99}" for n in keys]}, schema))
    scan = table.scan(order="key")
    k, v = scan._plan.output_schema.fields
    hidden, masks = (between(k, 300, 600),), (Mask(column=v.id, region=between(k, None, 100)),)
    view = scan._plan.view
    ids = [each.id for each in view.rowsets]
    view = replace(view, hidden=dict.fromkeys(ids, hidden), masks=dict.fromkeys(ids, masks))
    plan = json.loads(replace(scan._plan, view=view).to_json())
    shown = spark_schema(scan._plan.output_schema)
    answer = tool.answer(f"file:{tmp_path}/t", plan, shown, merged=True)
    rows = [row for batch in scan.to_batches() for row in batch.to_pylist()]
    assert answer["rows"] == [
        [str(row["k"]), None if row["k"] <= 100 else row["v"]]
        for row in rows
        if not 300 <= row["k"] <= 600
    ]


@pytest.mark.parametrize("bound", ["s:text", "i:1e3", "f:nan", "x"])
@pytest.mark.parametrize("masks", [False, True])
def test_a_bound_that_the_column_cannot_have_is_an_error_that_names_it(
    tool: ReadTool, store: LocalStore, bound: str, masks: bool
) -> None:
    schema, rows = numbers(k=pa.array(range(10)))
    [entry] = write(store, schema, rows)
    column = schema.fields[0]
    damaged = region((column, Interval(column=column.id, low=bound)))
    mask = (Mask(column=column.id, region=damaged),)
    how: dict[str, Any] = {"masks": mask} if masks else {"hidden": (damaged,)}
    answer = tool.answer(
        store.url, plan_of(schema, [entry], prefix="t/", **how), spark_schema(schema)
    )
    assert "A region of RowSet" in answer["error"]
    assert f"column 'k': bound '{bound}' does not fit" in answer["error"]


def test_only_the_edges_of_regions_are_decoded_and_no_hidden_stretch_is_read(
    tool: ReadTool, store: LocalStore
) -> None:
    count, size = 2_000_000, 50_000
    schema, rows = numbers(
        k=pa.array(range(count)), v=pa.array(np.random.default_rng(3).random(count))
    )
    k, v = schema.fields
    places: dict[str, Any] = PLACES["directory"]
    [entry] = write(store, schema, rows, block_rows=size, **places)
    hidden = (between(k, 120_000, 1_030_000), between(k, 1_010_000, 1_500_000, high_open=True))
    plan = plan_of(schema, [entry], prefix="t/", hidden=hidden)
    url, wanted = f"shelf://{store.url}", spark_schema(TableSchema(fields=(v,)))
    answer = tool.answer(url, plan, wanted, edges=True)
    assert sum(answer["batches"]) == 120_000 + 500_000
    values = rows["v"].slice(100_000, 20_000)
    edge = expected_rows(pa.record_batch([values], ["v"]), TableSchema(fields=(v,)))
    assert answer["rows"][4:6] == [edge[0], edge[-1]]
    blocks = {}
    for column in (k, v):
        name = column_segment_name("t/", entry.object, column.id)
        length = Path(store.url, name).stat().st_size
        blocks[column.name] = answer["read"][Path(name).name] * count / size / length
    assert blocks["k"] == pytest.approx(2, rel=0.01), "the first edge, and where both regions meet"
    assert blocks["v"] == pytest.approx(13, rel=0.01), "the stretches that are not hidden"


def test_hidden_rows_that_a_process_has_found_are_not_looked_for_again(
    tool: ReadTool, store: LocalStore
) -> None:
    """Other regions, another table and a longer list of regions are looked at anew."""
    count, size = 400_000, 20_000
    schema, rows = numbers(k=pa.array(range(count)), v=pa.array(range(count)))
    k, v = schema.fields
    [entry] = write(store, schema, rows, block_rows=size, **PLACES["directory"])
    [other] = write(store, schema, rows, block_rows=size, **PLACES["directory"])
    url, wanted = f"shelf://{store.url}", spark_schema(TableSchema(fields=(v,)))

    def read(of: RowSetEntry, holes: list[int]) -> int:
        """Check the rows beside some holes, and return the bytes of `k` that were read."""
        hidden = tuple(between(k, each, each) for each in holes)
        plan = plan_of(schema, [of], prefix="t/", hidden=hidden)
        answer = tool.answer(url, plan, wanted, edges=True)
        assert sum(answer["batches"]) == count - len(holes)
        name = Path(column_segment_name("t/", of.object, k.id)).name
        return int(answer["read"].get(name, 0))

    holes = [*range(7, count, 10_000)]
    looked = read(entry, holes)
    again = read(entry, holes)
    assert again < looked / 4, "only the footer and the index are read again"
    assert read(other, holes) == looked
    assert read(entry, holes[:-3]) > looked / 2
    assert read(entry, [*holes, 8]) == looked
    assert read(entry, [*holes, 8]) == again
