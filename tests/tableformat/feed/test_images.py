"""Both images of updated rows, at real sizes: nested values, several blocks, rows in any order."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.limits import Limits
from colonnade.manifests.store import MemoryStore
from tests.tableformat.statements.tables import made

ITEM = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])
SCHEMA = pa.schema(
    [
        pa.field("k", pa.int64(), nullable=False),
        ("v", pa.float64()),
        ("s", pa.string()),
        ("items", pa.list_(ITEM)),
        ("by_name", pa.map_(pa.string(), pa.int64())),
    ]
)
SIZES = [3_000, pytest.param(300_000, marks=pytest.mark.long)]


def row(rng: random.Random, key: int) -> dict[str, Any]:
    items = [{"x": i, "y": [rng.choice("ab")] * i} for i in range(rng.randrange(3))]
    names = [(name, rng.randrange(5)) for name in rng.sample("abc", rng.randrange(3))]
    text = rng.choice((None, "", "x" * rng.randrange(20)))
    number = rng.choice((None, 0.0, -0.0, float("nan"), rng.random()))
    return {"k": key, "v": number, "s": text, "items": items or None, "by_name": names}


def state(table: ArrowTable, epoch: int) -> dict[int, str]:
    return {each["k"]: repr(each) for each in table.scan(epoch=epoch).to_pylist()}


def check(table: ArrowTable, first: int, last: int, *, net: bool) -> None:
    """Compare the changes between two states with the difference of their rows by key."""
    changes = table.changes(first, last, net=net)
    old, new = state(table, first - 1), state(table, last)
    found: dict[str, dict[int, str]] = {}
    for each in changes:
        own = {name: each[name] for name in SCHEMA.names}
        kind = found.setdefault(each["_change_type"], {})
        assert each["k"] not in kind
        kind[each["k"]] = repr(own)
    both = {key for key in old.keys() & new.keys() if old[key] != new[key]}
    assert found.get("update_preimage", {}) == {key: old[key] for key in both}
    assert found.get("update_postimage", {}) == {key: new[key] for key in both}
    assert found.get("delete", {}) == {k: old[k] for k in old.keys() - new.keys()}
    assert found.get("insert", {}) == {k: new[k] for k in new.keys() - old.keys()}


def statements(table: ArrowTable, rng: random.Random, rows: int) -> Sequence[Callable[[], object]]:
    keys = rng.sample(range(2 * rows), rows // 3)
    some = pa.Table.from_pylist([row(rng, key) for key in keys], SCHEMA)
    return (
        lambda: table.upsert(some, on="k"),
        lambda: table.update({"s": "'new'"}, f"k > 10 AND k < {rows}"),
        lambda: table.optimize().option("min-rowsets", 2).executeCompaction(),
        lambda: table.update({"v": 1.5}),
        lambda: table.delete(f"k >= {rows // 2}", count_rows=True),
        lambda: table.upsert(some.slice(0, rows // 9), on="k"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("limits", [Limits(), Limits(in_place_bytes=0, inline_bytes=0)])
def test_images_are_the_rows_before_and_after(rows: int, keyed: bool, limits: Limits) -> None:
    rng = random.Random(rows)
    table = made(MemoryStore(), SCHEMA, ["k"] if keyed else [])
    table._log.reader.limits = limits
    keys = rng.sample(range(2 * rows), rows)
    data = pa.Table.from_pylist([row(rng, key) for key in keys], SCHEMA)
    table.append(data, settings=WriteSettings(max_records=rows // 3 + 1))
    begun = table.epoch
    for run in statements(table, rng, rows):
        run()
        check(table, table.refresh().epoch, table.epoch, net=False)
    # The last statement inserts deleted keys again: without a key, they are other rows.
    check(table, begun + 1, table.epoch if keyed else table.epoch - 1, net=True)
    check(table, begun + 3, table.epoch - 1, net=True)
