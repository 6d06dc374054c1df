"""A task reads the static values of its own keys, if all of them are many."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.state.view import Statics
from colonnade.tableformat.predicate.expressions import TRUE
from colonnade.tableformat.rowset.view import statics as row_statics
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, divide_plan, plan_scan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.scan.task_statics import divided_bytes, is_divided, statics_of_task
from colonnade.tableformat.table.table import ArrowTable

KEYS: dict[str, tuple[pa.DataType, Sequence[Any]]] = {
    "int": (pa.int32(), range(-50, 50)),
    "text": (pa.string(), sorted(f"\U0001f98a{n}" for n in range(100))),
    "binary": (pa.binary(), [bytes([0, n]) for n in range(100)]),
    "double": (pa.float64(), [float("-inf"), *(n / 7 for n in range(-49, 50))]),
    "decimal": (pa.decimal128(38, 4), [Decimal(f"{n}{'0' * 32}.0001") for n in range(1, 100)]),
    "date": (pa.date32(), [dt.date(1969, 12, 1) + dt.timedelta(n) for n in range(100)]),
    "instant": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(1969, 12, 31, 23, n % 60, n, tzinfo=dt.timezone.utc) for n in range(60)],
    ),
}


def test_a_key_of_fixed_length_is_found_by_the_beginning_that_its_bounds_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_statics, "_WHOLE_BYTES", 0)
    fields = [
        colonnade.SchemaField(name="k", type="char(90)"),
        colonnade.SchemaField(name="n", type="int"),
        colonnade.SchemaField(name="v", type="string"),
    ]
    schema = colonnade.TableSchema(fields=tuple(fields))
    table = colonnade.create(tmp_path / "t", schema, primary_key=["k", "n"], static=["v"])
    keys = ["x" * 80 + "\t", "x" * 80 + "z"]
    table.append(pa.table({"k": keys, "n": pa.array([0, 0], pa.int32()), "v": ["a", "b"]}))
    assert keys_read(table, table.scan()._plan) == {key.ljust(90) for key in keys}


def make(path: Path, kind: str) -> ArrowTable:
    """A table of 10 RowSets, each with a tenth of the keys, and as many of static values."""
    data_type, keys = KEYS[kind]
    schema = pa.schema([("k", data_type), ("n", pa.int32()), ("v", pa.string())])
    table = colonnade.create(path, schema, primary_key=["k", "n"], static=["v"])
    for places in np.array_split(np.arange(len(keys)), 10):
        part = [keys[at] for at in places]
        columns = [pa.array(part, data_type), [0] * len(part), [f"v{at}" for at in places]]
        table.append(pa.table(columns, schema=schema))
    return table


def plan_of(table: ArrowTable, where: str | None = None) -> tuple[Statics, ScanPlan]:
    """The static values of a scan, and the scan."""
    plan = table.scan(where=where)._plan
    assert plan.view.statics is not None
    return plan.view.statics, plan


def keys_read(table: ArrowTable, task: ScanPlan) -> set[Any]:
    """The keys whose static values a task reads, as it reads them."""
    assert task.view.statics is not None
    part, about = statics_of_task(task.view.statics, task)
    scan = plan_scan(part.view, 1, None, about)
    return {k for batch in read_plan(table._log.store, scan) for k in batch["k"].to_pylist()}


@pytest.mark.slow
def test_values_are_read_as_a_whole_where_each_task_would_need_most_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_statics, "_WHOLE_BYTES", 0)
    table = make(tmp_path / "t", "int")
    assert divided_bytes(*plan_of(table)) > 0
    for n in range(1, 30):
        ends = pa.table({"k": pa.array([-50, 49], pa.int32()), "n": pa.array([n, n], pa.int32())})
        table.append(ends)
    assert not is_divided(*plan_of(table))
    assert divided_bytes(*plan_of(table)) == 0
    assert is_divided(*plan_of(table, "k = 7"))
    assert not is_divided(*plan_of(table, "n = 7"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEYS)
def test_a_task_reads_the_values_of_the_keys_that_its_rowsets_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    table = make(tmp_path / "t", kind)
    whole = table.scan()._plan
    statics = whole.view.statics
    assert statics is not None
    assert not is_divided(statics, whole)
    assert statics_of_task(statics, whole) == (statics, TRUE)

    monkeypatch.setattr(row_statics, "_WHOLE_BYTES", 0)
    assert is_divided(statics, whole)
    tasks = divide_plan(whole, 5)
    found = [keys_read(table, task) for task in tasks]
    for task, keys in zip(tasks, found, strict=True):
        own = replace(task, projection=("k", "n"))
        batches = read_plan(table._log.store, own)
        assert keys == {k for batch in batches for k in batch["k"].to_pylist()}
    assert set().union(*found) == set(KEYS[kind][1])


def test_a_condition_on_the_key_leaves_few_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_statics, "_WHOLE_BYTES", 0)
    table = make(tmp_path / "t", "int")
    table.optimize()
    for where, keys in (("k = 7 AND n = 0", {7}), ("v IN ('v3', 'v60')", {-47, 10})):
        assert keys_read(table, table.scan(where=where)._plan) == keys


@pytest.mark.slow
def test_rowsets_without_known_keys_need_all_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_statics, "_WHOLE_BYTES", 0)
    table = make(tmp_path / "t", "int")
    whole = table.scan()._plan
    unknown = (
        replace(each, entry=each.entry.model_copy(update={"statistics": {}}))
        for each in whole.view.rowsets
    )
    plan = whole.of(map(RowSetScan.whole, unknown))
    assert plan.view.statics is not None
    assert not is_divided(plan.view.statics, plan)
    assert keys_read(table, plan) == set(KEYS["int"][1])
