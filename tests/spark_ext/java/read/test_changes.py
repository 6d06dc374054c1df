"""A task of a change feed returns its rows, and both images of exactly the updates that changed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.tableformat.predicate.prune import MOST_MEMBERS
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from colonnade.tableformat.types.same_values import same_values
from tests.large_tables import TableMaker
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of, spark_schema
from tests.spark_ext.java.write_tool import PREFIX, by_python

FEED = (
    ("_change_type", "string"),
    ("_commit_version", "long"),
    ("_commit_timestamp", "timestamp"),
    ("_row_handler", "long"),
)
MICROS = 1_764_480_000_000_000
FIRST_ID = 7
"""The id of the first RowSet of `plan_of`."""

Change = tuple[str, int]
"""The type of a change, and its epoch."""


def feed_schema(schema: TableSchema, names: Sequence[str] | None = None) -> str:
    """Columns of a table, by default all, and those of a feed, as Spark's schema."""
    fields = json.loads(spark_schema(schema))["fields"]
    fields = [each for each in fields if names is None or each["name"] in names]
    fields += [{"name": n, "type": t, "nullable": False, "metadata": {}} for n, t in FEED]
    return json.dumps({"type": "struct", "fields": fields})


def task(
    folder: Path,
    schema: TableSchema,
    rows: pa.RecordBatch,
    change: Change,
    **place: Any,
) -> dict[str, Any]:
    """The task that reads rows of a new RowSet."""
    [entry] = by_python(folder, schema, rows, **place)
    named = {"type": change[0], "version": change[1], "micros": MICROS + change[1]}
    plan = plan_of(schema, [entry], prefix=PREFIX)
    return {"url": str(folder), "plan": plan, "most_members": MOST_MEMBERS, "change": named}


def shown(
    rows: pa.RecordBatch,
    schema: TableSchema,
    change: Change,
    names: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
) -> list[list[Any]]:
    """What the feed shows of some rows of a RowSet, by default all."""
    own = expected_rows(rows, schema)
    wanted = [at for at, name in enumerate(schema.names) if names is None or name in names]
    said = [change[0], str(change[1]), str(MICROS + change[1])]
    return [
        [*(own[row][at] for at in wanted), *said, str(FIRST_ID << 32 | row)]
        for row in (range(rows.num_rows) if numbers is None else numbers)
    ]


def in_order(places: NDArray[np.int64]) -> str:
    return base64.b64encode(places.astype("<i4").tobytes()).decode()


def pairs(
    before: list[list[Any]], after: list[list[Any]], differ: Sequence[bool]
) -> list[list[Any]]:
    both = zip(before, after, differ, strict=True)
    return [image for old, new, other in both if other for image in (old, new)]


OLD, NEW = ("update_preimage", 12), ("update_postimage", 12)


@pytest.mark.parametrize("seed", range(12))
def test_an_update_is_shown_if_a_compared_value_of_any_type_differs(
    seed: int, tool: ReadTool, folders: Iterator[Path]
) -> None:
    rng = np.random.default_rng(seed)
    maker = TableMaker(seed, TYPES)
    schema = maker.schema(columns=3)
    count = 70_000 if seed == 0 else int(rng.integers(1, 300))
    after = maker.rows_of(schema, count)
    # Half of the rows were the same before, and of some only one column was another.
    other, chosen = maker.rows_of(schema, count), rng.random(count) < 0.5
    changed = range(len(schema.names)) if seed % 2 else [int(rng.integers(len(schema.names)))]
    mixed = [
        pa.concat_arrays([new, old]).take(
            pa.array(np.arange(count) + count * (chosen & (at in changed)))
        )
        for at, (new, old) in enumerate(zip(after.columns, other.columns, strict=True))
    ]
    before = pa.RecordBatch.from_arrays(mixed, schema=after.schema)
    compared = [name for name in schema.names if rng.random() < 0.7] or [schema.names[0]]
    names = [name for name in schema.names if rng.random() < 0.6]
    differ = np.zeros(count, np.bool_)
    for name in compared:
        differ |= ~same_values(after.column(name), before.column(name))
    order = rng.permutation(count)
    stored = before.take(pa.array(order))  # row k is the row before row order[k]
    place = {"inline_bytes": 0, "block_rows": 20_000} if seed == 0 else {}
    part = {
        "before": task(next(folders), schema, stored, OLD, **place),
        "after": task(next(folders), schema, after, NEW, **place),
        "compared": compared,
        "order": in_order(order),
    }
    found = tool.changes([part], feed_schema(schema, names), feed_schema(schema))
    was = shown(before, schema, OLD, names)
    for place_of_row, row in enumerate(order):
        was[row][-1] = str(FIRST_ID << 32 | place_of_row)
    assert found == pairs(was, shown(after, schema, NEW, names), differ.tolist())


