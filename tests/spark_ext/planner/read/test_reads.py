"""Requests of the Spark source: what they find, and that an epoch asked for is the one read."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade import SetSortKey
from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.store import StoreAddress, open_store
from colonnade.spark_ext.planner.read import reads, task_split
from colonnade.spark_ext.planner.read.load import check_options, load
from colonnade.spark_ext.planner.state.snapshots import Snapshots
from colonnade.tableformat.rowset.view import statics
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan
from colonnade.tableformat.scan.run import read_plan

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
DEFAULTS: dict[str, Any] = {"filters": [], "parallelism": 2}


def rows(*keys: int) -> pa.Table:
    return pa.table({"k": list(keys), "v": [f"v{key}" for key in keys]}, schema=SCHEMA)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A sorted table of three RowSets: 0 to 9, 10 to 19, 20 to 29."""
    table = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["k"], comment="about keys")
    for first in (0, 10, 20):
        table.append(rows(*range(first, first + 10)))
    return str(tmp_path / "t")


def load_table(path: str, **options: str) -> dict[str, Any]:
    return load({"path": path, "options": options})


def scan(loaded: dict[str, Any], *columns: str, **asked: Any) -> dict[str, Any]:
    named = {name: asked.pop(name) for name in ("whole", "rowsets") if name in asked}
    view = {**loaded["view"], **named}
    return reads.scan({"view": view, **DEFAULTS, "columns": list(columns), **asked})


def plans(planned: dict[str, Any]) -> list[ScanPlan]:
    """The plan of each task, as a task reads it."""
    return [ScanPlan.from_json(json.dumps(json.loads(task)["plan"])) for task in planned["tasks"]]


def keys(planned: dict[str, Any]) -> list[int]:
    found: list[int] = []
    for task, plan in zip(planned["tasks"], plans(planned), strict=True):
        for batch in read_plan(open_store(json.loads(task)["url"]), plan):
            found += batch["k"].to_pylist()
    return found


def compare(op: str, key: int) -> dict[str, Any]:
    return {"op": op, "args": [{"column": ["k"]}, {"type": "bigint", "value": str(key)}]}


def test_tasks_read_whole_rowsets_where_that_is_asked_for(path: str) -> None:
    loaded = load_table(path)
    planned = scan(loaded, "k", whole=2, grouped=True, filters=[compare(">=", 25)])
    assert [[each.rowset.id for each in plan.rowsets] for plan in plans(planned)] == [[2], []]
    assert keys(scan(loaded, "k", whole=2)) == [*range(10), *range(20, 30), *range(10, 20)]
    assert len(scan(loaded, "k", whole=7, rowsets=[1])["tasks"]) == 7


def test_a_table_is_described_as_spark_has_it(path: str) -> None:
    loaded = load_table(path)
    assert loaded["view"]["epoch"] == 4
    assert loaded["comment"] == "about keys"
    assert loaded["sort_key"] == [{"column": "k", "descending": False}]
    assert [field["type"] for field in json.loads(loaded["columns"])["fields"]] == [
        "long",
        "string",
    ]


def test_lengths_of_strings_are_in_the_type_and_not_in_metadata(tmp_path: Path) -> None:
    fixed = colonnade.TableSchema(
        fields=(colonnade.SchemaField(name="c", type="char(3)", comment="three"),)
    )
    colonnade.create(tmp_path / "t", fixed)
    (field,) = json.loads(load_table(str(tmp_path / "t"))["columns"])["fields"]
    assert field["type"] == "char(3)"
    assert field["metadata"] == {"comment": "three"}


def test_loading_again_sees_the_newest_epoch_and_plans_keep_theirs(path: str) -> None:
    before = load_table(path)
    colonnade.open(path).append(rows(100))
    after = load_table(path)
    assert (before["view"]["epoch"], after["view"]["epoch"]) == (4, 5)
    assert len(keys(scan(before, "k"))) == 30
    assert len(keys(scan(after, "k"))) == 31


@pytest.mark.parametrize("name", ["epoch", "versionAsOf"])
def test_an_epoch_can_be_asked_for(path: str, name: str) -> None:
    loaded = load_table(path, **{name: "2"})
    assert loaded["pinned"]
    assert keys(scan(loaded, "k")) == list(range(10))


