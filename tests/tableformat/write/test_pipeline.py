"""Rows take all steps before they are stored, and each step once, whatever adds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import colonnade
from colonnade import ArrowTable, IdentityColumn, InvalidInputError, WriteSettings
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.write.expiry import Expiry
from colonnade.tableformat.write.identity import draws_of
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import (
    INDEXED_COLUMNS,
    STEPS,
    RowPipeline,
    Step,
    new_rows,
    write_options,
)
from tests.planned_write import planned


def marking(name: str, done: list[str]) -> Step:
    """A step that notes that it is done."""

    def step(name: str, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for each in rows:
            done.append(name)
            yield each

    return partial(step, name)


def test_a_pipeline_runs_its_steps_in_order_and_leaves_out_those_of_matched_rows(
    tmp_path: Path,
) -> None:
    done: list[str] = []
    steps = RowPipeline(
        target=planned(tmp_path).target, **{name: marking(name, done) for name in STEPS}
    )
    [_] = steps.run([pa.record_batch({"a": [1]})])
    assert done == list(STEPS)
    done.clear()
    [_] = steps.to_match([pa.record_batch({"a": [1]})])
    assert done == ["divide", "expire", "conform", "generate"]


UTC = pa.timestamp("us", "UTC")
HOUR = WriteSettings(ttl="1 hour")
COLUMNS = pa.schema(
    [
        ("id", pa.int64()),
        ("v", pa.int32()),
        pa.field("ends", UTC, nullable=False),
        ("day", pa.date32()),
    ]
)
Add = Callable[[ArrowTable, pa.Table], object]
ROADS: dict[str, Add] = {
    "append": lambda table, rows: table.append(rows, settings=HOUR),
    "append of a stream": lambda table, rows: table.append(rows.to_reader(), settings=HOUR),
    "append that may evolve": lambda table, rows: table.append(rows, evolve=True, settings=HOUR),
    "append that evolves": lambda table, rows: table.append(
        rows.append_column("more", rows["v"]), evolve=True, settings=HOUR
    ),
    "overwrite": lambda table, rows: table.overwrite(rows, settings=HOUR),
    "overwrite where": lambda table, rows: table.overwrite(
        rows, "day > DATE '2020-01-01' AND id > 0", settings=HOUR
    ),
    "overwrite partitions": lambda table, rows: table.overwrite_partitions(rows, settings=HOUR),
    "upsert on": lambda table, rows: table.upsert(
        rows.append_column("ends", pa.nulls(rows.num_rows, UTC)), "v", settings=HOUR
    ),
}


@pytest.mark.parametrize("road", ROADS)
def test_every_road_does_every_step(tmp_path: Path, road: str) -> None:
    table = colonnade.create(
        tmp_path / "t",
        COLUMNS,
        identity={"id": IdentityColumn()},
        generated={"day": "CAST(ends AS DATE)"},
        constraints={"known": "id > 0", "small": "v < 100", "later": "day > DATE '2020-01-01'"},
        properties={"ttl.expires": "ends"},
    )
    ROADS[road](table, pa.table({"v": pa.array([1, 2], pa.int8())}))
    found = table.scan().to_arrow().select(COLUMNS.names).to_pylist()
    days = {date.today(), datetime.now(timezone.utc).date()}
    assert [(row["id"], row["v"]) for row in found] == [(1, 1), (2, 2)]
    for row in found:
        assert row["ends"] > datetime.now(timezone.utc)
        assert abs((row["day"] - max(days)).days) <= 1
    with pytest.raises(InvalidInputError, match="Constraint 'small'"):
        ROADS[road](table, pa.table({"v": pa.array([100], pa.int8())}))
    with pytest.raises(InvalidInputError, match="'v'"):
        ROADS[road](table, pa.table({"v": ["x"]}))
    assert table.scan().count() == 2


def test_the_example_of_the_header_holds(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("site", pa.int64()), ("c", pa.int32())])
    schema = schema.append(pa.field("kind", pa.string()))
    schema = schema.append(pa.field("ends", UTC)).append(pa.field("day", pa.date32()))
    table = colonnade.create(
        tmp_path / "t",
        schema,
        partition_key=["site"],
        static=["kind"],
        identity={"id": IdentityColumn()},
        generated={"day": "CAST(ends AS DATE)"},
        properties={"ttl.expires": "ends"},
    )
    split = StaticSplit(table._state, "0" * 16)
    noon = datetime(2026, 1, 30, 12, tzinfo=timezone.utc)
    ends = noon + timedelta(hours=1)
    steps = new_rows(
        target_of(split.own, table._log.limits),
        lambda: draws_of(table._log, split.own, "0" * 16),
        divide=split.batches,
        expiry=Expiry(
            next(each for each in split.own.schema.fields if each.name == "ends"),
            int(ends.timestamp() * 1000),
        ),
    )
    rows = [pa.record_batch({"kind": ["pump"], "site": [7], "c": pa.array([21], pa.int8())})]
    seen = []
    for name in STEPS:
        rows = list(getattr(steps, name)(rows))
        seen.append(rows[0].to_pylist()[0])
    conformed = {"id": None, "site": 7, "c": 21, "ends": ends, "day": None}
    assert seen == [
        {"site": 7, "c": 21},
        {"site": 7, "c": 21, "ends": ends},
        conformed,
        conformed | {"id": 1},
        conformed | {"id": 1, "day": date(2026, 1, 30)},
        conformed | {"id": 1, "day": date(2026, 1, 30)},
    ]
    assert split.static_values is not None
    assert split.static_values.rows.to_pylist() == [{"site": 7, "kind": "pump"}]


@given(st.data())
def test_statistics_are_kept_of_leading_columns_and_of_those_that_order_or_divide_rows(
    data: st.DataObject,
) -> None:
    ids = range(1, INDEXED_COLUMNS + 20)
    schema = TableSchema(fields=tuple(SchemaField(id=i, name=f"c{i}", type="long") for i in ids))
    key, partition, primary = (data.draw(st.sampled_from(ids)) for _ in range(3))
    options = write_options(
        schema,
        (SortField(column=key),),
        WriteSettings(),
        fields=(PartitionField(column=partition, transform="identity"),),
        primary_key=(primary,),
    )
    assert options.indexed_columns == {*ids[:INDEXED_COLUMNS], key, partition, primary}