def test_nan_is_nan_and_minus_zero_is_not_zero(tool: ReadTool, folders: Iterator[Path]) -> None:
    nan = np.array([0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001], np.uint64)
    one = np.concatenate([nan.view(np.float64), [0.0, -0.0, 1.5]])
    other = np.concatenate([nan[::-1].view(np.float64), [-0.0, -0.0, 1.5]])
    nested = {"x": pa.float64(), "f": pa.float32()}

    def rows(values: NDArray[np.float64]) -> pa.RecordBatch:
        with np.errstate(invalid="ignore"):
            small = values.astype(np.float32)
        structs = pa.StructArray.from_arrays([pa.array(values), pa.array(small)], [*nested])
        maps = pa.MapArray.from_arrays(
            range(len(values) + 1), pa.array(["k"] * len(values)), values
        )
        return pa.record_batch({"x": values, "f": small, "s": structs, "m": maps})

    schema = assign_ids(schema_from_arrow(rows(one).schema), 1)[0]
    parts = [
        {
            "before": task(next(folders), schema, rows(one), OLD),
            "after": task(next(folders), schema, rows(other), NEW),
            "compared": [name],
        }
        for name in schema.names
    ]
    for part in parts:
        found = tool.changes([part], feed_schema(schema, []), feed_schema(schema))
        images = [shown(rows(one), schema, each, [], [3]) for each in (OLD, NEW)]
        assert found == [row for image in images for row in image], part["compared"]


def test_parts_are_read_in_order_and_each_says_its_change(
    tool: ReadTool, folders: Iterator[Path]
) -> None:
    rows = pa.record_batch({"k": pa.array([1, 2, 3]), "s": ["a", None, "c"]})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    gone, come = ("delete", 3), ("insert", 4)
    changed = rows.set_column(1, "s", pa.array(["a", "b", None]))
    parts: list[dict[str, Any]] = [
        {"rows": task(next(folders), schema, rows, gone)},
        {
            "before": task(next(folders), schema, rows, OLD),
            "after": task(next(folders), schema, changed, NEW),
            "compared": ["s"],
        },
        {"rows": task(next(folders), schema, rows, come)},
    ]
    expected = [
        *shown(rows, schema, gone),
        *pairs(shown(rows, schema, OLD), shown(changed, schema, NEW), [False, True, True]),
        *shown(rows, schema, come),
    ]
    assert tool.changes(parts, feed_schema(schema), feed_schema(schema)) == expected
    assert tool.changes([], feed_schema(schema), feed_schema(schema)) == []
    [only] = [{**parts[1], "compared": ["k"]}]
    assert tool.changes([only], feed_schema(schema), feed_schema(schema)) == []


def test_updated_rows_without_the_columns_that_are_compared_have_the_others_alone(
    tool: ReadTool, folders: Iterator[Path]
) -> None:
    rows = pa.record_batch({"k": pa.array([1, 2]), "s": [["a"], ["b"]]})
    changed = rows.set_column(1, "s", pa.array([["a"], ["b", None]]))
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    part = {
        "before": task(next(folders), schema, rows, OLD),
        "after": task(next(folders), schema, changed, NEW),
        "compared": ["s", "k"],
    }
    for names in ([], ["k"]):
        found = tool.changes([part], feed_schema(schema, names), feed_schema(schema))
        images = [(rows, OLD), (changed, NEW)]
        assert found == [
            row for some, change in images for row in shown(some, schema, change, names, [1])
        ]