def test_a_time_can_be_asked_for_as_text_and_as_microseconds(path: str) -> None:
    committed = colonnade.open(path).time_of(3)
    assert committed is not None
    micros = str(round(committed.timestamp() * 1_000_000))
    assert load_table(path, timestampMicros=micros)["view"]["epoch"] == 3
    assert load_table(path, timestampAsOf=committed.isoformat())["view"]["epoch"] == 3


def test_a_replaced_table_is_found_anew_and_not_read_by_old_plans(path: str) -> None:
    old = load_table(path)["view"]
    shutil.rmtree(path)
    colonnade.create(path, SCHEMA)
    colonnade.open(path).append(rows(7))
    assert keys(scan(load_table(path), "k")) == [7]
    fresh = Snapshots()
    with pytest.raises(NotFoundError, match="does not exist"):
        fresh.at(StoreAddress(old["url"]), old["database"], 4)
    with pytest.raises(NotFoundError, match="replaced after it had been loaded"):
        fresh.at(StoreAddress(old["url"]), old["database"], 1)


def test_a_removed_table_is_reported(path: str) -> None:
    load_table(path)
    shutil.rmtree(path)
    with pytest.raises(NotFoundError, match="not a Colonnade database or table"):
        load_table(path)


def test_filters_leave_rowsets_out_and_say_which_of_them_do(path: str) -> None:
    loaded = load_table(path)
    odd = {"op": "ABS", "args": [{"column": ["k"]}]}
    asked = [compare(">=", 12), odd]
    assert reads.filters({"view": loaded["view"], "filters": asked}) == {"used": [True, False]}
    planned = scan(loaded, "k", filters=asked)
    assert (planned["rowsets"], planned["rows"]) == (2, 20)
    assert planned["columns"]["k"] == {"min": "i:10", "max": "i:29", "nulls": 0}


def test_static_values_leave_rowsets_out_and_are_divided_where_they_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = pa.schema([("k", pa.int64()), ("n", pa.int32()), ("room", pa.string())])
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["room"])
    for k in range(6):
        table.append(pa.table([[k] * 3, [1, 2, 3], [f"r{k % 3}"] * 3], schema=schema))
    loaded = load_table(str(tmp_path / "t"))
    where = {"op": "=", "args": [{"column": ["room"]}, {"type": "string", "value": "r1"}]}
    planned = scan(loaded, "k", "room", filters=[where])
    assert (planned["rowsets"], planned["rows"]) == (2, 6)
    assert [each.rowset.id for plan in plans(planned) for each in plan.rowsets] == [1, 4]
    assert "statics" not in json.loads(planned["tasks"][0])
    assert len(json.loads(planned["statics"])["scan"]["view"]["rowsets"]) == 6

    monkeypatch.setattr(statics, "_WHOLE_BYTES", 0)
    planned = scan(loaded, "k", "room", apart=True)
    assert planned["statics"] is None
    own = [json.loads(json.loads(task)["statics"]) for task in planned["tasks"]]
    assert [len(each["scan"]["view"]["rowsets"]) for each in own] == [1] * 6


def test_limits_and_orders_leave_rowsets_out(path: str) -> None:
    loaded = load_table(path)
    assert scan(loaded, "k", limit=11)["rowsets"] == 2
    top = {"column": "k", "descending": True, "nulls_first": False, "count": 3}
    assert keys(scan(loaded, "k", top=top)) == list(range(20, 30))
    assert scan(loaded, "k", top={**top, "column": "_row"})["rowsets"] == 3


def test_rows_are_called_ordered_only_where_tasks_read_one_rowset(path: str) -> None:
    loaded = load_table(path)
    assert scan(loaded, "k")["ordered_by"] == []
    assert scan(loaded, "k", apart=True)["ordered_by"] == [{"column": "k", "descending": False}]
    assert len(scan(loaded, "k", apart=True)["tasks"]) == 3
    assert scan(loaded, "k", filters=[compare("<", 5)])["ordered_by"]
    assert scan(loaded, "k", filters=[compare("<", 0)])["ordered_by"] == []


def test_rows_are_called_ordered_only_as_all_rowsets_of_the_scan_are(path: str) -> None:
    table = colonnade.open(path)
    table.alter(SetSortKey(("k", "v")))
    table.append(rows(*range(30, 40)))
    by_k, by_v = ({"column": name, "descending": False} for name in "kv")
    loaded = load_table(path)
    assert scan(loaded, "k", apart=True)["ordered_by"] == [by_k]
    assert scan(loaded, "k", filters=[compare(">=", 30)])["ordered_by"] == [by_k, by_v]
    table.alter(SetSortKey(("v",)))
    assert scan(load_table(path), "k", filters=[compare(">=", 30)])["ordered_by"] == [by_k, by_v]
    table.append(rows(*range(40, 50)))
    loaded = load_table(path)
    assert scan(loaded, "k", apart=True)["ordered_by"] == []
    assert scan(loaded, "k", filters=[compare(">=", 40)])["ordered_by"] == [by_v]
    assert scan(loaded, "k", filters=[compare("<", 5)])["ordered_by"] == [by_k]


def test_a_scan_of_no_columns_still_has_its_rows(path: str) -> None:
    planned = scan(load_table(path))
    assert planned["rows"] == 30
    assert planned["tasks"]


def test_aggregates_have_values_only_where_all_have(path: str) -> None:
    loaded = load_table(path)
    count = {"function": "count", "column": None}
    least = {"function": "min", "column": "v"}
    unknown = {"function": "max", "column": "_row"}
    asked: Callable[..., dict[str, Any]] = lambda *f: reads.aggregate(  # noqa: E731
        {"view": loaded["view"], "functions": list(f)}
    )
    assert asked(count, least) == {"values": [30, "s:v0"]}
    assert asked(count, unknown) == {"values": None}


def test_options_are_refused_with_the_sentences_of_the_python_source(path: str) -> None:
    with pytest.raises(InvalidInputError, match="did you mean epoch"):
        check_options({"options": {"path": path, "epich": "1"}})
    with pytest.raises(InvalidInputError, match="No path was given"):
        check_options({"options": {}})
    with pytest.raises(InvalidInputError, match=r"df\.where"):
        check_options({"options": {"path": path, "where": "k > 1"}})


@pytest.mark.parametrize(
    ("size", "tasks"), [(0, 1), (3, 1), (7, 3), (8, 4), (200, 4), (256, 4), (257, 8), (1000, 16)]
)
def test_small_reads_have_few_tasks_and_large_ones_as_many_as_run_at_once(
    path: str, size: int, tasks: int
) -> None:
    plan = plans(scan(load_table(path), "k", "v"))[0]
    rowset = plan.rowsets[0].rowset
    entry = rowset.entry.model_copy(update={"bytes": size * 2**20})
    larger = RowSetScan.whole(replace(rowset, entry=entry))
    read = task_split.read_bytes(plan.of([larger]))
    assert task_split.task_count(read, 4) == tasks


def clustered(tmp_path: Path) -> dict[str, Any]:
    """A table whose keys ascend over a million rows, which are two tasks' worth of bytes."""
    keys = np.arange(2**20)
    noise = np.random.default_rng(1).integers(0, 2**62, 2**20)
    colonnade.create(tmp_path / "t", schema := pa.schema({"k": pa.int64(), "v": pa.int64()}))
    colonnade.open(tmp_path / "t").append(pa.table([keys, noise], schema=schema))
    return load_table(str(tmp_path / "t"))


def test_a_range_is_given_the_tasks_that_its_own_rows_are_worth(tmp_path: Path) -> None:
    table = clustered(tmp_path)
    assert len(scan(table, "k", "v")["tasks"]) == 2
    part = scan(table, "k", "v", filters=[compare("<", 1000)])
    assert len(part["tasks"]) == 1
    assert keys(part) == list(range(1000))
    half = scan(table, "k", "v", filters=[compare(">=", 2**19)], parallelism=8)
    rows_of_tasks = [plan.rowsets[0].row_count for plan in plans(half)]
    assert len(rows_of_tasks) > 1
    assert max(rows_of_tasks) < 2**19
    assert keys(half) == list(range(2**19, 2**20))


def test_an_index_that_cannot_be_read_leaves_the_error_to_the_tasks(tmp_path: Path) -> None:
    table = clustered(tmp_path)
    whole = scan(table, "k", "v")
    entry = plans(whole)[0].rowsets[0].rowset.entry
    for stored in (tmp_path / "t").rglob(f"*{entry.object}*"):
        shutil.rmtree(stored) if stored.is_dir() else stored.unlink()
    planned = scan(table, "k", "v", filters=[compare("<", 1000)])
    assert len(planned["tasks"]) == len(whole["tasks"])
    with pytest.raises(CorruptionError):
        keys(planned)
